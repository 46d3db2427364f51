//! Token totals.

use backstory_format::claude::Usage;

/// A sum of token counts over messages. Additions saturate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageTotal {
    /// Tokens of prompts outside any cache.
    pub input: u64,
    /// Tokens that models wrote.
    pub output: u64,
    /// Tokens of prompts that a cache held.
    pub cache_read: u64,
    /// Tokens of prompts that were put into a cache.
    pub cache_write: u64,
    /// The part of `cache_write` kept for five minutes; none where no message says.
    pub cache_write_5m: Option<u64>,
    /// The part of `cache_write` kept for an hour; none where no message says.
    pub cache_write_1h: Option<u64>,
    /// How many messages were added up.
    pub messages: u64,
    /// At least one message never got its final count, so `output` is a lower bound.
    pub incomplete: bool,
}

impl UsageTotal {
    /// The usage of one message.
    pub fn of(usage: &Usage, incomplete: bool) -> UsageTotal {
        UsageTotal {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_write_5m: usage.cache_write_5m,
            cache_write_1h: usage.cache_write_1h,
            messages: 1,
            incomplete,
        }
    }

    /// The counts alone.
    pub fn tokens(&self) -> Usage {
        Usage {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_5m: self.cache_write_5m,
            cache_write_1h: self.cache_write_1h,
            odd: false,
        }
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &UsageTotal) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_5m = add_known(self.cache_write_5m, other.cache_write_5m);
        self.cache_write_1h = add_known(self.cache_write_1h, other.cache_write_1h);
        self.messages = self.messages.saturating_add(other.messages);
        self.incomplete |= other.incomplete;
    }

    /// Everything that was processed or produced.
    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }
}

fn add_known(first: Option<u64>, second: Option<u64>) -> Option<u64> {
    match (first, second) {
        (Some(first), Some(second)) => Some(first.saturating_add(second)),
        (known, None) | (None, known) => known,
    }
}
