//! Named counts: what the analysis knows of conversations, by name.
//!
//! Every figure has a stable dotted name (`streaming.messages`, `pairing.calls-of.Bash`), so that
//! any two sets of sessions can be added up and compared without knowing what the figures mean.

use backstory_format::slice::Part;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// How many different names below one heading are distinguished.
const MAX_NAMES: usize = 400;

/// Counts by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    fixed: BTreeMap<&'static str, u64>,
    named: BTreeMap<(&'static str, Box<str>), u64>,
}

impl Counts {
    /// Adds one.
    pub(crate) fn one(&mut self, name: &'static str) {
        self.add(name, 1);
    }

    /// Adds `count`.
    pub(crate) fn add(&mut self, name: &'static str, count: u64) {
        if count > 0 {
            let slot = self.fixed.entry(name).or_default();
            *slot = slot.saturating_add(count);
        }
    }

    /// Adds `count` below a heading, under a name that comes from the data.
    pub(crate) fn below(&mut self, heading: &'static str, name: &str, count: u64) {
        if count == 0 {
            return;
        }
        let full = self.named.len() >= MAX_NAMES;
        let key = (heading, Box::from(super::clean_name(name)));
        match self.named.get_mut(&key) {
            Some(slot) => *slot = slot.saturating_add(count),
            None if full => *self.named.entry((heading, "(more)".into())).or_default() += count,
            None => {
                self.named.insert(key, count);
            }
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Counts) {
        for (name, count) in &other.fixed {
            self.add(name, *count);
        }
        for ((heading, name), count) in &other.named {
            self.below(heading, name, *count);
        }
    }

    /// One count; zero when nothing was counted.
    pub fn get(&self, name: &str) -> u64 {
        self.fixed.get(name).copied().unwrap_or(0)
    }

    /// Everything below a heading, the largest first.
    pub fn list(&self, heading: &str) -> Vec<(&str, u64)> {
        let below = self.named.iter().filter(|((found, _), _)| *found == heading);
        let mut list: Vec<(&str, u64)> =
            below.map(|((_, name), count)| (&**name, *count)).collect();
        let prefix = |name: &&'static str| {
            name.strip_prefix(heading).is_some_and(|rest| rest.starts_with('.'))
        };
        list.extend(
            self.fixed
                .iter()
                .filter(|(name, _)| prefix(name))
                .map(|(name, count)| (name.part(heading.len() + 1..), *count)),
        );
        list.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        list
    }

    /// Everything, by full name.
    pub fn all(&self) -> BTreeMap<String, u64> {
        let fixed = self.fixed.iter().map(|(name, count)| ((*name).to_owned(), *count));
        let named = self.named.iter();
        let named = named.map(|((heading, name), count)| (format!("{heading}.{name}"), *count));
        fixed.chain(named).collect()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.named.is_empty()
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all().serialize(serializer)
    }
}
