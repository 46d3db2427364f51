//! From options to edits: repairs first, then tools and thinking.
//!
//! The open end is left alone: a model that waits for a result must find its call and its thinking
//! as they were.

use super::edits::{Action, Edits};
use super::gather::Gathered;
use super::take::Taken;
use super::zones::{Zone, Zones};
use crate::check::CheckId;
use crate::check::rules::inspect::Shape;
use crate::check::rules::request::{Exchange, exchanges};
use crate::clone::{Counts, Options, Reason, Thinking, ToolMode};
use crate::names::Name;
use crate::recovery::Link;
use crate::rows::{BlockPart, RowIndex, Rows};
use backstory_format::claude::BlockKind;
use hashbrown::HashMap;

/// How many bytes of each text of a truncated call stay.
pub(super) const TRUNCATED: usize = 200;
/// What is only a little longer stays whole.
const SLACK: usize = 80;

/// A call of an answer and the block that answers it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) call: (RowIndex, usize),
    pub(super) result: Option<(RowIndex, usize)>,
    pub(super) id: Name,
    pub(super) tool: Name,
}

/// An exchange with what is decided about it so far.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) exchange: Exchange,
    pub(super) turn: usize,
    /// Part of the open end.
    pub(super) protected: bool,
    pub(super) pairs: Vec<Pair>,
}

/// The deciding.
#[derive(Debug)]
pub(super) struct Decider<'a> {
    pub(super) gathered: &'a Gathered,
    pub(super) taken: &'a Taken,
    pub(super) options: &'a Options,
    pub(super) edits: Edits,
    pub(super) counts: Counts,
    pub(super) stages: Vec<Stage>,
}

