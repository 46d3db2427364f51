//! Finding the sessions that were at work here in a stretch of time.

use crate::args::GlobalArguments;
use crate::commands::show::{Shown, read_copy};
use crate::error::CliError;
use crate::guard::guard;
use crate::select::{Scope, Selection};
use crate::ui;
use backstory_agents as agents;
use backstory_model::Session;
use backstory_model::SessionFiles;
use backstory_redact::Redactor;
use backstory_session::clear::ClearedCopy;
use backstory_session::discover::ProjectScope;
use backstory_store::{Destination, ReadContext};
use backstory_text::figures::counted;
use jiff::{SignedDuration, Timestamp};
use std::path::Path;

/// Clocks and buffers of the agent are allowed to be off by this much.
const SLACK: SignedDuration = SignedDuration::from_secs(5);

/// A stretch of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
}

impl Window {
    /// From begin to end, with some slack.
    pub(super) fn around(began: Timestamp, ended: Timestamp) -> Window {
        Window {
            from: began.saturating_sub(SLACK).unwrap_or(began),
            until: ended.saturating_add(SLACK).unwrap_or(ended),
        }
    }
}

/// A session, and the cleared copy it is read from, if there is one.
pub(super) struct Taken {
    pub(super) session: Session,
    /// The size of its files.
    pub(super) bytes: u64,
    _copy: Option<ClearedCopy>,
}

impl From<Shown> for Taken {
    fn from(shown: Shown) -> Taken {
        Taken { session: shown.session, bytes: shown.bytes, _copy: shown.copy }
    }
}

pub(super) struct CaptureWriter<'a> {
    pub(super) out: &'a Path,
    pub(super) keep: Option<Timestamp>,
    /// Removes secrets from traces, and which classes of them.
    pub(super) redactor: Option<Redactor>,
    pub(super) classes: Vec<&'static str>,
    pub(super) debug: bool,
    pub(super) quiet: bool,
    pub(super) global: &'a GlobalArguments,
}

impl CaptureWriter<'_> {
    /// Writes a line under `--debug`.
    pub(super) fn log(&self, text: &str) {
        if self.debug {
            ui::say(&format!("capture: {text}"));
        }
    }

    /// Sessions with records made in this worktree in the window.
    /// Where they go comes with them.
    pub(super) fn find(&self, window: &Window) -> Result<(Destination, Vec<Taken>), CliError> {
        let scope = ProjectScope::worktree(Path::new("."));
        self.log(&format!("worktree {}", scope.roots().join(", ")));
        self.log(&format!("window {} to {}", window.from, window.until));
        let selection = Selection::find(self.global, &[], Scope::All)?;
        let out = guard(self.global, &selection.roots, &[]).folder(self.out)?;
        for root in &selection.roots {
            self.log(&format!("looking in {}", root.path.display()));
        }
        let there = selection.found.sessions.len() as u64;
        self.log(&format!("{} there", counted(there, "session", "sessions")));
        let mut sessions = Vec::new();
        let mut context = ReadContext::new(&selection.found.store);
        let here = |folder: &str| scope.holds(folder);
        let own = selection.found.sessions.iter();
        for files in own.filter(|files| files.agent == backstory_claude::AGENT) {
            // A file that was not written since cannot hold records of the window.
            if newest(files).is_some_and(|time| time < window.from) {
                continue;
            }
            let (from, until) = (window.from, window.until);
            let found = backstory_claude::activity(files, &mut context, &here, from, until);
            let path = files.path.display();
            match found {
                Err(error) => self.log(&format!("{path}: skipped: {error}")),
                Ok(found) => {
                    let placed = counted(found.placed, "record", "records");
                    let inside = found.inside;
                    self.log(&format!("{path}: {inside} of {placed} here and then"));
                    if inside > 0 {
                        sessions.push(self.read(files, &mut context)?);
                    }
                }
            }
        }
        Ok((out, sessions))
    }

    fn read(&self, files: &SessionFiles, context: &mut ReadContext) -> Result<Taken, CliError> {
        let copy =
            self.redactor.as_ref().map(|redactor| ClearedCopy::of(files, redactor, &context.store));
        let copy = copy.transpose()?;
        let (session, failures) = match &copy {
            Some(copy) => read_copy(copy, context)?,
            None => agents::read(files, context)?,
        };
        for failure in failures {
            self.log(&format!("skipped: {failure}"));
        }
        Ok(Taken { session, bytes: files.total_bytes(), _copy: copy })
    }
}

/// The last time anything of a session was written.
fn newest(files: &SessionFiles) -> Option<Timestamp> {
    files.agents.iter().map(|agent| agent.modified).chain([files.modified]).max().flatten()
}
