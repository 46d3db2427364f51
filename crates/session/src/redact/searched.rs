//! Texts that the rules have searched: sessions say most things several times, and what is written
//! in the end was learnt from in the beginning.
//!
//! They are known by what they say. Those in which nothing was found are also known by how they are
//! written in JSON, where that differs: a text that comes again in the same writing need not even be
//! decoded. The two are kept apart, because one text may be written like another reads.

use super::engine::{Found, Hit};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use std::hash::BuildHasher as _;

/// Shorter texts are searched faster than looked up.
const SHORTEST: usize = 24;

/// Remembers texts by their hashes, under a key of this run.
#[derive(Debug, Default)]
pub(super) struct Searched {
    state: RandomState,
    clean: HashSet<u64, RandomState>,
    /// As they are written, with escapes.
    written: HashSet<u64, RandomState>,
    /// What was found in the others, and whether they are disguised.
    found: HashMap<u64, (Box<[Hit]>, bool), RandomState>,
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

impl Searched {
    /// How the inside of a JSON string is written; none if it is known that the rules find nothing
    /// in it.
    pub(super) fn unknown(&self, raw: &[u8]) -> Option<Writing> {
        if raw.len() < SHORTEST {
            return Some(Writing::Short);
        }
        let escaped = memchr::memchr(b'\\', raw).is_some();
        let hash = self.state.hash_one(raw);
        if escaped {
            (!self.written.contains(&hash)).then_some(Writing::Escaped(hash))
        } else {
            (!self.clean.contains(&hash)).then_some(Writing::Plain)
        }
    }

    /// Keeps in mind that the rules find nothing in a text that is written so.
    pub(super) fn keep(&mut self, writing: Writing) {
        if let Writing::Escaped(hash) = writing {
            self.written.insert(hash);
        }
    }

    /// What the rules find in this text; asks them for texts it does not know.
    pub(super) fn learn(&mut self, text: &str, search: impl FnOnce() -> Found) -> Found {
        if text.len() < SHORTEST {
            return search();
        }
        let hash = self.state.hash_one(text.as_bytes());
        if let Some(found) = self.known(hash) {
            return found;
        }
        let found = search();
        if found.hits.is_empty() && !found.is_disguised {
            self.clean.insert(hash);
        } else {
            let kept = (found.hits.as_slice().into(), found.is_disguised);
            self.found.insert(hash, kept);
        }
        found
    }

    /// What the rules find in this text, if that is known.
    pub(super) fn hits(&self, text: &str) -> Option<Found> {
        let long = text.len() >= SHORTEST;
        long.then(|| self.known(self.state.hash_one(text.as_bytes())))?
    }

    fn known(&self, hash: u64) -> Option<Found> {
        if self.clean.contains(&hash) {
            Some(Found::default())
        } else {
            self.found.get(&hash).map(|(hits, is_disguised)| Found {
                hits: hits.to_vec(),
                is_disguised: *is_disguised,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_not_taken_for_the_writing_of_another() {
        let mut searched = Searched::default();
        let reads = r"a text that reads \n like the writing of another";
        assert_eq!(searched.learn(reads, Found::default), Found::default());
        assert_eq!(searched.hits(reads), Some(Found::default()));
        let writing = searched.unknown(reads.as_bytes());
        assert!(matches!(writing, Some(Writing::Escaped(_))));
        searched.keep(writing.unwrap());
        assert_eq!(searched.unknown(reads.as_bytes()), None);
        assert_eq!(searched.unknown(b"short"), Some(Writing::Short));
        assert_eq!(searched.unknown(b"a long text without any escape"), Some(Writing::Plain));
    }

    #[test]
    fn a_text_is_searched_once() {
        let mut searched = Searched::default();
        let text = "a text with something in it";
        let hits = vec![Hit { range: 2..6, rule: 3, word: None, says: None }];
        assert_eq!(searched.hits(text), None);
        let found = Found { hits, is_disguised: false };
        assert_eq!(searched.learn(text, || found.clone()), found);
        assert_eq!(searched.learn(text, || unreachable!()), found);
        assert_eq!(searched.hits(text), Some(found));
        assert_eq!(searched.unknown(text.as_bytes()), Some(Writing::Plain));
    }
}
