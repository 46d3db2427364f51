//! Training states: what the model saw before each of its messages, and what it did then.
//!
//! A state is one message of a model (all records of its id) on the active chain; its history is what
//! stood before that message, so no state ever holds a part of its own answer. After a compaction the
//! history begins with the summary, because that is what the model was given. Messages are made once
//! per conversation; each state repeats the bytes when it is written.

mod census;
mod figures;
mod message;
mod output;
mod signals;
mod walk;
mod window;

pub use census::Census;
pub use figures::{Skipped, StateFigures};

use backstory_format::slice;
pub(super) use census::count as count_records;
pub(crate) use figures::Disposition;
use message::Style;
pub(crate) use output::WriteOutput;
pub(super) use walk::{Active, count_subagent_messages, members_in_order, reason_to_skip};
pub(super) use window::{Conversation, Keep, Window};

use crate::chat::MemberWriter;
use crate::context::Context;
use crate::definition::{Wrapped, write_definition};
use crate::fetch::Fetcher;
use crate::gate::{Signal, Signals};
use crate::json::CanonicalWriter;
use crate::options::*;
use crate::rows::{Piece, Rows};
use crate::shapes::Shapes;
use crate::timeline::{Entry, Item};
use backstory_model::{Call, CallOutcome, Step, TurnKind};
use backstory_store::StoreError;
use std::cell::RefMut;
use std::collections::BTreeSet;

pub(super) fn write(
    context: &Context<'_>,
    states: &StateOptions<'_>,
    options: &Options<'_>,
    canon: &mut CanonicalWriter<'_>,
) -> Result<WriteOutput, StoreError> {
    let mut fetcher = context.fetcher();
    let shapes = Shapes::of(&context.timeline, &mut fetcher, canon)?;
    let signals = signals::signals_of(&context.timeline, &mut fetcher)?;
    let conversations = context.timeline.members.iter().map(|_| Conversation::default()).collect();
    let style = Style { style: states.messages, thinking: states.thinking, options };
    let mut writer = Writer {
        active: Active::of(&context.timeline),
        context,
        shapes,
        states,
        style,
        signals,
        tools: context.timeline.members.iter().map(|_| BTreeSet::new()).collect(),
        conversations,
        fetcher,
        canon,
        figures: StateFigures::default(),
        fates: vec![Disposition::Unseen; context.timeline.items.len()],
        pieces: Vec::new(),
        places: vec![(0, 0); context.timeline.members.len()],
    };
    for part in members_in_order(context.timeline.members.len(), states.subagents) {
        writer.walk(|item| part.is_none_or(|member| item.member == member))?;
    }
    count_subagent_messages(&context.timeline, &mut writer.fates, &mut writer.figures);
    if states.layout == Layout::Compact {
        for member in 0..context.timeline.members.len() {
            writer.compact(member)?;
        }
    }
    let Writer { conversations, pieces, figures, fates, .. } = writer;
    let shared = conversations
        .into_iter()
        .flat_map(|conversation| [conversation.system, conversation.bytes]);
    let rows = Some(Rows::new(shared.collect(), pieces));
    Ok(WriteOutput { states: figures, fates, rows })
}

struct Writer<'w, 's, 'c> {
    active: Active<'s>,
    context: &'w Context<'s>,
    shapes: Shapes,
    states: &'w StateOptions<'w>,
    style: Style<'w>,
    /// Of each item of the timeline.
    signals: Vec<Signals>,
    conversations: Vec<Conversation>,
    /// Tools that the model could use in states of each member.
    tools: Vec<BTreeSet<String>>,
    fetcher: RefMut<'w, Fetcher<'s>>,
    canon: &'w mut CanonicalWriter<'c>,
    figures: StateFigures,
    fates: Vec<Disposition>,
    pieces: Vec<Piece>,
    /// Turns begun in each member, and messages of the last one.
    places: Vec<(u64, u64)>,
}

/// What a state is told of besides its history.
struct Answer<'a> {
    member: usize,
    step: &'a Step,
    uuid: &'a str,
    window: &'a Window,
    turn: u64,
    number: u64,
    signals: Signals,
}

