//! Texts in which the rules found nothing: sessions say most things several times.

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
}

impl Clean {
    /// Whether the rules find nothing in this text; asks them for texts it does not know.
    pub(super) fn learn(&mut self, text: &str, is_clean: impl FnOnce() -> bool) -> bool {
        if text.len() < SHORTEST {
            return is_clean();
        }
        let hash = self.state.hash_one(text);
        self.known.contains(&hash) || (is_clean() && self.known.insert(hash))
    }

    /// Whether it is known that the rules find nothing.
    pub(super) fn holds(&self, text: &str) -> bool {
        text.len() >= SHORTEST
            && !self.known.is_empty()
            && self.known.contains(&self.state.hash_one(text))
    }
}
