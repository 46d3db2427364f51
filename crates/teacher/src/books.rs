//! The teacher's own books: what was received, what was answered, what it cost.

use std::collections::HashMap;
use std::time::Instant;

/// What was received and what became of it.
#[derive(Debug, Clone)]
pub struct Receipt {
    pub model: String,
    /// The end of the prompt: the words of its last message.
    pub last_text: String,
    pub idempotency_key: String,
    pub began: Instant,
    /// When the answer was made, if one was.
    pub answered: Option<Instant>,
    pub headers: Vec<(String, String)>,
    /// Whole, if the script says so.
    pub body: String,
}

/// The teacher's books.
#[derive(Debug, Clone, Default)]
pub struct Books {
    pub receipts: Vec<Receipt>,
    /// Picodollars by model.
    pub charged: HashMap<String, u128>,
    /// Answers that were charged, by model.
    pub answers: HashMap<String, u64>,
    /// Answers that were given again for nothing.
    pub repeated: u64,
    /// Requests with a wrong key or in no protocol.
    pub strange: u64,
}

impl Books {
    /// All that was charged, in picodollars.
    pub fn total(&self) -> u128 {
        self.charged.values().sum()
    }

    /// Answers that were charged.
    pub fn count(&self) -> u64 {
        self.answers.values().sum()
    }
}
