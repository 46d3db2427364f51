//! The tree that `parentUuid` spans, with what is wrong about it.
//!
//! Links are resolved once by index; walks are iterative, so a chain of a million records or a
//! cycle costs no more than its length.

use super::rows::{Row, RowIndex, Rows};
use backstory_format::claude::RecordKind;
use backstory_format::{Problem, ProblemId};
use std::borrow::Cow;

/// Resolved links of one file's rows.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) rows: &'a Rows,
    parents: Vec<Option<RowIndex>>,
    /// Whether any row names the uuid as its parent, before cycles are cut: what ends a branch is
    /// the official reader's rule.
    has_child: Vec<bool>,
    pub(super) problems: Vec<Problem>,
}

/// How the newest record of a conversation is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafRule {
    /// A session: the newest end of a branch that is not a subagent's or injected.
    Session,
    /// A subagent's file: its last message.
    Agent,
}

/// A user or assistant record that ends a branch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub(super) row: RowIndex,
    pub(super) position: u32,
    /// Neither a subagent's, nor a team's, nor injected.
    pub(super) main: bool,
}

impl Leaf {
    fn new(at: RowIndex, row: &Row) -> Leaf {
        let main = !row.flags.sidechain && !row.team.is_some() && !row.flags.meta;
        Leaf { row: at, position: row.position, main }
    }
}

impl<'a> Tree<'a> {
    pub(super) fn new(rows: &'a Rows) -> Tree<'a> {
        let mut tree = Tree {
            rows,
            parents: vec![None; rows.rows.len()],
            has_child: vec![false; rows.names.len()],
            problems: Vec::new(),
        };
        for (index, row) in rows.rows.iter().enumerate() {
            if !row.parent.is_some() {
                continue;
            }
            if let Some(has_child) = tree.has_child.get_mut(row.parent.index()) {
                *has_child = true;
            }
            let parent = rows.find(row.parent);
            if parent.is_none() && !row.repeated {
                tree.report(ProblemId::MissingParent, row);
            }
            if let Some(slot) = tree.parents.get_mut(index) {
                *slot = parent;
            }
        }
        tree.cut_cycles();
        tree
    }

    pub(super) fn parent(&self, index: RowIndex) -> Option<RowIndex> {
        self.parents.get(index as usize).copied().flatten()
    }

    /// Whether nothing names this row as its parent.
    pub(super) fn is_terminal(&self, row: &Row) -> bool {
        !self.has_child.get(row.uuid.index()).copied().unwrap_or(false)
    }

    /// Ends of the conversation, the best first: the newest in file order among those that are
    /// neither a subagent's nor a team's nor injected, then the others.
    pub(super) fn leaves(&self, rule: LeafRule) -> Vec<Leaf> {
        let rows = self.rows.rows.iter().enumerate();
        let mut leaves: Vec<Leaf> = match rule {
            LeafRule::Agent => {
                let messages = rows.filter(|(_, row)| is_message(row) && !row.repeated);
                messages.map(|(at, row)| Leaf::new(at as RowIndex, row)).collect()
            }
            LeafRule::Session => {
                let mut nearest = vec![None; self.rows.rows.len()];
                let ends = rows.filter(|(_, row)| !row.repeated && self.is_terminal(row));
                ends.filter_map(|(at, _)| {
                    let at = self.nearest_message(at as RowIndex, &mut nearest)?;
                    self.rows.row(at).map(|row| Leaf::new(at, row))
                })
                .collect()
            }
        };
        let other = |leaf: &Leaf| rule == LeafRule::Session && !leaf.main;
        leaves.sort_by_key(|leaf| (other(leaf), std::cmp::Reverse(leaf.position)));
        leaves.dedup_by_key(|leaf| leaf.row);
        leaves
    }

    /// The row itself or its nearest ancestor that is a user or assistant record; remembers the
    /// answer for every row on the way.
    fn nearest_message(
        &self,
        start: RowIndex,
        known: &mut [Option<Option<RowIndex>>],
    ) -> Option<RowIndex> {
        let mut passed = Vec::new();
        let mut at = Some(start);
        let mut answer = None;
        while let Some(index) = at {
            if let Some(found) = known.get(index as usize).copied().flatten() {
                answer = found;
                break;
            }
            passed.push(index);
            if self.rows.row(index).is_some_and(is_message) {
                answer = Some(index);
                break;
            }
            at = self.parent(index);
        }
        for index in passed {
            if let Some(slot) = known.get_mut(index as usize) {
                *slot = Some(answer);
            }
        }
        answer
    }

    /// Cuts one link of every cycle. Ends of branches are walked first, so that what the official
    /// reader would reach from them stays reachable.
    fn cut_cycles(&mut self) {
        let mut state = vec![0u32; self.rows.rows.len()];
        let rows = self.rows;
        let all = 0..rows.rows.len() as RowIndex;
        let (ends, inner): (Vec<_>, Vec<_>) =
            all.partition(|at| rows.row(*at).is_some_and(|row| self.is_terminal(row)));
        for (walk, start) in ends.into_iter().chain(inner).enumerate() {
            let walk = walk as u32 + 1;
            let mut at = start;
            while state.get(at as usize) == Some(&0) {
                if let Some(slot) = state.get_mut(at as usize) {
                    *slot = walk;
                }
                let Some(parent) = self.parent(at) else { break };
                if state.get(parent as usize) == Some(&walk) {
                    if let Some(slot) = self.parents.get_mut(at as usize) {
                        *slot = None;
                    }
                    if let Some(row) = rows.row(at) {
                        self.report(ProblemId::ParentCycle, row);
                    }
                    break;
                }
                at = parent;
            }
        }
    }

    fn report(&mut self, id: ProblemId, row: &Row) {
        self.problems.push(Problem {
            id,
            line: u64::from(row.line),
            offset: row.offset,
            length: u64::from(row.length),
            detail: Cow::Borrowed(""),
        });
    }
}

pub(super) fn is_message(row: &Row) -> bool {
    matches!(row.kind, RecordKind::User | RecordKind::Assistant)
}
