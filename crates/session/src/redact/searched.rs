//! Texts that the rules have searched: sessions say most things several times, and what is written
//! in the end was learnt from in the beginning.
//!
//! They are known by what they say. Those in which nothing was found are also known by how they are
//! written in JSON, where that differs: a text that comes again in the same writing need not even be
//! decoded. The two are kept apart, because one text may be written like another reads.

use super::engine::Hit;
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
    /// What was found in the others.
    found: HashMap<u64, Box<[Hit]>, RandomState>,
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
        match escaped {
            true => (!self.written.contains(&hash)).then_some(Writing::Escaped(hash)),
            false => (!self.clean.contains(&hash)).then_some(Writing::Plain),
        }
    }

    /// Keeps in mind that the rules find nothing in a text that is written so.
    pub(super) fn keep(&mut self, writing: Writing) {
        if let Writing::Escaped(hash) = writing {
            self.written.insert(hash);
        }
    }

    /// What the rules find in this text; asks them for texts it does not know.
    pub(super) fn learn(&mut self, text: &str, search: impl FnOnce() -> Vec<Hit>) -> Vec<Hit> {
        if text.len() < SHORTEST {
            return search();
        }
        let hash = self.state.hash_one(text.as_bytes());
        if let Some(hits) = self.known(hash) {
            return hits.to_vec();
        }
        let hits = search();
        match hits.is_empty() {
            true => drop(self.clean.insert(hash)),
            false => drop(self.found.insert(hash, hits.as_slice().into())),
        }
        hits
    }

    /// What the rules find in this text, if that is known.
    pub(super) fn hits(&self, text: &str) -> Option<&[Hit]> {
        let long = text.len() >= SHORTEST;
        long.then(|| self.known(self.state.hash_one(text.as_bytes())))?
    }

    fn known(&self, hash: u64) -> Option<&[Hit]> {
        match self.clean.contains(&hash) {
            true => Some(&[]),
            false => self.found.get(&hash).map(AsRef::as_ref),
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
        assert_eq!(searched.learn(reads, Vec::new), []);
        assert_eq!(searched.hits(reads), Some(&[][..]));
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
        let hits = vec![Hit { range: 2..6, rule: 3, word: None }];
        assert_eq!(searched.hits(text), None);
        assert_eq!(searched.learn(text, || hits.clone()), hits);
        assert_eq!(searched.learn(text, || unreachable!()), hits);
        assert_eq!(searched.hits(text), Some(hits.as_slice()));
        assert_eq!(searched.unknown(text.as_bytes()), Some(Writing::Plain));
    }
}
