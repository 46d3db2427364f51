//! Events of the first generation: actions and observations.
//!
//! An action that the model chose carries the whole response it came from, so the calls of one
//! response are one message. Older traces have flat actions, paired with what followed.

use crate::common::{Cite, Draft, chat_usage, timestamp, typed};
use backstory_format::json::{Kind, Value};
use backstory_model::{
    Call, CallOutcome, Change, CompactionKind, Content, Effect, FileEdit, IdOrigin, Session,
    TurnKind,
};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Events {
    pub(super) draft: Draft,
    cite: Cite,
    number: u64,
    response: Option<String>,
    /// The last call, for observations that name none.
    last: Option<String>,
}

impl Events {
    pub(super) fn new(draft: Draft, cite: Cite) -> Events {
        Events { draft, cite, number: 0, response: None, last: None }
    }

    pub(super) fn finish(self) -> Session {
        self.draft.finish()
    }

    /// Events in a row; the oldest traces have pairs of them.
    pub(super) fn list(&mut self, events: &Value<'_>) {
        for event in events.items() {
            if event.kind() == Kind::Array {
                for event in event.items() {
                    self.event(&event);
                }
            } else {
                self.event(&event);
            }
        }
    }

    fn event(&mut self, event: &Value<'_>) {
        self.event_at(self.number + 1, event);
    }

    pub(super) fn event_at(&mut self, number: u64, event: &Value<'_>) {
        self.number = number;
        let time = event.get("timestamp").and_then(|time| timestamp(&time));
        self.draft.move_to(self.number, time);
        if let Some(observation) = event.get_text("observation") {
            self.draft.count(&format!("observation {observation}"));
            return self.observation(&observation, event);
        }
        let Some(action) = event.get_text("action") else {
            return self.draft.count("(neither action nor observation)");
        };
        self.draft.count(&format!("action {action}"));
        self.action(&action, event);
    }

    fn action(&mut self, action: &str, event: &Value<'_>) {
        let arguments = event.get("args").unwrap_or(*event);
        let source = event.get_text("source");
        match (action, source.as_deref()) {
            ("system", _) => {
                let tools = arguments.get("tools").filter(|tools| tools.kind() == Kind::Array);
                let tools = tools.map(|tools| self.cite.json(&tools));
                self.draft.set_request(self.cite.field(&arguments, "content"), tools);
                if let Some(version) = arguments.get_text("openhands_version") {
                    self.draft.set_version(version);
                }
            }
            ("message", Some("agent")) => {
                self.draft.close();
                self.response = None;
                if let Some(text) = self.cite.field(&arguments, "content") {
                    self.draft.text(text);
                }
                self.draft.close();
            }
            ("message", _) => {
                let text = self.cite.field(&arguments, "content");
                let words = arguments.get_text("content");
                let blocks = text.into_iter().map(typed).collect();
                self.draft.prompt(TurnKind::Human, blocks, words.as_deref());
                self.response = None;
            }
            ("condensation" | "condensation_request", _) => {
                self.draft.compaction(CompactionKind::Full);
                self.draft.event("compacted", self.cite.field(&arguments, "summary"));
            }
            ("change_agent_state" | "null" | "recall", _) => {}
            (_, Some("user" | "environment")) => self.draft.event(action, None),
            _ => self.call(action, event, &arguments),
        }
    }

    /// Something the model chose to do.
    fn call(&mut self, action: &str, event: &Value<'_>, arguments: &Value<'_>) {
        let metadata = event.get("tool_call_metadata");
        let metadata = metadata.as_ref();
        let response = metadata.and_then(|metadata| metadata.get("model_response"));
        let response = response.as_ref();
        let id = response.and_then(|response| response.get_text("id"));
        let same = id.is_some() && id.as_deref() == self.response.as_deref();
        if !same {
            self.draft.close();
            self.response = id.as_ref().map(|id| id.clone().into_owned());
            self.begin(response, arguments);
        }
        let call_id = metadata.and_then(|metadata| metadata.get_text("tool_call_id"));
        let (call_id, id_origin) = match call_id {
            Some(id) => (id.into_owned(), IdOrigin::Trace),
            None => (format!("event-{}", self.number), IdOrigin::Reader),
        };
        let name = metadata.and_then(|metadata| metadata.get_text("function_name"));
        let name = name.map_or_else(|| action.to_owned(), |name| name.into_owned());
        let asked = response.and_then(|response| asked(response, &call_id));
        let input = asked.unwrap_or_else(|| self.cite.json(arguments));
        let mut effects = Vec::new();
        if action == "run" {
            let command = self.cite.field(arguments, "command");
            effects.extend(command.map(|command| Effect::Shell { command }));
        }
        if action == "write"
            && let Some((path, content)) =
                arguments.get_text("path").zip(self.cite.field(arguments, "content"))
        {
            let change = Change::Write { content, created: false };
            effects.push(FileEdit::new(&path, change).into());
        }
        self.draft.call(Call {
            id: Some(call_id.as_str().into()),
            id_origin,
            name: Some(name.into()),
            input: Some(input),
            result: None,
            subagent: None,
            effects,
        });
        if matches!(action, "finish" | "reject") {
            // Nothing answers this one, and no answer is made up.
            self.draft.step().stop_reason = Some(Arc::from(action));
            self.draft.close();
        }
        self.last = Some(call_id);
    }

