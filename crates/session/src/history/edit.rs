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
    /// The agent.
    pub agent: Agent,
    /// The person's session, also when a subagent made the change.
    pub session: Arc<str>,
    /// The subagent's id, if one made the call.
    pub subagent: Option<Arc<str>>,
    /// The call's id.
    pub call: Option<Box<str>>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The model that made the call.
    pub model: Option<Arc<str>>,
    /// The agent's version.
    pub version: Option<Arc<str>>,
    /// 1-based turn of the session whose prompt led to the change; none on an abandoned branch.
    pub turn: Option<u32>,
    /// That turn's prompt.
    pub prompt: Option<(Source, Content)>,
    /// The prompt a subagent was started with.
    pub task: Option<(Source, Content)>,
    /// The file that records the change, and the line of its result there.
    pub file: Source,
    /// The line of the call in the session's file.
    pub line: u64,
    /// The uuid of the call's record.
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
    /// It created the file.
    Create,
    /// It replaced the whole file.
    Overwrite,
    /// It replaced parts of the file.
    Edit,
    /// It changed a cell of a notebook.
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
    /// What was changed.
    pub change: Change<String>,
    /// The file before, where the client wrote it down.
    pub original: Option<String>,
    /// The file after, where the client wrote it down.
    pub updated: Option<String>,
    /// The client's patch. Line numbers are right; whitespace and the text of new lines are not.
    pub hunks: Vec<Hunk>,
    /// What the model asked for, where a person changed it in review before it was applied.
    pub proposed: Option<Change<String>>,
    /// The call that made it.
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
    /// The content of the file.
    pub content: String,
    /// How the session recorded it.
    pub source: SightingSource,
}

/// The whole content of a file as a commit has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The time of the commit.
    pub time: Timestamp,
    /// The content of the file in the commit.
    pub content: String,
}

/// A backup the client says it made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Backup {
    /// The path of the file.
    pub path: String,
    /// Where it should lie.
    pub file: PathBuf,
    /// When the client made the copy.
    pub time: Option<Timestamp>,
    /// Its place in the order of events.
    pub when: When,
}

/// A shell command of the agent that moved a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// The old path.
    pub from: String,
    /// The new path.
    pub to: String,
    /// Its place in the order of events.
    pub when: When,
}

/// Something known of one file at one time.
#[derive(Debug, Clone)]
pub struct Event {
    /// Absolute, as [`normal_path`](super::normal_path) gives it.
    pub path: Arc<str>,
    /// The recorded time.
    pub time: Option<Timestamp>,
    /// Where it is among all that is known.
    pub when: When,
    /// The call it comes from; copies of a session repeat it.
    pub call: Option<Box<str>>,
    /// What happened to the file.
    pub kind: EventKind,
}

/// What is known.
#[derive(Debug, Clone)]
pub enum EventKind {
    /// The agent changed it.
    Edit(Box<Edit>),
    /// The agent saw all of it.
    Seen(Sighting),
    /// The agent looked at a part of the file. The client demands that after a change from outside,
    /// so what was known before may no longer hold.
    PartialRead,
}
