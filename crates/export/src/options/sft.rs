//! What rows for supervised training look like.

use super::StateOptions;
use std::borrow::Cow;

/// How rows are made. Of the options of states, all that are about messages hold here too.
#[derive(Debug, Clone, Copy)]
pub struct SftOptions<'o> {
    /// The format of the rows.
    pub format: SftFormat,
    /// What one row holds.
    pub per: Per,
    /// How inputs of calls are written.
    pub arguments: Arguments,
    /// How states are made.
    pub states: StateOptions<'o>,
}

/// Whose rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SftFormat {
    /// TRL.
    Trl,
    /// LLaMA-Factory.
    LlamaFactory,
    /// Axolotl.
    Axolotl,
    /// OpenAI fine-tuning.
    OpenAi,
    /// verl.
    Verl,
    /// SkyRL.
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
    /// As a JSON object.
    Object,
    /// JSON in a string.
    Text,
}

/// Characters that a name of a function may have for OpenAI.
const LONGEST_NAME: usize = 64;

impl SftFormat {
    /// The name of a tool as the format allows it: OpenAI refuses others, which models do write,
    /// and LLaMA-Factory puts them into its templates, whose own marks they may hold.
    pub fn fitting(self, name: &str) -> Cow<'_, str> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        match name {
            "" => Cow::Borrowed("unknown"),
            name if !matches!(self, SftFormat::OpenAi | SftFormat::LlamaFactory) => {
                Cow::Borrowed(name)
            }
            name if name.len() <= LONGEST_NAME && name.chars().all(fits) => Cow::Borrowed(name),
            name => {
                let letters = name.chars().map(|letter| if fits(letter) { letter } else { '_' });
                Cow::Owned(letters.take(LONGEST_NAME).collect())
            }
        }
    }

    /// Whether messages say if they are to be learned.
    pub(crate) fn has_marks(self) -> bool {
        matches!(self, SftFormat::OpenAi | SftFormat::Axolotl)
    }

    /// Whether there is a place for thinking.
    pub fn has_thinking(self) -> bool {
        !matches!(self, SftFormat::LlamaFactory | SftFormat::OpenAi)
    }
}
