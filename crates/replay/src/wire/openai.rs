//! Requests of OpenAI's `chat/completions`.

use super::{Names, Shape, list};
use crate::states::Conversation;
use serde_json::{Value, json};

/// Messages as they are sent: arguments are text, thinking is not there.
pub(super) fn messages(conversation: &Conversation, names: &mut Names) -> (Shape, Vec<String>) {
    let system = conversation.system.iter().map(|one| message(one, names).to_string()).collect();
    let messages =
        conversation.messages.iter().map(|one| message(one, names).to_string()).collect();
    (Shape::OpenAi(messages), system)
}

fn message(message: &Value, names: &mut Names) -> Value {
    let role = message.get("role").and_then(Value::as_str).unwrap_or("user");
    let content = match message.get("content") {
        None | Some(Value::Null) => Value::String(String::new()),
        Some(content) => content.clone(),
    };
    let mut made = json!({"role": role, "content": content});
    let calls: Vec<Value> = calls(message)
        .map(|(id, name, arguments)| {
            let (id, name) = (names.call(id), names.fit(name));
            let arguments = match arguments {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            json!({"id": id, "type": "function",
                "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    if let Some(fields) = made.as_object_mut() {
        if !calls.is_empty() {
            fields.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        if role == "tool" {
            let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            fields.insert("tool_call_id".to_owned(), Value::String(names.call(id)));
        }
    }
    made
}

/// Calls of a message: id, name, arguments.
pub(super) fn calls(message: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    calls.map(|call| {
        let function = call.get("function").unwrap_or(call);
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        (id, name, function.get("arguments").unwrap_or(&Value::Null))
    })
}

pub(super) fn write(out: &mut String, tools: &[String], system: &[String], messages: &[&String]) {
    if !tools.is_empty() {
        list(out, "tools", tools.iter().map(String::as_str));
    }
    let all = system.iter().map(String::as_str).chain(messages.iter().map(|one| one.as_str()));
    list(out, "messages", all);
}
