//! What one message took, and sums of that.

use super::{Cost, Prices};

/// Sums over messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Messages.
    pub messages: u64,
    /// Messages that never got their final count: their output is a lower bound.
    pub incomplete: u64,
    /// Messages without any count.
    pub without_usage: u64,
    /// Messages of subagents whose file is gone, which are not counted; known for totals only.
    pub lost: u64,
    /// Tool calls.
    pub calls: u64,
    /// Tokens of prompts, outside any cache.
    pub input: u64,
    /// Tokens that models wrote.
    pub output: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Tokens written to a cache.
    pub cache_write: u64,
    /// Those written for five minutes.
    pub cache_write_5m: u64,
    /// Those written for an hour.
    pub cache_write_1h: u64,
    /// Web searches of the API.
    pub web_searches: u64,
    /// Costs at list prices.
    pub cost: Cost,
}

impl Figures {
    /// The figures of one message.
    pub(super) fn of(message: &super::Message, prices: &Prices) -> Figures {
        let mut figures =
            Figures { messages: 1, calls: message.calls.len() as u64, ..Figures::default() };
        let Some(spent) = &message.spent else {
            figures.without_usage = 1;
            return figures;
        };
        let tokens = &spent.tokens;
        figures.incomplete = u64::from(!message.finished);
        figures.input = tokens.input;
        figures.output = tokens.output;
        figures.cache_read = tokens.cache_read;
        figures.cache_write = tokens.cache_write;
        figures.cache_write_5m = tokens.cache_write_5m.unwrap_or(0);
        figures.cache_write_1h = tokens.cache_write_1h.unwrap_or(0);
        figures.web_searches = spent.web_searches;
        figures.cost =
            Cost::of(message.model.as_deref().and_then(|model| prices.price(model, spent)));
        figures
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Figures) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.messages, other.messages);
        add(&mut self.incomplete, other.incomplete);
        add(&mut self.without_usage, other.without_usage);
        add(&mut self.lost, other.lost);
        add(&mut self.calls, other.calls);
        add(&mut self.input, other.input);
        add(&mut self.output, other.output);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.cache_write_5m, other.cache_write_5m);
        add(&mut self.cache_write_1h, other.cache_write_1h);
        add(&mut self.web_searches, other.web_searches);
        self.cost.add(other.cost);
    }

    /// All tokens.
    pub fn tokens(&self) -> u64 {
        [self.output, self.cache_read, self.cache_write]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }

    /// Whether the counts are only a lower bound.
    pub fn at_least(&self) -> bool {
        self.incomplete > 0 || self.without_usage > 0 || self.lost > 0
    }

    /// Whether there are messages, but none with a count.
    pub fn is_uncounted(&self) -> bool {
        self.messages > 0 && self.without_usage == self.messages
    }

    /// What it cost; none where there are messages, but none with a count and a price.
    pub fn known_cost(&self) -> Option<Cost> {
        (self.cost.priced > 0 || self.messages == 0).then_some(self.cost)
    }

    /// Whether the cost is only a lower bound.
    pub fn costs_at_least(&self) -> bool {
        self.at_least() || self.cost.unpriced > 0
    }
}
