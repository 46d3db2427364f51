//! Problems of one session: all counted, the first of each kind listed.

use backstory_format::{Problem, ProblemId, Severity};
use std::collections::BTreeMap;

/// How many problems of one kind are kept with their place.
const LISTED_PER_KIND: u64 = 100;

/// A bounded list with exact counts, so that a million faults cost no memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    listed: Vec<Problem>,
    counts: BTreeMap<ProblemId, u64>,
}

impl Problems {
    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        let count = self.counts.entry(problem.id).or_default();
        *count += 1;
        if *count <= LISTED_PER_KIND {
            self.listed.push(problem);
        }
    }

    /// Adds those of another file, with exact counts.
    pub fn add(&mut self, more: &Problems) {
        for problem in &more.listed {
            self.push(problem.clone());
        }
        for (id, count) in &more.counts {
            let listed = more.listed.iter().filter(|problem| problem.id == *id).count() as u64;
            *self.counts.entry(*id).or_default() += count - listed.min(*count);
        }
    }

    /// Takes all of one kind back.
    pub fn remove(&mut self, id: ProblemId) {
        self.counts.remove(&id);
        self.listed.retain(|problem| problem.id != id);
    }

    /// The first of each kind, in order of discovery.
    pub fn listed(&self) -> &[Problem] {
        &self.listed
    }

    /// How many of each kind there are.
    pub fn counts(&self) -> &BTreeMap<ProblemId, u64> {
        &self.counts
    }

    /// How many there are at this severity or above.
    pub fn at_least(&self, severity: Severity) -> u64 {
        let counts = self.counts.iter();
        counts.filter(|(id, _)| id.severity() >= severity).map(|(_, count)| count).sum()
    }

    /// Puts the list into file order.
    pub fn sort(&mut self) {
        self.listed.sort_by_key(|problem| (problem.line, problem.offset, problem.id));
    }
}