impl<'a> Decider<'a> {
    pub(super) fn new(
        gathered: &'a Gathered,
        taken: &'a Taken,
        options: &'a Options,
    ) -> Decider<'a> {
        let counts = Counts { turns: taken.turns.count as u64, ..Counts::default() };
        let edits = Edits::default();
        Decider { gathered, taken, options, edits, counts, stages: Vec::new() }
    }

    pub(super) fn rows(&self) -> &'a Rows {
        &self.gathered.inspector.rows
    }

    pub(super) fn blocks(&self, row: RowIndex) -> &'a [BlockPart] {
        let rows = self.rows();
        rows.row(row).map_or(&[][..], |row| rows.blocks_of(row))
    }

    /// Everything but the texts of bands, which need the source's bytes.
    pub(super) fn decide(&mut self) {
        let last = self.taken.segments.len().saturating_sub(1);
        for (number, segment) in self.taken.segments.iter().enumerate() {
            self.stage(&segment.rows, number == last);
        }
        self.tools();
        self.thinking();
    }

    /// Repairs what could not be sent, and notes calls with their results.
    fn stage(&mut self, segment: &[RowIndex], active: bool) {
        let rows = self.rows();
        let links: Vec<Link> = segment.iter().map(|row| (*row, None)).collect();
        let all = exchanges(rows, &links);
        let spoken = all.iter().rposition(|exchange| exchange.is_spoken(rows));
        let since =
            all.iter().rposition(|exchange| exchange.continues(rows)).map_or(0, |at| at + 1);
        let first_new = self.stages.len();
        for (number, exchange) in all.into_iter().enumerate() {
            self.repair_shapes(&exchange, spoken == Some(number));
            let ends = spoken.is_some_and(|last| number >= last) && !exchange.continues(rows);
            let pairs = self.pairs(&exchange, ends);
            let at = exchange.answer.first().or(exchange.replies.first());
            let turn = at.and_then(|at| rows.row(*at)).map_or(0, |row| self.taken.turns.turn(row));
            self.stages.push(Stage { exchange, turn, protected: false, pairs });
        }
        let open = active && self.stages.last().is_some_and(|last| !last.pairs.is_empty());
        for stage in self.stages.iter_mut().skip(first_new + since).filter(|_| open) {
            stage.protected = true;
        }
    }

    fn repaired(&mut self, id: CheckId) {
        *self.counts.repaired.entry(id.name().to_owned()).or_default() += 1;
    }

    fn repair_shapes(&mut self, exchange: &Exchange, latest: bool) {
        let rows = self.rows();
        let mut unsound_thinking = false;
        for at in exchange.answer.iter().chain(&exchange.replies) {
            let oddities: Vec<_> = self.gathered.inspector.oddities_of(*at).copied().collect();
            for oddity in oddities {
                let block = oddity.block.map(|block| block as usize);
                match oddity.shape {
                    Shape::Unreadable => {
                        self.repaired(CheckId::UnreadableMessage);
                        self.edits.drop_row(*at, Reason::Unsendable);
                    }
                    Shape::EmptyPrompt => {
                        self.repaired(CheckId::EmptyPrompt);
                        self.edits.drop_row(*at, Reason::Unsendable);
                    }
                    Shape::EmptyText => {
                        self.repaired(CheckId::EmptyText);
                        match block {
                            Some(block) => self.edits.set(rows, *at, block, Action::Remove),
                            None => self.edits.drop_row(*at, Reason::Unsendable),
                        }
                    }
                    Shape::Call => {
                        if let Some(block) = block {
                            self.repaired(CheckId::CallShape);
                            self.edits.set(rows, *at, block, Action::Remove);
                        }
                    }
                    Shape::ThinkingParts => unsound_thinking |= self.is_claude(*at),
                    Shape::Thinking => unsound_thinking |= latest && self.is_claude(*at),
                    Shape::LongToolName | Shape::Result => {}
                }
            }
        }
        if unsound_thinking {
            self.repaired(CheckId::ThinkingAltered);
            self.remove_thinking(&exchange.answer);
        }
    }

    fn is_claude(&self, row: RowIndex) -> bool {
        let rows = self.rows();
        let model = rows.row(row).and_then(|row| rows.message(row)).map(|part| part.model);
        let model = model.and_then(Name::some);
        model
            .is_some_and(|model| memchr::memmem::find(rows.names.bytes(model), b"claude").is_some())
    }

    /// Joins calls to the results in the same exchange; what has no partner goes.
    fn pairs(&mut self, exchange: &Exchange, ends: bool) -> Vec<Pair> {
        let rows = self.rows();
        let mut pairs: Vec<Pair> = Vec::new();
        let mut known: HashMap<Name, usize> = HashMap::new();
        for (at, number, block) in self.of_kind(&exchange.answer, BlockKind::ToolUse) {
            if block.id.is_some() && known.contains_key(&block.id) {
                self.repaired(CheckId::RecordRepeated);
                self.edits.set(rows, at, number, Action::Remove);
                continue;
            }
            known.insert(block.id, pairs.len());
            pairs.push(Pair { call: (at, number), result: None, id: block.id, tool: block.name });
        }
        let replies: Vec<RowIndex> =
            exchange.answer.iter().chain(&exchange.replies).copied().collect();
        for (at, number, block) in self.of_kind(&replies, BlockKind::ToolResult) {
            let pair = known.get(&block.id).and_then(|pair| pairs.get_mut(*pair));
            match pair.filter(|pair| pair.result.is_none() && block.id.is_some()) {
                Some(pair) => pair.result = Some((at, number)),
                None => {
                    self.repaired(CheckId::ResultWithoutCall);
                    self.edits.set(rows, at, number, Action::Remove);
                }
            }
        }
        pairs.retain(|pair| {
            let stays = pair.result.is_some() || ends && pair.id.is_some();
            if !stays {
                *self
                    .counts
                    .repaired
                    .entry(CheckId::CallWithoutResult.name().into())
                    .or_default() += 1;
                self.edits.set(rows, pair.call.0, pair.call.1, Action::Remove);
            }
            stays
        });
        pairs
    }

    /// Blocks of a kind that are not removed yet.
    fn of_kind(&self, rows: &[RowIndex], kind: BlockKind) -> Vec<(RowIndex, usize, &'a BlockPart)> {
        let mut found = Vec::new();
        for at in rows {
            for (number, block) in self.blocks(*at).iter().enumerate() {
                if block.kind == kind && !self.edits.is_removed(*at, number) {
                    found.push((*at, number, block));
                }
            }
        }
        found
    }

    fn tools(&mut self) {
        let rows = self.rows();
        let zones = Zones::new(&self.stages, self.taken.turns.count, &self.options.tools);
        let mut edits = std::mem::take(&mut self.edits);
        for stage in &self.stages {
            for pair in &stage.pairs {
                let zone = if stage.protected { Zone::Recent } else { zones.zone(stage.turn) };
                let mut mode = zones.mode(zone, rows.names.bytes(pair.tool));
                let band = self.band(stage);
                let mut bytes = TRUNCATED;
                if let (ToolMode::Keep, Some(band)) = (mode, band) {
                    (mode, bytes) = (ToolMode::Truncate, band.level.tool_bytes());
                }
                let action = match mode {
                    ToolMode::Keep => {
                        self.counts.calls += 1;
                        continue;
                    }
                    ToolMode::Truncate => {
                        self.counts.calls += 1;
                        self.counts.calls_truncated += u64::from(self.is_long(pair, bytes));
                        Action::Truncate(bytes)
                    }
                    ToolMode::Remove => {
                        self.counts.calls_removed += 1;
                        Action::Remove
                    }
                };
                for (row, block) in [Some(pair.call), pair.result].into_iter().flatten() {
                    edits.set(rows, row, block, action.clone());
                }
            }
        }
        self.edits = edits;
    }

    /// Whether there is something to cut in a call, its result, or what stands beside the result.
    fn is_long(&self, pair: &Pair, bytes: usize) -> bool {
        let rows = self.rows();
        let long = |length: u32| length as usize > bytes + SLACK;
        let block = |(row, at): (RowIndex, usize)| self.blocks(row).get(at);
        let input = block(pair.call).and_then(|call| call.payload);
        let result = pair.result.and_then(block).map(|result| result.value);
        let beside =
            pair.result.and_then(|(row, _)| rows.row(row)).and_then(|row| rows.message(row));
        let beside = beside.and_then(|part| part.structured);
        [input, result, beside].into_iter().flatten().any(|span| long(span.length))
    }

    /// The band a stage lies in, unless it is part of the open end.
    pub(super) fn band(&self, stage: &Stage) -> Option<crate::clone::Band> {
        let turns = self.taken.turns.count;
        let mut bands = self.options.bands.iter().filter(|_| !stage.protected);
        bands.find(|band| band.holds(stage.turn, turns)).copied()
    }

    fn thinking(&mut self) {
        if self.options.thinking == Thinking::Keep {
            return;
        }
        let finished = self.stages.iter().filter(|stage| !stage.protected);
        let answers: Vec<RowIndex> =
            finished.flat_map(|stage| stage.exchange.answer.iter().copied()).collect();
        self.remove_thinking(&answers);
    }

    pub(super) fn remove_thinking(&mut self, answer: &[RowIndex]) {
        let rows = self.rows();
        for kind in [BlockKind::Thinking, BlockKind::RedactedThinking] {
            for (at, number, _) in self.of_kind(answer, kind) {
                self.counts.thinking_removed += 1;
                self.edits.set(rows, at, number, Action::Remove);
            }
        }
    }
}
