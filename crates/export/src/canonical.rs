//! Values that did not come from a session, written as those of a session are.
//!
//! What a teacher does is compared with what the student did, so both must be written alike: sorted
//! keys, plain ASCII, a space after commas and colons.

use crate::escape::{unescaped, write_text};
use crate::number;
use serde_json::Value;

/// A part of what a model did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ActionBlock<'a> {
    /// Text of the model.
    Words(&'a str),
    /// A tool call.
    Call {
        /// The tool's name.
        name: &'a str,
        /// The input.
        input: &'a Value,
    },
}

/// What a model did, in the form of a state's `student_action`: its words if it only spoke, else its
/// blocks as JSON.
pub fn action_text(blocks: &[ActionBlock<'_>]) -> String {
    let speaks = |block: &ActionBlock<'_>| matches!(block, ActionBlock::Words(_));
    if blocks.iter().all(speaks) {
        let words: Vec<&str> = blocks
            .iter()
            .filter_map(|block| match block {
                ActionBlock::Words(words) => Some(*words),
                ActionBlock::Call { .. } => None,
            })
            .collect();
        return words.join("\n\n").trim().to_owned();
    }
    let mut out = Vec::from(b"[");
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(b", ");
        }
        match block {
            ActionBlock::Words(words) => {
                out.extend_from_slice(b"{\"text\": ");
                write_text(words, &mut out);
                out.extend_from_slice(b", \"type\": \"text\"}");
            }
            ActionBlock::Call { name, input } => {
                out.extend_from_slice(b"{\"input\": ");
                write(input, &mut out);
                out.extend_from_slice(b", \"name\": ");
                write_text(name, &mut out);
                out.extend_from_slice(b", \"type\": \"tool_use\"}");
            }
        }
    }
    out.push(b']');
    in_ascii(out)
}

/// What was written is plain ASCII.
pub(super) fn in_ascii(written: Vec<u8>) -> String {
    String::from_utf8(written).unwrap_or_default()
}

/// A value as it is in states.
pub fn canonical_json(value: &Value) -> String {
    let mut out = Vec::new();
    write(value, &mut out);
    in_ascii(out)
}

/// The same with letters as they are, for JSON inside a text.
pub fn plain_json(value: &Value) -> String {
    let mut out = Vec::new();
    write(value, &mut out);
    unescaped(&out)
}

/// Depth is bounded by what read the value.
fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(value) => {
            let raw = value.to_string();
            out.extend_from_slice(number::normal(&raw).unwrap_or(raw).as_bytes());
        }
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.extend_from_slice(b", ");
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            out.push(b'{');
            for (at, (name, value)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    out.extend_from_slice(b", ");
                }
                write_text(name, out);
                out.extend_from_slice(b": ");
                write(value, out);
            }
            out.push(b'}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn actions_are_written_as_states_have_them() {
        let input = json!({"path": "\u{e9}", "a": [1, 2.5, null, true]});
        let call = ActionBlock::Call { name: "Read", input: &input };
        let text = action_text(&[ActionBlock::Words("Look:"), call]);
        assert_eq!(
            text,
            "[{\"text\": \"Look:\", \"type\": \"text\"}, {\"input\": {\"a\": [1, 2.5, null, true], \
             \"path\": \"\\u00e9\"}, \"name\": \"Read\", \"type\": \"tool_use\"}]"
        );
        assert_eq!(action_text(&[ActionBlock::Words(" done \n")]), "done");
        assert_eq!(action_text(&[]), "");
    }
}
