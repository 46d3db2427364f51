//! Conversations of the OpenHands SDK: events with a `kind`.
//!
//! Tokens stand in the state beside the events, each under the id of its answer; where only events
//! are left, they come as running totals in events of their own, written just before the message
//! they belong to.

use crate::common::{Cite, Draft, Editor, Part, chat_usage, editor, parts, timestamp};
use backstory_format::json::{Kind, Value};
use backstory_model::{
    Branch, Call, CallOutcome, CompactionKind, Content, Effect, IdOrigin, PromptBlock, Session,
    TurnKind, UsageTotal,
};
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Events {
    draft: Draft,
    cite: Cite,
    response: Option<String>,
    /// Whether the state beside the events tells the cost: it is written last.
    cost: Cost,
    total: UsageTotal,
    next: Option<UsageTotal>,
    /// Tokens by the id of the answer.
    known: HashMap<String, UsageTotal>,
}

/// What tells the cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cost {
    State,
    Events,
}

impl Events {
    pub(super) fn new(draft: Draft, cite: Cite) -> Events {
        let total = UsageTotal::default();
        let known = HashMap::new();
        Events { draft, cite, response: None, cost: Cost::Events, total, next: None, known }
    }

    pub(super) fn finish(mut self) -> Session {
        self.draft.close();
        if let Some(usage) = self.next.take()
            && let Some(step) = self.draft.last_step().filter(|step| step.usage.is_none())
        {
            step.usage = Some(usage);
        }
        self.draft.finish()
    }

    /// The state beside the events.
    pub(super) fn state(&mut self, state: Option<Value<'_>>) {
        let Some(state) = state else { return };
        if let Some(id) = state.get_text("id") {
            self.draft.session.id = id.into_owned();
        }
        let model = state.get("agent").and_then(|agent| agent.get("llm")?.get_text("model"));
        self.draft.model = model.map(|model| Arc::from(&*model));
        let folder = state.get("workspace").and_then(|place| place.get_text("working_dir"));
        if let Some(folder) = folder {
            self.draft.folder(folder);
        }
        let metrics = state.get("stats").and_then(|stats| stats.get("usage_to_metrics"));
        let mut cost = 0.0;
        for (_, metrics) in metrics.iter().flat_map(|metrics| metrics.fields()) {
            cost += metrics.get("accumulated_cost").and_then(|cost| cost.float()).unwrap_or(0.0);
            for usage in metrics.get("token_usages").iter().flat_map(|list| list.items()) {
                if let Some(id) = usage.get_text("response_id") {
                    self.known.insert(id.into_owned(), chat_usage(&usage));
                }
            }
        }
        if cost > 0.0 {
            self.draft.session.reported_cost = Some(cost);
            self.cost = Cost::State;
        }
    }

