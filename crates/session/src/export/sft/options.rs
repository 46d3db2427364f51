//! What rows for supervised training look like.

use crate::export::StateOptions;

/// How rows are made. Of the options of states, all that are about messages hold here too.
#[derive(Debug, Clone, Copy)]
pub struct SftOptions<'o> {
    pub format: SftFormat,
    pub per: Per,
    pub arguments: Arguments,
    pub states: StateOptions<'o>,
}

/// Whose rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SftFormat {
    Trl,
    LlamaFactory,
    Axolotl,
    OpenAi,
    Verl,
    SkyRl,
}

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// A conversation up to its end or to a compaction.
    Session,
    /// A message of the model with its history.
    Step,
}

/// How inputs of calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arguments {
    Object,
    /// JSON in a string.
    Text,
}

impl SftFormat {
    /// Whether there is a place for thinking.
    pub fn has_thinking(self) -> bool {
        !matches!(self, SftFormat::LlamaFactory | SftFormat::OpenAi)
    }
}
