//! Everything that was said and done in a session and its subagents, in one order: a subagent's part
//! follows the message whose call started it.
//!
//! Left out, and counted: branches of the conversation that were left, and what the client ran for
//! itself (compaction, warm-ups, prompt suggestions).

use backstory_model::{Interjection, Session, SessionKind, Step, Turn, TurnKind};
use hashbrown::HashMap;

/// One thing that happened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'s> {
    /// Whose, by index in [`Timeline::members`].
    pub(super) member: usize,
    /// The item whose call started the member.
    pub(super) parent: Option<usize>,
    pub(super) what: Entry<'s>,
}

/// What it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry<'s> {
    Prompt(&'s Turn),
    Interjection(&'s Interjection),
    Step(&'s Step),
}

/// What is not in the timeline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) abandoned_turns: u64,
    pub(super) housekeeping: u64,
}

#[derive(Debug)]
pub(super) struct Timeline<'s> {
    /// The session itself first.
    pub(super) members: Vec<&'s Session>,
    pub(super) items: Vec<Item<'s>>,
    pub(super) left_out: LeftOut,
}

struct Frame<'s> {
    member: usize,
    parent: Option<usize>,
    entries: std::vec::IntoIter<Entry<'s>>,
}

impl<'s> Timeline<'s> {
    pub(super) fn of(session: &'s Session) -> Timeline<'s> {
        let mut left_out = LeftOut::default();
        let mut members = Vec::new();
        for member in session.walk() {
            if member.kind.is_housekeeping() && !std::ptr::eq(member, session) {
                left_out.housekeeping += 1;
                continue;
            }
            let turns = member.abandoned.iter().map(|branch| branch.turns.len() as u64);
            left_out.abandoned_turns += turns.sum::<u64>();
            members.push(member);
        }
        let mut started: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, member) in members.iter().enumerate().skip(1) {
            let call = member.parent.as_ref().and_then(|parent| parent.call.as_deref());
            if let Some(call) = call {
                started.entry(call).or_default().push(at);
            }
        }
        let mut timeline = Timeline { members, items: Vec::new(), left_out };
        let mut waiting: Vec<bool> = vec![true; timeline.members.len()];
        for root in 0..timeline.members.len() {
            if std::mem::replace(waiting.get_mut(root).unwrap_or(&mut false), false) {
                timeline.walk(root, &mut started, &mut waiting);
            }
        }
        timeline
    }

    fn walk(
        &mut self,
        root: usize,
        started: &mut HashMap<&'s str, Vec<usize>>,
        waiting: &mut [bool],
    ) {
        let mut stack = vec![self.frame(root, None)];
        while let Some(frame) = stack.last_mut() {
            let Some(what) = frame.entries.next() else {
                stack.pop();
                continue;
            };
            let (member, parent) = (frame.member, frame.parent);
            let here = self.items.len();
            self.items.push(Item { member, parent, what });
            let Entry::Step(step) = what else { continue };
            let mut begun: Vec<usize> = Vec::new();
            for call in step.calls().filter_map(|call| call.id.as_deref()) {
                begun.extend(started.remove(call).unwrap_or_default());
            }
            for member in begun.into_iter().rev() {
                let slot = waiting.get_mut(member);
                if slot.is_some_and(|waits| std::mem::replace(waits, false)) {
                    stack.push(self.frame(member, Some(here)));
                }
            }
        }
    }

    fn frame(&self, member: usize, parent: Option<usize>) -> Frame<'s> {
        let entries = self.members.get(member).map(|session| entries(session)).unwrap_or_default();
        Frame { member, parent, entries: entries.into_iter() }
    }

    /// Whether an item belongs to a subagent.
    pub(super) fn is_subagent(&self, item: &Item<'s>) -> bool {
        item.member != 0
            || self.members.first().is_some_and(|root| root.kind != SessionKind::Session)
    }
}

/// Prompts, messages and words typed meanwhile, in order.
fn entries(session: &Session) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    for turn in &session.turns {
        if turn.kind != TurnKind::Continuation || !turn.prompt.blocks.is_empty() {
            entries.push(Entry::Prompt(turn));
        }
        let mut typed = turn.interjections.iter().peekable();
        for step in &turn.steps {
            let line = step.lines.first().copied().unwrap_or(u64::MAX);
            while let Some(earlier) = typed.next_if(|one| one.line < line) {
                entries.push(Entry::Interjection(earlier));
            }
            entries.push(Entry::Step(step));
        }
        entries.extend(typed.map(Entry::Interjection));
    }
    entries
}
