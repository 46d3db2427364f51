//! Sessions for people: terminal, plain text, Markdown, HTML.
//!
//! A [`View`] says what is kept, [`walk`] goes through the session once for every format, and a
//! format writes what it is handed. Content streams from the session's file to the output.

mod call;
mod diff;
mod edits;
mod fields;
mod heading;
mod html;
mod markdown;
mod outline;
mod participants;
mod sink;
mod terminal;
mod view;
mod walk;

pub use diff::FileDiff;
pub use heading::title;
pub use html::write_index as write_html_index;
pub use markdown::write_index as write_markdown_index;
pub use sink::RenderError;
pub use terminal::Look;
pub use view::{DEFAULT_RESULT, Parts, TurnRange, View};

use backstory_model::{Hunk, Session};
use std::io::Write;

/// The lines in which two texts differ, with what surrounds them; none when they are equal.
pub fn difference(old: &str, new: &str) -> Option<Hunk> {
    if old == new { None } else { diff::compare(old, new) }
}

/// Writes a session as Markdown.
pub fn markdown(session: &Session, view: &View, out: impl Write) -> Result<(), RenderError> {
    walk::walk(session, view, &mut markdown::Markdown::new(out, view))
}

/// Writes a session as one page that needs nothing else.
pub fn html(session: &Session, view: &View, out: impl Write) -> Result<(), RenderError> {
    walk::walk(session, view, &mut html::Html::new(out, view))
}

/// Writes a session for a terminal, or as plain text.
pub fn terminal(
    session: &Session,
    view: &View,
    look: Look,
    out: impl Write,
) -> Result<(), RenderError> {
    walk::walk(session, view, &mut terminal::Terminal::new(out, view, look))
}

/// A line of an index of sessions.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IndexRow {
    /// Name of the file next to the index.
    pub file: String,
    /// The session's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its project.
    pub project: String,
    /// Its first time.
    pub started: Option<jiff::Timestamp>,
    /// Its last time.
    pub ended: Option<jiff::Timestamp>,
    /// Turns.
    pub turns: u64,
    /// Tool calls.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Tokens, subagents included.
    pub tokens: u64,
    /// Models that answered.
    pub models: Vec<String>,
}

impl IndexRow {
    /// The line of a session that was written to `file`.
    pub fn of(session: &Session, file: &str) -> IndexRow {
        let project = session.cwds.first().map(ToString::to_string);
        IndexRow {
            file: file.to_owned(),
            id: session.id.clone(),
            title: title(session),
            project: project.or_else(|| session.project_key.clone()).unwrap_or_default(),
            started: session.started,
            ended: session.ended,
            turns: session.counts.turns,
            calls: session.counts.calls,
            errors: session.counts.errors,
            tokens: session.walk().iter().map(|one| one.usage.total()).fold(0, u64::saturating_add),
            models: session.models.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Rows by project, the newest first in each.
fn by_project<'a>(rows: &'a [IndexRow]) -> Vec<(&'a str, Vec<&'a IndexRow>)> {
    let mut groups: std::collections::BTreeMap<&'a str, Vec<&'a IndexRow>> = Default::default();
    for row in rows {
        groups.entry(&row.project).or_default().push(row);
    }
    for rows in groups.values_mut() {
        rows.sort_by_key(|row| (std::cmp::Reverse(row.ended), row.file.as_str()));
    }
    groups.into_iter().collect()
}
