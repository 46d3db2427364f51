//! The clone as a list of records in order: what each is made from and what it hangs off.

use super::decide::Decider;
use super::edits::Edits;
use super::gather::{Gathered, Other};
use super::naming::Naming;
use super::take::{Root, Taken};
use super::usage::Contexts;
use crate::clone::{Counts, Droppable, Options, Reason};
use crate::names::Name;
use crate::rows::is_message;
use crate::rows::{RowIndex, Rows};
use crate::tree::Tree;
use backstory_format::claude::{BlockKind, RecordKind};
use hashbrown::{HashMap, HashSet};

/// A record of the clone.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    Row {
        row: RowIndex,
        parent: Option<RowIndex>,
    },
    /// A record next to the conversation, by its place in the list of those.
    Other(usize),
}

/// Everything that is to be written.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) items: Vec<Item>,
    pub(super) naming: Naming,
    pub(super) edits: Edits,
    pub(super) counts: Counts,
    /// Calls that are in the clone.
    pub(super) calls: HashSet<Name>,
    /// Visible messages, in order.
    pub(super) messages: Vec<RowIndex>,
    /// Where a reference to a record that is gone leads instead.
    pub(super) instead: HashMap<Name, RowIndex>,
    /// How large the conversation was in the source.
    pub(super) contexts: Contexts,
}

pub(super) fn plan(decider: Decider<'_>, tree: &Tree<'_>, naming: Naming) -> Plan {
    let Decider { gathered, taken, options, mut edits, counts, stages } = decider;
    let rows = &gathered.inspector.rows;
    drop_continuations(&mut edits, taken, tree);
    let mut calls = HashSet::new();
    for stage in &stages {
        let kept = stage.pairs.iter().filter(|pair| {
            !edits.is_gone(pair.call.0) && !edits.is_removed(pair.call.0, pair.call.1)
        });
        calls.extend(kept.map(|pair| pair.id));
    }
    let mut plan = Plan {
        items: Vec::new(),
        naming,
        edits,
        counts,
        calls,
        messages: Vec::new(),
        instead: HashMap::new(),
        contexts: Contexts::new(rows, taken.active()),
    };
    let linked = plan.link(taken, tree);
    plan.count_images(rows, options, &linked);
    for (row, _) in &linked {
        plan.naming.add(*row);
    }
    plan.note_messages(rows, taken);
    let others = plan.others(gathered, options, tree);
    plan.merge(rows, gathered, linked, others);
    plan.count(gathered, taken);
    plan
}

/// Leaves out branches that hang off the last record of the conversation, because a reader of the
/// clone would take them for its continuation. In the source, something that no clone holds (the
/// progress of a call) is in their way.
fn drop_continuations(edits: &mut Edits, taken: &Taken, tree: &Tree<'_>) {
    let Some((active, others)) = taken.segments.split_last() else { return };
    let rows = taken.segments.iter().flat_map(|segment| segment.rows.iter().copied());
    let mut here: HashSet<RowIndex> = rows.filter(|row| !edits.is_gone(*row)).collect();
    let end = active.rows.iter().rev().find(|row| here.contains(*row)).copied();
    // What hangs off a branch that goes has the same end above it, and goes with the next round.
    while let Some(branch) = others.iter().find(|segment| {
        let parent = segment.rows.first().and_then(|row| tree.parent(*row));
        let held = segment.rows.iter().any(|row| here.contains(row));
        held && segment.root == Root::Branch
            && end.is_some()
            && nearest(tree, parent, |row| here.contains(&row)) == end
    }) {
        for row in branch.rows.iter().filter(|row| here.remove(*row)) {
            edits.drop_row(*row, Reason::OtherBranch);
        }
    }
}

impl Plan {
    /// Rows that stay, each with the one before it: the nearest that stays as well.
    fn link(&self, taken: &Taken, tree: &Tree<'_>) -> Vec<(RowIndex, Option<RowIndex>)> {
        let here: HashSet<RowIndex> = taken
            .segments
            .iter()
            .flat_map(|segment| segment.rows.iter().copied())
            .filter(|row| !self.edits.is_gone(*row))
            .collect();
        let mut linked = Vec::with_capacity(here.len());
        for segment in &taken.segments {
            let mut before = match segment.root {
                Root::Beginning => None,
                Root::Branch => {
                    let first = segment.rows.first().and_then(|row| tree.parent(*row));
                    nearest(tree, first, |row| here.contains(&row))
                }
            };
            for row in segment.rows.iter().filter(|row| here.contains(*row)) {
                linked.push((*row, before));
                before = Some(*row);
            }
        }
        linked
    }

    fn note_messages(&mut self, rows: &Rows, taken: &Taken) {
        let visible = taken.active().iter().filter(|at| {
            let row = rows.row(**at);
            row.is_some_and(|row| is_message(row) && !row.flags.meta) && !self.edits.is_gone(**at)
        });
        self.messages = visible.copied().collect();
    }

