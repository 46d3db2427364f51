//! Messages of a history and of an answer, as trainers want them.
//!
//! Histories come in OpenAI's shape. Content is never null, and two messages of the user become one,
//! since some templates refuse two in a row. Where a format knows only words (Axolotl), calls become
//! `<tool_call>` and results `<tool_response>`, as many models write them themselves.

use backstory_export::normalise::{Called, words_and_calls};
use backstory_export::{BETWEEN_RESULTS, SftFormat, plain_json};
use serde_json::{Map, Value, json};

/// How messages look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Inputs of calls are objects.
    Chat,
    /// Inputs are text, tool names are made to fit.
    OpenAi,
    /// Words alone.
    Words,
    /// Turns with `from` and `value`, in which both sides alternate.
    ShareGpt,
}

/// What a model did, in parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Done {
    pub(super) words: String,
    pub(super) calls: Vec<Called>,
}

impl Done {
    pub(super) fn parse(action: &str) -> Done {
        let (words, calls) = words_and_calls(action);
        Done { words, calls }
    }

    /// Whether words of it have no place.
    pub(super) fn loses_words(&self, style: Style) -> bool {
        style == Style::ShareGpt && !self.calls.is_empty() && !self.words.trim().is_empty()
    }

    /// The message.
    pub(super) fn message(&self, style: Style) -> Value {
        let calls: Vec<Value> = self
            .calls
            .iter()
            .enumerate()
            .map(|(at, call)| {
                json!({"id": format!("call_{:05}", at + 1), "type": "function",
                    "function": {"name": call.name, "arguments": call.input}})
            })
            .collect();
        let mut message = json!({"role": "assistant", "content": self.words});
        if let (Value::Object(fields), false) = (&mut message, calls.is_empty()) {
            fields.insert("tool_calls".to_owned(), calls.into());
        }
        answer(&message, style)
    }
}

fn text<'v>(message: &'v Value, name: &str) -> &'v str {
    message.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn calls(message: &Value) -> impl Iterator<Item = &Value> {
    message.get("tool_calls").and_then(Value::as_array).into_iter().flatten()
}

/// Name and input of a call.
fn function(call: &Value) -> (&str, Value) {
    let function = call.get("function").unwrap_or(&Value::Null);
    let input = function.get("arguments").cloned().unwrap_or_else(|| json!({}));
    let unpacked = input.as_str().and_then(|text| serde_json::from_str(text).ok());
    (text(function, "name"), unpacked.unwrap_or(input))
}

/// A message of the model.
fn answer(message: &Value, style: Style) -> Value {
    let words = text(message, "content");
    let has_calls = calls(message).next().is_some();
    match style {
        Style::Chat | Style::OpenAi => {
            let mut fields = Map::new();
            fields.insert("role".to_owned(), "assistant".into());
            fields.insert("content".to_owned(), words.into());
            if let Some(thought) = message.get("reasoning_content").filter(|_| style == Style::Chat)
            {
                fields.insert("reasoning_content".to_owned(), thought.clone());
            }
            if has_calls {
                let calls = calls(message).map(|call| {
                    let (name, input) = function(call);
                    let (name, input) = match style {
                        Style::OpenAi => (
                            SftFormat::OpenAi.fitting(name).into_owned(),
                            plain_json(&input).into(),
                        ),
                        _ => (name.to_owned(), input),
                    };
                    json!({"id": text(call, "id"), "type": "function",
                        "function": {"name": name, "arguments": input}})
                });
                fields.insert("tool_calls".to_owned(), calls.collect());
            }
            Value::Object(fields)
        }
        Style::Words => {
            let mut parts: Vec<String> = Vec::new();
            parts.extend(Some(words.to_owned()).filter(|words| !words.is_empty()));
            for call in calls(message) {
                let (name, input) = function(call);
                let call = plain_json(&json!({"name": name, "arguments": input}));
                parts.push(format!("<tool_call>\n{call}\n</tool_call>"));
            }
            // Axolotl looks for the content in what a template made of it, and those trim.
            json!({"role": "assistant", "content": parts.join("\n").trim()})
        }
        Style::ShareGpt if has_calls => {
            let calls: Vec<Value> = calls(message)
                .map(|call| {
                    let (name, input) = function(call);
                    json!({"name": SftFormat::LlamaFactory.fitting(name), "arguments": input})
                })
                .collect();
            json!({"from": "function_call", "value": plain_json(&Value::Array(calls))})
        }
        Style::ShareGpt => json!({"from": "gpt", "value": words}),
    }
}

