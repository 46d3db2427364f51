//! What the two ends of a file say of the whole.

use super::rows::Rows;
use super::titles;
use crate::model::{SessionKind, Title};
use backstory_format::claude::RecordKind;
use backstory_format::{Limits, read_all};
use jiff::Timestamp;
use memchr::{memchr, memrchr};
use std::sync::Arc;

/// Facts that do not need the middle of the file.
#[derive(Debug)]
pub(crate) struct Glance {
    pub(crate) cwd: Option<Arc<str>>,
    pub(crate) title: Option<Title>,
    pub(crate) branch: Option<Arc<str>>,
    pub(crate) started: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
}

/// What a record that gives a title contains. Inside a JSON string the quotes would be escaped,
/// so content does not look like this, except where a field has one of these names.
pub(crate) const TITLE_MARKERS: &[&str] =
    &["\"custom-title\"", "\"ai-title\"", "\"last-prompt\"", "\"summary\""];

/// Reads the ends; `None` when the middle could change the answer. `gap` says whether there is a
/// middle at all, `middle_has_titles` looks whether a title may stand in it.
pub(crate) fn glance(
    head: &[u8],
    tail: &[u8],
    gap: bool,
    middle_has_titles: impl FnOnce() -> bool,
) -> Option<Glance> {
    if !gap {
        // The ends touch: read them as what they are, one file.
        let rows = read(&[head, tail].concat());
        return Some(Glance {
            title: titles::title(&rows, SessionKind::Session),
            cwd: rows.cwds.names().first().and_then(|name| rows.names.shared(*name)),
            branch: rows.last_branch.and_then(|name| rows.names.shared(name)),
            started: rows.started,
            ended: rows.ended,
        });
    }
    let first = read(head.get(..memrchr(b'\n', head)? + 1)?);
    let last = read(tail.get(memchr(b'\n', tail)? + 1..)?);
    let title = match settled_title(&last, &first) {
        Some(title) => title,
        None if first.titles.is_empty() && last.titles.is_empty() && !middle_has_titles() => {
            first.first_prompt.as_ref()?;
            titles::title(&first, SessionKind::Session)?
        }
        None => return None,
    };
    Some(Glance {
        title: Some(title),
        cwd: Some(first.cwds.names().first().and_then(|name| first.names.shared(*name))?),
        branch: Some(last.last_branch.and_then(|name| last.names.shared(name))?),
        started: Some(first.started?),
        ended: Some(last.ended?),
    })
}

fn read(bytes: &[u8]) -> Rows {
    let mut rows = Rows::default();
    rows.totals = read_all(bytes, Limits::default(), &mut rows);
    rows
}

/// A title that the middle cannot overrule.
fn settled_title(last: &Rows, first: &Rows) -> Option<Title> {
    let has = |rows: &Rows, kind| {
        rows.titles.iter().any(|title| title.kind == kind && !title.text.is_empty())
    };
    // From 2.1.90 on the client repeats the titles it knows together with the last prompt.
    let custom = has(last, RecordKind::CustomTitle);
    let ai = has(last, RecordKind::AiTitle) && !has(first, RecordKind::CustomTitle);
    let prompt = has(last, RecordKind::LastPrompt)
        && !has(first, RecordKind::CustomTitle)
        && !has(first, RecordKind::AiTitle);
    if custom || ai || prompt { titles::title(last, SessionKind::Session) } else { None }
}
