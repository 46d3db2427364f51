//! Calls of a session while it is being read, and what they gave back.

use super::draft::{Draft, problem};
use backstory_format::ProblemId;
use backstory_model::{Block, Call, CallOutcome, CallResult, Content, OrphanResult};
use std::collections::VecDeque;

/// Turn, step and block of a call.
pub(super) type Address = (usize, usize, usize);

/// Blocks of the current message whose calls have the same id.
#[derive(Debug)]
pub(super) struct Open {
    first: usize,
    /// Those without a result.
    waiting: VecDeque<usize>,
}

impl Draft {
    pub(crate) fn call(&mut self, call: Call) {
        let (id, waits) = (call.id.clone(), call.result.is_none());
        let blocks = &mut self.step().blocks;
        let at = blocks.len();
        blocks.push(Block::Call(Box::new(call)));
        if let Some(id) = id {
            let new = || Open { first: at, waiting: VecDeque::new() };
            let open = self.open.entry(id).or_insert_with(new);
            open.waiting.extend(waits.then_some(at));
        }
    }

    /// An id for a call that has none.
    pub(crate) fn made_id(&mut self) -> Box<str> {
        self.made_ids += 1;
        format!("call-{}", self.made_ids).into()
    }

    /// What a call gave back. Effects of calls that failed did not happen. The message stays open:
    /// some agents write results down between the calls of one message.
    pub(crate) fn result(&mut self, call: Option<&str>, result: CallResult) {
        let line = result.line;
        let open = call.and_then(|call| self.open.get_mut(call)?.waiting.pop_front());
        if let Some(call) = open.and_then(|at| self.open_call(at)) {
            return answer(call, result);
        }
        let known = call.and_then(|call| self.waiting.remove_entry(call));
        if let Some((id, address)) = known {
            self.answered.insert(id, address);
            if let Some(call) = self.call_at(address) {
                answer(call, result);
            }
            return;
        }
        let again = call.is_some_and(|call| self.answered.contains_key(call));
        let id = if again { ProblemId::DuplicateResult } else { ProblemId::OrphanResult };
        self.session.problems.push(problem(id, line));
        if !again {
            let call_id = call.map(Box::from);
            self.session.orphan_results.push(OrphanResult { call_id, uuid: None, line });
        }
    }

    /// The first call without a result of the last message that has one; eight are looked at.
    pub(crate) fn unanswered(&mut self) -> Option<Box<str>> {
        self.close();
        let waiting = &self.waiting;
        let calls = self.session.turns.iter().rev().flat_map(|turn| turn.steps.iter().rev());
        let mut ids =
            calls.take(8).flat_map(|step| step.calls()).filter_map(|call| call.id.clone());
        ids.find(|id| waiting.contains_key(id))
    }

    /// A call by its id, answered or not.
    pub(crate) fn find_call(&mut self, id: &str) -> Option<&mut Call> {
        if let Some(at) = self.open.get(id).map(|open| open.first) {
            return self.open_call(at);
        }
        let address = *self.waiting.get(id).or_else(|| self.answered.get(id))?;
        self.call_at(address)
    }

    fn open_call(&mut self, at: usize) -> Option<&mut Call> {
        match self.current.as_mut()?.blocks.get_mut(at)? {
            Block::Call(call) => Some(call),
            _ => None,
        }
    }

    fn call_at(&mut self, (turn, step, block): Address) -> Option<&mut Call> {
        let step = self.session.turns.get_mut(turn)?.steps.get_mut(step)?;
        match step.blocks.get_mut(block)? {
            Block::Call(call) => Some(call),
            _ => None,
        }
    }

    /// A result of plain text at this place.
    pub(crate) fn plain_result(&self, outcome: CallOutcome, text: Vec<Content>) -> CallResult {
        CallResult {
            outcome,
            uuid: None,
            line: self.place.line,
            timestamp: self.place.timestamp,
            text,
            blocks: Vec::new(),
            structured: None,
            persisted: None,
        }
    }
}

fn answer(call: &mut Call, result: CallResult) {
    if result.outcome != CallOutcome::Ok {
        call.effects.clear();
    }
    call.result = Some(result);
}
