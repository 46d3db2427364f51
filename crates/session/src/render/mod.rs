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
mod index_row;
mod markdown;
mod outline;
mod participants;
mod sink;
mod summary;
mod talk;
mod terminal;
mod turn_items;
mod view;
mod walk;
mod words;

pub use diff::FileDiff;
pub use heading::title;
pub use html::write_index as write_html_index;
pub use index_row::{IndexRow, Neighbours};
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
