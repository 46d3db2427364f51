//! What messages took, without the rest of the model: enough to count tokens and costs.

use backstory_format::claude::Usage;
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use jiff::Timestamp;
use std::sync::Arc;

/// The speed a message was made at, which has a price of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Speed {
    #[default]
    Standard,
    Fast,
    /// One that this version does not know.
    Other,
}

/// Where a message was made, as far as it changes the price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Geography {
    #[default]
    Any,
    UnitedStates,
}

/// Tokens of one message and what else decides the price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub tokens: Usage,
    pub web_searches: u64,
    pub speed: Speed,
    pub geography: Geography,
}

/// How much is wanted of each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Usage,
    /// The calls it made, too.
    Calls,
}

/// One message of a model as one file states it.
#[derive(Debug)]
pub struct Expense {
    /// The message's id, else that of its record.
    pub id: Box<str>,
    pub model: Option<Arc<str>>,
    pub time: Option<Timestamp>,
    pub sidechain: bool,
    pub spent: Option<Spent>,
    /// Whether any record has the reason why the model stopped.
    pub finished: bool,
    /// A hash of each call's id, and the tool.
    pub calls: Vec<(u64, Arc<str>)>,
}

/// What one file says about spending.
#[derive(Debug, Default)]
pub struct FileSpending {
    /// What the session calls itself, where its file's name does not tell.
    pub session: Option<String>,
    pub cwd: Option<Arc<str>>,
    pub started: Option<Timestamp>,
    /// Whether its records say that they are copies of another session's.
    pub forked: bool,
    pub messages: Vec<Expense>,
    /// Ids of a subagent's messages that progress records repeat.
    pub copies: HashSet<Box<str>, FixedState>,
}
