//! How large a conversation is, by what its parts are.

use crate::clone::{Category, Estimate};
use crate::recovery::Link;
use crate::rows::is_message;
use crate::rows::{BlockPart, PromptShape, Row, Rows};
use backstory_format::claude::{BlockKind, RecordKind};
use backstory_format::{Limits, read_all};
use backstory_model::Recovered;

/// Messages of a chain, and how much of what they hold.
pub(super) fn estimate(rows: &Rows, chain: &[Link]) -> (u64, Estimate) {
    let mut estimate = Estimate::default();
    let mut messages = 0;
    for (at, _) in chain.iter().filter(|(_, why)| *why != Some(Recovered::Copy)) {
        messages += rows.row(*at).map_or(0, |row| u64::from(add_row(rows, row, &mut estimate)));
    }
    (messages, estimate)
}

/// What one row adds to the conversation.
pub(super) fn row_tokens(rows: &Rows, row: &Row) -> u64 {
    let mut estimate = Estimate::default();
    add_row(rows, row, &mut estimate);
    estimate.tokens()
}

/// What a record adds to the conversation that is not a row of the source.
pub(super) fn record_tokens(record: &[u8], limits: Limits) -> u64 {
    let mut rows = Rows::default();
    read_all(record, limits, &mut rows);
    rows.rows.iter().map(|row| row_tokens(&rows, row)).sum()
}

/// Adds a row; says whether it is a message.
fn add_row(rows: &Rows, row: &Row, estimate: &mut Estimate) -> bool {
    if !is_message(row) || row.flags.sidechain {
        return false;
    }
    if row.flags.api_error {
        return true;
    }
    let shape = rows.message(row).map_or(PromptShape::None, |part| part.prompt);
    let words = match (row.kind, shape) {
        (RecordKind::Assistant, _) => Category::Answers,
        (_, PromptShape::Prompt | PromptShape::Command | PromptShape::BashInput) => {
            Category::Prompts
        }
        _ => Category::Injected,
    };
    for block in rows.blocks_of(row) {
        add(rows, block, words, estimate);
    }
    true
}

fn add(rows: &Rows, block: &BlockPart, words: Category, estimate: &mut Estimate) {
    let whole = u64::from(block.value.length);
    let text = block.text.map_or(whole, |text| u64::from(text.length));
    match block.kind {
        BlockKind::Text => estimate.add(words, text),
        BlockKind::Thinking | BlockKind::RedactedThinking => estimate.add(Category::Thinking, text),
        BlockKind::ToolUse => {
            let input = block.payload.map_or(whole, |input| u64::from(input.length));
            estimate.add(Category::ToolInputs, input);
        }
        BlockKind::ToolResult => {
            let nested = rows.nested(block);
            let pictures = nested.iter().filter(|one| one.kind == BlockKind::Image);
            for picture in pictures {
                estimate.add(Category::Images, u64::from(picture.value.length));
            }
            let texts = nested.iter().filter(|one| one.kind == BlockKind::Text);
            let texts = texts.map(|one| one.text.map_or(0, |text| u64::from(text.length)));
            let plain = block.payload.map_or(0, |text| u64::from(text.length));
            estimate.add(Category::ToolResults, plain + texts.sum::<u64>());
        }
        BlockKind::Image | BlockKind::Document => estimate.add(Category::Images, whole),
        BlockKind::Other => estimate.add(words, whole),
    }
}
