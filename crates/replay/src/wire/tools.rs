//! Definitions of tools. Where the trace holds none they are made from the calls of the conversation,
//! and say so: a teacher that is offered no tool cannot call one.

use super::Names;
use crate::states::Conversation;
use crate::teacher::Api;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Says that a definition is not the trace's.
const MADE: &str = "As used in this conversation.";

/// All definitions, in the order that every state of the conversation has.
pub(super) fn definitions(conversation: &Conversation, api: Api, names: &mut Names) -> Vec<String> {
    let mut known: BTreeMap<String, (String, Value)> = BTreeMap::new();
    for tool in &conversation.tools {
        let function = tool.get("function").unwrap_or(tool);
        let Some(name) = function.get("name").and_then(Value::as_str) else { continue };
        let about = function.get("description").and_then(Value::as_str).unwrap_or_default();
        let schema = function.get("parameters").cloned().unwrap_or_else(|| json!({}));
        known.insert(name.to_owned(), (about.to_owned(), with_type(schema)));
    }
    for (name, properties) in used(conversation) {
        known.entry(name).or_insert_with(|| {
            (MADE.to_owned(), json!({"type": "object", "properties": properties}))
        });
    }
    known
        .into_iter()
        .map(|(name, (about, schema))| {
            let name = names.fit(&name);
            let value = match api {
                Api::OpenAi => json!({"type": "function", "function":
                    {"name": name, "description": about, "parameters": schema}}),
                Api::Anthropic => {
                    json!({"name": name, "description": about, "input_schema": schema})
                }
            };
            value.to_string()
        })
        .collect()
}

fn with_type(schema: Value) -> Value {
    match schema {
        Value::Object(mut fields) => {
            fields.entry("type").or_insert_with(|| "object".into());
            fields.entry("properties").or_insert_with(|| json!({}));
            Value::Object(fields)
        }
        _ => json!({"type": "object", "properties": {}}),
    }
}

/// Fields of the inputs of each tool that was called, with their types.
fn used(conversation: &Conversation) -> BTreeMap<String, Map<String, Value>> {
    let mut used: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    let mut note = |name: Option<&Value>, input: Option<&Value>| {
        let Some(name) = name.and_then(Value::as_str) else { return };
        let fields = used.entry(name.to_owned()).or_default();
        for (field, value) in input.and_then(Value::as_object).into_iter().flatten() {
            let kind = kind(value);
            match fields.get(field).and_then(|known| known.get("type")) {
                None if fields.contains_key(field) => {}
                Some(known) if known == kind => {}
                Some(_) => {
                    // Of several types: any.
                    fields.insert(field.clone(), json!({}));
                }
                None => {
                    fields.insert(field.clone(), json!({"type": kind}));
                }
            }
        }
    };
    for message in &conversation.messages {
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = call.get("function").unwrap_or(call);
            note(function.get("name"), function.get("arguments"));
        }
    }
    for state in &conversation.states {
        let blocks: Option<Vec<Value>> = serde_json::from_str(&state.student_action).ok();
        for block in blocks.into_iter().flatten() {
            if block.get("type").is_some_and(|kind| kind == "tool_use") {
                note(block.get("name"), block.get("input"));
            }
        }
    }
    used
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
