//! The tree that `parentUuid` spans, with what is wrong about it.
//!
//! Links are resolved once by index; walks are iterative, so a chain of a million records or a
//! cycle costs no more than its length.

use crate::links::Links;
use crate::rows::{Row, RowIndex, Rows, is_message};
use backstory_format::claude::RecordKind;
use backstory_format::{Problem, ProblemId};
use std::borrow::Cow;

/// Resolved links of one file's rows.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) rows: &'a Rows,
    parents: Vec<Option<RowIndex>>,
    /// Whether any row names the uuid as its parent, before cycles are cut.
    has_child: Vec<bool>,
    /// What the client resumes, from its first record to its last.
    pub(super) way: Way,
    pub(super) problems: Vec<Problem>,
}

/// Records that the client resumes, and how they differ from a plain walk.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub(super) rows: Vec<RowIndex>,
    /// The last message among them.
    pub(super) leaf: Option<RowIndex>,
    /// Those from before a compaction that the client puts after its summary.
    pub(super) kept: Vec<RowIndex>,
    /// What that compaction cut off.
    pub(super) removed: Vec<RowIndex>,
}

/// How the newest record of a conversation is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafRule {
    /// A session: where the newest client resumes it.
    Session,
    /// A subagent's file: its last message.
    Agent,
}

/// A user or assistant record that ends a branch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub(super) row: RowIndex,
    pub(super) position: u32,
    /// Not a subagent's.
    pub(super) main: bool,
}

impl Leaf {
    fn new(at: RowIndex, row: &Row) -> Leaf {
        Leaf { row: at, position: row.position, main: !row.flags.sidechain }
    }
}

impl<'a> Tree<'a> {
    pub(super) fn new(rows: &'a Rows, rule: LeafRule) -> Tree<'a> {
        let mut tree = Tree {
            rows,
            parents: vec![None; rows.rows.len()],
            has_child: vec![false; rows.names.len()],
            way: Way::default(),
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
        if rule == LeafRule::Session {
            tree.follow_client();
        }
        tree.cut_cycles();
        tree
    }

    /// Finds what the client resumes, and links it as the client does where a link leads nowhere.
    fn follow_client(&mut self) {
        let links = Links::new(self.rows);
        let Some(leaf) = links.leaf() else { return };
        let path = links.way_to(leaf);
        let mut place = vec![usize::MAX; self.rows.rows.len()];
        for (number, at) in path.iter().enumerate() {
            if let Some(slot) = place.get_mut(*at as usize) {
                *slot = number;
            }
        }
        let mut way = Vec::with_capacity(path.len());
        for (number, at) in path.iter().enumerate() {
            let above = number.checked_sub(1).and_then(|before| path.get(before).copied());
            let passed = self.passed(*at, above);
            let start = passed.first().copied().unwrap_or(*at);
            let lost = self.rows.row(start).is_some_and(|row| row.parent.is_some())
                && self.parent(start).is_none();
            let again = self.parent(start).and_then(|parent| place.get(parent as usize));
            let again = again.is_some_and(|place| *place != usize::MAX && *place >= number);
            if again && let Some(row) = self.rows.row(start) {
                self.report(ProblemId::ParentCycle, row);
            }
            if (lost || again)
                && let Some(slot) = self.parents.get_mut(start as usize)
            {
                *slot = above;
            }
            way.extend(passed);
            way.push(*at);
        }
        self.way = Way {
            rows: way,
            leaf: Some(leaf),
            kept: links.kept.clone(),
            removed: if links.kept.is_empty() {
                Vec::new()
            } else {
                let all = 0..self.rows.rows.len() as RowIndex;
                all.filter(|at| links.is_removed(*at)).collect()
            },
        };
        self.way.rows.extend(links.notes_below(leaf));
    }

    /// Records between a row and the one above it that the client reads past, the first of them
    /// first.
    fn passed(&self, row: RowIndex, above: Option<RowIndex>) -> Vec<RowIndex> {
        let mut passed = Vec::new();
        let mut at = self.parent(row);
        while let Some(index) = at.filter(|at| Some(*at) != above) {
            let unread = self
                .rows
                .row(index)
                .is_some_and(|row| row.unreadable || row.kind == RecordKind::Progress);
            if !unread || passed.len() > self.rows.rows.len() {
                return Vec::new();
            }
            passed.push(index);
            at = self.parent(index);
        }
        if at != above {
            return Vec::new();
        }
        passed.reverse();
        passed
    }

    pub(super) fn parent(&self, index: RowIndex) -> Option<RowIndex> {
        self.parents.get(index as usize).copied().flatten()
    }

    /// Whether nothing names this row as its parent.
    pub(super) fn is_terminal(&self, row: &Row) -> bool {
        !self.has_child.get(row.uuid.index()).copied().unwrap_or(false)
    }

    /// Ends of the conversation, the best first: where the client resumes it, then the newest in
    /// file order, those of subagents last.
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
        if let Some((at, row)) = self.way.leaf.and_then(|at| Some((at, self.rows.row(at)?))) {
            leaves.retain(|leaf| leaf.row != at);
            leaves.insert(0, Leaf::new(at, row));
        }
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

    /// Cuts one link of every cycle. What the client resumes is walked first, then ends of
    /// branches, so that what is above them stays reachable.
    fn cut_cycles(&mut self) {
        let mut state = vec![0u32; self.rows.rows.len()];
        let rows = self.rows;
        let all = 0..rows.rows.len() as RowIndex;
        let (ends, inner): (Vec<_>, Vec<_>) =
            all.partition(|at| rows.row(*at).is_some_and(|row| self.is_terminal(row)));
        let first = self.way.leaf.into_iter();
        for (walk, start) in first.chain(ends).chain(inner).enumerate() {
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
