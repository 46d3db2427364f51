//! The conversation of a session: the active chain, what came before it, and what was left behind.
//!
//! The active chain is what the newest client resumes. After a compaction it begins at the
//! boundary, so the conversation goes on from there to the conversation that was compacted. Branches that
//! hang off the conversation were rewound or abandoned.

use crate::recovery::{Groups, Link};
use crate::rows::{PromptShape, RowIndex, Rows};
use crate::tree::{Leaf, LeafRule, Tree};
use backstory_format::claude::RecordKind;

/// Records of a session in the order in which they tell it.
#[derive(Debug)]
pub(super) struct Conversation {
    /// Earlier segments first; the active chain is the last, without what a compaction kept.
    pub(super) links: Vec<Link>,
    /// Where the active chain starts in `links`.
    pub(super) chain_start: usize,
    /// The active chain; what a compaction kept stands behind its summary.
    pub(super) chain: Vec<Link>,
    pub(super) abandoned: Vec<Abandoned>,
    /// Rows that are part of the conversation.
    pub(super) in_conversation: Vec<bool>,
}

/// A branch off the conversation.
#[derive(Debug)]
pub(super) struct Abandoned {
    pub(super) from: Option<RowIndex>,
    pub(super) links: Vec<Link>,
}

impl Conversation {
    pub(super) fn new(tree: &Tree<'_>, groups: &Groups<'_>, rule: LeafRule) -> Conversation {
        let leaves = tree.leaves(rule);
        let mut taken = vec![false; tree.rows.rows.len()];
        let mut segments = Vec::new();
        let mut path = match rule {
            LeafRule::Session => resumed(tree, &mut taken),
            LeafRule::Agent => {
                let leaf = leaves.first().map(|leaf| leaf.row);
                leaf.map_or_else(Vec::new, |leaf| branch(tree, leaf, &mut taken).1)
            }
        };
        while let Some(root) = path.first().copied() {
            let next = before(tree, root, &leaves, &taken, rule);
            segments.push(groups.recover(&path, &mut taken));
            path = next.map_or_else(Vec::new, |leaf| branch(tree, leaf, &mut taken).1);
        }
        let own = segments.first().map_or(&[][..], Vec::as_slice);
        let (chain, chain_length) = (chain(tree, groups, own), own.len());
        let links: Vec<Link> = segments.into_iter().rev().flatten().collect();
        let chain_start = links.len() - chain_length;
        let in_conversation = taken.clone();
        let abandoned = abandoned(tree, groups, &leaves, &mut taken, rule);
        Conversation { links, chain_start, chain, abandoned, in_conversation }
    }
}

/// What the client resumes, but for what a compaction kept: that is told where it happened.
fn resumed(tree: &Tree<'_>, taken: &mut [bool]) -> Vec<RowIndex> {
    let kept: hashbrown::HashSet<RowIndex> = tree.way.kept.iter().copied().collect();
    let rows: Vec<RowIndex> =
        tree.way.rows.iter().copied().filter(|row| !kept.contains(row)).collect();
    mark(&rows, taken);
    rows
}

/// The whole of what the client resumes, in its order.
fn chain(tree: &Tree<'_>, groups: &Groups<'_>, own: &[Link]) -> Vec<Link> {
    if tree.way.kept.is_empty() {
        return own.to_vec();
    }
    let mut taken = vec![false; tree.rows.rows.len()];
    mark(&tree.way.removed, &mut taken);
    mark(&tree.way.rows, &mut taken);
    groups.recover(&tree.way.rows, &mut taken)
}

fn mark(rows: &[RowIndex], taken: &mut [bool]) {
    for row in rows {
        if let Some(slot) = taken.get_mut(*row as usize) {
            *slot = true;
        }
    }
}

/// From `leaf` up to the root or to the first row that is taken already; that row and the path.
fn branch(
    tree: &Tree<'_>,
    leaf: RowIndex,
    taken: &mut [bool],
) -> (Option<RowIndex>, Vec<RowIndex>) {
    let mut path = Vec::new();
    let mut at = Some(leaf);
    while let Some(index) = at {
        match taken.get_mut(index as usize) {
            Some(slot) if !*slot => *slot = true,
            _ => break,
        }
        path.push(index);
        at = tree.parent(index);
    }
    path.reverse();
    (at, path)
}

/// The last record before the segment that starts at `root`, if the conversation went on there.
fn before(
    tree: &Tree<'_>,
    root: RowIndex,
    leaves: &[Leaf],
    taken: &[bool],
    rule: LeafRule,
) -> Option<RowIndex> {
    let row = tree.rows.row(root)?;
    if rule == LeafRule::Agent {
        return None;
    }
    let free = |index: RowIndex| !taken.get(index as usize).copied().unwrap_or(true);
    if let Some(logical) = row.logical_parent.some().and_then(|uuid| tree.rows.find(uuid)) {
        return Some(logical).filter(|index| free(*index));
    }
    // A prompt with no parent is a fresh start or a rewind of the first prompt: what came earlier
    // was left behind. Anything else at a root (a boundary, a summary, a caveat, a hook, a record
    // whose parent was lost) continues what the file held before.
    let fresh = !row.parent.is_some()
        && tree.rows.message(row).is_some_and(|part| part.prompt == PromptShape::Prompt);
    if fresh {
        return None;
    }
    let earlier = leaves.iter().filter(|leaf| leaf.main && leaf.position < row.position);
    earlier.map(|leaf| leaf.row).find(|index| free(*index))
}

fn abandoned(
    tree: &Tree<'_>,
    groups: &Groups<'_>,
    leaves: &[Leaf],
    taken: &mut [bool],
    rule: LeafRule,
) -> Vec<Abandoned> {
    let mut branches: Vec<Abandoned> = Vec::new();
    // Ends of branches first; then whatever hangs only off records that were put elsewhere.
    let ends = leaves.iter().map(|leaf| leaf.row);
    let all = (0..tree.rows.rows.len() as RowIndex).rev();
    let all = all.filter(|index| tree.rows.row(*index).is_some_and(|row| !row.repeated));
    for end in ends.chain(all) {
        let (from, path) = branch(tree, end, taken);
        if path.iter().any(|index| is_speech(tree.rows, *index, rule)) {
            branches.push(Abandoned { from, links: groups.recover(&path, taken) });
        }
    }
    branches.sort_by_key(|branch| branch.links.first().map(|link| link.0));
    branches
}

/// A prompt, or an answer with content: something that was said in this conversation. In a
/// session's file, sidechain records are another conversation.
fn is_speech(rows: &Rows, index: RowIndex, rule: LeafRule) -> bool {
    let Some(row) = rows.row(index) else { return false };
    if row.flags.sidechain && rule == LeafRule::Session {
        return false;
    }
    match row.kind {
        RecordKind::Assistant => true,
        RecordKind::User => rows.message(row).is_some_and(|part| {
            matches!(
                part.prompt,
                PromptShape::Prompt | PromptShape::Command | PromptShape::CompactSummary
            )
        }),
        _ => false,
    }
}
