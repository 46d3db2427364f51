//! Statistics of a value's characters: counts of digits and letters, and how many letters belong to
//! words of programs or read like natural language.

use crate::judge::false_positives::is_sequence;
use crate::judge::wordlike;

/// What a value is made of.
#[derive(Debug, Default)]
pub(crate) struct CharStats {
    pub(crate) length: usize,
    pub(crate) digits: usize,
    pub(crate) upper: usize,
    pub(crate) lower: usize,
    pub(crate) other: usize,
    /// Letters that belong to words that programs are made of.
    in_words: usize,
    /// Letters in runs that read like a language.
    like_words: usize,
    /// Changes between letters and digits.
    pub(crate) changes: usize,
    /// Signs that join the words of a name: `_`, `-`, `.`, `/`, `:`.
    joints: usize,
    /// Made of words that stand for a value, or that name an algorithm.
    is_stock: bool,
}

/// Words that stand for a value, and names of algorithms, with whatever number.
const STOCK: [&str; 39] = [
    "password", "passwd", "pass", "pwd", "token", "key", "user", "username", "test", "foo", "bar",
    "name", "value", "sample", "demo", "abc", "abcd", "my", "new", "old", "sha", "md", "aes",
    "rsa", "base", "utf", "hmac", "ed", "pbkdf", "string", "the", "of", "some", "any", "this",
    "node", "python", "version", "line",
];

impl CharStats {
    pub(crate) fn of(value: &str) -> CharStats {
        let mut stats = CharStats { length: value.len(), ..CharStats::default() };
        let mut before = Kind::Other;
        for byte in value.bytes() {
            let kind = Kind::of(byte);
            match kind {
                Kind::Digit => stats.digits += 1,
                Kind::Upper => stats.upper += 1,
                Kind::Lower => stats.lower += 1,
                Kind::Other => stats.other += 1,
            }
            stats.joints += usize::from(b"_-./:,;()[]{}<>".contains(&byte));
            let change = (before == Kind::Digit) != (kind == Kind::Digit)
                && before != Kind::Other
                && kind != Kind::Other;
            stats.changes += usize::from(change);
            before = kind;
        }
        stats.is_stock = true;
        for run in runs(value) {
            let lower = run.to_ascii_lowercase();
            stats.is_stock &= STOCK.contains(&lower.as_str());
            let covered = wordlike::dictionary_coverage(&lower);
            stats.in_words +=
                if lower.len() <= 2 && wordlike::is_word(&lower) { lower.len() } else { covered };
            let is_made_up = lower.bytes().all(|byte| matches!(byte, b'a'..=b'f'))
                || is_sequence(lower.get(..lower.len().min(12)).unwrap_or_default());
            let reads = lower.len() >= 4 && !is_made_up && wordlike::bigram_surprisal(&lower) < 4.4;
            stats.like_words += if reads { lower.len() } else { covered };
        }
        stats
    }

    fn letters(&self) -> usize {
        self.upper + self.lower
    }

    /// Nearly all of it are words that programs are made of, perhaps with a number.
    pub(crate) fn is_words(&self) -> bool {
        let left = self.letters() - self.in_words.min(self.letters());
        left * 5 <= self.letters() && self.digits * 2 <= self.letters()
    }

    /// Without the signs that join the words of a name.
    pub(crate) fn joins_nothing(&self) -> bool {
        self.joints == 0
    }

    /// A word that somebody made a password of, by digits and signs: `Summer2024`, `Tiger21!`. Not
    /// one of the words that stand for a value.
    pub(crate) fn is_decorated_word(&self) -> bool {
        let signs = self.digits + self.other;
        self.letters() >= 4
            && self.digits >= 2
            && self.joints == 0
            && signs * 2 <= self.length + 2
            && !self.is_stock
    }

    /// Digits among letters, or letters that follow each other as in no language.
    pub(crate) fn is_mixed_or_odd(&self) -> bool {
        let left = self.letters() - self.like_words.min(self.letters());
        self.changes >= 2
            || (self.digits >= 2 && left * 3 > self.letters())
            || left * 2 > self.letters()
    }

    /// Nothing of it reads like a language.
    pub(crate) fn is_random(&self) -> bool {
        let left = self.letters() - self.like_words.min(self.letters());
        if self.digits >= 3 && self.changes >= 3 && (left * 3 > self.letters() || self.changes >= 6)
        {
            return true;
        }
        if self.length >= 16 && self.digits >= 4 && self.other == 0 && left * 2 >= self.letters() {
            return true;
        }
        self.letters() >= 10 && left * 10 > self.letters() * 8 && self.other * 8 <= self.length
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Digit,
    Upper,
    Lower,
    Other,
}

impl Kind {
    fn of(byte: u8) -> Kind {
        match byte {
            b'0'..=b'9' => Kind::Digit,
            b'A'..=b'Z' => Kind::Upper,
            b'a'..=b'z' => Kind::Lower,
            _ => Kind::Other,
        }
    }
}

/// Runs of letters, cut where camel case begins a word.
pub(crate) fn runs(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at).is_some_and(|byte| !byte.is_ascii_alphabetic()) {
            at += 1;
        }
        let start = at;
        let mut before_lower = false;
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii_alphabetic()) {
            if byte.is_ascii_uppercase() && at > start {
                let next_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
                // What stands before it is a letter of the same run.
                if before_lower || next_lower {
                    break;
                }
            }
            before_lower = byte.is_ascii_lowercase();
            at += 1;
        }
        (at > start).then(|| text.get(start..at).unwrap_or_default())
    })
}
