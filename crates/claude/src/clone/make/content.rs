//! Edits inside a message: blocks removed, texts cut or replaced, shapes kept.
//!
//! Every function gives splices over the record it was given; none makes a value longer.

use super::edits::{Action, RowEdit};
use backstory_format::claude::{Block, BlockKind, blocks};
use backstory_format::json::text::encode_into;
use backstory_format::json::{Kind, Splice, Value, without_items};
use backstory_text::excerpt::{Excerpt, Keep, excerpt};

/// The replacement of a removed picture.
const NO_PICTURE: &[u8] = br#"{"type":"text","text":"[image removed]"}"#;

/// Whether pictures stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pictures {
    Keep,
    Remove,
}

/// Splices for `message`.
pub(super) fn message(value: Value<'_>, edit: Option<&RowEdit>, pictures: Pictures) -> Vec<Splice> {
    let mut splices = Vec::new();
    for (key, field) in value.fields() {
        if key.is("content") {
            content(field, edit, pictures, &mut splices);
        } else if key.is("stop_reason") && edit.is_some_and(|edit| edit.ends_turn) {
            splices.push(Splice { range: field.span(), with: b"\"end_turn\"".to_vec() });
        }
    }
    splices
}

fn content(value: Value<'_>, edit: Option<&RowEdit>, pictures: Pictures, out: &mut Vec<Splice>) {
    let action = |at: usize| edit.and_then(|edit| edit.blocks.get(at)).unwrap_or(&Action::Keep);
    if value.kind() == Kind::String {
        if let Action::Replace(text) = action(0) {
            out.push(Splice { range: value.span(), with: quoted(text) });
        }
        return;
    }
    out.extend(without_items(value, |at, _| *action(at) == Action::Remove));
    for (at, block) in blocks(Some(value)).enumerate() {
        match action(at) {
            Action::Remove => {}
            Action::Replace(text) => {
                if let Some(old) = block.text() {
                    out.push(Splice { range: old.span(), with: quoted(text) });
                }
            }
            Action::Truncate(bytes) => truncate(block, *bytes, out),
            Action::Keep if pictures == Pictures::Remove => picture(block, out),
            Action::Keep => {}
        }
    }
}

/// Cuts the texts of a call or of a result.
fn truncate(block: Block<'_>, bytes: usize, out: &mut Vec<Splice>) {
    for (key, field) in block.value.fields() {
        match block.kind {
            BlockKind::ToolUse if key.is("input") => leaves(field, bytes, out),
            BlockKind::ToolResult if key.is("content") => match field.kind() {
                Kind::Array => {
                    for part in blocks(Some(field)) {
                        match (part.kind, part.text()) {
                            (BlockKind::Text, Some(text)) => out.extend(cut(text, bytes)),
                            _ => picture(part, out),
                        }
                    }
                }
                _ => out.extend(cut(field, bytes)),
            },
            _ => {}
        }
    }
}

/// Replaces a picture, or those in a result, by words.
fn picture(block: Block<'_>, out: &mut Vec<Splice>) {
    match block.kind {
        BlockKind::Image if block.value.raw().len() > NO_PICTURE.len() => {
            out.push(Splice { range: block.value.span(), with: NO_PICTURE.to_vec() });
        }
        BlockKind::ToolResult => {
            let list = block.value.get("content").filter(|content| content.kind() == Kind::Array);
            for part in blocks(list).filter(|part| part.kind == BlockKind::Image) {
                picture(part, out);
            }
        }
        _ => {}
    }
}

/// Cuts every long string in a value, however deep; keys and shape stay.
pub(super) fn leaves(value: Value<'_>, bytes: usize, out: &mut Vec<Splice>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value.kind() {
            Kind::String => out.extend(cut(value, bytes)),
            Kind::Object => open.extend(value.fields().map(|(_, field)| field)),
            Kind::Array => open.extend(value.items()),
            _ => {}
        }
    }
}

/// Both ends of a string, if that is shorter.
fn cut(value: Value<'_>, bytes: usize) -> Option<Splice> {
    if value.kind() != Kind::String || value.raw().len() <= bytes {
        return None;
    }
    let text = value.text()?;
    let Excerpt::Cut { head, cut, tail } = excerpt(&text, Keep::Ends(bytes)) else { return None };
    let (before, after) =
        (if head.ends_with('\n') { "" } else { " " }, if cut.lines > 1 { "\n" } else { " " });
    let with = quoted(&format!("{head}{before}[… {} …]{after}{tail}", cut.words()));
    (with.len() < value.raw().len()).then(|| Splice { range: value.span(), with })
}

pub(super) fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'"');
    encode_into(text, &mut out);
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstory_format::json::{Tape, scan, splice};

    fn edited(record: &str, edit: impl Fn(Value<'_>) -> Vec<Splice>) -> String {
        let mut tape = Tape::new();
        scan(record.as_bytes(), 0, 64, &mut tape).unwrap();
        let splices = edit(tape.root(record.as_bytes()).unwrap());
        String::from_utf8(splice(record.as_bytes(), &splices).unwrap()).unwrap()
    }

    #[test]
    fn truncated_calls_keep_their_shape() {
        let long = "word ".repeat(400);
        let record = format!(
            r#"{{"content":[{{"type":"tool_use","id":"a","name":"X","input":{{"deep":[{{"text":"{long}"}}],"n":1}}}},{{"type":"tool_result","tool_use_id":"a","content":[{{"type":"text","text":"{long}"}},{{"type":"image","source":{{"data":"{}"}}}}]}}]}}"#,
            "A".repeat(500)
        );
        let edit = RowEdit { blocks: vec![Action::Truncate(200); 2], ..RowEdit::default() };
        let out = edited(&record, |value| message(value, Some(&edit), Pictures::Keep));
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        let input = value["content"][0]["input"]["deep"][0]["text"].as_str().unwrap();
        assert!(input.contains("characters cut") && input.len() < 300, "{input}");
        assert_eq!(value["content"][0]["input"]["n"], 1);
        assert_eq!(value["content"][1]["content"][1]["text"], "[image removed]");
        // What was cut once is not cut again.
        assert_eq!(edited(&out, |value| message(value, Some(&edit), Pictures::Keep)), out);
    }

    #[test]
    fn blocks_go_and_the_others_stay_as_they_are() {
        let record = r#"{"content": [ {"type":"text","text":"\ud83d"} , {"type":"thinking"},{"type":"image","source":{"data":"AAAAAAAAAAAAAAAAAAAAAAAA"}}],"stop_reason":"tool_use"}"#;
        let blocks = vec![Action::Keep, Action::Remove, Action::Keep];
        let edit = RowEdit { blocks, ends_turn: true, timed_anew: false };
        let out = edited(record, |value| message(value, Some(&edit), Pictures::Remove));
        assert_eq!(
            out,
            r#"{"content": [ {"type":"text","text":"\ud83d"},{"type":"text","text":"[image removed]"}],"stop_reason":"end_turn"}"#
        );
    }
}
