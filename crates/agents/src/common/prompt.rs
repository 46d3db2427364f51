//! Prompts as they were typed, and what a program added.

use backstory_model::{Block, Content, PromptBlock};

/// The first words of a prompt on one line.
pub(super) fn one_line(text: &str) -> String {
    const LONGEST: usize = 400;
    let parts = text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty());
    let line = parts.collect::<Vec<_>>().join(" ");
    line.chars().take(LONGEST).collect()
}

/// A prompt that was typed.
pub(crate) fn typed(text: Content) -> PromptBlock {
    PromptBlock { block: Block::Text(text), context: false }
}

/// Something added to a prompt by a program.
pub(crate) fn context(text: Content) -> PromptBlock {
    PromptBlock { block: Block::Text(text), context: true }
}