    /// A new message: its words, its model, its tokens.
    fn begin(&mut self, response: Option<&Value<'_>>, arguments: &Value<'_>) {
        if let Some(id) = response.and_then(|response| response.get_text("id")) {
            self.draft.name_step(&id);
        }
        let model = response.and_then(|response| response.get_text("model"));
        let model = model.map(|model| Arc::from(&*model)).or_else(|| self.draft.model.clone());
        let usage = response.and_then(|response| response.get("usage"));
        let step = self.draft.step();
        step.model = model;
        step.usage = usage.filter(|usage| usage.kind() == Kind::Object).map(|u| chat_usage(&u));
        let choice = response.and_then(|response| response.get("choices")?.items().next());
        let message = choice.and_then(|choice| choice.get("message"));
        let message = message.as_ref();
        if let Some(thinking) = message.and_then(|m| self.cite.field(m, "reasoning_content")) {
            self.draft.thinking(Some(thinking));
        }
        let said = message.and_then(|message| self.cite.field(message, "content"));
        let said = said.or_else(|| self.cite.field(arguments, "thought"));
        if let Some(text) = said {
            self.draft.text(text);
        }
    }

    fn observation(&mut self, observation: &str, event: &Value<'_>) {
        if matches!(observation, "agent_state_changed" | "null" | "recall" | "condense") {
            return;
        }
        let metadata = event.get("tool_call_metadata");
        let id = metadata.as_ref().and_then(|metadata| metadata.get_text("tool_call_id"));
        let id = id.map(|id| id.into_owned()).or_else(|| self.last.take());
        let extras = event.get("extras").unwrap_or(*event);
        let text = self.cite.field(event, "content").into_iter().collect();
        let result = self.draft.plain_result(outcome(observation, event, &extras), text);
        if observation == "error" && id.is_none() {
            return self.draft.event("error", self.cite.field(event, "content"));
        }
        let ok = result.outcome == CallOutcome::Ok;
        self.draft.result(id.as_deref(), result);
        if observation != "edit" || !ok {
            return;
        }
        let path = extras.get_text("path");
        let after = extras.get("new_content").and_then(|text| self.cite.text(&text));
        let before = extras.get("old_content").and_then(|text| self.cite.text(&text));
        let existed = extras.get("prev_exist").and_then(|existed| existed.boolean());
        if let Some((path, content)) = path.zip(after.clone())
            && let Some(call) = id.and_then(|id| self.draft.find_call(&id))
        {
            let created = existed == Some(false);
            let change = Change::Write { content, created };
            let edit = FileEdit { before, after, ..FileEdit::new(&path, change) };
            call.effects = vec![edit.into()];
        }
    }
}

/// The arguments that the model wrote for a call.
fn asked(response: &Value<'_>, id: &str) -> Option<Content> {
    let message = response.get("choices")?.items().next()?.get("message")?;
    let calls = message.get("tool_calls")?;
    let call = calls.items().find(|call| call.get_text("id").is_some_and(|own| own == id))?;
    let arguments = call.get("function")?.get_text("arguments")?;
    Some(Content::Owned(arguments.into()))
}

fn outcome(observation: &str, event: &Value<'_>, extras: &Value<'_>) -> CallOutcome {
    let code = extras.get("metadata").and_then(|metadata| metadata.get("exit_code"));
    let code = code.or_else(|| extras.get("exit_code")).and_then(|code| code.float());
    let success = event.get("success").and_then(|success| success.boolean());
    match observation {
        "error" => CallOutcome::Error,
        "user_rejected" => CallOutcome::Rejected,
        _ if success == Some(false) || code.is_some_and(|code| code != 0.0) => CallOutcome::Error,
        _ => CallOutcome::Ok,
    }
}
