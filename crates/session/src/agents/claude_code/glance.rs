//! What the two ends of a file say of the whole.

use super::rows::Rows;
use super::titles;
use crate::model::{SessionKind, Title};
use backstory_format::claude::RecordKind;
use backstory_format::line::split;
use backstory_format::{Limits, Reader, read_all};
use jiff::Timestamp;
use memchr::{memchr, memmem, memrchr};
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
    let (first, last, title) = if gap {
        let first = Ends::of(head.get(..memrchr(b'\n', head)? + 1)?);
        let last = Ends::of(tail.get(memchr(b'\n', tail)? + 1..)?);
        let title = match settled_title(&last.rows, &first.rows) {
            Some(title) => title,
            None if first.rows.titles.is_empty()
                && last.rows.titles.is_empty()
                && !middle_has_titles() =>
            {
                first.rows.first_prompt.as_ref()?;
                titles::title(&first.rows, SessionKind::Session)?
            }
            None => return None,
        };
        (first, Some(last), Some(title))
    } else {
        let whole = Ends::of(head);
        let title = whole.title(head);
        (whole, None, title)
    };
    let rows = &first.rows;
    let end = last.as_ref().map_or(rows, |last| &last.rows);
    let glance = Glance {
        title,
        cwd: rows.cwds.names().first().and_then(|name| rows.names.shared(*name)),
        branch: end.last_branch.and_then(|name| end.names.shared(name)),
        started: rows.started,
        ended: end.ended,
    };
    // With a middle, what an end does not say may still stand there.
    let known = glance.cwd.is_some()
        && glance.branch.is_some()
        && glance.started.is_some()
        && glance.ended.is_some();
    (known || !gap).then_some(glance)
}

/// What the records at the start and at the end of some lines say, and all records between them
/// that may give a title.
struct Ends {
    rows: Rows,
}

impl Ends {
    fn of(bytes: &[u8]) -> Ends {
        let mut rows = Rows::default();
        let mut reader = Reader::new(Limits::default());
        let mut rest = bytes;
        let begun = |rows: &Rows| {
            let placed = !rows.cwds.names().is_empty();
            rows.started.is_some() && rows.first_prompt.is_some() && placed
        };
        while !begun(&rows) {
            let Some(line) = split(rest).next() else { break };
            rest = rest.get(line.width()..).unwrap_or_default();
            reader.line(line, &mut rows);
        }
        let end = last_lines(rest);
        let between = rest.get(..rest.len() - end.len()).unwrap_or_default();
        let may_hold_title = |bytes: &[u8]| {
            TITLE_MARKERS.iter().any(|marker| memmem::find(bytes, marker.as_bytes()).is_some())
        };
        if may_hold_title(between) {
            for line in split(between).filter(|line| may_hold_title(line.content)) {
                reader.line(line, &mut rows);
            }
        }
        for line in split(end) {
            reader.line(line, &mut rows);
        }
        Ends { rows }
    }

    /// The title, if these are all lines of the file.
    fn title(&self, whole: &[u8]) -> Option<Title> {
        titles::title_where(&self.rows, SessionKind::Session, |leaf| {
            let uuid = [b"\"", self.rows.names.bytes(leaf), b"\""].concat();
            memmem::find_iter(whole, &uuid).any(|at| {
                let before = whole.get(..at).unwrap_or_default().trim_ascii_end();
                let key = before.strip_suffix(b":").unwrap_or_default().trim_ascii_end();
                key.ends_with(b"\"uuid\"")
            })
        })
    }
}

/// The end of `bytes` from the line that holds the last time and the last branch, whichever comes
/// first.
fn last_lines(bytes: &[u8]) -> &[u8] {
    let mut start = bytes.len();
    let (mut time, mut branch) = (false, !names_branch(bytes));
    while start > 0 && !(time && branch) {
        let before = bytes.get(..start).unwrap_or_default();
        let content = before.strip_suffix(b"\n").unwrap_or(before);
        let line_start = memrchr(b'\n', content).map_or(0, |at| at + 1);
        let mut line = Rows::default();
        read_all(bytes.get(line_start..start).unwrap_or_default(), Limits::default(), &mut line);
        time |= line.ended.is_some();
        branch |= line.last_branch.is_some();
        start = line_start;
    }
    bytes.get(start..).unwrap_or_default()
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

/// Whether any record may name a branch; outside a repository the field is empty, in old clients
/// it is absent, and looking for it record by record would mean to read them all.
fn names_branch(bytes: &[u8]) -> bool {
    const FIELD: &[u8] = b"\"gitBranch\"";
    memmem::find_iter(bytes, FIELD).any(|at| {
        let rest = bytes.get(at + FIELD.len()..).unwrap_or_default().trim_ascii_start();
        let value = rest.strip_prefix(b":").unwrap_or_default().trim_ascii_start();
        !value.starts_with(b"\"\"")
    })
}