    /// Which records next to the conversation stay, by their place.
    fn others(&mut self, gathered: &Gathered, options: &Options, tree: &Tree<'_>) -> Vec<usize> {
        let rows = &gathered.inspector.rows;
        let mut newest: HashMap<RecordKind, usize> = HashMap::new();
        for (at, other) in gathered.others.iter().enumerate().filter(|(_, other)| !other.lineage) {
            newest.insert(other.kind, at);
        }
        let mut kept = Vec::new();
        for (at, other) in gathered.others.iter().enumerate() {
            let is_newest = newest.get(&other.kind) == Some(&at);
            let reason = match other.kind {
                _ if other.lineage => Some(Reason::Superseded),
                RecordKind::CustomTitle => Some(Reason::Superseded),
                RecordKind::LastPrompt if !is_newest => Some(Reason::Superseded),
                RecordKind::LastPrompt => self.leaf(rows, other, options, tree),
                RecordKind::AiTitle
                | RecordKind::PermissionMode
                | RecordKind::Mode
                | RecordKind::AgentName
                | RecordKind::AgentColor
                | RecordKind::AgentSetting
                | RecordKind::Tag
                | RecordKind::WorktreeState => (!is_newest).then_some(Reason::Superseded),
                RecordKind::QueueOperation
                | RecordKind::BridgeSession
                | RecordKind::TeleportedFrom
                | RecordKind::ForkContextRef
                | RecordKind::ApiRequest
                | RecordKind::ApiRequestShape
                | RecordKind::ApiRequestBlob
                | RecordKind::ToolsUsed
                | RecordKind::CostState
                | RecordKind::AtisLatch
                | RecordKind::MarbleOrigamiCommit
                | RecordKind::MarbleOrigamiSnapshot => Some(Reason::SourceOnly),
                RecordKind::FileHistorySnapshot | RecordKind::FileHistoryDelta
                    if options.drop.contains(&Droppable::Snapshots) =>
                {
                    Some(Reason::Snapshot)
                }
                RecordKind::Summary => self.summary(rows, other),
                _ => self.references(rows, other),
            };
            match reason {
                None => kept.push(at),
                Some(reason) => *self.counts.left_out.entry(reason).or_default() += 1,
            }
        }
        kept
    }

    /// A record that names others stays only with all of them.
    fn references(&self, rows: &Rows, other: &Other) -> Option<Reason> {
        let there = |name: &Name| self.naming.uuid(rows, *name).is_some();
        (!other.names.iter().all(there)).then_some(Reason::Reference)
    }

    /// A summary is the title of the conversation that ends at a message.
    fn summary(&self, rows: &Rows, other: &Other) -> Option<Reason> {
        let leaf = other.names.first().and_then(|name| rows.find(*name));
        let speaks = leaf.and_then(|at| rows.row(at)).is_some_and(is_message);
        if speaks { self.references(rows, other) } else { Some(Reason::Reference) }
    }

    /// The newest prompt stays with the record it names, or the nearest before that.
    fn leaf(
        &mut self,
        rows: &Rows,
        other: &Other,
        options: &Options,
        tree: &Tree<'_>,
    ) -> Option<Reason> {
        self.references(rows, other)?;
        let name = *other.names.first()?;
        let at = rows.find(name).filter(|_| options.up_to.is_none());
        match nearest(tree, at, |row| self.naming.row(row).is_some()) {
            Some(row) => {
                self.instead.insert(name, row);
                None
            }
            None => Some(Reason::Reference),
        }
    }

    /// Puts both kinds together in the order of the file; the first record is of the conversation.
    fn merge(
        &mut self,
        rows: &Rows,
        gathered: &Gathered,
        linked: Vec<(RowIndex, Option<RowIndex>)>,
        others: Vec<usize>,
    ) {
        let mut waiting = others.into_iter().peekable();
        for (number, (row, parent)) in linked.into_iter().enumerate() {
            let line = rows.row(row).map_or(0, |row| row.line);
            let earlier =
                |at: &usize| gathered.others.get(*at).is_some_and(|other| other.line < line);
            while number > 0
                && let Some(other) = waiting.next_if(earlier)
            {
                self.items.push(Item::Other(other));
            }
            self.items.push(Item::Row { row, parent });
        }
        self.items.extend(waiting.map(Item::Other));
    }

    fn count_images(
        &mut self,
        rows: &Rows,
        options: &Options,
        linked: &[(RowIndex, Option<RowIndex>)],
    ) {
        let all = options.drop.contains(&Droppable::Images);
        for (at, _) in linked {
            let Some(row) = rows.row(*at) else { continue };
            for (number, block) in rows.blocks_of(row).iter().enumerate() {
                let cut = match self.edits.action(*at, number) {
                    super::edits::Action::Remove => continue,
                    super::edits::Action::Truncate(_) => true,
                    _ => all,
                };
                let own = all && matches!(block.kind, BlockKind::Image);
                let nested = rows.nested(block).iter();
                let nested = nested.filter(|one| cut && one.kind == BlockKind::Image).count();
                self.counts.images_removed += nested as u64 + u64::from(own);
            }
        }
    }

    fn count(&mut self, gathered: &Gathered, taken: &Taken) {
        let rows = &gathered.inspector.rows;
        for item in &self.items {
            match item {
                Item::Row { .. } => self.counts.records += 1,
                Item::Other(_) => self.counts.metadata += 1,
            }
        }
        let mut left = taken.left_out.clone();
        for at in taken.segments.iter().flat_map(|segment| &segment.rows) {
            if let Some(reason) = self.edits.reason(*at) {
                *left.entry(reason).or_default() += 1;
            }
        }
        if gathered.copies > 0 {
            *left.entry(Reason::Copy).or_default() += gathered.copies;
        }
        if gathered.nameless > 0 {
            *left.entry(Reason::Nameless).or_default() += gathered.nameless;
        }
        for (reason, count) in left {
            *self.counts.left_out.entry(reason).or_default() += count;
        }
        self.counts.bad_lines = rows.totals.bad_lines;
    }
}

/// The first of a row and its ancestors that fits.
pub(super) fn nearest(
    tree: &Tree<'_>,
    start: Option<RowIndex>,
    fits: impl Fn(RowIndex) -> bool,
) -> Option<RowIndex> {
    let mut at = start;
    while let Some(row) = at {
        if fits(row) {
            return Some(row);
        }
        at = tree.parent(row);
    }
    None
}
