//! The conversation a resume would send, held against what the API takes.
//!
//! The client merges the records of one message and puts the results of its calls into the
//! message that follows. So the conversation is cut into exchanges: an answer with all its
//! records, and everything up to the next answer.

use super::inspect::{Inspector, Shape};
use super::sink::Sink;
use crate::calls::Results;
use crate::check::{CheckId, Effect};
use crate::names::Name;
use crate::recovery::Link;
use crate::rows::is_message;
use crate::rows::{PromptShape, Row, RowIndex, Rows};
use backstory_format::claude::{BlockKind, RecordKind};
use backstory_format::slice::Part;
use backstory_model::Recovered;

/// An answer and what follows it.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Id of the answer; none before the first answer and for records without id.
    pub(crate) message: Name,
    pub(crate) answer: Vec<RowIndex>,
    pub(crate) replies: Vec<RowIndex>,
}

impl Exchange {
    fn new(message: Name) -> Exchange {
        Exchange { message, answer: Vec::new(), replies: Vec::new() }
    }

    /// Whether a model made the answer, rather than the client.
    pub(crate) fn is_spoken(&self, rows: &Rows) -> bool {
        self.answer.iter().any(|at| {
            let model = rows.row(*at).and_then(|row| rows.message(row)).map(|part| part.model);
            model.is_some_and(|model| !model.is_some() || rows.names.bytes(model) != b"<synthetic>")
        })
    }

    /// Whether somebody said something after the answer.
    pub(crate) fn continues(&self, rows: &Rows) -> bool {
        self.replies.iter().any(|at| {
            let shape = rows.row(*at).and_then(|row| rows.message(row)).map(|part| part.prompt);
            shape.is_some_and(opens_turn)
        })
    }
}

/// The chain as exchanges; what stands before the first answer has no answer.
#[derive(Debug)]
pub(super) struct Request<'a> {
    inspector: &'a Inspector,
    exchanges: Vec<Exchange>,
}

impl<'a> Request<'a> {
    pub(super) fn new(inspector: &'a Inspector, chain: &[Link]) -> Request<'a> {
        Request { inspector, exchanges: exchanges(&inspector.rows, chain) }
    }

    /// Reports everything that is wrong with it.
    pub(super) fn check(&self, results: &Results, sink: &mut Sink<'_>) {
        self.check_start(sink);
        self.check_pairs(results, sink);
        for exchange in &self.exchanges {
            self.check_shapes(exchange, sink);
        }
        let last = self.last_spoken();
        for (number, exchange) in self.exchanges.iter().enumerate() {
            self.check_thinking(exchange, last == Some(number), sink);
        }
        self.check_open_turn(sink);
    }

    /// Reports calls and results that do not stand together.
    pub(super) fn check_pairs(&self, results: &Results, sink: &mut Sink<'_>) {
        let last = self.last_spoken();
        for (number, exchange) in self.exchanges.iter().enumerate() {
            let open = last.is_some_and(|last| number >= last) && !self.continues(exchange);
            self.check_calls(exchange, open, results, sink);
            self.check_results(exchange, sink);
        }
    }

    fn last_spoken(&self) -> Option<usize> {
        self.exchanges.iter().rposition(|exchange| self.is_spoken(exchange))
    }

    fn rows(&self) -> &'a Rows {
        &self.inspector.rows
    }