impl<'s, 'c> Writer<'_, 's, 'c> {
    fn member_writer(&mut self, member: usize) -> MemberWriter<'_, 's, 'c> {
        MemberWriter { member, fetcher: &mut self.fetcher, canon: self.canon }
    }

    fn walk(&mut self, wanted: impl Fn(&Item<'_>) -> bool) -> Result<(), StoreError> {
        let context = self.context;
        let items = context.timeline.items.iter().enumerate();
        for (at, item) in items.filter(|(_, item)| wanted(item)) {
            if let Entry::Step(step) = item.what {
                self.step(at, item, step)?;
            }
            let Some(words) = self.fetcher.said(item)? else { continue };
            let message = self.style.said("user", &words, self.canon);
            let Some(conversation) = self.conversations.get_mut(item.member) else { continue };
            if let Entry::Prompt(turn) = item.what {
                if let Some((turns, steps)) = self.places.get_mut(item.member) {
                    (*turns, *steps) = (*turns + 1, 0);
                }
                if turn.kind == TurnKind::Compact {
                    conversation.start = conversation.len();
                }
                conversation.begin_turn();
            }
            conversation.push(&message, &self.states.tokenizer);
        }
        Ok(())
    }

    fn step(&mut self, at: usize, item: &Item<'_>, step: &Step) -> Result<(), StoreError> {
        self.figures.messages += 1;
        self.begin(item.member, step);
        let inputs = self.member_writer(item.member).inputs(step)?;
        let fate = self.state(at, item, step, &inputs)?;
        if let Some(slot) = self.fates.get_mut(at) {
            *slot = fate;
        }
        if let Some((_, steps)) = self.places.get_mut(item.member) {
            *steps += 1;
        }
        let Some(conversation) = self.conversations.get_mut(item.member) else { return Ok(()) };
        conversation.begin_step();
        let out = MemberWriter {
            member: item.member,
            fetcher: &mut self.fetcher,
            canon: &mut *self.canon,
        };
        self.style.step(step, &inputs, out, conversation, &self.states.tokenizer)?;
        let ended = |call: &Call| call.result.as_ref().map(|result| result.outcome);
        if !step.synthetic {
            conversation.failed = step.calls().any(|call| ended(call) == Some(CallOutcome::Error));
        }
        Ok(())
    }

    /// Puts the system prompt in front once it is known.
    fn begin(&mut self, member: usize, step: &Step) {
        if self.conversations.get(member).is_none_or(|conversation| conversation.began) {
            return;
        }
        let prompt = self.shapes.system(
            &self.context.timeline,
            member,
            step,
            self.states.system,
            self.canon,
        );
        let message = prompt.map(|prompt| self.style.system(&prompt, self.canon));
        let Some(conversation) = self.conversations.get_mut(member) else { return };
        conversation.begin(message, &self.states.tokenizer);
    }

    fn state(
        &mut self,
        at: usize,
        item: &Item<'_>,
        step: &Step,
        inputs: &[Vec<u8>],
    ) -> Result<Disposition, StoreError> {
        let reason =
            reason_to_skip(item.member, step, self.states, &self.active, &mut self.figures);
        if let Some(reason) = reason {
            return Ok(self.figures.skip(reason));
        }
        let Some(uuid) = step.uuids.first() else {
            return Ok(self.figures.skip(Skipped::WithoutUuid));
        };
        let calls: Vec<Option<usize>> = match self.states.granularity {
            Granularity::Step => vec![None],
            Granularity::ToolUse if step.calls().next().is_none() => vec![None],
            Granularity::ToolUse => (0..step.calls().count()).map(Some).collect(),
        };
        let style = self.style;
        let mut actions = Vec::new();
        for call in calls {
            let action = style.action(step, inputs, call, self.member_writer(item.member))?;
            actions.push((call, action));
        }
        actions.retain(|(_, action)| !action.is_empty());
        if actions.is_empty() {
            return Ok(self.figures.skip(Skipped::EmptyAction));
        }
        let all = actions.len();
        actions.retain(|(_, action)| action.chars().count() >= self.states.min_action_chars);
        if actions.is_empty() {
            return Ok(self.figures.skip(Skipped::ShortAction));
        }
        let short = (all - actions.len()) as u64;
        let Some(conversation) = self.conversations.get(item.member) else {
            return Ok(Disposition::Unseen);
        };
        let window = conversation.window(
            self.states.max_history_tokens,
            Keep::FirstPrompt,
            &self.states.tokenizer,
        );
        let Some(window) = window else { return Ok(self.figures.skip(Skipped::TooLong)) };
        if window.is_empty() {
            return Ok(self.figures.skip(Skipped::NoPrompt));
        }
        self.figures.short_calls += short;
        self.figures.extra_states += actions.len() as u64 - 1;
        let (turns, number) = slice::item(&self.places, item.member);
        let answer = Answer {
            member: item.member,
            step,
            uuid,
            window: &window,
            turn: turns.saturating_sub(1),
            number,
            signals: slice::item(&self.signals, at),
        };
        for (call, action) in actions {
            self.figures.states += 1;
            self.figures.rows += u64::from(self.states.layout == Layout::Full);
            let call = call.and_then(|at| step.calls().nth(at)).and_then(|call| call.id.clone());
            self.write_state(&answer, call.as_deref(), &action);
        }
        Ok(Disposition::Answer)
    }

    fn write_state(&mut self, answer: &Answer<'_>, call: Option<&str>, action: &str) {
        let context = self.context;
        let Some(session) = context.timeline.members.get(answer.member) else { return };
        let Some(conversation) = self.conversations.get_mut(answer.member) else { return };
        let window = answer.window;
        self.figures.cut_histories += u64::from(!window.kept.is_empty());
        self.figures.after_error += u64::from(conversation.failed);
        let canon = &mut *self.canon;
        let outer = canon.begin_nested();
        canon.open();
        if self.states.layout == Layout::Compact {
            canon.key("kept");
            canon.open_list();
            window.kept.iter().for_each(|kept| canon.number(*kept as u64));
            canon.close_list();
            canon.key("from");
            canon.number(window.range.start as u64);
            canon.key("upto");
            canon.number(window.range.end as u64);
        }
        canon.key("meta");
        canon.open();
        canon.key("cwd");
        canon.text_or_null(only(&session.cwds));
        canon.key("git_branch");
        canon.text_or_null(only(&session.git_branches));
        canon.key("message_id");
        canon.id_or_null(answer.step.message_id.as_deref());
        canon.key("model");
        canon.id_or_null(answer.step.model.as_deref());
        canon.key("n_tokens_est");
        canon.number(window.tokens);
        canon.key("parent_session_id");
        let parent = (answer.member > 0).then_some(&*context.session.id);
        canon.id_or_null(parent);
        canon.key("session_id");
        canon.id(&session.id);
        canon.key("signals");
        canon.plain_list(answer.signals.iter().map(Signal::name));
        canon.key("step_index");
        canon.number(answer.number);
        canon.key("timestamp");
        canon.plain_or_null(answer.step.timestamp.map(|time| time.to_string()).as_deref());
        canon.key("tool_error");
        let mark = conversation.failed && self.states.tool_errors == ToolErrors::Mark;
        canon.plain_or_null(mark.then_some("tool_error"));
        canon.key("tools");
        let tools = self.shapes.available(&context.timeline, answer.member, answer.step);
        canon.text_list(tools.iter().map(String::as_str));
        if let Some(all) = self.tools.get_mut(answer.member) {
            all.extend(tools.iter().cloned());
        }
        canon.key("turn_index");
        canon.number(answer.turn);
        canon.key("uuid");
        canon.id(answer.uuid);
        canon.key("version");
        canon.id_or_null(answer.step.version.as_deref());
        canon.close();
        canon.key("state_id");
        canon.id(&match call {
            Some(call) => format!("{}:{}:{call}", session.id, answer.uuid),
            None => format!("{}:{}", session.id, answer.uuid),
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
        let mut state = canon.end_nested(outer);
        if self.states.layout == Layout::Compact {
            conversation.push_state(&state);
            return;
        }
        if state.is_empty() {
            // Learning only.
            return;
        }
        self.pieces.push(Piece::Own(b"{\"messages\": [".to_vec()));
        conversation.pieces(window, 2 * answer.member, &mut self.pieces);
        state.splice(..1, *b"], ");
        state.push(b'\n');
        self.pieces.push(Piece::Own(state));
    }

    /// The line of one conversation.
    fn compact(&mut self, member: usize) -> Result<(), StoreError> {
        let Some(session) = self.context.timeline.members.get(member) else { return Ok(()) };
        let Some(conversation) = self
            .conversations
            .get_mut(member)
            .filter(|conversation| !conversation.states.is_empty())
        else {
            return Ok(());
        };
        self.figures.rows += 1;
        let outer = self.canon.begin_nested();
        self.canon.open();
        self.canon.key("session_id");
        self.canon.id(&session.id);
        self.canon.key("system");
        self.canon.written_list([&conversation.system, &[], &[]]);
        self.canon.key("tools");
        let names: Vec<String> = self.tools.get(member).into_iter().flatten().cloned().collect();
        self.shapes.write_named_tools(&names, &mut self.fetcher, self.canon, |canon, tool| {
            let name = tool.get_text("name").unwrap_or_default();
            write_definition(canon, tool, &name, Wrapped::Yes);
        })?;
        self.canon.key("messages");
        self.canon.open_list();
        let head = self.canon.end_nested(outer);
        self.pieces.push(Piece::Own(head));
        self.pieces.push(Piece::Shared(2 * member + 1, 0..conversation.bytes.len()));
        self.pieces.push(Piece::Own(b"], \"states\": [".to_vec()));
        self.pieces.push(Piece::Own(std::mem::take(&mut conversation.states)));
        self.pieces.push(Piece::Own(b"]}\n".to_vec()));
        Ok(())
    }
}

/// The only one there is, since nothing tells which of several held for a message.
fn only<T: AsRef<str>>(all: &[T]) -> Option<&str> {
    match all {
        [one] => Some(one.as_ref()),
        _ => None,
    }
}
