//! Training states: what the model saw before each of its messages, and what it did then.
//!
//! A state is one message of a model (all records of its id) on the active chain; its history is what
//! stood before that message, so no state ever holds a part of its own answer. After a compaction the
//! history begins with the summary, because that is what the model was given. Messages are written
//! once per conversation; each state repeats the bytes.

mod message;
mod options;

use super::Options;
use super::fetch::Fetcher;
use super::flow::{Item, What};
use super::json::Canon;
use super::prepared::Prepared;
use super::shapes::Shapes;
use crate::model::{Call, CallOutcome, Step, TurnKind};
use crate::store::StoreError;
use message::Style;
pub use options::{
    Granularity, Layout, MessageStyle, StateFigures, StateOptions, StateView, Subagents, Synthetic,
    SystemPrompt, Thinking,
};
use std::cell::RefMut;

/// The messages of one conversation so far.
#[derive(Debug, Default)]
struct Conversation {
    /// The system prompt as a message.
    system: Vec<u8>,
    bytes: Vec<u8>,
    /// Where each message ends in `bytes`, and its characters.
    ends: Vec<(usize, u64)>,
    /// Messages that begin a turn.
    turns: Vec<usize>,
    /// Messages before this one were replaced by a summary.
    start: usize,
    states: Vec<Vec<u8>>,
    /// The last result was a failure.
    failed: bool,
    began: bool,
}

impl Conversation {
    fn push(&mut self, message: Vec<u8>) {
        if !self.bytes.is_empty() {
            self.bytes.extend_from_slice(b", ");
        }
        self.bytes.extend_from_slice(&message);
        self.ends.push((self.bytes.len(), message.len() as u64));
    }

    fn characters(&self, from: usize) -> u64 {
        self.ends.get(from..).unwrap_or_default().iter().map(|(_, size)| size).sum()
    }

    /// The bytes of messages `from..upto`.
    fn part(&self, from: usize, upto: usize) -> &[u8] {
        let end = |count: usize| {
            count.checked_sub(1).and_then(|at| self.ends.get(at)).map_or(0, |(end, _)| *end)
        };
        let begin = match end(from) {
            0 => 0,
            // Behind the comma.
            begin => begin + 2,
        };
        self.bytes.get(begin..end(upto)).unwrap_or_default()
    }

    /// Which messages a history of at most so many tokens has: perhaps the first prompt, then all
    /// from some turn on.
    fn window(&self, most: Option<u64>) -> (Option<usize>, usize) {
        let fits = |from: usize, first: u64| {
            most.is_none_or(|most| {
                (self.system.len() as u64 + first + self.characters(from)) / 4 <= most
            })
        };
        if fits(self.start, 0) {
            return (None, self.start);
        }
        let first = self.start;
        let kept = self.ends.get(first).map_or(0, |(_, size)| *size);
        let later = self.turns.iter().copied().filter(|turn| *turn > first);
        let mut last = self.ends.len();
        for turn in later {
            last = turn;
            if fits(turn, kept) {
                break;
            }
        }
        (Some(first), last)
    }
}

pub(super) fn write(
    prepared: &Prepared<'_>,
    states: &StateOptions<'_>,
    options: &Options<'_>,
    canon: &mut Canon<'_>,
) -> Result<StateFigures, StoreError> {
    let mut fetcher = prepared.fetcher();
    let shapes = Shapes::of(&prepared.flow, &mut fetcher, canon)?;
    let talks = prepared.flow.members.iter().map(|_| Conversation::default()).collect();
    let style = Style { style: states.messages, thinking: states.thinking, options };
    let figures = StateFigures::default();
    let mut writer = Writer { prepared, shapes, states, style, talks, fetcher, canon, figures };
    let members = prepared.flow.members.len();
    match states.subagents {
        Subagents::Inline => writer.walk(|_| true)?,
        Subagents::Skip => writer.walk(|item| item.member == 0)?,
        Subagents::Separate => {
            for member in 0..members {
                writer.walk(|item| item.member == member)?;
            }
        }
    }
    if states.subagents == Subagents::Skip {
        writer.count_skipped();
    }
    if states.layout == Layout::Compact {
        for member in 0..members {
            writer.compact(member);
        }
    }
    Ok(writer.figures)
}

