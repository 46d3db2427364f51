//! Prompts as they were typed, and what a program added.

use backstory_model::{Block, Content, PromptBlock};

/// A prompt that was typed.
pub(crate) fn typed(text: Content) -> PromptBlock {
    PromptBlock { block: Block::Text(text), context: false }
}

/// Something added to a prompt by a program.
pub(crate) fn context(text: Content) -> PromptBlock {
    PromptBlock { block: Block::Text(text), context: true }
}
