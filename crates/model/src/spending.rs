//! What messages took, without the rest of the model: enough to count tokens and costs.

use backstory_format::claude::Usage;
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use jiff::Timestamp;
use std::sync::Arc;

/// The speed a message was made at, which has a price of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Speed {
    /// The usual price.
    #[default]
    Standard,
    /// Faster, for more.
    Fast,
    /// One that this version does not know.
    Other,
}

/// Where a message was made, as far as it changes the price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Geography {
    /// Wherever there is room.
    #[default]
    Any,
    /// Only there, for more.
    UnitedStates,
}

/// Tokens of one message and what else decides the price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// As the API counted them.
    pub tokens: Usage,
    /// Searches that the API made, each with its price.
    pub web_searches: u64,
    /// Changes the price of all tokens.
    pub speed: Speed,
    /// Changes the price of all tokens.
    pub geography: Geography,
}

/// How much is wanted of each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Tokens only.
    Usage,
    /// The calls it made, too.
    Calls,
}

/// One message of a model as one file states it.
#[derive(Debug)]
pub struct Expense {
    /// The message's id, else that of its record.
    pub id: Box<str>,
    /// The model that wrote it, where the record names one.
    pub model: Option<Arc<str>>,
    /// When it was written down.
    pub time: Option<Timestamp>,
    /// Made by a subagent.
    pub sidechain: bool,
    /// None where no record has a count.
    pub spent: Option<Spent>,
    /// Whether any record has the reason why the model stopped.
    pub finished: bool,
    /// A hash of each call's id, and the tool.
    pub calls: Vec<(u64, Arc<str>)>,
}

/// What one file says about spending.
#[derive(Debug, Default)]
pub struct FileSpending {
    /// The session's own id, if its file name does not have it.
    pub session: Option<String>,
    /// The folder that the first record names.
    pub cwd: Option<Arc<str>>,
    /// Time of the first record that has one.
    pub started: Option<Timestamp>,
    /// Whether its records say that they are copies of another session's.
    pub forked: bool,
    /// Each id once.
    pub messages: Vec<Expense>,
    /// Ids of a subagent's messages that progress records repeat.
    pub copies: HashSet<Box<str>, FixedState>,
}
