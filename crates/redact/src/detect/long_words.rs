//! Long words: runs of letters, digits, `_` and `-`, which most tokens are.
//!
//! Which rules need one is read off their expressions, so that the keywords of those rules (some are
//! two letters) are searched for only next to a long word.

use backstory_format::json::marks::{Runs, WordPart};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::Range;

/// What counts as long.
pub(crate) const LONG: usize = 15;
/// How far before its long word a match may begin.
pub(crate) const NEAR: usize = 64;

/// The long words of a text, in order.
pub(crate) fn long_words(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    Runs::<WordPart, LONG>::new(bytes)
}

/// Whether every match of an expression holds a long word that begins near its beginning.
pub(crate) fn has_long_word(expression: &str) -> bool {
    let Ok(parsed) = regex_syntax::parse(expression) else { return false };
    let told = Guaranteed::of(&parsed);
    told.best >= LONG && told.before.is_some_and(|before| before <= NEAR)
}

/// Whether every match of an expression is part of one long word, so that so is its keyword.
pub(crate) fn is_long_word(expression: &str) -> bool {
    let Ok(parsed) = regex_syntax::parse(expression) else { return false };
    let told = Guaranteed::of(&parsed);
    told.whole && told.head >= LONG
}

/// What is certain of all matches of a part of an expression.
#[derive(Debug, Clone, Copy)]
struct Guaranteed {
    /// Nothing but a word, of at least `head` letters.
    whole: bool,
    /// Letters at the beginning, at the end, and in the longest run anywhere.
    head: usize,
    tail: usize,
    best: usize,
    /// Bytes that may stand before the longest run.
    before: Option<usize>,
    /// Bytes it may be long.
    longest: Option<usize>,
}

impl Guaranteed {
    fn letters(count: usize, longest: Option<usize>) -> Guaranteed {
        let (head, tail, best) = (count, count, count);
        Guaranteed { whole: true, head, tail, best, before: Some(0), longest }
    }

    fn nothing(longest: Option<usize>) -> Guaranteed {
        Guaranteed { whole: false, head: 0, tail: 0, best: 0, before: Some(0), longest }
    }

    fn of(hir: &Hir) -> Guaranteed {
        let longest = hir.properties().maximum_len();
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Guaranteed::letters(0, Some(0)),
            HirKind::Literal(literal) => literal
                .0
                .iter()
                .map(|byte| {
                    if WordPart::holds(*byte) {
                        Guaranteed::letters(1, Some(1))
                    } else {
                        Guaranteed::nothing(Some(1))
                    }
                })
                .fold(Guaranteed::letters(0, Some(0)), Guaranteed::then),
            HirKind::Class(class) => {
                if is_letters(class) {
                    Guaranteed::letters(1, longest)
                } else {
                    Guaranteed::nothing(longest)
                }
            }
            HirKind::Repetition(repetition) => {
                let told = Guaranteed::of(&repetition.sub);
                match (told.whole, repetition.min) {
                    (true, least) => Guaranteed::letters(told.head * least as usize, longest),
                    (false, 0) => Guaranteed::nothing(longest),
                    (false, _) => Guaranteed { longest, ..told },
                }
            }
            HirKind::Capture(capture) => Guaranteed::of(&capture.sub),
            HirKind::Concat(parts) => parts
                .iter()
                .map(Guaranteed::of)
                .fold(Guaranteed::letters(0, Some(0)), Guaranteed::then),
            HirKind::Alternation(parts) => {
                let either = |one: Guaranteed, other: Guaranteed| Guaranteed {
                    whole: one.whole && other.whole,
                    head: one.head.min(other.head),
                    tail: one.tail.min(other.tail),
                    best: one.best.min(other.best),
                    before: one.before.zip(other.before).map(|(one, other)| one.max(other)),
                    longest,
                };
                parts
                    .iter()
                    .map(Guaranteed::of)
                    .reduce(either)
                    .unwrap_or(Guaranteed::nothing(longest))
            }
        }
    }

    /// This and then another.
    fn then(self, next: Guaranteed) -> Guaranteed {
        let joined = self.tail + next.head;
        let (best, before) = if self.best >= joined && self.best >= next.best {
            (self.best, self.before)
        } else if joined >= next.best {
            (joined, self.longest)
        } else {
            (next.best, sum(self.longest, next.before))
        };
        Guaranteed {
            whole: self.whole && next.whole,
            head: if self.whole { self.head + next.head } else { self.head },
            tail: if next.whole { self.tail + next.tail } else { next.tail },
            best,
            before,
            longest: sum(self.longest, next.longest),
        }
    }
}

fn sum(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    Some(one?.saturating_add(other?))
}

fn is_letters(class: &Class) -> bool {
    let all = |start: u32, end: u32| {
        end < 128 && (start..=end).all(|byte| u8::try_from(byte).is_ok_and(WordPart::holds))
    };
    match class {
        Class::Unicode(class) => {
            class.iter().all(|range| all(u32::from(range.start()), u32::from(range.end())))
        }
        Class::Bytes(class) => {
            class.iter().all(|range| all(u32::from(range.start()), u32::from(range.end())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_found_at_any_place() {
        for before in ["", " ", "a b ", "short words stand here, "] {
            for length in [LONG - 1, LONG, LONG + 1, 3 * LONG] {
                for after in ["", ".", " and more words after it"] {
                    let text = format!("{before}{}{after}", "x".repeat(length));
                    let found: Vec<_> = long_words(text.as_bytes()).collect();
                    let expected = before.len()..before.len() + length;
                    assert_eq!(found.first(), (length >= LONG).then_some(&expected), "{text}");
                    assert!(found.len() < 2);
                }
            }
        }
    }

    #[test]
    fn long_words_computes_what_every_match_of_an_expression_holds() {
        for (expression, expected) in [
            ("ghp_[A-Za-z0-9]{36}", true),
            ("SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16,64}", true),
            ("ab[0-9]{4}-?[0-9]{9}", true),
            ("(?:ab|cdef)[0-9]{13}", true),
            ("(?:ab|c)[0-9]{13}", false),
            ("x[A-Za-z0-9/]{40}", false),
            ("x[a-z]{0,40}", false),
            ("x\\s*[a-z]{40}", false),
            ("x.{0,9}[a-z]{40}", true),
            ("(?:x[a-z]{20})?y", false),
        ] {
            assert_eq!(has_long_word(expression), expected, "{expression}");
        }
        for (expression, expected) in [
            ("[a-z]{1,9}_live_[A-Za-z0-9]{20,}", true),
            ("[a-z]{1,9}_live_[a-z]{4}", false),
            ("[a-z]{1,9}:live_[A-Za-z0-9]{20,}", false),
            ("live_[A-Za-z0-9]{20,}={0,2}", false),
        ] {
            assert_eq!(is_long_word(expression), expected, "{expression}");
        }
    }
}
