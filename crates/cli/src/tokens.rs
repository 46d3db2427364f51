//! Tokenizers by name, with their vocabularies inside the program.

use backstory_export::{CountTokens, Tokenizer};
use clap::ValueEnum;
use std::fmt;

/// What counts tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenizerChoice {
    /// A quarter of the characters of the message as it is written
    Estimate,
    /// OpenAI's of GPT-3.5 and GPT-4
    #[value(name = "cl100k")]
    Cl100k,
    /// OpenAI's of GPT-4o and later
    #[value(name = "o200k")]
    O200k,
}

impl TokenizerChoice {
    pub(crate) fn tokenizer(self) -> Tokenizer<'static> {
        match self {
            TokenizerChoice::Estimate => Tokenizer::Estimate,
            TokenizerChoice::Cl100k => Tokenizer::Named(&Cl100k),
            TokenizerChoice::O200k => Tokenizer::Named(&O200k),
        }
    }
}

struct Cl100k;
struct O200k;

impl CountTokens for Cl100k {
    fn name(&self) -> &str {
        "cl100k"
    }

    fn count(&self, text: &str) -> u64 {
        count(tiktoken_rs::cl100k_base_singleton(), text)
    }
}

impl CountTokens for O200k {
    fn name(&self) -> &str {
        "o200k"
    }

    fn count(&self, text: &str) -> u64 {
        count(tiktoken_rs::o200k_base_singleton(), text)
    }
}

/// Bytes that are counted at once: its search for words gives up in very long runs.
const PIECE: usize = 1 << 16;

fn count(tokens: &tiktoken_rs::CoreBPE, text: &str) -> u64 {
    let mut rest = text;
    let mut sum = 0;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(end(rest));
        sum += tokens.count_ordinary(piece) as u64;
        rest = more;
    }
    sum
}

/// Where the next piece ends: with a line if it can.
fn end(text: &str) -> usize {
    if text.len() <= PIECE {
        return text.len();
    }
    let most = (0..=PIECE).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let line = text.get(..most).and_then(|piece| piece.rfind('\n'));
    line.map_or(most, |line| line + 1)
}

impl fmt::Debug for Cl100k {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for O200k {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_tiktoken() {
        // From tiktoken 0.14.0.
        for (text, cl100k, o200k) in [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("fn main() {\n    println!(\"{}\", 1_000_000);\n}\n", 15, 15),
            ("\u{e9}t\u{e9} \u{65e5}\u{672c}\u{8a9e} \u{1f600}   \n\n\t x", 9, 7),
        ] {
            assert_eq!(Cl100k.count(text), cl100k, "{text}");
            assert_eq!(O200k.count(text), o200k, "{text}");
        }
        // Runs that quadratic or recursive implementations choke on.
        for run in ["a", " ", "\n", "\u{65e5}", "+"] {
            assert!(O200k.count(&run.repeat(1 << 20)) > 1000, "{run:?}");
        }
        let lines = "one line of words\n".repeat(10_000);
        assert_eq!(Cl100k.count(&lines), 10_000 * Cl100k.count("one line of words\n"));
    }
}
