//! The files of a session, and what is missing among them.

use crate::Agent;
use jiff::Timestamp;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where an agent's file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentPlace {
    /// Next to the session's file (2.0).
    Beside,
    /// In the session's `subagents` folder (2.1).
    Below,
    /// In `subagents/workflows/<run>`.
    Workflow,
}

/// A subagent's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// From the file name.
    pub id: String,
    /// Where it was found.
    pub path: PathBuf,
    /// Its metadata file, if there is one.
    pub meta: Option<PathBuf>,
    /// Who wrote it.
    pub agent: Agent,
    /// How the client arranged it.
    pub place: AgentPlace,
    /// The session it belongs to, if that is known.
    pub owner: Option<String>,
    /// Length of the file.
    pub bytes: u64,
    /// When the file was last changed.
    pub modified: Option<Timestamp>,
}

/// A session's file and those of its subagents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFiles {
    /// From the file name, or from the records when the name is not an id.
    pub id: String,
    /// Where it was found; the folder itself for agents that use several files.
    pub path: PathBuf,
    /// Name of the folder it is in.
    pub project_key: Option<String>,
    /// Length of all its own files, those of subagents not included.
    pub bytes: u64,
    /// When any of its own files was last changed.
    pub modified: Option<Timestamp>,
    /// Its subagents.
    pub agents: Vec<AgentFile>,
    /// Who wrote it.
    pub agent: Agent,
    /// Bytes of the file that are this session, where a file holds several.
    pub part: Option<Range<u64>>,
}

impl SessionFiles {
    /// Bytes of its file and of those of its subagents.
    pub fn total_bytes(&self) -> u64 {
        self.bytes + self.agents.iter().map(|agent| agent.bytes).sum::<u64>()
    }

    /// Where it is; no two sessions have the same place.
    pub fn place(&self) -> (&Path, Option<u64>) {
        (&self.path, self.part.as_ref().map(|part| part.start))
    }
}

/// Something that is missing in what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What could not be read.
    pub path: PathBuf,
    /// Why, in words for people.
    pub reason: String,
    /// How much it matters.
    pub kind: NoticeKind,
}

/// Why something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// It was wanted, but could not be read (or not be written).
    Failed,
    /// It is nothing that is read.
    PassedOver,
}

impl Notice {
    /// Of something that could not be read or written.
    pub fn failed(path: impl Into<PathBuf>, reason: impl Into<String>) -> Notice {
        Notice { path: path.into(), reason: reason.into(), kind: NoticeKind::Failed }
    }
}

impl From<&backstory_store::StoreError> for Notice {
    fn from(error: &backstory_store::StoreError) -> Notice {
        Notice::failed(error.path(), error.reason())
    }
}

/// A file that a session is read from, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    /// The file.
    pub path: PathBuf,
    /// None when it is the whole file.
    pub part: Option<Range<u64>>,
}
