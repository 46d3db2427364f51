//! What a state is and how it is written.

use super::{OnUnknown, Tokenizer, VersionRange};

/// What a state is and how it is written.
#[derive(Debug, Clone, Copy)]
pub struct StateOptions<'o> {
    /// What counts as one action.
    pub granularity: Granularity,
    /// The form of messages.
    pub messages: MessageStyle,
    /// Where the system prompt comes from.
    pub system: SystemPrompt<'o>,
    /// What to do with subagents.
    pub subagents: Subagents,
    /// What to do with thinking.
    pub thinking: Thinking,
    /// The front of the history is dropped until it is as short.
    pub max_history_tokens: Option<u64>,
    /// How tokens of a history are counted.
    pub tokenizer: Tokenizer<'o>,
    /// Actions with fewer characters are skipped.
    pub min_action_chars: usize,
    /// What to do with answers that the client wrote itself.
    pub synthetic: Synthetic,
    /// Which messages become states.
    pub chain: Chain,
    /// Versions of the client that are known to be fine, and what is done about others.
    pub versions: Option<(&'o VersionRange, OnUnknown)>,
    /// Whether states after a failed call are marked.
    pub tool_errors: ToolErrors,
    /// How histories are written.
    pub layout: Layout,
    /// Which fields a state has.
    pub view: StateView,
    /// Whether records of the files are counted.
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
    /// As the OpenAI API has them.
    OpenAi,
    /// As the Anthropic API has them.
    Anthropic,
    /// All content as text.
    Text,
}

/// What is in front of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemPrompt<'o> {
    /// The real one where the trace holds it.
    Auto,
    /// No system prompt.
    None,
    /// This text.
    Text(&'o str),
}

/// What becomes of subagents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subagents {
    /// They are skipped.
    Skip,
    /// After the session, under their own ids.
    Separate,
    /// After the message that started them.
    Inline,
}

/// Whether thinking is in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// It is left out.
    Strip,
    /// It is kept.
    Keep,
}

/// Whether messages that the client made itself become states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synthetic {
    /// They are skipped.
    Skip,
    /// They are included.
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
    /// They are marked.
    Mark,
    /// They are like all others.
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
    /// Those of a state only.
    State,
    /// With `teacher_id`, `reward` and `hint_text`, all null.
    Example,
}

/// Whether the fate of every record of the files is counted, for which they are read once more.
#[derive(Debug, Clone, Copy)]
pub enum Records {
    /// They are not counted.
    Leave,
    /// They are counted, in a separate reading.
    Count,
}
