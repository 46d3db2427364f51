//! Conversations in the shape of a chat API: messages with roles, tool calls or actions in text.
//!
//! SWE-agent, mini-swe-agent and SWE-smith write these. The first message of the user is the task;
//! whatever the "user" says while an action waits for its outcome is that outcome, because a program
//! stands in for the user.

use super::{Cite, Draft, Editor, Part, content_of, editor, parts, timestamp};
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_model::{
    Call, CallOutcome, CallResult, Content, Effect, IdOrigin, PromptBlock, TurnKind, UsageTotal,
};

/// A conversation while it is read.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) draft: Draft,
    pub(crate) cite: Cite,
}

/// An action that stands in the text of a message.
#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) name: String,
    /// A JSON object.
    pub(crate) input: String,
}

impl Action {
    /// A command for a shell.
    pub(crate) fn shell(command: &str) -> Action {
        let input = serde_json::json!({ "command": command }).to_string();
        Action { name: "bash".into(), input }
    }
}

impl Chat {
    pub(crate) fn new(draft: Draft, cite: Cite) -> Chat {
        Chat { draft, cite }
    }

    /// One message; `actions` finds those that stand in the text of an answer.
    pub(crate) fn message(
        &mut self,
        number: u64,
        message: &Value<'_>,
        actions: &dyn Fn(&Value<'_>, &str) -> Vec<Action>,
    ) {
        let extra = message.get("extra");
        let time = extra.as_ref().and_then(|extra| extra.get("timestamp"));
        self.draft.move_to(number, time.and_then(|time| timestamp(&time)));
        let role = message.get_text("role").unwrap_or_default();
        self.draft.count(&role);
        let demonstrates = message.get("is_demo").and_then(|demo| demo.boolean()) == Some(true);
        match &*role {
            _ if demonstrates => self.add_event("demonstration", message),
            "system" => self.system(message),
            "assistant" => self.answer(message, actions),
            "tool" => self.tool(message),
            "exit" => self.add_event("exit", message),
            _ => self.user(message),
        }
    }

    /// The first is the system prompt, whole; later ones are events.
    fn system(&mut self, message: &Value<'_>) {
        let mut contents = self.contents(message);
        let content = message.get("content");
        if self.draft.session.requests.shapes.is_empty() && !contents.is_empty() {
            let is_text = |part: Value<'_>| part.get_text("text").or(part.text()).is_some();
            let texts = content.filter(|list| contents.len() > 1 && list.items().all(is_text));
            let system = match texts.map(|texts| self.cite.json(&texts)) {
                None => contents.remove(0),
                Some(place @ Content::Json(_)) => place,
                Some(_) => Content::Owned(plain_text(message).into()),
            };
            if texts.is_some() {
                contents.clear();
            }
            self.draft.set_request(Some(system), None);
        }
        for text in contents {
            self.draft.event("system", Some(text));
        }
    }

    fn parts(&self, message: &Value<'_>) -> Vec<Part> {
        parts(message.get("content").as_ref(), self.cite)
    }

    /// The contents of all parts of a message.
    fn contents(&self, message: &Value<'_>) -> Vec<Content> {
        self.parts(message).into_iter().filter_map(|part| content_of(part.block())).collect()
    }

    fn add_event(&mut self, kind: &str, message: &Value<'_>) {
        let contents = self.contents(message);
        self.draft.events(kind, contents);
    }

    fn user(&mut self, message: &Value<'_>) {
        if let Some(id) = self.draft.unanswered() {
            let result = self.result(message);
            return self.draft.result(Some(&id), result);
        }
        if self.draft.session.turns.iter().any(|turn| !turn.prompt.blocks.is_empty()) {
            return self.add_event("feedback", message);
        }
        let words = plain_text(message);
        let typed = |part: Part| PromptBlock { block: part.block(), context: false };
        let blocks = self.parts(message).into_iter().map(typed).collect();
        self.draft.prompt(TurnKind::Human, blocks, Some(&words));
    }

    fn answer(&mut self, message: &Value<'_>, actions: &dyn Fn(&Value<'_>, &str) -> Vec<Action>) {
        self.draft.close();
        self.draft.step();
        for thinking in message.get("thinking_blocks").iter().flat_map(|list| list.items()) {
            match self.cite.field(&thinking, "thinking") {
                Some(text) => self.draft.thinking(Some(text)),
                None => self.draft.hidden_thinking(),
            }
        }
        if let Some(reasoning) = self.cite.field(message, "reasoning_content") {
            self.draft.thinking(Some(reasoning));
        }
        for part in self.parts(message) {
            self.draft.step().blocks.push(part.block());
        }
        let usage = message.get("extra").and_then(|extra| extra.get("response")?.get("usage"));
        self.draft.step().usage = usage.as_ref().map(chat_usage);
        let calls: Vec<Value<'_>> =
            message.get("tool_calls").map(|calls| calls.items().collect()).unwrap_or_default();
        for call in &calls {
            let function = call.get("function").unwrap_or(*call);
            let name = function.get_text("name").unwrap_or_default();
            let input = match function.get("arguments") {
                Some(arguments) if arguments.kind() == Kind::String => {
                    arguments.text().unwrap_or_default().into_owned()
                }
                Some(arguments) => String::from_utf8_lossy(arguments.raw()).into_owned(),
                None => "{}".to_owned(),
            };
            let id = call.get_text("id").map(|id| id.into_owned());
            self.call(id, Action { name: name.into_owned(), input });
        }
        if calls.is_empty() {
            for action in actions(message, &plain_text(message)) {
                self.call(None, action);
            }
        }
        self.draft.close();
    }

