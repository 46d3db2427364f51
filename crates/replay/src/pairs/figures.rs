//! What became of every state, in numbers that add up.

use super::agreement::Agreement;
use backstory_model::Money;
use serde::Serialize;
use std::collections::BTreeMap;

/// Why a state is no pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The teachers did the same as the student.
    AgreeWithStudent,
    /// Too few teachers agree with each other.
    NoConsensus,
    /// Too few teachers answered.
    TooFewAnswers,
    /// All calls failed.
    AllErrors,
    /// The gate left it out.
    Gated,
    /// No teacher was asked.
    NotAsked,
    /// The action calls a tool that was not offered.
    InvalidTool,
    /// The arguments do not fit the tool's definition.
    InvalidArguments,
    /// The action is too short.
    TooShort,
    /// The action or the prompt is too long.
    TooLong,
    /// Its history is empty or ends with the model.
    NoPrompt,
    /// An equal row was written.
    Duplicate,
    /// A nearly equal row was written.
    NearDuplicate,
    /// It holds a secret.
    Secret,
}

impl Reason {
    /// All reasons, in the order of reports.
    pub const ALL: [Reason; 14] = [
        Reason::AgreeWithStudent,
        Reason::NoConsensus,
        Reason::TooFewAnswers,
        Reason::AllErrors,
        Reason::Gated,
        Reason::NotAsked,
        Reason::InvalidTool,
        Reason::InvalidArguments,
        Reason::TooShort,
        Reason::TooLong,
        Reason::NoPrompt,
        Reason::Duplicate,
        Reason::NearDuplicate,
        Reason::Secret,
    ];

    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Reason::AgreeWithStudent => "agree_with_student",
            Reason::NoConsensus => "no_consensus",
            Reason::TooFewAnswers => "too_few_answers",
            Reason::AllErrors => "all_errors",
            Reason::Gated => "gated",
            Reason::NotAsked => "not_asked",
            Reason::InvalidTool => "invalid_tool",
            Reason::InvalidArguments => "invalid_arguments",
            Reason::TooShort => "too_short",
            Reason::TooLong => "too_long",
            Reason::NoPrompt => "no_prompt",
            Reason::Duplicate => "duplicate",
            Reason::NearDuplicate => "near_duplicate",
            Reason::Secret => "secret",
        }
    }
}

/// What the journal held.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct JournalFigures {
    /// Lines of the journal.
    pub lines: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Runs.
    pub runs: u64,
    /// Calls with an answer or an error.
    pub calls: u64,
    /// Calls of a teacher that was asked about the state before.
    pub superseded: u64,
    /// Calls that were not made because the first teacher agreed with the student.
    pub tiered: u64,
    /// Calls about states that the states file does not have.
    pub unknown_states: u64,
    /// What they cost.
    pub cost_usd: Money,
    /// Answers whose price is not known.
    pub unpriced: u64,
}

/// What became of every state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// What the journal holds.
    pub journal: JournalFigures,
    /// States.
    pub states: u64,
    /// Lines of the states file that are no conversation, and states whose id came before.
    pub unreadable_lines: u64,
    /// States whose id occurred before.
    pub repeated_states: u64,
    /// Pairs.
    pub pairs: u64,
    /// Why other states are no pairs.
    pub reasons: BTreeMap<Reason, u64>,
    /// Rows of states where teachers agree with the student, and why others of them are no rows.
    pub sft_rows: u64,
    /// Why states of agreement are not rows, by reason.
    pub sft_reasons: BTreeMap<Reason, u64>,
    /// Rows for KTO: single answers, wanted or not.
    pub kto_rows: u64,
    /// Rows that were written.
    pub rows: u64,
    /// Text next to a call, which the format has no place for.
    pub left_out_words: u64,
    /// Calls that were checked by their definitions, and calls that have none.
    pub checked_calls: u64,
    /// Calls whose tool has no definition.
    pub calls_without_schema: u64,
    /// How often teachers agree.
    pub agreement: Agreement,
}

impl Figures {
    /// Whether each state has one fate.
    pub fn add_up(&self) -> bool {
        let sum = |reasons: &BTreeMap<Reason, u64>| reasons.values().sum::<u64>();
        self.states == self.pairs + sum(&self.reasons)
            && self.reason(Reason::AgreeWithStudent) == self.sft_rows + sum(&self.sft_reasons)
            && self.kto_rows == 2 * self.pairs + self.sft_rows
    }

    /// How many states are no pairs for a reason.
    pub fn reason(&self, reason: Reason) -> u64 {
        self.reasons.get(&reason).copied().unwrap_or(0)
    }
}
