//! Tool calls and their results, joined by call id.
//!
//! Never by parent: in 2.0 more than half of parallel results hang off another record.

use crate::names::Name;
use crate::recovery::Groups;
use crate::rows::{BlockPart, Row, RowIndex, Rows};
use backstory_format::claude::BlockKind;
use backstory_format::{Problem, ProblemId};
use backstory_model::{Block, CallResult, Content, OrphanResult, Problems, Span};
use std::borrow::Cow;

/// The results of every call of a file.
#[derive(Debug)]
pub(super) struct Results {
    by_call: Vec<Option<(RowIndex, u32)>>,
    /// Further results of the same call id, in file order.
    repeats: Vec<(Name, RowIndex, u32)>,
}

impl Results {
    pub(super) fn new(rows: &Rows) -> Results {
        let mut by_call: Vec<Option<(RowIndex, u32)>> = vec![None; rows.names.len()];
        let mut repeats = Vec::new();
        for (at, row) in rows.rows.iter().enumerate().filter(|(_, row)| !row.repeated) {
            for (number, block) in rows.blocks_of(row).iter().enumerate() {
                if block.kind != BlockKind::ToolResult || !block.id.is_some() {
                    continue;
                }
                match by_call.get_mut(block.id.index()) {
                    Some(slot @ None) => *slot = Some((at as RowIndex, number as u32)),
                    _ => repeats.push((block.id, at as RowIndex, number as u32)),
                }
            }
        }
        Results { by_call, repeats }
    }

    /// The row and block that answer a call.
    pub(super) fn find<'r>(&self, rows: &'r Rows, call: Name) -> Option<(&'r Row, &'r BlockPart)> {
        self.find_nth(rows, call, 0)
    }

    /// The same for the call that is the `nth` to use its id: gateways reuse ids, and then the
    /// results come in the order of the calls.
    pub(super) fn find_nth<'r>(
        &self,
        rows: &'r Rows,
        call: Name,
        nth: usize,
    ) -> Option<(&'r Row, &'r BlockPart)> {
        let first = (*self.by_call.get(call.index())?)?;
        let (row, block) = match nth.checked_sub(1) {
            None => first,
            Some(later) => {
                let same = self.repeats.iter().filter(|(id, _, _)| *id == call);
                same.map(|(_, row, block)| (*row, *block)).nth(later).unwrap_or(first)
            }
        };
        let row = rows.row(row)?;
        Some((row, rows.blocks_of(row).get(block as usize)?))
    }

    /// Results whose call is nowhere in the file.
    pub(super) fn orphans(
        &self,
        rows: &Rows,
        groups: &Groups<'_>,
        problems: &mut Problems,
    ) -> Vec<OrphanResult> {
        let mut orphans = Vec::new();
        for row in rows.rows.iter().filter(|row| !row.repeated) {
            for block in
                rows.blocks_of(row).iter().filter(|block| block.kind == BlockKind::ToolResult)
            {
                if !groups.has_owner(block.id) && !made_here(rows, row, block.id) {
                    problems.push(problem(ProblemId::OrphanResult, row));
                    orphans.push(OrphanResult {
                        call_id: rows.names.text(block.id),
                        uuid: rows.names.text(row.uuid),
                        line: u64::from(row.line),
                    });
                }
            }
        }
        orphans
    }

    pub(super) fn report(&self, rows: &Rows, groups: &Groups<'_>, problems: &mut Problems) {
        for (call, at, block) in &self.repeats {
            let copy = rows.row(*at).and_then(|row| rows.blocks_of(row).get(*block as usize));
            let first = self.find(rows, *call).map(|(_, block)| block.hash);
            // A client that writes its history again repeats results as they are.
            let same = copy.is_some_and(|block| Some(block.hash) == first);
            if let Some(row) = rows.row(*at).filter(|_| !same) {
                problems.push(problem(ProblemId::DuplicateResult, row));
            }
        }
        let mut claimed = hashbrown::HashMap::new();
        let mut made = hashbrown::HashSet::new();
        for row in rows.rows.iter().filter(|row| !row.repeated) {
            let message = rows.message(row).map_or(Name::NONE, |part| part.id);
            for block in rows.blocks_of(row).iter().filter(|block| block.kind == BlockKind::ToolUse)
            {
                if groups.is_ambiguous(block.id) {
                    match claimed.insert(block.id, message) {
                        Some(earlier) if earlier != message => {
                            problems.push(problem(ProblemId::DuplicateCallId, row));
                            continue;
                        }
                        _ => {}
                    }
                }
                // What the file holds again is no later than when it was first written.
                let first = made.insert(block.id);
                let result = self.find(rows, block.id).filter(|_| first);
                if result.is_some_and(|(result, _)| result.line < row.line) {
                    problems.push(problem(ProblemId::ResultBeforeCall, row));
                }
            }
        }
    }
}

/// Whether the record itself makes the call: tools that the API runs answer in the same message.
fn made_here(rows: &Rows, row: &Row, call: Name) -> bool {
    call.is_some()
        && rows
            .blocks_of(row)
            .iter()
            .any(|block| block.kind == BlockKind::ToolUse && block.id == call)
}

pub(super) fn problem(id: ProblemId, row: &Row) -> Problem {
    Problem {
        id,
        line: u64::from(row.line),
        offset: row.offset,
        length: u64::from(row.length),
        detail: Cow::Borrowed(""),
    }
}

/// The neutral form of a result.
pub(super) fn result(rows: &Rows, row: &Row, block: &BlockPart) -> CallResult {
    let part = rows.message(row);
    let mut result = CallResult {
        outcome: block.outcome,
        uuid: rows.names.text(row.uuid),
        line: u64::from(row.line),
        timestamp: row.timestamp,
        text: Vec::new(),
        blocks: Vec::new(),
        structured: part.and_then(|part| part.structured).map(Content::Json),
        persisted: part.and_then(|part| part.persisted).map(Content::Text),
    };
    result.text.extend(block.payload.map(Content::Text));
    for part in rows.nested(block) {
        match self::block(rows, part) {
            Some(Block::Text(text)) => result.text.push(text),
            other => result.blocks.extend(other),
        }
    }
    result
}

/// The neutral form of a block that is not a result.
pub(super) fn block(rows: &Rows, block: &BlockPart) -> Option<Block> {
    let text = |span: Option<Span>| span.map(Content::Text);
    Some(match block.kind {
        BlockKind::Text => match block.text {
            Some(span) => Block::Text(Content::Text(span)),
            None => other(rows, block),
        },
        BlockKind::Thinking => {
            Block::Thinking { text: text(block.text), signed: block.signed, redacted: false }
        }
        BlockKind::RedactedThinking => {
            Block::Thinking { text: None, signed: block.signed, redacted: true }
        }
        BlockKind::Image => {
            Block::Image { media_type: rows.names.shared(block.name), data: text(block.text) }
        }
        BlockKind::Document => {
            Block::Document { media_type: rows.names.shared(block.name), data: text(block.text) }
        }
        BlockKind::Other => other(rows, block),
        BlockKind::ToolUse | BlockKind::ToolResult => return None,
    })
}

fn other(rows: &Rows, block: &BlockPart) -> Block {
    Block::Other { type_name: rows.names.shared(block.name), value: Content::Json(block.value) }
}
