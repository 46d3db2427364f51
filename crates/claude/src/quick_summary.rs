//! What the two ends of a file say of the whole.

use crate::rows::Rows;
use crate::titles;
use aho_corasick::packed::Searcher;
use backstory_format::claude::RecordKind;
use backstory_format::line::split;
use backstory_format::slice::Part;
use backstory_format::{Limits, Reader};
use backstory_model::{SessionKind, Title};
use jiff::Timestamp;
use memchr::{memchr, memmem, memrchr};
use std::sync::{Arc, LazyLock};

/// Facts that do not need the middle of the file.
#[derive(Debug)]
pub(super) struct QuickSummary {
    pub(super) cwd: Option<Arc<str>>,
    pub(super) title: Option<Title>,
    pub(super) branch: Option<Arc<str>>,
    pub(super) started: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
    /// Whether it is a fork of another session.
    pub(super) forked: bool,
}

/// What a record that gives a title contains. Inside a JSON string the quotes would be escaped,
/// so content does not look like this, except where a field has one of these names. The quote
/// before is left out: a search that starts at quotes would stop at every string.
static TITLE_MARKERS: LazyLock<Option<Searcher>> =
    LazyLock::new(|| Searcher::new(["custom-title\"", "ai-title\"", "last-prompt\"", "summary\""]));

pub(super) const LONGEST_TITLE_MARKER: usize = "custom-title\"".len();

/// A place in the next line that may be a record that gives a title.
pub(super) fn find_title(bytes: &[u8]) -> Option<usize> {
    match TITLE_MARKERS.as_ref() {
        Some(markers) => markers.find(bytes).map(|found| found.start()),
        None => (!bytes.is_empty()).then_some(0),
    }
}

/// Reads the ends; `None` when the middle could change the answer. `gap` says whether there is a
/// middle at all, `middle_has_titles` looks whether a title may stand in it.
pub(super) fn quick_summary(
    head: &[u8],
    tail: &[u8],
    gap: bool,
    middle_has_titles: impl FnOnce() -> bool,
) -> Option<QuickSummary> {
    let (first, last, title) = if gap {
        let first = Ends::of(head.get(..memrchr(b'\n', head)? + 1)?, Start::Read);
        let last = Ends::of(tail.get(memchr(b'\n', tail)? + 1..)?, Start::Skip);
        let title = match final_title(&last.rows, &first.rows) {
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
        let whole = Ends::of(head, Start::Read);
        let title = whole.title(head);
        (whole, None, title)
    };
    let rows = &first.rows;
    let end = last.as_ref().unwrap_or(&first);
    let found = QuickSummary {
        title,
        cwd: rows.cwds.names().first().and_then(|name| rows.names.shared(*name)),
        branch: end.branch.clone(),
        started: rows.started,
        ended: end.ended,
        forked: rows.forked_from.is_some(),
    };
    // With a middle, what an end does not say may still stand there.
    let known = found.cwd.is_some()
        && found.branch.is_some()
        && found.started.is_some()
        && found.ended.is_some();
    (known || !gap).then_some(found)
}

/// What the records at the start and at the end of some lines say, and all records that may give
/// a title.
struct Ends {
    /// Of the start and of records that may give a title.
    rows: Rows,
    ended: Option<Timestamp>,
    branch: Option<Arc<str>>,
}

/// Whether lines are the start of a file, which says where and with which prompt it began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Read,
    Skip,
}

impl Ends {
    fn of(bytes: &[u8], start: Start) -> Ends {
        let mut rows = Rows::default();
        let mut reader = Reader::new(Limits::default());
        let mut rest = bytes;
        let begun = |rows: &Rows| {
            let placed = !rows.cwds.names().is_empty();
            rows.started.is_some() && rows.first_prompt.is_some() && placed
        };
        while start == Start::Read && !begun(&rows) {
            let Some(line) = split(rest).next() else { break };
            rest = rest.part(line.width()..);
            reader.line(line, &mut rows);
        }
        let (last_time, last_branch) = last_named(rest);
        let ended = last_time.or(rows.ended);
        let branch =
            last_branch.or_else(|| rows.last_branch.and_then(|name| rows.names.shared(name)));
        while let Some(at) = find_title(rest) {
            let before = rest.part(..at);
            rest = rest.part(memrchr(b'\n', before).map_or(0, |at| at + 1)..);
            let Some(line) = split(rest).next() else { break };
            rest = rest.part(line.width()..);
            reader.line(line, &mut rows);
        }
        Ends { rows, ended, branch }
    }

    /// The title, if these are all lines of the file.
    fn title(&self, whole: &[u8]) -> Option<Title> {
        titles::title_where(&self.rows, SessionKind::Session, |leaf| {
            let uuid = [b"\"", self.rows.names.bytes(leaf), b"\""].concat();
            memmem::find_iter(whole, &uuid).any(|at| {
                let before = whole.part(..at).trim_ascii_end();
                let key = before.strip_suffix(b":").unwrap_or_default().trim_ascii_end();
                key.ends_with(b"\"uuid\"")
            })
        })
    }
}

/// The last time and the last branch that any record names. Reads from the end, and only lines
/// that may name what is still missing.
fn last_named(bytes: &[u8]) -> (Option<Timestamp>, Option<Arc<str>>) {
    let mut end = bytes.len();
    let (mut time, mut branch) = (None, None);
    let mut branch_known = !names_branch(bytes);
    let mut rows = Rows::default();
    let mut reader = Reader::new(Limits::default());
    while end > 0 && !(time.is_some() && branch_known) {
        let before = bytes.part(..end);
        let content = before.strip_suffix(b"\n").unwrap_or(before);
        let start = memrchr(b'\n', content).map_or(0, |at| at + 1);
        let line = bytes.part(start..end);
        end = start;
        let may_tell = (time.is_none() && memmem::find(line, b"\"timestamp\"").is_some())
            || (!branch_known && names_branch(line));
        if !may_tell {
            continue;
        }
        (rows.ended, rows.last_branch) = (None, None);
        for line in split(line) {
            reader.line(line, &mut rows);
        }
        time = time.or(rows.ended);
        branch = branch.or_else(|| rows.last_branch.and_then(|name| rows.names.shared(name)));
        branch_known |= branch.is_some();
    }
    (time, branch)
}

/// A title that the middle cannot overrule.
fn final_title(last: &Rows, first: &Rows) -> Option<Title> {
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
        let rest = bytes.part(at + FIELD.len()..).trim_ascii_start();
        let value = rest.strip_prefix(b":").unwrap_or_default().trim_ascii_start();
        !value.starts_with(b"\"\"")
    })
}
