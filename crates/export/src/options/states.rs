//! What a state is and how it is written.

use super::{OnUnknown, Tokenizer, VersionRange};

/// What a state is and how it is written.
#[derive(Debug, Clone, Copy)]
pub struct StateOptions<'o> {
    pub granularity: Granularity,
    pub messages: MessageStyle,
    pub system: SystemPrompt<'o>,
    pub subagents: Subagents,
    pub thinking: Thinking,
    /// The front of the history is dropped until it is as short.
    pub max_history_tokens: Option<u64>,
    pub tokenizer: Tokenizer<'o>,
    pub min_action_chars: usize,
    pub synthetic: Synthetic,
    pub chain: Chain,
    /// Versions of the client that are known to be fine, and what is done about others.
    pub versions: Option<(&'o VersionRange, OnUnknown)>,
    pub tool_errors: ToolErrors,
    pub layout: Layout,
    pub view: StateView,
    pub records: Records,
}

impl Default for StateOptions<'_> {
    fn default() -> Self {
        StateOptions {
            granularity: Granularity::Step,
            messages: MessageStyle::OpenAi,
            system: SystemPrompt::Auto,
            subagents: Subagents::Skip,
            thinking: Thinking::Strip,
            max_history_tokens: None,
            tokenizer: Tokenizer::Estimate,
            min_action_chars: 1,
            synthetic: Synthetic::Skip,
            chain: Chain::Active,
            versions: None,
            tool_errors: ToolErrors::Mark,
            layout: Layout::Full,
            view: StateView::State,
            records: Records::Leave,
        }
    }
}

/// What one state is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granularity {
    /// A message of the model.
    Step,
    /// Each call of a message; the history is that of the message.
    ToolUse,
}

/// How messages of the history look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageStyle {
    OpenAi,
    Anthropic,
    Text,
}

/// What stands in front of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemPrompt<'o> {
    /// The real one where the trace holds it.
    Auto,
    None,
    Text(&'o str),
}

/// What becomes of subagents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subagents {
    Skip,
    /// After the session, under their own ids.
    Separate,
    /// After the message that started them.
    Inline,
}

/// Whether thinking is in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    Strip,
    Keep,
}

/// Whether messages that the client made itself become states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synthetic {
    Skip,
    Include,
}

/// Which messages of models become states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chain {
    /// Those that the client would resume with.
    Active,
    /// Those before a compaction or a lost parent, too.
    Story,
}

/// Whether states after a failed call are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolErrors {
    Mark,
    Ignore,
}

/// How histories are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A line for each state with its whole history.
    Full,
    /// A line for each conversation; states say which messages are theirs.
    Compact,
}

/// Which fields a state has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateView {
    State,
    /// With `teacher_id`, `reward` and `hint_text`, all null.
    Example,
}

/// Whether the fate of every record of the files is counted, for which they are read once more.
#[derive(Debug, Clone, Copy)]
pub enum Records {
    Leave,
    Count,
}
