//! Cache of search results: sessions repeat most texts several times, and every text that is scrubbed
//! was searched before, when it was learnt from.
//!
//! They are known by what they say. Those in which nothing was found are also known by how they are
//! written in JSON, where that differs: a text that comes again in the same writing need not even be
//! decoded. The two are kept apart, because one text may be written like another reads.

use crate::detect::engine::{Found, Hit};
use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use std::hash::BuildHasher as _;

/// In shorter texts nothing is looked for, so they need not be looked up. Among the others the short
/// ones come again most often: kinds of records, states, names of models.
const SHORTEST: usize = crate::detect::search::SHORTEST;

/// Remembers texts by their hashes, under a key of this run.
#[derive(Debug, Default)]
pub(crate) struct SearchCache {
    state: RandomState,
    clean: HashSet<u64, RandomState>,
    /// As they are written, with escapes; those that are encoded apart.
    written: HashSet<u64, RandomState>,
    written_encoded: HashSet<u64, RandomState>,
    /// What was found in the others, and whether they are encoded.
    found: HashMap<u64, (Box<[Hit]>, bool), RandomState>,
}

/// What is known of the inside of a JSON string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// The rules find nothing in it.
    Clean,
    /// Nor here, but parts of it say something else than what stands there.
    Encoded,
    /// Nothing, but how it is written.
    Not(Writing),
}

/// How a text is written in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// As it reads; its hash.
    Plain(u64),
    /// With escapes; its hash.
    Escaped(u64),
    /// Too short to be kept in mind.
    Short,
}

impl SearchCache {
    /// What is known of the inside of a JSON string.
    pub(crate) fn known_of(&self, raw: &[u8]) -> Known {
        if raw.len() < SHORTEST {
            return Known::Not(Writing::Short);
        }
        let escaped = memchr::memchr(b'\\', raw).is_some();
        let hash = self.state.hash_one(raw);
        let (clean, writing) = if escaped {
            (&self.written, Writing::Escaped(hash))
        } else {
            (&self.clean, Writing::Plain(hash))
        };
        if clean.contains(&hash) {
            return Known::Clean;
        }
        let has_encoded_parts = if escaped {
            self.written_encoded.contains(&hash)
        } else {
            self.found.get(&hash).is_some_and(|(hits, _)| hits.is_empty())
        };
        if has_encoded_parts { Known::Encoded } else { Known::Not(writing) }
    }

    /// Keeps in mind that the rules find nothing in a text that is written so.
    pub(crate) fn keep(&mut self, writing: Writing, has_encoded_parts: bool) {
        if let Writing::Escaped(hash) = writing {
            let texts =
                if has_encoded_parts { &mut self.written_encoded } else { &mut self.written };
            texts.insert(hash);
        }
    }

    /// What the rules find in this text; asks them for texts it does not know.
    pub(crate) fn learn(&mut self, text: &str, search: impl FnOnce() -> Found) -> Found {
        if text.len() < SHORTEST {
            return search();
        }
        let hash = self.state.hash_one(text.as_bytes());
        self.known(hash).unwrap_or_else(|| self.keep_found(hash, search()))
    }

    /// The same for a text that is written so in JSON, and not known by that.
    pub(crate) fn learn_written(
        &mut self,
        text: &str,
        writing: Writing,
        search: impl FnOnce() -> Found,
    ) -> Found {
        match writing {
            // Written as it reads, so its hash is that of what is known.
            Writing::Plain(hash) if !self.found.contains_key(&hash) => {
                self.keep_found(hash, search())
            }
            _ => self.learn(text, search),
        }
    }

    fn keep_found(&mut self, hash: u64, found: Found) -> Found {
        if found.hits.is_empty() && !found.has_encoded_parts {
            self.clean.insert(hash);
        } else {
            let kept = (found.hits.as_slice().into(), found.has_encoded_parts);
            self.found.insert(hash, kept);
        }
        found
    }

    /// What the rules find in this text, if that is known.
    pub(crate) fn hits(&self, text: &str) -> Option<Found> {
        let long = text.len() >= SHORTEST;
        long.then(|| self.known(self.state.hash_one(text.as_bytes())))?
    }

    fn known(&self, hash: u64) -> Option<Found> {
        if self.clean.contains(&hash) {
            Some(Found::default())
        } else {
            self.found.get(&hash).map(|(hits, has_encoded_parts)| Found {
                hits: hits.to_vec(),
                has_encoded_parts: *has_encoded_parts,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_not_taken_for_the_writing_of_another() {
        let mut searched = SearchCache::default();
        let reads = r"a text that reads \n like the writing of another";
        assert_eq!(searched.learn(reads, Found::default), Found::default());
        assert_eq!(searched.hits(reads), Some(Found::default()));
        let Known::Not(writing @ Writing::Escaped(_)) = searched.known_of(reads.as_bytes()) else {
            panic!("{searched:?}");
        };
        searched.keep(writing, false);
        assert_eq!(searched.known_of(reads.as_bytes()), Known::Clean);
        assert_eq!(searched.known_of(b"short"), Known::Not(Writing::Short));
        let plain = b"a long text without any escape";
        assert!(matches!(searched.known_of(plain), Known::Not(Writing::Plain(_))));
    }

    #[test]
    fn search_cache_knows_encoded_texts_without_a_find_in_either_writing() {
        let mut searched = SearchCache::default();
        let encoded = Found { hits: Vec::new(), has_encoded_parts: true };
        let plain = "a long text with an encoded part in it";
        assert_eq!(searched.learn(plain, || encoded.clone()), encoded);
        assert_eq!(searched.known_of(plain.as_bytes()), Known::Encoded);
        let escaped = br"a long text with \u001b[1m a colour in it";
        let Known::Not(writing) = searched.known_of(escaped) else { panic!("{searched:?}") };
        searched.keep(writing, true);
        assert_eq!(searched.known_of(escaped), Known::Encoded);
    }

    #[test]
    fn a_text_is_searched_once() {
        let mut searched = SearchCache::default();
        let text = "a text with something in it";
        let hits = vec![Hit { range: 2..6, rule: 3, word: None, says: None }];
        assert_eq!(searched.hits(text), None);
        let found = Found { hits, has_encoded_parts: false };
        assert_eq!(searched.learn(text, || found.clone()), found);
        assert_eq!(searched.learn(text, || unreachable!()), found);
        assert_eq!(searched.hits(text), Some(found.clone()));
        let Known::Not(writing @ Writing::Plain(_)) = searched.known_of(text.as_bytes()) else {
            panic!("{searched:?}");
        };
        assert_eq!(searched.learn_written(text, writing, || unreachable!()), found);
    }
}