/// What is between two messages of the model.
#[derive(Debug, Default)]
struct Between<'m> {
    results: Vec<&'m Value>,
    words: Vec<&'m str>,
}

impl Between<'_> {
    fn is_empty(&self) -> bool {
        self.results.is_empty() && self.words.is_empty()
    }

    fn put(&mut self, style: Style, out: &mut Vec<Value>) {
        let between = std::mem::take(self);
        let words = between.words.join("\n\n");
        let results = between.results.iter().map(|result| text(result, "content"));
        match style {
            Style::Chat | Style::OpenAi => {
                for result in between.results {
                    let mut fields = Map::new();
                    fields.insert("role".to_owned(), "tool".into());
                    fields.insert("tool_call_id".to_owned(), text(result, "tool_call_id").into());
                    if style == Style::Chat {
                        fields.insert("name".to_owned(), text(result, "name").into());
                    }
                    fields.insert("content".to_owned(), text(result, "content").into());
                    out.push(Value::Object(fields));
                }
                if !words.is_empty() {
                    out.push(json!({"role": "user", "content": words}));
                }
            }
            Style::Words => {
                let mut parts: Vec<String> = results
                    .map(|text| format!("<tool_response>\n{text}\n</tool_response>"))
                    .collect();
                parts.extend(Some(words).filter(|words| !words.is_empty()));
                out.push(json!({"role": "user", "content": parts.join("\n")}));
            }
            Style::ShareGpt => {
                let results: Vec<&str> = results.collect();
                let from = if results.is_empty() { "human" } else { "observation" };
                let mut value = results.join(BETWEEN_RESULTS);
                if !words.is_empty() {
                    value.push_str(if results.is_empty() { "" } else { "\n\n" });
                    value.push_str(&words);
                }
                out.push(json!({"from": from, "value": value}));
            }
        }
    }
}

/// A history: the words of its system prompt, and its messages.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct History {
    pub(super) system: Option<String>,
    pub(super) messages: Vec<Value>,
}

impl History {
    /// None for one that is empty or ends with the model, which needs no answer.
    pub(super) fn of(messages: &[&Value], style: Style) -> Option<History> {
        let mut history = History { system: None, messages: Vec::new() };
        let mut between = Between::default();
        // Tool names, for results that do not say theirs.
        let named = with_names(messages);
        for message in
            messages.iter().zip(&named).map(|(message, named)| named.as_ref().unwrap_or(message))
        {
            match text(message, "role") {
                "system" => history.system = Some(text(message, "content").to_owned()),
                "tool" => between.results.push(message),
                "assistant" => {
                    let alternates = matches!(style, Style::ShareGpt | Style::Words);
                    if !between.is_empty() || alternates {
                        between.put(style, &mut history.messages);
                    }
                    history.messages.push(answer(message, style));
                }
                _ => between
                    .words
                    .extend(Some(text(message, "content")).filter(|words| !words.is_empty())),
            }
        }
        if between.is_empty() {
            return None;
        }
        between.put(style, &mut history.messages);
        Some(history)
    }

    /// With the system prompt as a message.
    pub(super) fn into_messages(self) -> Vec<Value> {
        let system = self.system.map(|words| json!({"role": "system", "content": words}));
        system.into_iter().chain(self.messages).collect()
    }
}

/// Results with the name of their tool, where that is missing.
fn with_names(messages: &[&Value]) -> Vec<Option<Value>> {
    let mut names: std::collections::HashMap<&str, &str> = std::collections::HashMap::new();
    let mut all = Vec::with_capacity(messages.len());
    for message in messages {
        for call in calls(message) {
            names.insert(
                text(call, "id"),
                call.get("function").map_or("", |call| text(call, "name")),
            );
        }
        let missing = text(message, "role") == "tool" && message.get("name").is_none();
        all.push(missing.then(|| {
            let mut named = (*message).clone();
            let name = names.get(text(message, "tool_call_id")).copied().unwrap_or("unknown");
            if let Value::Object(fields) = &mut named {
                fields.insert("name".to_owned(), name.into());
            }
            named
        }));
    }
    all
}
