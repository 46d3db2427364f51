//! What the edits leave behind: empty messages, companions of removed calls, starts and ends.

use super::decide::Decider;
use crate::clone::{Droppable, Reason};
use crate::names::Name;
use crate::rows::is_message;
use crate::rows::{BlockPart, PromptShape, RowIndex};
use backstory_format::claude::{BlockKind, RecordKind};
use hashbrown::HashSet;

impl Decider<'_> {
    /// What the edits leave empty, and what belongs to removed calls, goes as well.
    pub(super) fn clear_up(&mut self) {
        let mut removed: HashSet<Name> = HashSet::new();
        let mut kept: HashSet<Name> = HashSet::new();
        for at in 0..self.stages.len() {
            self.clear_answer(at);
            let Some(stage) = self.stages.get(at) else { continue };
            for pair in &stage.pairs {
                let gone = self.edits.is_removed(pair.call.0, pair.call.1);
                if gone {
                    removed.insert(pair.id)
                } else {
                    kept.insert(pair.id)
                };
            }
        }
        let all: Vec<RowIndex> =
            self.taken.segments.iter().flat_map(|segment| segment.rows.iter().copied()).collect();
        for row in &all {
            self.clear_row(*row);
        }
        for (row, call) in &self.gathered.ties {
            if removed.contains(call) && !kept.contains(call) && self.only_accompanies(*row) {
                self.edits.drop_row(*row, Reason::Tool);
            }
        }
        self.drop_wanted(&all);
        self.keep_start();
        self.cut_ends();
        self.fix_end();
    }

    /// A message of nothing but thinking cannot be sent.
    fn clear_answer(&mut self, at: usize) {
        let rows = self.rows();
        let Some(stage) = self.stages.get(at).filter(|stage| !stage.exchange.answer.is_empty())
        else {
            return;
        };
        let mut said = false;
        let (mut calls, mut had_calls) = (false, false);
        for row in &stage.exchange.answer {
            for (number, block) in self.blocks(*row).iter().enumerate() {
                let there = !self.edits.is_removed(*row, number);
                let thought =
                    matches!(block.kind, BlockKind::Thinking | BlockKind::RedactedThinking);
                said |= there && !thought;
                calls |= there && block.kind == BlockKind::ToolUse;
                had_calls |= block.kind == BlockKind::ToolUse;
            }
        }
        let answer = stage.exchange.answer.clone();
        if !said {
            self.remove_thinking(&answer);
            let reason = if had_calls { Reason::Tool } else { Reason::Thinking };
            for row in answer {
                self.edits.drop_row(row, reason);
            }
        } else if had_calls && !calls {
            for row in answer {
                let stop =
                    rows.row(row).and_then(|row| rows.message(row)).map(|part| part.stop_reason);
                let stop = stop.and_then(Name::some);
                if stop.is_some_and(|stop| rows.names.bytes(stop) == b"tool_use") {
                    self.edits.edit(rows, row).ends_turn = true;
                }
            }
        }
    }

    fn clear_row(&mut self, row: RowIndex) {
        let blocks = self.blocks(row);
        let all_gone =
            !blocks.is_empty() && (0..blocks.len()).all(|at| self.edits.is_removed(row, at));
        if all_gone && !self.edits.is_gone(row) {
            let thought = |block: &BlockPart| {
                matches!(block.kind, BlockKind::Thinking | BlockKind::RedactedThinking)
            };
            let tool = |block: &BlockPart| {
                matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult)
            };
            let reason = if blocks.iter().any(tool) {
                Reason::Tool
            } else if blocks.iter().any(thought) {
                Reason::Thinking
            } else {
                Reason::Unsendable
            };
            self.edits.drop_row(row, reason);
        }
    }

    /// Whether a row only accompanies a call: no answer, no result.
    fn only_accompanies(&self, row: RowIndex) -> bool {
        let Some(row) = self.rows().row(row) else { return false };
        let shape = self.rows().message(row).map(|part| part.prompt);
        row.kind != RecordKind::Assistant && matches!(shape, None | Some(PromptShape::Meta))
    }

    fn drop_wanted(&mut self, all: &[RowIndex]) {
        for at in all {
            let Some(row) = self.rows().row(*at) else { continue };
            let shape = self.rows().message(row).map(|part| part.prompt);
            if row.kind == RecordKind::Progress && self.options.drop.contains(&Droppable::Progress)
            {
                self.edits.drop_row(*at, Reason::Progress);
            } else if shape == Some(PromptShape::Meta)
                && self.options.drop.contains(&Droppable::Meta)
            {
                self.edits.drop_row(*at, Reason::Meta);
            }
        }
    }

    /// A conversation begins with something that was said to the model, be it injected.
    fn keep_start(&mut self) {
        let rows = self.rows();
        let Some(active) = self.taken.segments.last() else { return };
        let mut injected = None;
        for at in &active.rows {
            let Some(row) = rows.row(*at) else { continue };
            match (row.kind, self.edits.reason(*at)) {
                (RecordKind::User, Some(Reason::Meta)) => injected = Some(*at),
                (RecordKind::User, None) => return,
                (RecordKind::Assistant, None) => break,
                _ => {}
            }
        }
        if let Some(row) = injected {
            self.edits.restore(row);
        }
    }

    /// A conversation ends with a message: no reader looks behind the last one.
    fn cut_ends(&mut self) {
        let rows = self.rows();
        for segment in &self.taken.segments {
            for at in segment.rows.iter().rev() {
                if self.edits.is_gone(*at) {
                    continue;
                }
                if rows.row(*at).is_some_and(is_message) {
                    break;
                }
                self.edits.drop_row(*at, Reason::OtherBranch);
            }
        }
    }

    /// The client looks for the newest message by its time.
    fn fix_end(&mut self) {
        let rows = self.rows();
        let Some(active) = self.taken.segments.last() else { return };
        let speaks = |at: &&RowIndex| rows.row(**at).is_some_and(is_message);
        let end = active.rows.iter().rev().filter(speaks).find(|at| !self.edits.is_gone(**at));
        let Some(end) = end.copied() else { return };
        let time = |at: RowIndex| rows.row(at).and_then(|row| row.timestamp);
        let others = self.taken.segments.iter().rev().skip(1).flat_map(|segment| &segment.rows);
        let newest = others.filter_map(|at| time(*at)).max();
        let late = newest.is_some_and(|newest| time(end).is_none_or(|end| end <= newest));
        if late || !self.gathered.inspector.has_time(end) {
            self.edits.edit(rows, end).timed_anew = true;
        }
    }
}
