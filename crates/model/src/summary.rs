//! The row of a session in a list.

use crate::{Agent, Session, SessionKind, Title, UsageTotal};
use backstory_format::Severity;
use jiff::Timestamp;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One row of a list of sessions.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Who wrote the session.
    pub agent: Agent,
    /// What sort of conversation it is.
    pub kind: SessionKind,
    /// As lists show it.
    pub id: String,
    /// Its file, or its folder.
    pub path: PathBuf,
    /// Name of the folder that holds it.
    pub project_key: Option<String>,
    /// First `cwd` of a record.
    pub cwd: Option<Arc<str>>,
    /// What to call it.
    pub title: Option<Title>,
    /// The branch that was checked out last.
    pub branch: Option<Arc<str>>,
    /// Time of the first record.
    pub started: Option<Timestamp>,
    /// Time of the last record.
    pub ended: Option<Timestamp>,
    /// Whether it is a fork of another session.
    pub forked: bool,
    /// When the file was last changed.
    pub modified: Option<Timestamp>,
    /// Length of the file.
    pub bytes: u64,
    /// Columns that only a full reading can fill.
    pub full: Option<FullSummary>,
}

/// Columns that need the whole file.
#[derive(Debug, Clone)]
pub struct FullSummary {
    /// Models that answered.
    pub models: Vec<Arc<str>>,
    /// Releases of the agent.
    pub versions: Vec<Arc<str>>,
    /// Folders that it worked in.
    pub cwds: Vec<Arc<str>>,
    /// Number of turns.
    pub turns: u64,
    /// Number of calls.
    pub calls: u64,
    /// None where no message has a count.
    pub tokens: Option<UsageTotal>,
    /// Number of subagents, client runs not included.
    pub subagents: u64,
    /// Problems that are warnings or errors.
    pub problems: u64,
}

impl Summary {
    /// The row of a session that was read whole.
    pub fn of(session: &Session) -> Summary {
        let subagents = session.subagents.iter().filter(|agent| !agent.kind.is_housekeeping());
        Summary {
            agent: session.agent,
            kind: session.kind,
            id: session.id.clone(),
            path: session.source.path().to_path_buf(),
            project_key: session.project_key.clone(),
            cwd: session.cwds.first().cloned(),
            title: session.title.clone(),
            branch: session.last_branch.clone(),
            started: session.started,
            ended: session.ended,
            forked: session.forked_from.is_some(),
            modified: session.file.modified,
            bytes: session.file.bytes,
            full: Some(FullSummary {
                models: session.models.clone(),
                versions: session.versions.clone(),
                cwds: session.cwds.clone(),
                turns: session.counts.turns,
                calls: session.counts.calls,
                tokens: session.tokens(),
                subagents: subagents.count() as u64,
                problems: session.problems.at_least(Severity::Warning),
            }),
        }
    }

    /// When something last happened: the last time in the file, else that of the file.
    pub fn last_activity(&self) -> Option<Timestamp> {
        self.ended.or(self.modified)
    }

    /// What rows are sorted by to have the newest first, always in the same order: of those that
    /// ended at the same time an original comes before its forks. The time of a file, which a copy
    /// or a checkout makes new, is never newer than a time inside one.
    pub fn newest_first(&self) -> impl Ord + '_ {
        (self.ended.is_none(), Reverse(self.last_activity()), self.forked, self.place())
    }

    /// Where it is; no two sessions have the same place.
    pub fn place(&self) -> (&Path, &str) {
        (&self.path, &self.id)
    }

    /// Milliseconds from the first to the last record.
    pub fn duration_ms(&self) -> Option<u64> {
        let (started, ended) = (self.started?, self.ended?);
        u64::try_from(ended.as_millisecond() - started.as_millisecond()).ok()
    }
}