    fn row(&self, at: RowIndex) -> Option<&'a Row> {
        self.rows().row(at)
    }

    fn is_spoken(&self, exchange: &Exchange) -> bool {
        exchange.is_spoken(self.rows())
    }

    fn continues(&self, exchange: &Exchange) -> bool {
        exchange.continues(self.rows())
    }

    fn check_start(&self, sink: &mut Sink<'_>) {
        let spoken = self.exchanges.iter().any(|exchange| !exchange.answer.is_empty());
        let asked = self.exchanges.first().is_some_and(|start| !start.replies.is_empty());
        let first = self.exchanges.iter().find_map(|exchange| exchange.answer.first());
        match (asked, spoken, first) {
            (false, true, Some(first)) => sink.at(CheckId::StartsWithAnswer, *first, ""),
            (true, false, _) => {
                let asked = self.exchanges.first().and_then(|start| start.replies.last());
                if let Some(asked) = asked {
                    sink.at(CheckId::NoAnswer, *asked, "");
                }
            }
            _ => {}
        }
    }

    /// Calls of the answer that what follows does not answer.
    fn check_calls(&self, exchange: &Exchange, open: bool, results: &Results, sink: &mut Sink<'_>) {
        let rows = self.rows();
        let all = || exchange.answer.iter().chain(&exchange.replies);
        let answered = self.ids(all(), BlockKind::ToolResult);
        for at in &exchange.answer {
            let Some(row) = self.row(*at) else { continue };
            for block in rows.blocks_of(row).iter().filter(|one| one.kind == BlockKind::ToolUse) {
                if block.id.is_some() && answered.contains(&block.id) {
                    continue;
                }
                let elsewhere = block.id.is_some() && results.find(rows, block.id).is_some();
                sink.replaces_orphan_call(*at, elsewhere);
                let subject = rows.names.text(block.id);
                if open && !elsewhere {
                    sink.about(CheckId::CallCutOff, *at, subject, "", Effect::None);
                } else if elsewhere {
                    let detail = "its result stands elsewhere";
                    sink.about(CheckId::CallWithoutResult, *at, subject, detail, Effect::Loss);
                } else {
                    // What was called but never answered holds nothing that could be lost.
                    let detail = "it has no result";
                    sink.about(CheckId::CallWithoutResult, *at, subject, detail, Effect::None);
                }
            }
        }
    }

    /// Call ids in blocks of one kind.
    fn ids<'r>(
        &self,
        rows: impl Iterator<Item = &'r RowIndex>,
        kind: BlockKind,
    ) -> hashbrown::HashSet<Name> {
        let rows = rows.filter_map(|at| self.row(*at));
        let blocks = rows.flat_map(|row| self.rows().blocks_of(row));
        blocks.filter(|block| block.kind == kind).map(|block| block.id).collect()
    }

    /// Results that answer no call of the answer before them.
    fn check_results(&self, exchange: &Exchange, sink: &mut Sink<'_>) {
        let rows = self.rows();
        let calls = self.ids(exchange.answer.iter(), BlockKind::ToolUse);
        for at in exchange.answer.iter().chain(&exchange.replies) {
            let Some(row) = self.row(*at) else { continue };
            for block in rows.blocks_of(row).iter().filter(|one| one.kind == BlockKind::ToolResult)
            {
                if !calls.contains(&block.id) {
                    sink.replaces_orphan_result(*at);
                    let subject = rows.names.text(block.id);
                    sink.about(CheckId::ResultWithoutCall, *at, subject, "", Effect::Loss);
                }
            }
        }
    }

    fn check_shapes(&self, exchange: &Exchange, sink: &mut Sink<'_>) {
        for at in exchange.answer.iter().chain(&exchange.replies) {
            for oddity in self.inspector.oddities_of(*at) {
                let id = match oddity.shape {
                    Shape::Unreadable => CheckId::UnreadableMessage,
                    Shape::EmptyPrompt => CheckId::EmptyPrompt,
                    Shape::EmptyText => CheckId::EmptyText,
                    Shape::Call => CheckId::CallShape,
                    Shape::LongToolName => CheckId::LongToolName,
                    Shape::Result => CheckId::ResultShape,
                    Shape::Thinking | Shape::ThinkingParts => continue,
                };
                sink.at(id, *at, block_number(oddity.block));
            }
        }
    }

    /// Signatures are verified in the latest answer; the form of a block is wrong anywhere.
    fn check_thinking(&self, exchange: &Exchange, latest: bool, sink: &mut Sink<'_>) {
        for at in &exchange.answer {
            let model = self.row(*at).and_then(|row| self.rows().message(row));
            let model = model.map_or(Name::NONE, |part| part.model);
            // Other makers' models leave thinking unsigned, and their gateways take it so.
            if !model.is_some()
                || memchr::memmem::find(self.rows().names.bytes(model), b"claude").is_none()
            {
                continue;
            }
            for oddity in self.inspector.oddities_of(*at) {
                if oddity.shape == Shape::ThinkingParts || latest && oddity.shape == Shape::Thinking
                {
                    sink.at(CheckId::ThinkingAltered, *at, block_number(oddity.block));
                }
            }
        }
    }

    /// Answers since the last prompt, while their turn is open.
    fn check_open_turn(&self, sink: &mut Sink<'_>) {
        let since = self.exchanges.iter().rposition(|exchange| self.continues(exchange));
        let turn = self.exchanges.part(since.map_or(0, |at| at + 1)..);
        let calls = |exchange: &Exchange| self.has(exchange, BlockKind::ToolUse);
        if !turn.last().is_some_and(calls) {
            return;
        }
        for exchange in turn {
            let thought = exchange.answer.iter().any(|at| self.inspector.has_thought(*at));
            let kept = self.has(exchange, BlockKind::Thinking)
                || self.has(exchange, BlockKind::RedactedThinking);
            if let Some(first) = exchange.answer.first().filter(|_| thought && !kept) {
                sink.at(CheckId::ThinkingDropped, *first, "");
            }
        }
    }

    fn has(&self, exchange: &Exchange, kind: BlockKind) -> bool {
        let rows = exchange.answer.iter().filter_map(|at| self.row(*at));
        rows.flat_map(|row| self.rows().blocks_of(row)).any(|block| block.kind == kind)
    }
}

/// The chain cut into exchanges; what stands before the first answer has none.
pub(crate) fn exchanges(rows: &Rows, chain: &[Link]) -> Vec<Exchange> {
    let mut exchanges = vec![Exchange::new(Name::NONE)];
    for (at, why) in chain {
        let Some(row) = rows.row(*at).filter(|row| is_message(row)) else { continue };
        if *why == Some(Recovered::Copy) || row.flags.api_error {
            continue;
        }
        let message = rows.message(row).map_or(Name::NONE, |part| part.id);
        let answers = row.kind == RecordKind::Assistant;
        let same = exchanges.last().is_some_and(|last| {
            message.is_some() && last.message == message && !last.answer.is_empty()
        });
        if answers && !same {
            exchanges.push(Exchange::new(message));
        }
        if let Some(last) = exchanges.last_mut() {
            if answers { last.answer.push(*at) } else { last.replies.push(*at) }
        }
    }
    exchanges
}

pub(crate) fn opens_turn(shape: PromptShape) -> bool {
    matches!(
        shape,
        PromptShape::Prompt
            | PromptShape::Command
            | PromptShape::BashInput
            | PromptShape::CompactSummary
            | PromptShape::TaskNotification
            | PromptShape::Teammate
    )
}

fn block_number(block: Option<u32>) -> String {
    block.map_or_else(String::new, |block| format!("block {}", u64::from(block) + 1))
}
