//! Finding the sessions of a stretch of time, and writing their traces.

use crate::args::GlobalArguments;
use crate::commands::show::{Shown, read_copy};
use crate::error::CliError;
use crate::guard::guard;
use crate::prices;
use crate::select::{Scope, Selection};
use crate::ui;
use backstory_agents as agents;
use backstory_model::Session;
use backstory_model::SessionFiles;
use backstory_redact::Redactor;
use backstory_session::clear::ClearedCopy;
use backstory_session::discover::ProjectScope;
use backstory_session::render::{self, View};
use backstory_store::{Access, Destination, Entry, OutputFolder, ReadContext, plain_name};
use backstory_text::figures::counted;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The newest release of the agent that this program was checked with.
const CHECKED: &str = "2.1.325";

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

/// What the manifest keeps of a trace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct About {
    session: String,
    captured: Timestamp,
    versions: Vec<String>,
}

/// A session, and the cleared copy it is read from, if there is one.
pub(super) struct Taken {
    session: Session,
    _copy: Option<ClearedCopy>,
}

impl From<Shown> for Taken {
    fn from(shown: Shown) -> Taken {
        Taken { session: shown.session, _copy: shown.copy }
    }
}

pub(super) struct CaptureWriter<'a> {
    pub(super) out: &'a Path,
    pub(super) keep: Option<Timestamp>,
    /// Takes secrets out of what is written.
    pub(super) redactor: Option<Redactor>,
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
            // A file nobody wrote to since cannot hold records of the window.
            if newest(files).is_some_and(|time| time < window.from) {
                continue;
            }
            let (from, until) = (window.from, window.until);
            let found = backstory_claude::activity(files, &mut context, &here, from, until);
            let path = files.path.display();
            match found {
                Err(error) => self.log(&format!("{path}: passed over: {error}")),
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
            self.log(&format!("passed over: {failure}"));
        }
        Ok(Taken { session, _copy: copy })
    }

    /// Writes a trace of each session; gives the names of the files.
    pub(super) fn write(
        &self,
        out: &Destination,
        sessions: &[Taken],
        since: Option<Timestamp>,
        facts: &[(String, String)],
        now: Timestamp,
    ) -> Result<Vec<String>, CliError> {
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let mut folder: OutputFolder<About> = OutputFolder::open(out, Access::Private)?;
        self.warn_of_drift(&folder, sessions);
        let mut written = Vec::new();
        let facts = self.cleared(facts);
        for Taken { session, .. } in sessions {
            let name = name(session, since, now);
            if let Some(refused) = folder.claim([name.as_str()])?.pop() {
                return Err(refused.into());
            }
            let view = view(session, since, &facts, now)?;
            let bytes = folder
                .write::<CliError>(&name, |file| Ok(render::markdown(session, &view, file)?))?;
            let about = About {
                session: session.id.clone(),
                captured: now,
                versions: session.versions.iter().map(ToString::to_string).collect(),
            };
            self.log(&format!("session {} ({}): {name}", session.id, about.versions.join(", ")));
            folder.record(&name, Entry { key: now.to_string(), bytes, about: Some(about) });
            folder.save()?;
            written.push(name);
        }
        Ok(written)
    }

    /// What is told of the command, as far as it may be told.
    fn cleared(&self, facts: &[(String, String)]) -> Vec<(String, String)> {
        let scrubber = self.redactor.as_ref().map(Redactor::session);
        let clear = |text: &String| match &scrubber {
            Some(scrubber) => scrubber.scrub(text).into_owned(),
            None => text.clone(),
        };
        facts.iter().map(|(name, text)| (name.clone(), clear(text))).collect()
    }

    /// Removes traces that are older than they are kept, as far as nobody changed them.
    pub(super) fn prune(&self, out: &Destination, now: Timestamp) -> Result<(), CliError> {
        let Some(keep) = self.keep.filter(|keep| *keep < now) else { return Ok(()) };
        if !out.place().is_dir() {
            return Ok(());
        }
        let mut folder: OutputFolder<About> = OutputFolder::open(out, Access::Private)?;
        let old: Vec<String> = folder
            .files()
            .iter()
            .filter(|(_, entry)| entry.about.as_ref().is_some_and(|one| one.captured < keep))
            .filter(|(name, entry)| folder.is_current(name, &entry.key))
            .map(|(name, _)| name.clone())
            .collect();
        for name in &old {
            self.log(&format!("removing {name}, captured before {keep}"));
            folder.remove(name)?;
        }
        if !old.is_empty() {
            folder.save()?;
        }
        Ok(())
    }

    /// Once for every release that is newer than those checked.
    fn warn_of_drift(&self, folder: &OutputFolder<About>, sessions: &[Taken]) {
        let seen = |version: &str| {
            let known = folder.files().values().filter_map(|entry| entry.about.as_ref());
            known.flat_map(|about| &about.versions).any(|known| known == version)
        };
        let mut newer: Vec<&str> = sessions
            .iter()
            .flat_map(|taken| taken.session.versions.iter())
            .map(AsRef::as_ref)
            .filter(|version| is_newer(version, CHECKED) && !seen(version))
            .collect();
        newer.sort_unstable();
        newer.dedup();
        if !newer.is_empty() && !self.quiet {
            ui::warn(&format!(
                "Claude Code {} is newer than {CHECKED}, the last one checked; traces may miss something",
                newer.join(", ")
            ));
        }
    }
}

/// The last time anything of a session was written.
fn newest(files: &SessionFiles) -> Option<Timestamp> {
    files.agents.iter().map(|agent| agent.modified).chain([files.modified]).max().flatten()
}

/// A part of a session gets a name of its own, so that it stands beside what came before.
fn name(session: &Session, since: Option<Timestamp>, now: Timestamp) -> String {
    let id = plain_name(&session.id);
    match since {
        Some(_) => format!("{}-{id}.md", now.strftime("%Y%m%dT%H%M%SZ")),
        None => format!("{id}.md"),
    }
}

fn view(
    session: &Session,
    since: Option<Timestamp>,
    facts: &[(String, String)],
    now: Timestamp,
) -> Result<View, CliError> {
    let mut view = View::new(TimeZone::system());
    view.prices = Some(Arc::new(prices::read(None)?));
    view.facts = facts.to_vec();
    view.facts.push(("Captured".to_owned(), view.time(now)));
    // Only a session that had begun before is shown in part.
    if let Some(since) = since
        && session.started.is_some_and(|started| started < since)
    {
        let time = view.time(since);
        view.facts.push(("Resumed".to_owned(), format!("only what is new since {time}")));
        view.since = Some(since);
    }
    Ok(view)
}

/// Compares the numbers of two versions.
fn is_newer(version: &str, than: &str) -> bool {
    let numbers =
        |text: &str| -> Vec<u64> { text.split('.').map_while(|part| part.parse().ok()).collect() };
    let version = numbers(version);
    !version.is_empty() && version > numbers(than)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(is_newer("2.1.1000", "2.1.325") && is_newer("3.0.0", "2.1.325"));
        assert!(!is_newer("2.1.325", "2.1.325") && !is_newer("2.1.99", "2.1.325"));
        assert!(!is_newer("unknown", "2.1.325"));
    }
}
