//! Files × models × sessions: what was written and what is left of it.

use super::edit::EditAction;
use super::trace::{Traced, TracedEdit};
use std::collections::BTreeMap;

/// Sums over some edits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// Edits.
    pub edits: u64,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Lines that are still in the file; none known where the file is not there.
    pub surviving: u64,
    /// Edits that have no place in the file's history.
    pub unplaced: u64,
}

impl Sum {
    /// Adds one edit.
    pub fn add(&mut self, edit: &TracedEdit<'_>) {
        self.edits += 1;
        self.added += edit.added;
        self.removed += edit.removed;
        self.surviving += edit.surviving;
        self.unplaced += u64::from(!edit.placed);
    }
}

/// Sums by one file's models and sessions.
pub fn by_model_and_session(traced: &Traced<'_>) -> BTreeMap<(String, String), Sum> {
    let mut sums: BTreeMap<(String, String), Sum> = BTreeMap::new();
    for edit in &traced.edits {
        let by = &edit.edit.by;
        let model = by.model.as_deref().unwrap_or("unknown model").to_owned();
        sums.entry((model, by.session.to_string())).or_default().add(edit);
    }
    sums
}

/// Which edits to show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice {
    /// Only the first and the last of each file.
    pub first_and_last: bool,
    /// Edits that change fewer lines are left out, unless they are a file's first or last.
    pub min_change: u64,
}

impl Choice {
    /// Indices of the edits to show.
    pub fn of(&self, edits: &[TracedEdit<'_>]) -> Vec<usize> {
        let last = edits.len().saturating_sub(1);
        let keeps = |(at, edit): (usize, &TracedEdit<'_>)| {
            let end = at == 0 || at == last;
            let large = edit.added + edit.removed >= self.min_change;
            (end || (large && !self.first_and_last)).then_some(at)
        };
        edits.iter().enumerate().filter_map(keeps).collect()
    }
}

/// Whether the first edit made the file.
pub fn created_by_agent(traced: &Traced<'_>) -> bool {
    traced.edits.first().is_some_and(|edit| edit.edit.action() == EditAction::Create)
}
