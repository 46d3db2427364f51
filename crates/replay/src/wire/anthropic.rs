//! Requests of Anthropic's Messages endpoint, with marks for the prompt cache.
//!
//! Results of calls become blocks of a user message, and messages of one role in a row become one,
//! because roles alternate here. At most three marks: after the system prompt (or the tools), where the
//! state before ended, and at the end.

use super::openai::calls;
use super::{Names, Shape, list};
use crate::states::Conversation;
use serde_json::{Value, json};

/// One message of the history.
#[derive(Debug)]
pub(super) struct Message {
    role: Role,
    blocks: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

impl Message {
    pub(super) fn weight(&self) -> u64 {
        self.blocks.iter().map(|block| block.len() as u64).sum()
    }
}

pub(super) fn messages(conversation: &Conversation, names: &mut Names) -> (Shape, Vec<String>) {
    let system = conversation.system.iter().filter_map(|message| text(message.get("content")));
    let messages = conversation.messages.iter().map(|one| message(one, names)).collect();
    (Shape::Anthropic(messages), system.collect())
}

fn message(message: &Value, names: &mut Names) -> Message {
    let content = message.get("content");
    let role = match message.get("role").and_then(Value::as_str) {
        Some("assistant") => Role::Assistant,
        _ => Role::User,
    };
    let mut blocks = Vec::new();
    if message.get("role").is_some_and(|role| role == "tool") {
        let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
        let words = content.map(words).unwrap_or_default();
        blocks.push(
            json!({"type": "tool_result", "tool_use_id": names.call(id), "content": words})
                .to_string(),
        );
        return Message { role, blocks };
    }
    blocks.extend(text(content));
    for (id, name, arguments) in calls(message) {
        let input = match arguments {
            Value::Object(_) => arguments.clone(),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(object @ Value::Object(_)) => object,
                _ => json!({"input": text}),
            },
            Value::Null => json!({}),
            other => json!({"input": other}),
        };
        let (id, name) = (names.call(id), names.fit(name));
        blocks
            .push(json!({"type": "tool_use", "id": id, "name": name, "input": input}).to_string());
    }
    Message { role, blocks }
}

/// A text block; none without words, since empty ones are refused.
fn text(content: Option<&Value>) -> Option<String> {
    let words = words(content?);
    let has_words = !words.trim().is_empty();
    has_words.then(|| json!({"type": "text", "text": words}).to_string())
}

/// The words of a content.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

const MARK: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}}";

fn marked(block: &str) -> String {
    let open = block.strip_suffix('}').unwrap_or(block);
    format!("{open}{MARK}")
}

/// `old` messages are those of the state before.
pub(super) fn write(
    out: &mut String,
    tools: &[String],
    system: &[String],
    messages: &[&Message],
    old: Option<usize>,
) {
    let last_marked = |blocks: &[String]| {
        let mut blocks = blocks.to_vec();
        if let Some(last) = blocks.last_mut() {
            *last = marked(last);
        }
        blocks
    };
    if !tools.is_empty() {
        let tools = if system.is_empty() { last_marked(tools) } else { tools.to_vec() };
        list(out, "tools", tools.iter().map(String::as_str));
    }
    if !system.is_empty() {
        list(out, "system", last_marked(system).iter().map(String::as_str));
    }
    let mut turns: Vec<(Role, Vec<String>)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let ends_old = old == Some(at + 1);
        let mut blocks = message.blocks.clone();
        if let Some(last) = blocks.last_mut().filter(|_| ends_old) {
            *last = marked(last);
        }
        match turns.last_mut() {
            Some((role, turn)) if *role == message.role => turn.extend(blocks),
            _ => turns.push((message.role, blocks)),
        }
    }
    turns.retain(|(_, blocks)| !blocks.is_empty());
    // A conversation begins and ends with the user.
    let said = |words: &str| (Role::User, vec![json!({"type": "text", "text": words}).to_string()]);
    if turns.first().is_none_or(|(role, _)| *role == Role::Assistant) {
        turns.insert(0, said("(The conversation begins here.)"));
    }
    if turns.last().is_some_and(|(role, _)| *role == Role::Assistant) {
        turns.push(said("(Go on.)"));
    }
    if let Some(last) = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut())
        && !last.ends_with(MARK)
    {
        *last = marked(last);
    }
    let written: Vec<String> = turns
        .iter()
        .map(|(role, blocks)| {
            let role = match role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            format!("{{\"role\":\"{role}\",\"content\":[{}]}}", blocks.join(","))
        })
        .collect();
    list(out, "messages", written.iter().map(String::as_str));
}
