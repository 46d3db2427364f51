//! What can be known of a file at a point in time.

use super::order::When;
use backstory_model::{Agent, Change, Content, Hunk};
use backstory_store::Source;
use jiff::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;

/// Who made a change, as the session says.
#[derive(Debug, Clone)]
pub struct Provenance {
    pub agent: Agent,
    /// The person's session, also when a subagent made the change.
    pub session: Arc<str>,
    pub subagent: Option<Arc<str>>,
    pub call: Option<Box<str>>,
    pub tool: Arc<str>,
    pub model: Option<Arc<str>>,
    pub version: Option<Arc<str>>,
    /// 1-based turn of the session whose prompt led to the change; none on an abandoned branch.
    pub turn: Option<u32>,
    /// That turn's prompt.
    pub prompt: Option<(Source, Content)>,
    /// The prompt a subagent was started with.
    pub task: Option<(Source, Content)>,
    /// The file that records the change, and the line of its result there.
    pub file: Source,
    pub line: u64,
    pub uuid: Option<Box<str>>,
    /// Other sessions that hold a copy of the same call.
    pub also_in: Vec<Arc<str>>,
    /// Made on a branch of the conversation that was left.
    pub abandoned: bool,
    /// Its session begins with a copy of another, so another may be the first to hold the call.
    pub may_be_copy: bool,
}

/// What a tool did to a file, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EditAction {
    Create,
    Overwrite,
    Edit,
    Notebook,
}

impl EditAction {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            EditAction::Create => "create",
            EditAction::Overwrite => "overwrite",
            EditAction::Edit => "edit",
            EditAction::Notebook => "notebook",
        }
    }
}

/// A change that an agent's tool made.
#[derive(Debug, Clone)]
pub struct Edit {
    pub change: Change<String>,
    /// The file before, where the client wrote it down.
    pub original: Option<String>,
    /// The file after, where the client wrote it down.
    pub updated: Option<String>,
    /// The client's patch. Line numbers are right; white space and the text of new lines are not.
    pub hunks: Vec<Hunk>,
    /// What the model asked for, where a person changed it in review before it was applied.
    pub proposed: Option<Change<String>>,
    pub by: Provenance,
}

impl Edit {
    /// What it did, in one word.
    pub fn action(&self) -> EditAction {
        match &self.change {
            Change::Write { created: true, .. } => EditAction::Create,
            Change::Write { .. } | Change::Delete => EditAction::Overwrite,
            Change::Replace(_) | Change::Move { .. } => EditAction::Edit,
            Change::Cell { .. } => EditAction::Notebook,
        }
    }

    /// Numbers of the lines that the client's patch shows as added, from 1.
    pub(super) fn added_lines(&self) -> impl Iterator<Item = u32> {
        self.hunks.iter().flat_map(Hunk::added)
    }
}

/// Where the content of a file was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SightingSource {
    /// A `Read` of the whole file.
    Read,
    /// The client's backup of the file.
    Backup,
}

/// The whole content of a file at some time.
#[derive(Debug, Clone)]
pub struct Sighting {
    pub content: String,
    pub source: SightingSource,
}

/// The whole content of a file as a commit has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub time: Timestamp,
    pub content: String,
}

/// A backup the client says it made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Backup {
    pub path: String,
    /// Where it should lie.
    pub file: PathBuf,
    pub time: Option<Timestamp>,
    pub when: When,
}

/// A shell command of the agent that moved a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    pub from: String,
    pub to: String,
    pub when: When,
}

/// Something known of one file at one time.
#[derive(Debug, Clone)]
pub struct Event {
    /// Absolute, as [`normal_path`](super::normal_path) gives it.
    pub path: Arc<str>,
    /// The recorded time.
    pub time: Option<Timestamp>,
    /// Where it stands among all that is known.
    pub when: When,
    /// The call it comes from; copies of a session repeat it.
    pub call: Option<Box<str>>,
    pub kind: EventKind,
}

/// What is known.
#[derive(Debug, Clone)]
pub enum EventKind {
    Edit(Box<Edit>),
    Seen(Sighting),
    /// The agent looked at a part of the file. The client demands that after a change from outside,
    /// so what was known before may no longer hold.
    PartialRead,
}
