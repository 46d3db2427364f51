//! What was taken out, by rule and class. Never a value.

use crate::config::Class;
use std::collections::BTreeMap;

/// Counts of what was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    rules: BTreeMap<(Class, Box<str>), Tally>,
    /// Other encodings of secrets that rules found elsewhere.
    pub encoded: u64,
}

/// How often one rule found something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Places where a value stood.
    pub places: u64,
    /// Different values.
    pub values: u64,
}

/// How careful one should be with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing was found, or only paths.
    Low,
    /// Personal data was found.
    Medium,
    /// Secrets were found.
    High,
}

impl Level {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Level::Low => "low",
            Level::Medium => "medium",
            Level::High => "high",
        }
    }
}

/// A judgement and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sensitivity {
    /// The judgement.
    pub level: Level,
    /// By class; the rule with the most values first.
    pub reasons: Vec<Reason>,
}

/// What one rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The class of the rule.
    pub class: Class,
    /// The name of the rule.
    pub rule: String,
    /// Different values.
    pub values: u64,
}

impl Report {
    pub(crate) fn count(&mut self, class: Class, rule: &str, is_new: bool) {
        let tally = self.rules.entry((class, rule.into())).or_default();
        tally.places += 1;
        tally.values += u64::from(is_new);
    }

    /// Adds what another session held.
    pub fn add(&mut self, other: &Report) {
        for (key, tally) in &other.rules {
            let sum = self.rules.entry(key.clone()).or_default();
            sum.places += tally.places;
            sum.values += tally.values;
        }
        self.encoded += other.encoded;
    }

    /// Class, rule and counts, in order of both.
    pub fn rules(&self) -> impl Iterator<Item = (Class, &str, Tally)> {
        self.rules.iter().map(|((class, rule), tally)| (*class, rule.as_ref(), *tally))
    }

    /// Places where something of `class` stood.
    pub fn places(&self, class: Class) -> u64 {
        self.rules().filter(|(one, _, _)| *one == class).map(|(_, _, tally)| tally.places).sum()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.encoded == 0
    }

    /// How careful one should be with what this is a report of, and why.
    pub fn sensitivity(&self) -> Sensitivity {
        let mut reasons = Vec::new();
        let mut level = Level::Low;
        for (class, at_least) in [
            (Class::Secrets, Level::High),
            (Class::People, Level::Medium),
            (Class::Paths, Level::Low),
        ] {
            let mut by_rule: Vec<(&str, u64)> = self
                .rules()
                .filter(|(one, _, _)| *one == class)
                .map(|(_, rule, tally)| (rule, tally.values))
                .collect();
            by_rule.sort_by_key(|(rule, values)| (std::cmp::Reverse(*values), *rule));
            if !by_rule.is_empty() {
                level = level.max(at_least);
            }
            reasons.extend(by_rule.into_iter().map(|(rule, values)| Reason {
                class,
                rule: rule.to_owned(),
                values,
            }));
        }
        Sensitivity { level, reasons }
    }
}
