//! Clearing a conversation: nothing is sent that did not come through here.

use super::conversation::Conversation;
use backstory_export::canonical_json;
use backstory_format::json::IdPaths;
use backstory_redact::{Cleared, Redactor};
use serde_json::Value;

/// Fields that are ids of the format.
const IDS: [&str; 9] = [
    "session_id",
    "messages.tool_call_id",
    "messages.tool_calls.id",
    "states.state_id",
    "states.meta.session_id",
    "states.meta.uuid",
    "states.meta.message_id",
    "states.meta.timestamp",
    "states.meta.model",
];

/// Learns from the whole conversation, then takes out what was learnt, everywhere. Actions and
/// arguments that are JSON in a text are searched.
pub fn clear(
    conversation: Conversation,
    redactor: &Redactor,
) -> Result<Cleared<Conversation>, String> {
    let line = conversation.line().map_err(|error| error.to_string())?;
    let mut value: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
    open_texts(&mut value);
    let mut scrubber = redactor.session();
    scrubber.learn_json(&value);
    let cleared = scrubber.clear_json(value, &IdPaths::new(IDS));
    cleared.try_map(|mut value| {
        close_texts(&mut value);
        Conversation::read(value)
    })
}

/// A field of a state that is JSON in a text, while it is a value.
const OPENED: &str = "student_action";

/// Texts that are JSON become values, so that no escape hides a secret.
fn open_texts(value: &mut Value) {
    each(value, "states", |state| {
        let Some(slot) = state.get_mut(OPENED) else { return };
        if let Some(blocks @ Value::Array(_)) =
            slot.as_str().and_then(|text| serde_json::from_str(text).ok())
        {
            *slot = blocks;
        }
    });
    each(value, "messages", |message| {
        each(message, "tool_calls", |call| {
            let arguments =
                call.get_mut("function").and_then(|function| function.get_mut("arguments"));
            let Some(slot) = arguments else { return };
            if let Some(object @ Value::Object(_)) =
                slot.as_str().and_then(|text| serde_json::from_str(text).ok())
            {
                *slot = object;
            }
        });
    });
}

fn close_texts(value: &mut Value) {
    each(value, "states", |state| {
        let Some(slot) = state.get_mut(OPENED) else { return };
        if slot.is_array() {
            *slot = Value::String(canonical_json(slot));
        }
    });
}

fn each(value: &mut Value, name: &str, change: impl FnMut(&mut Value)) {
    if let Some(Value::Array(items)) = value.get_mut(name) {
        items.iter_mut().for_each(change);
    }
}
