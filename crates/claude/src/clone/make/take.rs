//! Which records of the conversation a clone is made from, and in which order.

use super::gather::Gathered;
use crate::check::rules::request::exchanges;
use crate::clone::{Branches, CloneError, Options, Reason, Start, UpTo};
use crate::conversation::Conversation;
use crate::recovery::{Groups, Link};
use crate::rewritten::Transcript;
use crate::rows::is_message;
use crate::rows::{PromptShape, Row, RowIndex, Rows};
use crate::tree::Tree;
use crate::turn_builder::TurnBuilder;
use crate::turns::Material;
use backstory_format::claude::BlockKind;
use backstory_model::Recovered;
use hashbrown::HashSet;
use std::collections::BTreeMap;

/// Records that hang together.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) rows: Vec<RowIndex>,
    pub(super) root: Root,
}

/// What stands before the first record of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// Nothing: it begins there.
    Beginning,
    /// Whatever is left of its ancestors.
    Branch,
}

/// What is taken; the conversation that a resume continues is the last segment.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) segments: Vec<Segment>,
    pub(super) turns: Turns,
    pub(super) left_out: BTreeMap<Reason, u64>,
}

impl Taken {
    /// The conversation that a resume continues.
    pub(super) fn active(&self) -> &[RowIndex] {
        self.segments.last().map_or(&[][..], |segment| segment.rows.as_slice())
    }
}

/// Turns by the lines that belong to them.
#[derive(Debug)]
pub(super) struct Turns {
    places: Vec<(u32, usize)>,
    pub(super) count: usize,
}

impl Turns {
    fn of(builder: TurnBuilder) -> Turns {
        Turns { places: builder.places, count: builder.turns.len() }
    }

    /// The turn a row belongs to, from 0.
    pub(super) fn turn(&self, row: &Row) -> usize {
        let after = self.places.partition_point(|(line, _)| *line <= row.line);
        let place = after.checked_sub(1).and_then(|at| self.places.get(at));
        place.map_or(0, |(_, turn)| *turn)
    }
}

/// Everything that choosing needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) gathered: &'a Gathered,
    pub(super) tree: &'a Tree<'a>,
    pub(super) groups: &'a Groups<'a>,
    pub(super) conversation: &'a Conversation,
    pub(super) material: &'a Material<'a>,
}