struct Writer<'w, 's, 'c> {
    prepared: &'w Prepared<'s>,
    shapes: Shapes,
    states: &'w StateOptions<'w>,
    style: Style<'w>,
    talks: Vec<Conversation>,
    fetcher: RefMut<'w, Fetcher<'s>>,
    canon: &'w mut Canon<'c>,
    figures: StateFigures,
}

impl Writer<'_, '_, '_> {
    fn walk(&mut self, wanted: impl Fn(&Item<'_>) -> bool) -> Result<(), StoreError> {
        let prepared = self.prepared;
        for item in prepared.flow.items.iter().filter(|item| wanted(item)) {
            let member = item.member;
            match item.what {
                What::Prompt(turn) => {
                    let blocks = turn.prompt.blocks.iter().map(|block| &block.block);
                    let words = self.fetcher.words(member, blocks)?;
                    let message = self.style.said("user", &words, self.canon);
                    let Some(talk) = self.talks.get_mut(member) else { continue };
                    if turn.kind == TurnKind::Compact {
                        talk.start = talk.ends.len();
                    }
                    talk.turns.push(talk.ends.len());
                    talk.push(message);
                }
                What::Interjection(typed) => {
                    let words = self.fetcher.text(member, &typed.text)?.into_owned();
                    let message = self.style.said("user", &words, self.canon);
                    self.talks.get_mut(member).into_iter().for_each(|talk| {
                        talk.push(message.clone());
                    });
                }
                What::Step(step) => self.step(item, step)?,
            }
        }
        Ok(())
    }

    fn step(&mut self, item: &Item<'_>, step: &Step) -> Result<(), StoreError> {
        self.figures.messages += 1;
        self.begin(item.member, step);
        self.state(item, step)?;
        let made = self.style.step(item.member, step, &mut self.fetcher, self.canon)?;
        let Some(talk) = self.talks.get_mut(item.member) else { return Ok(()) };
        made.into_iter().for_each(|message| talk.push(message));
        let ended = |call: &Call| call.result.as_ref().map(|result| result.outcome);
        if step.calls().next().is_some() {
            talk.failed = step.calls().any(|call| ended(call) == Some(CallOutcome::Error));
        }
        Ok(())
    }

    /// Puts the system prompt in front once it is known.
    fn begin(&mut self, member: usize, step: &Step) {
        let flow = &self.prepared.flow;
        let prompt = match self.states.system {
            SystemPrompt::None => None,
            SystemPrompt::Text(text) => Some(text.to_owned()),
            SystemPrompt::Auto => {
                let name = self.shapes.prompt(flow, member, step);
                name.and_then(|name| self.shapes.prompts.get(name)).cloned()
            }
        };
        let Some(talk) = self.talks.get_mut(member).filter(|talk| !talk.began) else { return };
        talk.began = true;
        if let Some(prompt) = prompt {
            talk.system = self.style.system(&prompt, self.canon);
        }
    }

    fn state(&mut self, item: &Item<'_>, step: &Step) -> Result<(), StoreError> {
        if step.synthetic && self.states.synthetic == Synthetic::Skip {
            self.figures.synthetic += 1;
            return Ok(());
        }
        if !step.on_chain {
            self.figures.off_chain += 1;
            return Ok(());
        }
        let Some(uuid) = step.uuids.first() else {
            self.figures.without_uuid += 1;
            return Ok(());
        };
        let calls: Vec<Option<usize>> = match self.states.granularity {
            Granularity::Step => vec![None],
            Granularity::ToolUse if step.calls().next().is_none() => vec![None],
            Granularity::ToolUse => (0..step.calls().count()).map(Some).collect(),
        };
        let mut actions = Vec::new();
        for call in calls {
            let action =
                self.style.action(item.member, step, call, &mut self.fetcher, self.canon)?;
            actions.push((call, action));
        }
        let longest = actions.iter().map(|(_, action)| action.chars().count()).max().unwrap_or(0);
        if longest == 0 {
            self.figures.empty_action += 1;
            return Ok(());
        }
        if longest < self.states.min_action_chars {
            self.figures.short_action += 1;
            return Ok(());
        }
        self.figures.extra_states += actions.len() as u64 - 1;
        for (call, action) in actions {
            self.figures.states += 1;
            let call = call.and_then(|at| step.calls().nth(at)).and_then(|call| call.id.clone());
            self.write_state(item.member, step, uuid, call.as_deref(), &action);
        }
        Ok(())
    }

    fn write_state(
        &mut self,
        member: usize,
        step: &Step,
        uuid: &str,
        call: Option<&str>,
        action: &str,
    ) {
        let prepared = self.prepared;
        let Some(session) = prepared.flow.members.get(member) else { return };
        let Some(talk) = self.talks.get_mut(member) else { return };
        let (first, from) = talk.window(self.states.max_history_tokens);
        let upto = talk.ends.len();
        self.figures.cut_histories += u64::from(first.is_some());
        self.figures.after_error += u64::from(talk.failed);
        let full = self.states.layout == Layout::Full;
        let canon = &mut *self.canon;
        let outer = if full { None } else { Some(canon.begin_aside()) };
        canon.open();
        if full {
            canon.key("messages");
            let first = first.map(|first| talk.part(first, first + 1)).unwrap_or_default();
            canon.written_list([&talk.system, first, talk.part(from, upto)]);
        } else {
            canon.key("first");
            canon.number_or_null(first.map(|first| first as u64));
            canon.key("from");
            canon.number(from as u64);
            canon.key("upto");
            canon.number(upto as u64);
        }
        canon.key("meta");
        canon.open();
        canon.key("message_id");
        canon.id_or_null(step.message_id.as_deref());
        canon.key("model");
        canon.id_or_null(step.model.as_deref());
        canon.key("n_tokens_est");
        let characters = talk.system.len() as u64
            + first.and_then(|at| talk.ends.get(at)).map_or(0, |(_, size)| *size)
            + talk.characters(from);
        canon.number(characters / 4);
        canon.key("session_id");
        canon.id(&session.id);
        canon.key("timestamp");
        canon.plain_or_null(step.timestamp.map(|time| time.to_string()).as_deref());
        canon.key("tool_error");
        canon.plain_or_null(talk.failed.then_some("tool_error"));
        canon.key("version");
        canon.plain_or_null(step.version.as_deref());
        canon.close();
        canon.key("state_id");
        canon.plain(&match call {
            Some(call) => format!("{}:{uuid}:{call}", session.id),
            None => format!("{}:{uuid}", session.id),
        });
        canon.key("student_action");
        // Cleared when it was made.
        canon.plain(action);
        if self.states.view == StateView::Example {
            for name in ["teacher_id", "reward", "hint_text"] {
                canon.key(name);
                canon.null();
            }
        }
        canon.close();
        match outer {
            None => canon.end_line(),
            Some(outer) => talk.states.push(canon.end_aside(outer)),
        }
    }

    /// The line of one conversation.
    fn compact(&mut self, member: usize) {
        let Some(session) = self.prepared.flow.members.get(member) else { return };
        let Some(talk) = self.talks.get(member).filter(|talk| !talk.states.is_empty()) else {
            return;
        };
        self.canon.open();
        self.canon.key("session_id");
        self.canon.plain(&session.id);
        self.canon.key("system");
        self.canon.written_list([&talk.system, &[], &[]]);
        self.canon.key("messages");
        self.canon.written_list([&[], &[], &talk.bytes]);
        self.canon.key("states");
        self.canon.open_list();
        talk.states.iter().for_each(|state| self.canon.written(state));
        self.canon.close_list();
        self.canon.close();
        self.canon.end_line();
    }

    fn count_skipped(&mut self) {
        let inside = self.prepared.flow.items.iter().filter(|item| item.member > 0);
        let steps = inside.filter(|item| matches!(item.what, What::Step(_))).count() as u64;
        self.figures.messages += steps;
        self.figures.subagent += steps;
    }
}
