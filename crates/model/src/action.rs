//! What a tool call does, whatever the agent calls its tools.
//!
//! Readers make these on demand, from the call and its result, so that reading a session
//! does not pay for them.

use crate::{Content, Effect, FileEdit};
use std::borrow::Cow;

/// What a call does, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// It changes a file.
    Edit,
    /// It reads a file.
    Read,
    /// It looks for files, or in files.
    Search,
    /// It runs a command in a shell.
    Shell,
    /// It starts a subagent.
    Subagent,
    /// It asks the user.
    Question,
    /// It says what is planned.
    Plan,
    /// It keeps a list of what is to be done.
    Todos,
    /// Anything else.
    Other,
}

impl ActionKind {
    /// What an effect is.
    pub fn of(effect: &Effect) -> ActionKind {
        match effect {
            Effect::Edit(_) => ActionKind::Edit,
            Effect::Read { .. } => ActionKind::Read,
            Effect::Shell { .. } => ActionKind::Shell,
        }
    }
}

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action<'c> {
    /// To change a file.
    Edit(Cow<'c, FileEdit>),
    /// To read a file.
    Read {
        /// As the agent wrote it.
        path: Cow<'c, str>,
    },
    /// To run a command in a shell.
    Shell {
        /// As the shell gets it.
        command: Cow<'c, Content>,
    },
    /// To have a subagent work.
    Subagent(Assignment),
}

/// What a subagent is to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The sort of agent.
    pub kind: Option<String>,
    /// A few words for the user.
    pub description: Option<String>,
    /// The instruction.
    pub prompt: Option<String>,
}

/// What a call saw of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<'c> {
    /// As the agent's program wrote it.
    pub path: Cow<'c, str>,
    /// The first line that was seen, from 1.
    pub first: Option<u64>,
    /// How many lines were seen.
    pub lines: Option<u64>,
    /// What was seen.
    pub content: Cow<'c, Content>,
    /// That is the whole file.
    pub whole: bool,
}

impl<'c> From<&'c Effect> for Action<'c> {
    fn from(effect: &'c Effect) -> Action<'c> {
        match effect {
            Effect::Edit(edit) => Action::Edit(Cow::Borrowed(edit)),
            Effect::Read { path, .. } => Action::Read { path: Cow::Borrowed(path) },
            Effect::Shell { command } => Action::Shell { command: Cow::Borrowed(command) },
        }
    }
}
