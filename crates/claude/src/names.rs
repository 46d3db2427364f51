//! Ids and repeated strings of one session as small numbers.
//!
//! Every record names up to a dozen strings, most of them seen before; as numbers they are
//! compared and indexed without hashing again.

use backstory_format::json::text;
use backstory_format::slice::Part;
use foldhash::fast::FixedState;
use hashbrown::{HashSet, HashTable};
use std::hash::BuildHasher;
use std::sync::Arc;

/// A string seen in this session; [`Name::NONE`] when the field was absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(u32);

impl Name {
    pub(super) const NONE: Name = Name(u32::MAX);

    pub(super) fn is_some(self) -> bool {
        self != Name::NONE
    }

    pub(super) fn some(self) -> Option<Name> {
        self.is_some().then_some(self)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All strings of one session.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: FixedState,
}

impl Names {
    pub(super) fn add(&mut self, bytes: &[u8]) -> Name {
        let hash = self.hasher.hash_one(bytes);
        let (text, ends) = (&self.text, &self.ends);
        if let Some(found) = self.table.find(hash, |at| slice(text, ends, *at) == bytes) {
            return Name(*found);
        }
        let new = self.ends.len() as u32;
        self.text.extend_from_slice(bytes);
        self.ends.push(self.text.len());
        let (text, ends, hasher) = (&self.text, &self.ends, &self.hasher);
        self.table.insert_unique(hash, new, |at| hasher.hash_one(slice(text, ends, *at)));
        Name(new)
    }

    /// A string that was seen.
    pub(super) fn get(&self, bytes: &[u8]) -> Option<Name> {
        let hash = self.hasher.hash_one(bytes);
        let (text, ends) = (&self.text, &self.ends);
        self.table.find(hash, |at| slice(text, ends, *at) == bytes).map(|at| Name(*at))
    }

    pub(super) fn bytes(&self, name: Name) -> &[u8] {
        slice(&self.text, &self.ends, name.0)
    }

    /// How many different strings there are; every [`Name::index`] is below it.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn text(&self, name: Name) -> Option<Box<str>> {
        name.some().map(|name| text::lossy(self.bytes(name)).into())
    }

    pub(super) fn shared(&self, name: Name) -> Option<Arc<str>> {
        name.some().map(|name| text::lossy(self.bytes(name)).into())
    }
}

/// Different names in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    list: Vec<Name>,
    seen: HashSet<Name, FixedState>,
}

impl Distinct {
    pub(super) fn add(&mut self, name: Name) {
        // Most records repeat the value before them.
        if name.is_some() && self.list.last() != Some(&name) && self.seen.insert(name) {
            self.list.push(name);
        }
    }

    pub(super) fn names(&self) -> &[Name] {
        &self.list
    }
}

fn slice<'a>(text: &'a [u8], ends: &[usize], at: u32) -> &'a [u8] {
    let at = at as usize;
    let start = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(at).copied().unwrap_or(start);
    text.part(start..end)
}
