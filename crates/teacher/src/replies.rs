//! What is answered, and how many tokens that takes.

use serde_json::{Value, json};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What the teacher does.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Words(String),
    Call { words: String, name: String, input: Value },
}

/// The protocol of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    OpenAi,
    Anthropic,
}

/// Tokens of one answer: read, written, read from the cache, written to it; reads exclude the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tokens {
    pub(crate) fresh: u64,
    pub(crate) written: u64,
    pub(crate) cached: u64,
    pub(crate) cache_written: u64,
}

/// What a text weighs: a token for each four bytes.
fn weigh(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

pub(crate) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Pieces of a prompt in the order in which caches see them, and whether each ends with a mark.
fn pieces(body: &Value, protocol: Protocol) -> Vec<(String, bool)> {
    let list = |name: &str| body.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut pieces = Vec::new();
    let mut push = |piece: &Value| {
        let marked = piece.get("cache_control").is_some();
        let mut piece = piece.clone();
        if let Some(fields) = piece.as_object_mut() {
            fields.remove("cache_control");
        }
        pieces.push((piece.to_string(), marked));
    };
    list("tools").iter().for_each(&mut push);
    match protocol {
        Protocol::OpenAi => list("messages").iter().for_each(&mut push),
        Protocol::Anthropic => {
            list("system").iter().for_each(&mut push);
            for message in list("messages") {
                let blocks = message.get("content").and_then(Value::as_array).cloned();
                blocks.unwrap_or_default().iter().for_each(&mut push);
            }
        }
    }
    pieces
}

/// Counts a prompt and remembers its beginnings. OpenAI's cache keeps all of them, Anthropic's those
/// that end with a mark.
pub(crate) fn count(
    model: &str,
    body: &Value,
    protocol: Protocol,
    cache: &mut HashSet<u64>,
) -> Tokens {
    let mut beginning = hash(model);
    let (mut all, mut cached, mut marked_upto) = (0, 0, 0);
    let mut fresh = Vec::new();
    for (piece, marked) in pieces(body, protocol) {
        beginning = hash((beginning, &piece));
        all += weigh(&piece);
        if cache.contains(&beginning) {
            cached = all;
        }
        if protocol == Protocol::OpenAi || marked {
            fresh.push(beginning);
            marked_upto = all;
        }
    }
    cache.extend(fresh);
    match protocol {
        Protocol::OpenAi => Tokens { fresh: all - cached, cached, ..Tokens::default() },
        Protocol::Anthropic => {
            let cache_written = marked_upto - cached.min(marked_upto);
            Tokens { fresh: all - cached - cache_written, cached, cache_written, written: 0 }
        }
    }
}

/// The reply of a script that defines none.
pub(crate) fn default_reply(body: &Value) -> Reply {
    let number = hash(body.get("messages").map(Value::to_string));
    let tools = body.get("tools").and_then(Value::as_array).filter(|tools| !tools.is_empty());
    let tool = tools.and_then(|tools| tools.get(number as usize % tools.len()));
    let name = tool.and_then(|tool| tool.get("function").unwrap_or(tool).get("name"));
    match name.and_then(Value::as_str).filter(|_| !number.is_multiple_of(3)) {
        Some(name) => Reply::Call {
            words: "Let me look.".to_owned(),
            name: name.to_owned(),
            input: json!({"number": number % 7}),
        },
        None => Reply::Words(format!("That is case {}.", number % 5)),
    }
}

/// The answer as a provider writes it, and the tokens of what was said.
pub(crate) fn written(reply: &Reply, protocol: Protocol) -> (Value, u64) {
    let (words, call) = match reply {
        Reply::Words(words) => (words, None),
        Reply::Call { words, name, input } => (words, Some((name, input))),
    };
    let length =
        weigh(words) + call.map_or(0, |(name, input)| weigh(name) + weigh(&input.to_string()));
    let id = format!("call_{:x}", hash(format!("{reply:?}")));
    let body = match protocol {
        Protocol::OpenAi => {
            let mut message = json!({"role": "assistant", "content": words});
            if let Some((name, input)) = call {
                message["tool_calls"] = json!([{"id": id, "type": "function",
                    "function": {"name": name, "arguments": input.to_string()}}]);
            }
            let reason = if call.is_some() { "tool_calls" } else { "stop" };
            json!({"id": "chat", "object": "chat.completion",
                "choices": [{"index": 0, "message": message, "finish_reason": reason}]})
        }
        Protocol::Anthropic => {
            let mut content = vec![json!({"type": "text", "text": words})];
            if let Some((name, input)) = call {
                content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
            }
            let reason = if call.is_some() { "tool_use" } else { "end_turn" };
            json!({"id": "msg", "type": "message", "role": "assistant", "content": content,
                "stop_reason": reason})
        }
    };
    (body, length)
}
