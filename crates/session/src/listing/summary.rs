//! What a listing says of a session.

use backstory_format::Severity;
use backstory_model::{Agent, Session, SessionKind, Title, UsageTotal};
use jiff::Timestamp;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One row of a listing.
#[derive(Debug, Clone)]
pub struct Summary {
    pub agent: Agent,
    pub kind: SessionKind,
    pub id: String,
    pub path: PathBuf,
    pub project_key: Option<String>,
    /// First `cwd` of a record.
    pub cwd: Option<Arc<str>>,
    pub title: Option<Title>,
    pub branch: Option<Arc<str>>,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    /// Whether it is a fork of another session.
    pub forked: bool,
    pub modified: Option<Timestamp>,
    pub bytes: u64,
    /// What only a full reading can tell.
    pub full: Option<Full>,
}

/// Columns that need the whole file.
#[derive(Debug, Clone)]
pub struct Full {
    pub models: Vec<Arc<str>>,
    pub versions: Vec<Arc<str>>,
    pub cwds: Vec<Arc<str>>,
    pub turns: u64,
    pub calls: u64,
    /// None where no message has a count.
    pub tokens: Option<UsageTotal>,
    pub subagents: u64,
    /// Problems that are warnings or errors.
    pub problems: u64,
}

impl Summary {
    /// The row of a session that was read whole.
    pub fn of(session: &Session) -> Summary {
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
            full: Some(Full {
                models: session.models.clone(),
                versions: session.versions.clone(),
                cwds: session.cwds.clone(),
                turns: session.counts.turns,
                calls: session.counts.calls,
                tokens: session.tokens(),
                subagents: session
                    .subagents
                    .iter()
                    .filter(|agent| !agent.kind.is_housekeeping())
                    .count() as u64,
                problems: session.problems.at_least(Severity::Warning),
            }),
        }
    }

    /// When something last happened: the last time in the file, else that of the file.
    pub fn last_activity(&self) -> Option<Timestamp> {
        self.ended.or(self.modified)
    }

    /// What rows are sorted by to have the newest first, always in the same order: of those that
    /// ended at the same time an original comes before its forks.
    pub fn newest_first(&self) -> impl Ord + '_ {
        (Reverse(self.last_activity()), self.forked, self.place())
    }

    /// Where it stands; no two sessions have the same place.
    pub fn place(&self) -> (&Path, &str) {
        (&self.path, &self.id)
    }

    /// Milliseconds from the first to the last record.
    pub fn duration_ms(&self) -> Option<u64> {
        let (started, ended) = (self.started?, self.ended?);
        u64::try_from(ended.as_millisecond() - started.as_millisecond()).ok()
    }
}
