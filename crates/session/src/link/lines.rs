//! Lines of a session in what a commit added.
//!
//! A line that has fewer than six letters and digits says nothing. What a formatter did to a line
//! is seen by comparing without white space.

use hashbrown::HashMap;
use jiff::Timestamp;

/// Lines added to one file, with the first time of each.
#[derive(Debug, Default)]
pub(super) struct Added {
    exact: HashMap<Box<str>, Option<Timestamp>>,
    bare: HashMap<Box<str>, Option<Timestamp>>,
}

/// How much of what a commit added to a file is the session's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Telling lines the commit added.
    pub(super) added: u64,
    pub(super) exact: u64,
    /// Equal but for white space.
    pub(super) reformatted: u64,
    /// Letters and digits of both.
    pub(super) weight: u64,
}

const TELLING: usize = 6;
/// Letters and digits that a match must have in all to be no accident.
const ENOUGH: u64 = 40;

impl Added {
    pub(super) fn add(&mut self, lines: &[String], time: Option<Timestamp>) {
        for line in lines.iter().filter(|line| weight(line) >= TELLING) {
            self.exact.entry(line.as_str().into()).or_insert(time);
            self.bare.entry(bare(line).into()).or_insert(time);
        }
    }

    /// Looks for the lines in what a commit of `time` added.
    pub(super) fn find(&self, lines: &[String], time: Option<Timestamp>) -> Found {
        let mut found = Found::default();
        // Nothing can be committed before it is written.
        let written = |first: Option<&Option<Timestamp>>| match (first.copied().flatten(), time) {
            (Some(first), Some(time)) => super::earlier(first, super::SLACK) <= time,
            _ => false,
        };
        for line in lines {
            let letters = weight(line);
            if letters < TELLING {
                continue;
            }
            found.added += 1;
            if written(self.exact.get(line.as_str())) {
                found.exact += 1;
            } else if written(self.bare.get(bare(line).as_str())) {
                found.reformatted += 1;
            } else {
                continue;
            }
            found.weight += letters as u64;
        }
        found
    }
}

impl Found {
    pub(super) fn is_enough(&self) -> bool {
        self.weight >= ENOUGH
    }
}

fn weight(line: &str) -> usize {
    line.chars().filter(|letter| letter.is_alphanumeric()).count()
}

fn bare(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_whitespace()).collect()
}
