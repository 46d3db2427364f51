//! What to make of sessions, and how.

mod sft;
mod states;
mod tokens;
mod versions;

pub use sft::{Arguments, Per, SftFormat, SftOptions};
pub use states::{
    Chain, Granularity, Layout, MessageStyle, Records, StateOptions, StateView, Subagents,
    Synthetic, SystemPrompt, Thinking, ToolErrors,
};
pub use tokens::{CountTokens, Tokenizer};
pub use versions::{OnUnknown, VersionRange};

use crate::commits::Repositories;
use backstory_redact::{Raw, Redactor};
use backstory_session::stats::Prices;

/// What to make of sessions.
#[derive(Debug, Clone, Copy)]
pub enum Format<'o> {
    OpenTraces(OpenTracesSchema),
    Atif(AtifSchema),
    AgentTrace,
    TraceState(StateOptions<'o>),
    Sft(SftOptions<'o>),
}

impl<'o> Format<'o> {
    /// What is to stand in front of histories.
    pub(crate) fn system_prompt(self) -> Option<SystemPrompt<'o>> {
        match self {
            Format::TraceState(states) => Some(states.system),
            Format::Sft(sft) => Some(sft.states.system),
            _ => None,
        }
    }

    /// Whether it says whose lines are whose.
    pub(crate) fn needs_lines(self) -> bool {
        matches!(self, Format::OpenTraces(_) | Format::AgentTrace)
    }
}

/// Versions of OpenTraces' `TraceRecord`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenTracesSchema {
    V0_9,
    V0_3,
}

/// Versions of ATIF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtifSchema {
    V1_7,
    V1_8,
}

/// What the output depends on besides the session.
#[derive(Debug, Clone, Copy)]
pub struct Options<'o> {
    pub format: Format<'o>,
    /// Which snapshot of a session this is, for those who export it again and again.
    pub generation: u64,
    /// Characters of each tool result to keep; all without it.
    pub max_observation: Option<usize>,
    pub repositories: Repositories<'o>,
    pub prices: &'o Prices,
}

/// What is done about secrets.
#[derive(Debug, Clone, Copy)]
pub enum Secrets<'r> {
    TakenOut(&'r Redactor),
    Kept(Raw),
}
