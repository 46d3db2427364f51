//! The folder of traces: one file for each session, written again when the session has grown.
//!
//! Nothing in it is lost unless the user asked for that. A trace is replaced only while it is as it
//! was written, and by one of a session file that is at least as long: clients shorten and delete
//! their files, and then the trace is the last copy. Otherwise the new trace gets another name.

use super::writer::{CaptureWriter, Taken};
use crate::config;
use crate::error::CliError;
use crate::prices;
use crate::ui;
use backstory_redact::Redactor;
use backstory_session::render::{self, View};
use backstory_store::{Access, Destination, Entry, Holder, OutputFolder, plain_name};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The newest release of the agent that this program was checked with.
const CHECKED: &str = "2.1.325";

/// A fact of a run: its name and text.
pub(super) type Fact = (String, String);

/// What the manifest keeps of a trace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct About {
    session: String,
    captured: Timestamp,
    versions: Vec<String>,
    /// The size of the session's files; unknown in manifests of 0.1.0.
    #[serde(default)]
    source_bytes: u64,
    /// What was redacted; nothing in a raw trace.
    #[serde(default)]
    redacted: Vec<String>,
    /// Commands that were run around the session.
    #[serde(default)]
    facts: Vec<Fact>,
}

/// What became of the trace of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trace {
    Written(String),
    /// It is already there.
    Unchanged(String),
}

impl Trace {
    pub(super) fn name(&self) -> &str {
        match self {
            Trace::Written(name) | Trace::Unchanged(name) => name,
        }
    }
}

impl CaptureWriter<'_> {
    /// Writes a trace of each session that has none, or has grown since.
    pub(super) fn write(
        &self,
        out: &Destination,
        sessions: &[Taken],
        facts: &[Fact],
        now: Timestamp,
    ) -> Result<Vec<Trace>, CliError> {
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let mut folder: OutputFolder<About> = OutputFolder::open(out, Access::Private)?;
        self.warn_of_drift(&folder, sessions);
        sessions.iter().map(|taken| self.write_one(&mut folder, taken, facts, now)).collect()
    }

    fn write_one(
        &self,
        folder: &mut OutputFolder<About>,
        taken: &Taken,
        facts: &[Fact],
        now: Timestamp,
    ) -> Result<Trace, CliError> {
        let session = &taken.session;
        let name = free_name(folder, taken);
        let before = folder.files().get(&name).and_then(|entry| entry.about.clone());
        let before = before.filter(|_| folder.holder(&name) == Holder::Unchanged);
        if let Some(before) = &before
            && before.source_bytes == taken.bytes
            && before.redacted == self.classes
            && facts.is_empty()
        {
            self.log(&format!("session {}: {name} is up to date", session.id));
            return Ok(Trace::Unchanged(name));
        }
        let known = before.map(|before| before.facts).unwrap_or_default();
        let all: Vec<Fact> = known.iter().chain(facts).cloned().collect();
        let facts = cleared(self.redactor.as_ref(), &all);
        if let Some(refused) = folder.claim([name.as_str()])?.pop() {
            return Err(refused.into());
        }
        let view = view(&facts, now)?;
        let bytes =
            folder.write::<CliError>(&name, |file| Ok(render::markdown(session, &view, file)?))?;
        let about = About {
            session: session.id.clone(),
            captured: now,
            versions: session.versions.iter().map(ToString::to_string).collect(),
            source_bytes: taken.bytes,
            redacted: self.classes.iter().map(ToString::to_string).collect(),
            facts,
        };
        self.log(&format!("session {} ({}): {name}", session.id, about.versions.join(", ")));
        folder.record(&name, Entry { key: now.to_string(), bytes, about: Some(about) });
        folder.save()?;
        Ok(Trace::Written(name))
    }

    /// Removes traces that are older than they are kept, unless they were edited, and names them.
    pub(super) fn prune(&self, out: &Destination, now: Timestamp) -> Result<(), CliError> {
        let Some(keep) = self.keep.filter(|keep| *keep < now) else { return Ok(()) };
        if !out.place().is_dir() {
            return Ok(());
        }
        let mut folder: OutputFolder<About> = OutputFolder::open(out, Access::Private)?;
        let old: Vec<(String, Timestamp)> = folder
            .files()
            .iter()
            .filter_map(|(name, entry)| Some((name.clone(), entry.about.as_ref()?.captured)))
            .filter(|(name, captured)| *captured < keep && folder.holder(name) == Holder::Unchanged)
            .collect();
        for (name, captured) in &old {
            folder.remove(name)?;
            let (path, day) = (self.out.join(name), crate::times::day(*captured));
            ui::say(&format!("removed: {}, captured on {day}", path.display()));
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

/// The name of a session's trace: by its id, with a number if a trace of that name must stay.
fn free_name(folder: &OutputFolder<About>, taken: &Taken) -> String {
    let id = plain_name(&taken.session.id);
    let is_ours =
        |about: &About| about.session == taken.session.id && about.source_bytes <= taken.bytes;
    let is_free = |name: &String| match folder.holder(name) {
        Holder::None => true,
        Holder::Unchanged => {
            let about = folder.files().get(name).and_then(|entry| entry.about.as_ref());
            about.is_none_or(is_ours)
        }
        Holder::Edited | Holder::Other => false,
    };
    let numbered = (2..u32::MAX).map(|number| format!("{id}-{number}.md"));
    let mut names = std::iter::once(format!("{id}.md")).chain(numbered);
    names.find(is_free).unwrap_or_else(|| format!("{id}.md"))
}

/// Facts as far as they may be written.
fn cleared(redactor: Option<&Redactor>, facts: &[Fact]) -> Vec<Fact> {
    let scrubber = redactor.map(Redactor::session);
    let clear = |text: &String| match &scrubber {
        Some(scrubber) => scrubber.scrub(text).into_owned(),
        None => text.clone(),
    };
    facts.iter().map(|(name, text)| (name.clone(), clear(text))).collect()
}

fn view(facts: &[Fact], now: Timestamp) -> Result<View, CliError> {
    let mut view = View::new(config::zone());
    view.prices = Some(Arc::new(prices::read(None)?));
    view.facts = facts.to_vec();
    view.facts.push(("Captured".to_owned(), view.time(now)));
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
