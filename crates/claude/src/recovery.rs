//! Putting back what the walk from leaf to root passes by.
//!
//! The client writes one record per content block and hangs each parallel tool result off its own
//! call, so the path to the newest record holds one of the results and may miss later blocks of
//! the same message. This follows the client's repair: siblings by `message.id`, then results by
//! parent, by `sourceToolAssistantUUID`, or by call id of the same writer, then what hooks and the
//! client itself wrote below any of them.

use crate::names::Name;
use crate::rows::{PromptShape, Row, RowIndex, Rows};
use backstory_format::claude::{BlockKind, RecordKind};
use backstory_format::slice::Part;
use backstory_model::Recovered;

/// Which records belong to which message and call, over a whole file.
#[derive(Debug)]
pub(super) struct Groups<'a> {
    rows: &'a Rows,
    /// Linked lists in file order: the first and next row of each message.
    first_of_message: Vec<Option<RowIndex>>,
    last_of_message: Vec<Option<RowIndex>>,
    next_in_message: Vec<Option<RowIndex>>,
    owners: Vec<Owner>,
    /// (assistant row, result row), sorted by the first, file order kept.
    results: Vec<(RowIndex, RowIndex)>,
    /// (row, row below it), sorted by the first, file order kept; past progress records.
    children: Vec<(RowIndex, RowIndex)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    One(RowIndex),
    /// Claimed by two messages.
    Several,
}

/// A row of the repaired chain.
pub(super) type Link = (RowIndex, Option<Recovered>);