impl Choice<'_> {
    pub(super) fn take(&self, options: &Options) -> Result<Taken, CloneError> {
        let (earlier, _) = self.conversation.links.split_at(self.conversation.chain_start);
        let mut active = self.conversation.chain.clone();
        if let Some(up_to) = &options.up_to {
            active = self.up_to(up_to, active)?;
        }
        if options.start == Start::LastCompaction {
            active.drain(..self.last_compaction(&active)?);
        }
        let mut segments = Vec::new();
        if options.branches == Branches::All {
            // What a compaction kept stands behind its summary, where a resume puts it.
            let kept: HashSet<RowIndex> = active.iter().map(|(row, _)| *row).collect();
            let earlier: Vec<Link> =
                earlier.iter().filter(|(row, _)| !kept.contains(row)).copied().collect();
            segments.extend(self.split(&earlier));
            // History that was written again says nothing else.
            let transcript = Transcript::new(self.rows(), &self.conversation.links);
            let branches = self.conversation.abandoned.iter();
            let others = branches.filter(|branch| !transcript.is_written_in(self.rows(), branch));
            segments.extend(others.map(|branch| (branch.links.clone(), Root::Branch)));
        }
        let links: Vec<Link> = match options.branches {
            Branches::Active => active.clone(),
            Branches::All => self.conversation.links.clone(),
        };
        segments.push((active, Root::Beginning));
        let mut taken = Taken {
            segments: Vec::new(),
            turns: Turns::of(self.material.turns(&links)),
            left_out: BTreeMap::new(),
        };
        for (links, root) in segments {
            let rows = self.clean(&links, &mut taken.left_out);
            if !rows.is_empty() {
                taken.segments.push(Segment { rows: self.in_order(rows), root });
            }
        }
        self.count_rest(&mut taken);
        Ok(taken)
    }

    fn rows(&self) -> &Rows {
        &self.gathered.inspector.rows
    }

    /// Cuts the chain after a turn or a record, or takes the branch that the record ends.
    fn up_to(&self, up_to: &UpTo, active: Vec<Link>) -> Result<Vec<Link>, CloneError> {
        let end = match up_to {
            UpTo::Turn(number) => self.end_of_turn(*number)?,
            UpTo::Record(uuid) => self.record(uuid)?,
        };
        if let Some(at) = active.iter().position(|(row, _)| *row == end) {
            let mut active = active;
            active.truncate(at + 1);
            return Ok(active);
        }
        let mut path = Vec::new();
        let mut seen = vec![false; self.rows().rows.len()];
        let mut at = Some(end);
        while let Some(row) = at {
            path.push(row);
            if let Some(slot) = seen.get_mut(row as usize) {
                *slot = true;
            }
            at = self.tree.parent(row);
        }
        path.reverse();
        Ok(self.groups.recover(&path, &mut seen))
    }

    fn end_of_turn(&self, number: u64) -> Result<RowIndex, CloneError> {
        let turns = Turns::of(self.material.turns(&self.conversation.links));
        let there = turns.count as u64;
        let wanted = number.checked_sub(1).filter(|_| number <= there);
        let links = self.conversation.links.iter().filter(|(_, why)| *why != Some(Recovered::Copy));
        let mut last = None;
        for (at, _) in links {
            // A compaction behind a turn is not its end.
            let said = self.rows().row(*at).filter(|row| {
                let summary = PromptShape::CompactSummary;
                let shape = self.rows().message(row).map(|part| part.prompt);
                is_message(row) && !row.flags.sidechain && shape != Some(summary)
            });
            let turn = said.map(|row| turns.turn(row) as u64);
            if turn.is_some() && turn == wanted {
                last = Some(*at);
            }
        }
        last.ok_or(CloneError::NoTurn { wanted: number, there })
    }

    fn record(&self, uuid: &str) -> Result<RowIndex, CloneError> {
        let rows = self.rows();
        let all = rows.rows.iter().enumerate().filter(|(_, row)| !row.repeated);
        let bytes = |row: &Row| rows.names.bytes(row.uuid);
        let mut found: Vec<(usize, &Row)> =
            all.filter(|(_, row)| bytes(row).starts_with(uuid.as_bytes())).collect();
        if let Some(exact) = found.iter().position(|(_, row)| bytes(row) == uuid.as_bytes()) {
            found = vec![found.swap_remove(exact)];
        }
        match found.as_slice() {
            [(at, _)] => Ok(*at as RowIndex),
            [] => Err(CloneError::NoRecord(uuid.to_owned())),
            _ => Err(CloneError::AmbiguousRecord(uuid.to_owned())),
        }
    }

    /// Where the last compaction stands: its boundary, or only its summary in old files.
    fn last_compaction(&self, links: &[Link]) -> Result<usize, CloneError> {
        let rows = self.rows();
        let last = |fits: fn(&Rows, &Row) -> bool| {
            links.iter().rposition(|link| rows.row(link.0).is_some_and(|row| fits(rows, row)))
        };
        let (boundary, summary) = (last(is_boundary), last(is_summary));
        match (boundary, summary) {
            (Some(boundary), _) => Ok(boundary),
            (None, Some(summary)) => Ok(summary),
            (None, None) => Err(CloneError::NeverCompacted),
        }
    }

    /// Earlier parts of the conversation, each with the record it begins with.
    fn split(&self, links: &[Link]) -> Vec<(Vec<Link>, Root)> {
        let mut parts: Vec<(Vec<Link>, Root)> = Vec::new();
        for link in links {
            let begins = link.1.is_none() && self.tree.parent(link.0).is_none();
            match parts.last_mut().filter(|_| !begins) {
                Some((part, _)) => part.push(*link),
                None => parts.push((vec![*link], Root::Beginning)),
            }
        }
        parts
    }

    /// Leaves out copies and what subagents wrote.
    fn clean(&self, links: &[Link], left_out: &mut BTreeMap<Reason, u64>) -> Vec<RowIndex> {
        let mut rows = Vec::with_capacity(links.len());
        for (at, why) in links {
            let Some(row) = self.rows().row(*at) else { continue };
            if *why == Some(Recovered::Copy) {
                *left_out.entry(Reason::Copy).or_default() += 1;
            } else if row.flags.sidechain {
                *left_out.entry(Reason::Subagent).or_default() += 1;
            } else {
                rows.push(*at);
            }
        }
        rows
    }

    /// Results of parallel calls stand behind the last record of their message: old clients look
    /// for them only there.
    fn in_order(&self, rows: Vec<RowIndex>) -> Vec<RowIndex> {
        let links: Vec<Link> = rows.iter().map(|row| (*row, None)).collect();
        let place: hashbrown::HashMap<RowIndex, usize> =
            rows.iter().enumerate().map(|(at, row)| (*row, at)).collect();
        let mut key: Vec<usize> = (0..rows.len()).collect();
        for exchange in exchanges(self.rows(), &links) {
            let last = exchange.answer.iter().filter_map(|row| place.get(row)).max().copied();
            for reply in exchange.replies.iter().filter(|row| self.holds_result(**row)) {
                let (Some(last), Some(at)) = (last, place.get(reply)) else { continue };
                if let Some(slot) = key.get_mut(*at).filter(|_| *at < last) {
                    *slot = last;
                }
            }
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        // A result that moves stands behind the record it moves to, the earlier result first.
        order.sort_by_key(|at| {
            let to = key.get(*at).copied().unwrap_or(*at);
            (to, to != *at, *at)
        });
        order.into_iter().filter_map(|at| rows.get(at).copied()).collect()
    }

    fn holds_result(&self, row: RowIndex) -> bool {
        let blocks = self.rows().row(row).map_or(&[][..], |row| self.rows().blocks_of(row));
        blocks.iter().any(|block| block.kind == BlockKind::ToolResult)
    }

    fn count_rest(&self, taken: &mut Taken) {
        let counted: u64 = taken.left_out.values().sum();
        let held: usize = taken.segments.iter().map(|segment| segment.rows.len()).sum();
        let all = self.rows().rows.len() as u64;
        let rest = all.saturating_sub(held as u64 + counted);
        if rest > 0 {
            *taken.left_out.entry(Reason::OtherBranch).or_default() += rest;
        }
    }
}

/// Whether what stands before a record is not sent, because of a compaction.
pub(super) fn is_compaction(rows: &Rows, row: &Row) -> bool {
    is_boundary(rows, row) || is_summary(rows, row)
}

fn is_boundary(rows: &Rows, row: &Row) -> bool {
    let subtype = rows.notice(row).and_then(|notice| notice.subtype.some());
    subtype.is_some_and(|name| rows.names.bytes(name) == b"compact_boundary")
}

fn is_summary(rows: &Rows, row: &Row) -> bool {
    rows.message(row).is_some_and(|part| part.prompt == PromptShape::CompactSummary)
}
