//! What a state is, how it is written, and what is counted.

/// What a state is and how it is written.
#[derive(Debug, Clone, Copy)]
pub struct StateOptions<'o> {
    pub granularity: Granularity,
    pub messages: MessageStyle,
    pub system: SystemPrompt<'o>,
    pub subagents: Subagents,
    pub thinking: Thinking,
    /// Whole turns are dropped from the front until the history is as short; a token is taken for
    /// four characters.
    pub max_history_tokens: Option<u64>,
    pub min_action_chars: usize,
    pub synthetic: Synthetic,
    pub layout: Layout,
    pub view: StateView,
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
            min_action_chars: 1,
            synthetic: Synthetic::Skip,
            layout: Layout::Full,
            view: StateView::State,
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

/// States and messages that are none, which together are all messages of models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StateFigures {
    pub messages: u64,
    pub states: u64,
    /// Messages of which several states were made, and how many more that is.
    pub extra_states: u64,
    pub off_chain: u64,
    pub synthetic: u64,
    pub subagent: u64,
    pub empty_action: u64,
    pub short_action: u64,
    pub without_uuid: u64,
    pub cut_histories: u64,
    pub after_error: u64,
}

impl StateFigures {
    /// Adds those of another session.
    pub fn add(&mut self, other: &StateFigures) {
        self.messages += other.messages;
        self.states += other.states;
        self.extra_states += other.extra_states;
        self.off_chain += other.off_chain;
        self.synthetic += other.synthetic;
        self.subagent += other.subagent;
        self.empty_action += other.empty_action;
        self.short_action += other.short_action;
        self.without_uuid += other.without_uuid;
        self.cut_histories += other.cut_histories;
        self.after_error += other.after_error;
    }

    /// Whether states and skips are all messages.
    pub fn add_up(&self) -> bool {
        let skipped = self.off_chain
            + self.synthetic
            + self.subagent
            + self.empty_action
            + self.short_action
            + self.without_uuid;
        self.messages == self.states - self.extra_states + skipped
    }
}