impl<'a> Groups<'a> {
    pub(super) fn new(rows: &'a Rows) -> Groups<'a> {
        let names = rows.names.len();
        let mut groups = Groups {
            rows,
            first_of_message: vec![None; names],
            last_of_message: vec![None; names],
            next_in_message: vec![None; rows.rows.len()],
            owners: vec![Owner::Nobody; names],
            results: Vec::new(),
            children: children(rows),
        };
        for (index, row) in rows.rows.iter().enumerate().filter(|(_, row)| !row.repeated) {
            groups.add_message(index as RowIndex, row);
        }
        groups.index_results();
        groups
    }

    fn add_message(&mut self, index: RowIndex, row: &Row) {
        if row.kind != RecordKind::Assistant {
            return;
        }
        let id = self.message_id(row);
        if let Some(id) = id {
            let last = self.last_of_message.get(id.index()).copied().flatten();
            match last.and_then(|last| self.next_in_message.get_mut(last as usize)) {
                Some(next) => *next = Some(index),
                None => set(&mut self.first_of_message, id.index(), Some(index)),
            }
            set(&mut self.last_of_message, id.index(), Some(index));
        }
        for block in self.rows.blocks_of(row) {
            if block.kind != BlockKind::ToolUse || !block.id.is_some() {
                continue;
            }
            // Records without a message id never make an id ambiguous.
            let owner = match (self.owners.get(block.id.index()), id) {
                (Some(Owner::Several), _) => Owner::Several,
                (Some(Owner::One(known)), None) => Owner::One(*known),
                (Some(Owner::One(known)), Some(id)) => match self.message_of(*known) {
                    Some(other) if other != id => Owner::Several,
                    _ => Owner::One(index),
                },
                _ => Owner::One(index),
            };
            set(&mut self.owners, block.id.index(), owner);
        }
    }

    fn index_results(&mut self) {
        for (index, row) in self.rows.rows.iter().enumerate() {
            if row.repeated || !is_result(self.rows, row) {
                continue;
            }
            let index = index as RowIndex;
            let mut homes = Vec::with_capacity(2);
            homes.extend(self.rows.find(row.parent).filter(|_| row.parent.is_some()));
            let source = self.rows.message(row).map_or(Name::NONE, |part| part.source_assistant);
            if let Some(source) = source.some().and_then(|source| self.rows.find(source)) {
                homes.extend(self.same_writer(row, source).then_some(source));
            }
            for call in result_ids(self.rows, row) {
                if let Some(Owner::One(owner)) = self.owners.get(call.index())
                    && self.same_writer(row, *owner)
                {
                    homes.push(*owner);
                }
            }
            homes.dedup();
            self.results.extend(homes.into_iter().map(|home| (home, index)));
        }
        self.results.sort_by_key(|(home, _)| *home);
    }

    /// Call ids that two different messages claim.
    pub(super) fn is_ambiguous(&self, call: Name) -> bool {
        self.owners.get(call.index()) == Some(&Owner::Several)
    }

    /// Whether any message of the file makes this call.
    pub(super) fn has_owner(&self, call: Name) -> bool {
        self.owners.get(call.index()).is_some_and(|owner| *owner != Owner::Nobody)
    }

    /// Rows of a message in file order.
    pub(super) fn members(&self, message: Name) -> impl Iterator<Item = RowIndex> {
        let first = self.first_of_message.get(message.index()).copied().flatten();
        std::iter::successors(first, |at| self.next_in_message.get(*at as usize).copied().flatten())
    }

    fn results_of(&self, assistant: RowIndex) -> impl Iterator<Item = RowIndex> {
        list_of(&self.results, assistant)
    }

    /// The notes below a row, if they are a single line that is still free.
    fn notes_from(&self, first: RowIndex, from: &Row, seen: &[bool]) -> Vec<RowIndex> {
        let free = |at: RowIndex| !seen.get(at as usize).copied().unwrap_or(true);
        let mut notes = Vec::new();
        let mut next = Some(first);
        while let Some(at) = next {
            let fits = self.rows.row(at).is_some_and(|row| {
                row.flags.sidechain == from.flags.sidechain && is_note(self.rows, row)
            });
            if !free(at) || !fits || notes.len() > self.rows.rows.len() {
                return Vec::new();
            }
            notes.push(at);
            let mut below = list_of(&self.children, at).filter(|at| free(*at));
            next = below.next();
            if below.next().is_some() {
                return Vec::new();
            }
        }
        notes
    }

    /// Notes below the records of a message with calls, and below their results.
    fn notes_of(
        &self,
        message: Name,
        place: usize,
        path: &[RowIndex],
        seen: &mut [bool],
    ) -> Vec<RowIndex> {
        let calls = |at: RowIndex| {
            let row = self.rows.row(at);
            row.is_some_and(|row| {
                self.rows.blocks_of(row).iter().any(|block| block.kind == BlockKind::ToolUse)
            })
        };
        if !self.members(message).any(calls) {
            return Vec::new();
        }
        let mut homes: Vec<RowIndex> = self.members(message).collect();
        for member in self.members(message) {
            let placed = self.results_of(member).filter(|at| seen.get(*at as usize) == Some(&true));
            homes.extend(placed);
        }
        let after = path.part(place + 1..).iter().copied();
        homes.extend(after.take_while(|at| {
            self.rows
                .row(*at)
                .is_some_and(|row| is_note(self.rows, row) || is_result(self.rows, row))
        }));
        let mut found = Vec::new();
        for home in homes {
            let Some(row) = self.rows.row(home) else { continue };
            for child in list_of(&self.children, home) {
                let notes = self.notes_from(child, row, seen);
                for note in &notes {
                    set(seen, *note as usize, true);
                }
                found.extend(notes);
            }
        }
        found
    }

    /// Inserts what belongs to the messages on `path` right after each message's last record on
    /// it. `seen` marks rows that are already placed and is updated.
    pub(super) fn recover(&self, path: &[RowIndex], seen: &mut [bool]) -> Vec<Link> {
        let mut anchors = vec![None; path.len()];
        let mut messages: Vec<(Name, usize)> = Vec::new();
        let mut place_of_message =
            hashbrown::HashMap::with_hasher(foldhash::fast::FixedState::default());
        for (place, index) in path.iter().enumerate() {
            let Some(id) = self.rows.row(*index).and_then(|row| self.message_id(row)) else {
                continue;
            };
            let known = *place_of_message.entry(id).or_insert_with(|| {
                messages.push((id, place));
                messages.len() - 1
            });
            if let Some(message) = messages.get_mut(known) {
                message.1 = place;
            }
        }
        let mut answered = None;
        for (id, place) in messages {
            let mut found = self.recovered(id, path, seen, &mut answered);
            let notes = self.notes_of(id, place, path, seen).into_iter();
            found.extend(notes.map(|note| (note, Recovered::Note)));
            if !found.is_empty() {
                set(&mut anchors, place, Some(found));
            }
        }
        let mut out = Vec::with_capacity(path.len());
        for (index, found) in path.iter().zip(anchors) {
            out.push((*index, None));
            out.extend(found.into_iter().flatten().map(|(index, why)| (index, Some(why))));
        }
        out
    }

    fn recovered(
        &self,
        message: Name,
        path: &[RowIndex],
        seen: &mut [bool],
        answered: &mut Option<hashbrown::HashSet<Name>>,
    ) -> Vec<(RowIndex, Recovered)> {
        let taken = |seen: &[bool], at: RowIndex| seen.get(at as usize).copied().unwrap_or(true);
        let mut siblings: Vec<RowIndex> =
            self.members(message).filter(|member| !taken(seen, *member)).collect();
        let mut results: Vec<RowIndex> = Vec::new();
        let mut strays: Vec<RowIndex> = Vec::new();
        let mut collected = hashbrown::HashSet::new();
        for member in self.members(message) {
            for result in self.results_of(member) {
                if taken(seen, result) || !collected.insert(result) {
                    continue;
                }
                let parent = self.rows.row(result).and_then(|row| self.rows.find(row.parent));
                let at_home = parent.is_some_and(|parent| self.same_message(parent, message));
                if at_home { results.push(result) } else { strays.push(result) }
            }
        }
        if !strays.is_empty() {
            let elsewhere = answered.get_or_insert_with(|| self.answered_on(path));
            let mut here = self.answered_on(&results);
            strays.sort_unstable();
            for stray in strays {
                let Some(row) = self.rows.row(stray) else { continue };
                let open = |call: &Name| {
                    let owner = self.owners.get(call.index());
                    !elsewhere.contains(call)
                        && !here.contains(call)
                        && matches!(owner, Some(Owner::One(at)) if self.same_message(*at, message))
                };
                if result_ids(self.rows, row).any(|call| open(&call)) {
                    here.extend(result_ids(self.rows, row));
                    results.push(stray);
                }
            }
        }
        let time = |at: &RowIndex| self.rows.row(*at).and_then(|row| row.timestamp);
        siblings.sort_by_key(time);
        results.sort_by_key(time);
        let mut found = Vec::with_capacity(siblings.len() + results.len());
        if !siblings.is_empty() {
            let placed = self.members(message).filter(|member| taken(seen, *member));
            let mut known: hashbrown::HashSet<u64> =
                placed.flat_map(|member| self.block_hashes(member)).collect();
            for sibling in siblings {
                let new = self.block_hashes(sibling).filter(|hash| known.insert(*hash)).count() > 0;
                found.push((sibling, if new { Recovered::Sibling } else { Recovered::Copy }));
            }
        }
        if !results.is_empty() {
            let elsewhere = answered.get_or_insert_with(|| self.answered_on(path));
            let mut here = hashbrown::HashSet::new();
            for result in results {
                let Some(row) = self.rows.row(result) else { continue };
                let fresh = result_ids(self.rows, row).filter(|id| !elsewhere.contains(id));
                let new = fresh.filter(|id| here.insert(*id)).count() > 0;
                found.push((result, if new { Recovered::Result } else { Recovered::Copy }));
            }
        }
        // A copy stays free: it is part of an earlier segment.
        for (index, _) in found.iter().filter(|(_, why)| *why != Recovered::Copy) {
            set(seen, *index as usize, true);
        }
        found
    }

    fn block_hashes(&self, row: RowIndex) -> impl Iterator<Item = u64> {
        let blocks = self.rows.row(row).map_or(&[][..], |row| self.rows.blocks_of(row));
        blocks.iter().map(|block| block.hash)
    }

    fn answered_on(&self, path: &[RowIndex]) -> hashbrown::HashSet<Name> {
        let rows = path.iter().filter_map(|index| self.rows.row(*index));
        rows.flat_map(|row| result_ids(self.rows, row)).collect()
    }

    fn same_message(&self, row: RowIndex, message: Name) -> bool {
        self.message_of(row) == Some(message)
    }

    fn message_of(&self, row: RowIndex) -> Option<Name> {
        self.rows.row(row).and_then(|row| self.message_id(row))
    }

    fn message_id(&self, row: &Row) -> Option<Name> {
        if row.kind != RecordKind::Assistant {
            return None;
        }
        let id = self.rows.message(row)?.id.some()?;
        (!self.rows.names.bytes(id).is_empty()).then_some(id)
    }

    fn same_writer(&self, row: &Row, other: RowIndex) -> bool {
        self.rows.row(other).is_some_and(|other| {
            row.flags.sidechain == other.flags.sidechain && row.agent == other.agent
        })
    }
}

/// Every row with those below it, past progress records.
fn children(rows: &Rows) -> Vec<(RowIndex, RowIndex)> {
    let mut above: Vec<Option<RowIndex>> = Vec::with_capacity(rows.rows.len());
    for (at, row) in rows.rows.iter().enumerate() {
        let parent = rows.find(row.parent).filter(|_| row.parent.is_some());
        let progress = parent.and_then(|at| rows.row(at));
        let passed = progress.is_some_and(|row| row.kind == RecordKind::Progress);
        above.push(match parent {
            // Its own link is known by now: clients write progress before what follows it.
            Some(parent) if passed && (parent as usize) < at => {
                above.get(parent as usize).copied().flatten()
            }
            parent => parent,
        });
    }
    let rows = rows.rows.iter().enumerate();
    let held = rows.filter(|(_, row)| row.kind != RecordKind::Progress && !row.repeated);
    let mut children: Vec<(RowIndex, RowIndex)> = held
        .filter_map(|(at, _)| Some((above.get(at).copied().flatten()?, at as RowIndex)))
        .collect();
    children.sort_unstable();
    children
}

/// What a sorted list holds for a row.
fn list_of(list: &[(RowIndex, RowIndex)], row: RowIndex) -> impl Iterator<Item = RowIndex> {
    let start = list.partition_point(|(home, _)| *home < row);
    let rest = list.part(start..);
    rest.iter().take_while(move |(home, _)| *home == row).map(|(_, at)| *at)
}

/// Whether a user's record holds the result of a call, whatever else it holds.
pub(super) fn holds_result(rows: &Rows, row: &Row) -> bool {
    row.kind == RecordKind::User
        && rows.blocks_of(row).iter().any(|block| block.kind == BlockKind::ToolResult)
}

pub(super) fn is_result(rows: &Rows, row: &Row) -> bool {
    row.kind == RecordKind::User
        && rows.message(row).is_some_and(|part| part.prompt == PromptShape::ToolResult)
}

pub(super) fn result_ids<'r>(rows: &'r Rows, row: &Row) -> impl Iterator<Item = Name> + 'r {
    let blocks = rows.blocks_of(row).iter();
    blocks.filter(|block| block.kind == BlockKind::ToolResult).filter_map(|block| block.id.some())
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

/// What hooks and the client itself add to a conversation: no prompt, answer or result.
pub(super) fn is_note(rows: &Rows, row: &Row) -> bool {
    match row.kind {
        RecordKind::Attachment => true,
        RecordKind::System => !rows.is_notice(row, b"compact_boundary"),
        RecordKind::User => row.flags.meta && !holds_result(rows, row),
        _ => false,
    }
}
