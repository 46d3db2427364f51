//! Texts in which the rules found nothing: sessions say most things several times.
//!
//! They are known by what they say and, where that differs, by how they are written in JSON: a text
//! that comes again in the same writing need not even be decoded. The two are kept apart, because
//! one text may be written like another reads.

use foldhash::fast::RandomState;
use hashbrown::HashSet;
use std::hash::BuildHasher as _;

/// Shorter texts are searched faster than looked up.
const SHORTEST: usize = 24;

/// Remembers texts by their hashes, under a key of this run.
#[derive(Debug, Default)]
pub(super) struct Clean {
    state: RandomState,
    known: HashSet<u64, RandomState>,
    /// As they are written, with escapes.
    written: HashSet<u64, RandomState>,
}

/// How a text is written in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// As it reads.
    Plain,
    /// With escapes; its hash.
    Escaped(u64),
    /// Too short to be kept in mind.
    Short,
}

impl Clean {
    /// How the inside of a JSON string is written; none if it is known that the rules find nothing
    /// in it.
    pub(super) fn unknown(&self, raw: &[u8]) -> Option<Writing> {
        if raw.len() < SHORTEST {
            return Some(Writing::Short);
        }
        let escaped = memchr::memchr(b'\\', raw).is_some();
        let hash = self.state.hash_one(raw);
        match escaped {
            true => (!self.written.contains(&hash)).then_some(Writing::Escaped(hash)),
            false => (!self.known.contains(&hash)).then_some(Writing::Plain),
        }
    }

    /// Keeps in mind that the rules find nothing in a text that is written so.
    pub(super) fn keep(&mut self, writing: Writing) {
        if let Writing::Escaped(hash) = writing {
            self.written.insert(hash);
        }
    }

    /// Whether the rules find nothing in this text; asks them for texts it does not know.
    pub(super) fn learn(&mut self, text: &str, is_clean: impl FnOnce() -> bool) -> bool {
        if text.len() < SHORTEST {
            return is_clean();
        }
        let hash = self.state.hash_one(text.as_bytes());
        self.known.contains(&hash) || (is_clean() && self.known.insert(hash))
    }

    /// Whether it is known that the rules find nothing.
    pub(super) fn holds(&self, text: &str) -> bool {
        text.len() >= SHORTEST
            && !self.known.is_empty()
            && self.known.contains(&self.state.hash_one(text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_not_taken_for_the_writing_of_another() {
        let mut clean = Clean::default();
        let reads = r"a text that reads \n like the writing of another";
        assert!(clean.learn(reads, || true));
        assert!(clean.holds(reads));
        let writing = clean.unknown(reads.as_bytes());
        assert!(matches!(writing, Some(Writing::Escaped(_))));
        clean.keep(writing.unwrap());
        assert_eq!(clean.unknown(reads.as_bytes()), None);
        assert_eq!(clean.unknown(b"short"), Some(Writing::Short));
        assert_eq!(clean.unknown(b"a long text without any escape"), Some(Writing::Plain));
    }
}
