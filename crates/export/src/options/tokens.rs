//! How long messages are, in tokens of a tokenizer.
//!
//! The vocabularies themselves are not here: they weigh megabytes, and only the program needs them.
//! Counted is what a chat template would show (words, tool names, inputs as JSON), not the ids and
//! the names of fields around it.

use serde_json::Value;
use std::fmt::Debug;

/// Counts tokens of a text.
pub trait CountTokens: Sync + Debug {
    /// The name under which users know it.
    fn name(&self) -> &str;
    /// Tokens of a text.
    fn count(&self, text: &str) -> u64;
}

/// What a token is.
#[derive(Debug, Clone, Copy)]
pub enum Tokenizer<'o> {
    /// Four characters of a message as it is written.
    Estimate,
    /// A vocabulary.
    Named(&'o dyn CountTokens),
}

/// Tokens that every chat template puts around a message, more or less.
const AROUND: u64 = 4;
const CHARACTERS: u64 = 4;

impl Tokenizer<'_> {
    /// The name, for reports.
    pub fn name(&self) -> &str {
        match self {
            Tokenizer::Estimate => "estimate",
            Tokenizer::Named(tokenizer) => tokenizer.name(),
        }
    }

    /// The weight of a message, of which [`tokens`](Tokenizer::tokens) makes a number of tokens.
    pub(crate) fn weigh(&self, message: &[u8]) -> u64 {
        match self {
            Tokenizer::Estimate => message.len() as u64,
            Tokenizer::Named(_) if message.is_empty() => 0,
            Tokenizer::Named(tokenizer) => match serde_json::from_slice(message) {
                Ok(value) => AROUND + shown(&value, *tokenizer),
                Err(_) => tokenizer.count(&String::from_utf8_lossy(message)),
            },
        }
    }

    pub(crate) fn tokens(&self, weight: u64) -> u64 {
        match self {
            Tokenizer::Estimate => weight / CHARACTERS,
            Tokenizer::Named(_) => weight,
        }
    }
}

fn shown(value: &Value, tokenizer: &dyn CountTokens) -> u64 {
    match value {
        Value::String(text) => tokenizer.count(text),
        Value::Array(items) => items.iter().map(|item| shown(item, tokenizer)).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match name.as_str() {
                "id" | "type" | "tool_call_id" | "tool_use_id" => 0,
                "arguments" | "input" => tokenizer.count(&value.to_string()),
                _ => shown(value, tokenizer),
            })
            .sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Words;

    impl CountTokens for Words {
        fn name(&self) -> &str {
            "words"
        }

        fn count(&self, text: &str) -> u64 {
            text.split_whitespace().count() as u64
        }
    }

    #[test]
    fn what_a_template_shows_is_counted() {
        let message = br#"{"role": "assistant", "content": "two words", "tool_calls": [{"id": "one two three", "type": "function", "function": {"name": "Bash", "arguments": {"command": "ls"}}}]}"#;
        let tokenizer = Tokenizer::Named(&Words);
        assert_eq!(tokenizer.tokens(tokenizer.weigh(message)), AROUND + 1 + 2 + 1 + 1);
        assert_eq!(tokenizer.weigh(b""), 0);
        assert_eq!(Tokenizer::Estimate.tokens(Tokenizer::Estimate.weigh(&[b'a'; 40])), 10);
    }
}