    /// All events. Where they name their parents, those that do not lead to the last one were left
    /// behind.
    pub(super) fn list(&mut self, events: &[NumberedEvent<'_>]) {
        let left = off_chain(events);
        for (event, _) in events.iter().zip(&left).filter(|(_, left)| !**left) {
            self.event(event);
        }
        if left.contains(&true) {
            let draft = Draft::new(
                self.draft.session.agent,
                String::new(),
                self.draft.session.source.clone(),
            );
            let mut others = Events::new(draft, self.cite);
            others.draft.model = self.draft.model.clone();
            others.known = std::mem::take(&mut self.known);
            for (event, _) in events.iter().zip(&left).filter(|(_, left)| **left) {
                others.event(event);
            }
            let turns = others.draft.finish().turns;
            let records = left.iter().filter(|left| **left).count() as u64;
            let (root, leaf) = ("left".into(), "left".into());
            self.draft.session.abandoned.push(Branch { from: None, root, leaf, records, turns });
        }
    }

    fn event(&mut self, numbered: &NumberedEvent<'_>) {
        let event = &numbered.event;
        let time = event.get("timestamp").and_then(|time| timestamp(&time));
        self.draft.move_to(numbered.number, time);
        let kind = event.get_text("kind").unwrap_or_default();
        self.draft.count(&kind);
        match &*kind {
            "SystemPromptEvent" => {
                let prompt = event.get("system_prompt");
                let text = prompt.as_ref().and_then(|prompt| self.cite.field(prompt, "text"));
                let tools = event.get("tools").filter(|tools| tools.kind() == Kind::Array);
                self.draft.set_request(text, tools.map(|tools| self.cite.json(&tools)));
            }
            "MessageEvent" => self.message(event),
            "ActionEvent" => self.action(event),
            "ObservationEvent" => self.observation(event),
            "UserRejectObservation" => {
                let reason = parts(event.get("rejection_reason").as_ref(), self.cite);
                self.answer(event, CallOutcome::Rejected, reason);
            }
            "AgentErrorEvent" => {
                let error = parts(event.get("error").as_ref(), self.cite);
                self.answer(event, CallOutcome::Error, error);
            }
            "Condensation" => {
                self.draft.compaction(CompactionKind::Full);
                self.draft.event("compacted", self.cite.field(event, "summary"));
            }
            "ConversationErrorEvent" => {
                self.draft.event("api-error", self.cite.field(event, "detail"));
            }
            "PauseEvent" | "InterruptEvent" => self.draft.event("interrupted", None),
            "ConversationStateUpdateEvent" => self.update(event),
            _ => {}
        }
    }

    fn message(&mut self, event: &Value<'_>) {
        let Some(message) = event.get("llm_message") else { return };
        let content = message.get("content");
        let parts = parts(content.as_ref(), self.cite);
        if event.get_text("source").is_some_and(|source| source == "agent") {
            self.begin(event);
            for part in parts {
                self.draft.step().blocks.push(part.block());
            }
            self.draft.close();
            return;
        }
        let list = content.iter().flat_map(|list| list.items());
        let words = list.filter_map(|part| part.get_text("text")).next();
        let words = words.or_else(|| content.as_ref().and_then(|content| content.text()));
        let typed = |part: Part| PromptBlock { block: part.block(), context: false };
        let blocks = parts.into_iter().map(typed).collect();
        self.response = None;
        self.draft.prompt(TurnKind::Human, blocks, words.as_deref());
    }

    /// Opens a message, unless this event is part of the one before.
    fn begin(&mut self, event: &Value<'_>) -> bool {
        let id = event.get_text("llm_response_id");
        if id.is_some() && id.as_deref() == self.response.as_deref() {
            return false;
        }
        self.draft.close();
        self.response = id.as_ref().map(|id| id.clone().into_owned());
        let known = id.as_ref().and_then(|id| self.known.remove(&**id));
        if let Some(id) = id {
            self.draft.name_step(&id);
        }
        let usage = known.or(self.next.take());
        let step = self.draft.step();
        step.usage = usage;
        true
    }

    fn action(&mut self, event: &Value<'_>) {
        if self.begin(event) {
            if let Some(text) = self.cite.field(event, "reasoning_content") {
                self.draft.thinking(Some(text));
            }
            for part in parts(event.get("thought").as_ref(), self.cite) {
                self.draft.step().blocks.push(part.block());
            }
        }
        let call = event.get("tool_call");
        let asked = call.as_ref().and_then(|call| call.get_text("arguments"));
        let action = event.get("action");
        let input = match (asked, &action) {
            (Some(asked), _) => Some(Content::Owned(asked.into())),
            (None, Some(action)) => Some(self.cite.json(action)),
            (None, None) => None,
        };
        let effects = action.as_ref().map(|action| self.effects(action)).unwrap_or_default();
        self.draft.call(Call {
            id: event.get_text("tool_call_id").map(Into::into),
            id_origin: IdOrigin::Trace,
            name: event.get_text("tool_name").map(|name| Arc::from(&*name)),
            input,
            result: None,
            subagent: None,
            effects,
        });
    }

    fn effects(&self, action: &Value<'_>) -> Vec<Effect> {
        let kind = action.get_text("kind").unwrap_or_default();
        if kind.starts_with("Terminal") || kind.contains("Bash") {
            let command = self.cite.field(action, "command");
            return command.map(|command| Effect::Shell { command }).into_iter().collect();
        }
        let text = |name: &str| action.get_text(name).map(|text| text.into_owned());
        let own = |name: &str| action.get(name).and_then(|value| self.cite.text(&value));
        let arguments = Editor {
            command: text("command").unwrap_or_default(),
            path: text("path").unwrap_or_default(),
            file_text: own("file_text"),
            old_str: own("old_str"),
            new_str: own("new_str"),
        };
        editor(arguments, None, None).into_iter().collect()
    }

    fn observation(&mut self, event: &Value<'_>) {
        let Some(observation) = event.get("observation") else { return };
        let failed = observation.get("is_error").and_then(|failed| failed.boolean());
        let code = observation.get("exit_code").and_then(|code| code.float());
        let code = code.or_else(|| observation.get("metadata")?.get("exit_code")?.float());
        let wrong = failed == Some(true) || code.is_some_and(|code| code != 0.0);
        let outcome = if wrong { CallOutcome::Error } else { CallOutcome::Ok };
        let content = observation.get("content").or_else(|| observation.get("output"));
        self.answer(event, outcome, parts(content.as_ref(), self.cite));
        let content = |name: &str| observation.get(name).and_then(|text| self.cite.text(&text));
        let (before, after) = (content("old_content"), content("new_content"));
        let id = event.get_text("tool_call_id");
        if let Some(call) = id.and_then(|id| self.draft.find_call(&id)).filter(|_| !wrong)
            && after.is_some()
        {
            for effect in &mut call.effects {
                if let Effect::Edit(edit) = effect {
                    edit.before = before.clone();
                    edit.after = after.clone();
                }
            }
        }
    }

    fn answer(&mut self, event: &Value<'_>, outcome: CallOutcome, parts: Vec<Part>) {
        let mut result = self.draft.plain_result(outcome, Vec::new());
        for part in parts {
            match part {
                Part::Text(text) => result.text.push(text),
                Part::Block(block) => result.blocks.push(block),
            }
        }
        let id = event.get_text("tool_call_id");
        self.draft.result(id.as_deref(), result);
    }

    /// Running totals of tokens and cost.
    fn update(&mut self, event: &Value<'_>) {
        if event.get_text("key").is_none_or(|key| key != "stats") {
            return;
        }
        let metrics = event.get("value").and_then(|value| value.get("usage_to_metrics"));
        let mut cost = 0.0;
        let mut total = UsageTotal::default();
        for (_, metrics) in metrics.iter().flat_map(|metrics| metrics.fields()) {
            cost += metrics.get("accumulated_cost").and_then(|cost| cost.float()).unwrap_or(0.0);
            if let Some(usage) = metrics.get("accumulated_token_usage") {
                total.add(&chat_usage(&usage));
            }
            if self.draft.model.is_none() {
                self.draft.model = metrics.get_text("model_name").map(|name| Arc::from(&*name));
            }
        }
        if cost > 0.0 && self.cost == Cost::Events {
            self.draft.session.reported_cost = Some(cost);
        }
        let more = UsageTotal {
            input: total.input.saturating_sub(self.total.input),
            output: total.output.saturating_sub(self.total.output),
            cache_read: total.cache_read.saturating_sub(self.total.cache_read),
            cache_write: total.cache_write.saturating_sub(self.total.cache_write),
            messages: 1,
            ..UsageTotal::default()
        };
        self.total = total;
        if more.total() > 0 {
            let next = self.next.get_or_insert_default();
            next.add(&more);
            // However often the total was numbered, one message made it.
            next.messages = 1;
        }
    }
}

/// An event and its number among all of the conversation, those that are broken included.
#[derive(Debug)]
pub(super) struct NumberedEvent<'a> {
    pub(super) number: u64,
    pub(super) event: Value<'a>,
}

/// Which events are not ancestors of the last one, where events name their parents.
fn off_chain(events: &[NumberedEvent<'_>]) -> Vec<bool> {
    let parent = |numbered: &NumberedEvent<'_>| {
        numbered.event.get_text("parent_id").map(|id| id.into_owned())
    };
    if !events.iter().any(|event| parent(event).is_some()) {
        return vec![false; events.len()];
    }
    let places: HashMap<String, usize> = events
        .iter()
        .enumerate()
        .filter_map(|(at, numbered)| Some((numbered.event.get_text("id")?.into_owned(), at)))
        .collect();
    let mut on_chain = HashSet::new();
    let mut next = events.len().checked_sub(1);
    while let Some(at) = next.filter(|at| on_chain.insert(*at)) {
        let named = events.get(at).and_then(parent);
        // An event of before there were parents follows the one before it, and so does one whose
        // parent is lost.
        let known = named.and_then(|parent| places.get(&parent).copied());
        next = known.or_else(|| at.checked_sub(1));
    }
    (0..events.len()).map(|at| !on_chain.contains(&at)).collect()
}