    /// A call, by its own id or by one that is made up here.
    pub(crate) fn call(&mut self, id: Option<String>, action: Action) {
        let (id, id_origin) = match id {
            Some(id) => (id.into(), IdOrigin::Trace),
            None => (self.draft.made_id(), IdOrigin::Reader),
        };
        let effects = effects(&action);
        self.draft.call(Call {
            id: Some(id),
            id_origin,
            name: Some(action.name.into()),
            input: Some(Content::Owned(action.input.into())),
            result: None,
            subagent: None,
            effects,
        });
    }

    fn tool(&mut self, message: &Value<'_>) {
        let ids = message.get("tool_call_ids");
        let id = message
            .get_text("tool_call_id")
            .or_else(|| ids.and_then(|ids| ids.items().next()?.text()));
        let waiting = if id.is_none() { self.draft.unanswered() } else { None };
        let result = self.result(message);
        self.draft.result(id.as_deref().or(waiting.as_deref()), result);
    }

    fn result(&self, message: &Value<'_>) -> CallResult {
        let (mut texts, mut blocks) = (Vec::new(), Vec::new());
        for part in self.parts(message) {
            match part {
                Part::Text(text) => texts.push(text),
                Part::Block(block) => blocks.push(block),
            }
        }
        let extra = message.get("extra");
        let code = extra.as_ref().and_then(|extra| extra.get("returncode")?.float());
        let failed = code.is_some_and(|code| code != 0.0);
        let outcome = if failed { CallOutcome::Error } else { CallOutcome::Ok };
        let mut result = self.draft.plain_result(outcome, texts);
        result.blocks = blocks;
        if says_failed(&plain_text(message)) {
            result.outcome = CallOutcome::Error;
        }
        result
    }
}

/// Words with which the shared tools say that nothing was done.
fn says_failed(text: &str) -> bool {
    const FAILED: [&str; 6] = [
        "ERROR:",
        "No replacement was performed",
        "Your proposed edit has introduced new syntax error",
        "Invalid `path` parameter",
        "Invalid `command` parameter",
        "File already exists at",
    ];
    let head = text.strip_prefix("OBSERVATION:\n").unwrap_or(text).trim_start();
    FAILED.iter().any(|start| head.starts_with(start))
}

/// What an action does, by its arguments.
fn effects(action: &Action) -> Vec<Effect> {
    let mut tape = Tape::new();
    let bytes = action.input.as_bytes();
    let Some(input) = scan(bytes, 0, 256, &mut tape).ok().and_then(|_| tape.root(bytes)) else {
        return Vec::new();
    };
    let text = |name: &str| input.get_text(name).map(|text| text.into_owned());
    let owned = |name: &str| text(name).map(|text| Content::Owned(text.into()));
    if text("path").is_some() && text("command").is_some() {
        let arguments = Editor {
            command: text("command").unwrap_or_default(),
            path: text("path").unwrap_or_default(),
            file_text: owned("file_text"),
            old_str: owned("old_str"),
            new_str: owned("new_str"),
        };
        return editor(arguments, None, None).into_iter().collect();
    }
    owned("command").map(|command| Effect::Shell { command }).into_iter().collect()
}

/// All text of a message, decoded.
pub(crate) fn plain_text(message: &Value<'_>) -> String {
    let Some(content) = message.get("content") else { return String::new() };
    match content.text() {
        Some(text) => text.into_owned(),
        None => {
            let parts = content.items().filter_map(|part| part.get_text("text"));
            parts.map(|part| part.into_owned()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Usage as chat APIs tell it: what was read from a cache is part of the prompt.
pub(crate) fn chat_usage(usage: &Value<'_>) -> UsageTotal {
    let number = |name: &str| usage.get(name).and_then(|value| value.unsigned());
    let details = usage.get("prompt_tokens_details");
    let cached = details.and_then(|details| details.get("cached_tokens")?.unsigned());
    let cached = number("cache_read_input_tokens").or(number("cache_read_tokens")).or(cached);
    let written = number("cache_creation_input_tokens").or(number("cache_write_tokens"));
    let (cached, written) = (cached.unwrap_or(0), written.unwrap_or(0));
    UsageTotal {
        input: number("prompt_tokens").unwrap_or(0).saturating_sub(cached.saturating_add(written)),
        output: number("completion_tokens").unwrap_or(0),
        cache_read: cached,
        cache_write: written,
        messages: 1,
        ..UsageTotal::default()
    }
}
