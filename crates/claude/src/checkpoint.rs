//! Whether a conversation went on from the place that the client noted last.
//!
//! The note is written when a turn ends, so records after it are usually below it. They are not
//! when somebody went back to another branch, and then the note counts. Parallel calls look like
//! branches, too: their results hang from different records of one answer.

use crate::links::Links;
use crate::names::Name;
use crate::recovery::{holds_result, is_note, result_ids};
use crate::rows::{Row, RowIndex, Rows};
use backstory_format::claude::{BlockKind, RecordKind};

/// Whether the `last` row of the file belongs to what follows the noted `place`. `direct`: being
/// below it is enough.
pub(super) fn continues(links: &Links<'_>, place: RowIndex, last: RowIndex, direct: bool) -> bool {
    place != last
        && (is_below(links, place, last, direct) || follows_split_answer(links, place, last))
}

/// An answer whose calls are played in parallel.
#[derive(Debug, Default)]
struct Batch {
    /// The record that makes the call at hand, and the id of its message.
    row: Option<RowIndex>,
    message: Option<Name>,
    calls: Vec<Name>,
    /// Calls that are answered at the noted place.
    answered: Vec<Name>,
    /// The answer is known from a hook's record only.
    by_hook: bool,
    /// Records of the answer above it.
    above: Vec<RowIndex>,
}

impl Batch {
    /// The batch that a place belongs to.
    fn at(links: &Links<'_>, place: RowIndex) -> Batch {
        let rows = links.rows;
        let row = |at: RowIndex| rows.row(at);
        let mut batch = Batch::default();
        let mut note = None;
        let mut at = Some(place);
        for above in links.ancestors(place) {
            at = Some(above);
            if !row(above).is_some_and(|row| is_note(rows, row)) {
                break;
            }
            (note, at) = (Some(above), None);
        }
        let found = at.and_then(row);
        if let Some(result) = found.filter(|row| holds_result(rows, row)) {
            batch.answered = result_ids(rows, result).collect();
            batch.row = at.and_then(|at| links.parent(at));
        } else if let Some(note) = note.and_then(row) {
            let call = rows.attachment(note).and_then(|part| part.call.some());
            let message = found.and_then(|row| message_of(rows, row));
            if let (Some(at), Some(message), Some(call)) = (at, message, call) {
                let answer = std::iter::once(at).chain(answer_above(links, at, message));
                batch.row = answer
                    .into_iter()
                    .find(|at| row(*at).is_some_and(|row| calls(rows, row).any(|one| one == call)));
                batch.answered = batch.row.map_or_else(Vec::new, |_| vec![call]);
                batch.by_hook = batch.row.is_some();
            }
        } else {
            batch.row = at;
        }
        let Some(made) = batch.row.and_then(row) else { return batch };
        batch.calls = calls(rows, made).collect();
        if let Some(message) = message_of(rows, made).filter(|_| !batch.calls.is_empty()) {
            batch.message = Some(message);
            batch.above = batch.row.map_or_else(Vec::new, |at| answer_above(links, at, message));
        }
        batch
    }
}

fn is_below(links: &Links<'_>, place: RowIndex, last: RowIndex, direct: bool) -> bool {
    let rows = links.rows;
    let batch = if rows.checkpoint.chosen { Batch::default() } else { Batch::at(links, place) };
    let (mut below, mut in_answer) = (None::<&Row>, false);
    for at in links.ancestors(last) {
        if direct && at == place {
            return true;
        }
        let Some(row) = rows.row(at) else { return false };
        if let Some(message) = batch.message {
            if in_answer && batch.row == Some(at) {
                return true;
            }
            let own = message_of(rows, row) == Some(message) && batch.row != Some(at);
            if own && calls(rows, row).next().is_some() {
                if batch.above.contains(&at) {
                    return true;
                }
                in_answer = true;
            } else if !is_of_answer(rows, row, message) {
                in_answer = false;
            }
        }
        let called = |call: &Name| batch.calls.contains(call);
        if batch.row == Some(at)
            && let Some(below) = below
            && batch.answered.iter().any(called)
            && result_ids(rows, below).any(|call| {
                let other = if batch.by_hook {
                    batch.calls.len() > 1
                } else {
                    !batch.answered.contains(&call)
                };
                called(&call) && other
            })
        {
            return true;
        }
        below = Some(row);
    }
    false
}

/// An answer without calls in several records, with hooks' records between: what came after may
/// hang from one of those instead of the last record.
fn follows_split_answer(links: &Links<'_>, place: RowIndex, last: RowIndex) -> bool {
    let rows = links.rows;
    let Some(end) = rows.row(place) else { return false };
    let Some(message) = message_of(rows, end) else { return false };
    let above = answer_above(links, place, message);
    let is_answer =
        |at: &RowIndex| rows.row(*at).is_some_and(|row| row.kind == RecordKind::Assistant);
    let Some(first) = above.iter().rposition(is_answer) else { return false };
    let mut between = above.iter().take(first).filter(|at| !is_answer(at));
    let Some(fork) = between.next().copied() else { return false };
    let plain = |at: &RowIndex| {
        rows.row(*at).is_some_and(|row| {
            row.kind == RecordKind::Attachment
                || row.kind == RecordKind::System && !rows.is_notice(row, b"local_command")
        })
    };
    let makes_calls =
        |at: &RowIndex| rows.row(*at).is_some_and(|row| calls(rows, row).next().is_some());
    if !plain(&fork) || !between.all(plain) || makes_calls(&place) || above.iter().any(makes_calls)
    {
        return false;
    }
    let (mut spoken, mut top) = (false, None);
    let mut reached = false;
    for at in links.ancestors(last) {
        if at == fork {
            reached = true;
            break;
        }
        let Some(row) = rows.row(at) else { return false };
        let prompt = row.kind == RecordKind::User && !row.flags.meta && !holds_result(rows, row);
        spoken |= row.kind == RecordKind::Assistant || prompt;
        top = Some((at, row));
    }
    let Some((top, top_row)) = top.filter(|_| reached && spoken) else { return false };
    let since_rewind = rows.checkpoint.rewound.is_none_or(|rows| top >= rows);
    let open = links.held().all(|(at, row)| {
        let below = links.parent(at);
        below != Some(place) && (below != Some(last) || row.flags.sidechain || is_note(rows, row))
    });
    top_row.timestamp > end.timestamp && since_rewind && open
}

/// Records above a row that belong to the same answer.
fn answer_above(links: &Links<'_>, row: RowIndex, message: Name) -> Vec<RowIndex> {
    let above = links.ancestors(row).skip(1);
    above
        .take_while(|at| {
            *at != row
                && links.rows.row(*at).is_some_and(|row| is_of_answer(links.rows, row, message))
        })
        .collect()
}

/// Whether a record may stand among those of an answer.
fn is_of_answer(rows: &Rows, row: &Row, message: Name) -> bool {
    match row.kind {
        RecordKind::Assistant => message_of(rows, row) == Some(message),
        RecordKind::User => row.flags.meta || holds_result(rows, row),
        _ => is_note(rows, row),
    }
}

fn message_of(rows: &Rows, row: &Row) -> Option<Name> {
    rows.message(row).filter(|_| row.kind == RecordKind::Assistant)?.id.some()
}

fn calls<'r>(rows: &'r Rows, row: &Row) -> impl Iterator<Item = Name> + 'r {
    let made = row.kind == RecordKind::Assistant;
    let blocks = rows.blocks_of(row).iter().filter(move |_| made);
    blocks.filter(|block| block.kind == BlockKind::ToolUse).filter_map(|block| block.id.some())
}
