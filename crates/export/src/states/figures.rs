//! What became of the messages of models: states, or reasons why not. Together they are all.

use std::collections::BTreeMap;

/// Why a message of a model is in no state's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skipped {
    OffChain,
    Synthetic,
    Subagent,
    EmptyAction,
    ShortAction,
    WithoutUuid,
    TooLong,
    Version,
    /// It stands before any prompt, where no trainer can place it.
    NoPrompt,
    /// The client ran it for itself, with a copy of the conversation.
    ClientRun,
}

impl Skipped {
    pub const ALL: [Skipped; 10] = [
        Skipped::OffChain,
        Skipped::Synthetic,
        Skipped::Subagent,
        Skipped::EmptyAction,
        Skipped::ShortAction,
        Skipped::WithoutUuid,
        Skipped::TooLong,
        Skipped::Version,
        Skipped::NoPrompt,
        Skipped::ClientRun,
    ];

    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Skipped::OffChain => "off_chain",
            Skipped::Synthetic => "synthetic",
            Skipped::Subagent => "subagent",
            Skipped::EmptyAction => "empty_action",
            Skipped::ShortAction => "short_action",
            Skipped::WithoutUuid => "without_uuid",
            Skipped::TooLong => "too_long",
            Skipped::Version => "version",
            Skipped::NoPrompt => "no_prompt",
            Skipped::ClientRun => "client_run",
        }
    }

    /// What follows a number of messages.
    pub fn words(self) -> &'static str {
        match self {
            Skipped::OffChain => "off the chain",
            Skipped::Synthetic => "of the client",
            Skipped::Subagent => "of subagents",
            Skipped::EmptyAction => "empty",
            Skipped::ShortAction => "too short",
            Skipped::WithoutUuid => "without id",
            Skipped::TooLong => "with too long a history",
            Skipped::Version => "of other versions",
            Skipped::NoPrompt => "before any prompt",
            Skipped::ClientRun => "of runs of the client itself",
        }
    }
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disposition {
    /// Nobody looked at it.
    Unseen,
    Answer,
    Skipped(Skipped),
}

/// States and messages that are none, which together are all messages of models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateFigures {
    pub messages: u64,
    pub states: u64,
    /// Messages of which several states were made, and how many more that is.
    pub extra_states: u64,
    /// Calls of such messages that are too short for a state of their own.
    pub short_calls: u64,
    /// Lines that were made of them.
    pub rows: u64,
    pub skipped: BTreeMap<Skipped, u64>,
    pub cut_histories: u64,
    pub after_error: u64,
    /// Words before a call, which a format has no place for.
    pub left_out_words: u64,
    /// Messages of clients outside the range of versions, by version.
    pub outside: BTreeMap<String, u64>,
    pub versions: BTreeMap<String, u64>,
    pub models: BTreeMap<String, u64>,
}

impl StateFigures {
    pub(crate) fn skip(&mut self, reason: Skipped) -> Disposition {
        *self.skipped.entry(reason).or_default() += 1;
        Disposition::Skipped(reason)
    }

    /// How many were skipped for a reason.
    pub fn skipped(&self, reason: Skipped) -> u64 {
        self.skipped.get(&reason).copied().unwrap_or(0)
    }

    /// Adds those of another session.
    pub fn add(&mut self, other: &StateFigures) {
        self.messages += other.messages;
        self.states += other.states;
        self.extra_states += other.extra_states;
        self.short_calls += other.short_calls;
        self.rows += other.rows;
        self.cut_histories += other.cut_histories;
        self.after_error += other.after_error;
        self.left_out_words += other.left_out_words;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(*reason).or_default() += count;
        }
        add_counts(&mut self.outside, &other.outside);
        add_counts(&mut self.versions, &other.versions);
        add_counts(&mut self.models, &other.models);
    }

    /// Whether states and skips are all messages.
    pub fn add_up(&self) -> bool {
        let skipped: u64 = self.skipped.values().sum();
        self.messages + self.extra_states == self.states + skipped
    }
}

pub(super) fn add_counts(sums: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (name, count) in more {
        match sums.get_mut(name) {
            Some(sum) => *sum += count,
            None => {
                sums.insert(name.clone(), *count);
            }
        }
    }
}
