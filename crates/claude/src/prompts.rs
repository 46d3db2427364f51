//! What a `user` record is: the ordered rules.
//!
//! The order matters and the prefixes are exact: a person may well paste text that starts with
//! `<`, and a tool result may contain anything.

use crate::hash;
use crate::rows::PromptShape;
use backstory_format::claude::{BlockKind, Envelope, blocks};
use backstory_format::json::{Value, text};

const HEAD_BYTES: usize = 200;
/// Titles are cut to this; the official reader shows 200 characters.
pub(super) const TITLE_BYTES: usize = 2_000;

const PREFIXES: [(&str, PromptShape); 19] = [
    ("<command-name>", PromptShape::Command),
    ("<command-message>", PromptShape::Command),
    ("<local-command-stdout>", PromptShape::CommandOutput),
    ("<local-command-stderr>", PromptShape::CommandOutput),
    ("<local-command-caveat>", PromptShape::Harness),
    ("<bash-input>", PromptShape::BashInput),
    ("<bash-stdout>", PromptShape::BashOutput),
    ("<bash-stderr>", PromptShape::BashOutput),
    ("[Request interrupted by user]", PromptShape::Interrupted),
    ("[Request interrupted by user for tool use]", PromptShape::InterruptedForTool),
    ("<task-notification>", PromptShape::TaskNotification),
    ("<teammate-message", PromptShape::Teammate),
    ("<system-reminder>", PromptShape::Harness),
    ("<session-start-hook>", PromptShape::Harness),
    // Without a mark in 1.0.60 to 2.0.29.
    ("<user-prompt-submit-hook>", PromptShape::Harness),
    ("Stop hook feedback:", PromptShape::Harness),
    ("<tick>", PromptShape::Harness),
    ("<goal>", PromptShape::Harness),
    // 1.0 wrote one compaction summary without its flag.
    ("This session is being continued from a previous conversation", PromptShape::CompactSummary),
];

/// Applies the rules to a record's envelope and content.
pub(super) fn classify(envelope: &Envelope<'_>, content: Option<Value<'_>>) -> PromptShape {
    let mut empty = true;
    let mut head = None;
    for block in blocks(content) {
        match block.kind {
            BlockKind::ToolResult => return PromptShape::ToolResult,
            BlockKind::Text => {
                let text = block.text();
                if head.is_none() && !is_editor_context(text) {
                    let text = first_words(text);
                    if !text.trim().is_empty() {
                        head = Some(text);
                    }
                }
            }
            _ => empty = false,
        }
    }
    if envelope.flags.compact_summary {
        return PromptShape::CompactSummary;
    }
    // 2.0.35 to 2.0.76 announce a skill that the model uses with the words of a typed command;
    // only the call it came from tells the two apart.
    if envelope.flags.meta || envelope.source_call.is_some() {
        return PromptShape::Meta;
    }
    let Some(head) = head else {
        return if empty { PromptShape::Empty } else { PromptShape::Prompt };
    };
    let head = head.trim_start();
    let known = PREFIXES.iter().find(|(prefix, _)| head.starts_with(prefix));
    known.map_or(PromptShape::Prompt, |(_, shape)| *shape)
}

/// Blocks that an editor adds to a prompt.
pub(super) fn is_editor_context(text: Option<Value<'_>>) -> bool {
    let head = first_words(text);
    let head = head.trim_start();
    head.starts_with("<ide_opened_file>") || head.starts_with("<ide_selection>")
}

/// Remembers what a session can be called after when it has no title.
pub(super) fn note_title(
    shape: PromptShape,
    content: Option<Value<'_>>,
    prompt: &mut Option<String>,
    command: &mut Option<String>,
) {
    let slot = match shape {
        PromptShape::Prompt if prompt.is_none() => prompt,
        PromptShape::Command if command.is_none() => command,
        _ => return,
    };
    let texts =
        blocks(content).filter(|block| block.kind == BlockKind::Text).map(|block| block.text());
    let text = texts.filter(|text| !is_editor_context(*text)).find_map(|text| {
        let text = text::decode_prefix(text?.raw_text()?, TITLE_BYTES).into_owned();
        (!text.trim().is_empty()).then_some(text)
    });
    *slot = match (shape, text) {
        (PromptShape::Command, Some(text)) => command_name(&text).map(str::to_owned),
        (_, text) => text,
    };
}

/// The command in `<command-name>…</command-name>`.
pub fn command_name(text: &str) -> Option<&str> {
    tagged(text, "<command-name>", "</command-name>").filter(|name| !name.is_empty())
}

/// What was typed behind the command.
pub fn command_arguments(text: &str) -> Option<&str> {
    tagged(text, "<command-args>", "</command-args>").filter(|arguments| !arguments.is_empty())
}

fn tagged<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inside, _)| inside.trim())
}

/// Queued entries that nobody typed.
pub(super) fn is_notification(text: Option<Value<'_>>) -> bool {
    let head = first_words(text);
    let head = head.trim_start();
    head.starts_with("<task-notification>")
        || head.starts_with("<teammate-message")
        || head.starts_with("{\"type\":")
        || head.starts_with("{\"task_id\":")
}

/// Hash of the decoded text of a prompt, the same for string and list form.
pub(super) fn hash(content: Option<Value<'_>>) -> u64 {
    let mut whole = String::new();
    for block in blocks(content) {
        if let (BlockKind::Text, Some(text)) =
            (block.kind, block.text().and_then(|text| text.text()))
        {
            whole.push_str(text.trim());
        }
    }
    hash::hash(whole.as_bytes())
}

fn first_words(text: Option<Value<'_>>) -> String {
    let raw = text.and_then(|text| text.raw_text()).unwrap_or_default();
    text::decode_prefix(raw, HEAD_BYTES).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstory_format::claude::Flags;
    use backstory_format::json::{Tape, scan};

    fn parse(json: &str) -> Tape {
        let mut tape = Tape::new();
        scan(json.as_bytes(), 0, 64, &mut tape).unwrap();
        tape
    }

    fn shape(content: &str, flags: Flags) -> PromptShape {
        let envelope = Envelope { flags, ..Envelope::default() };
        classify(&envelope, parse(content).root(content.as_bytes()))
    }

    #[test]
    fn prompt_shape_of_text_from_a_call() {
        let (call, words) = (r#""toolu_1""#, r#""<command-name>knots</command-name>""#);
        let (source, content) = (parse(call), parse(words));
        let source_call = source.root(call.as_bytes());
        let envelope = Envelope { source_call, ..Envelope::default() };
        let content = content.root(words.as_bytes());
        assert_eq!(classify(&envelope, content), PromptShape::Meta);
        assert_eq!(classify(&Envelope::default(), content), PromptShape::Command);
    }

    #[test]
    fn rules_apply_in_order() {
        let none = Flags::default();
        let cases = [
            (r#""fix it""#, PromptShape::Prompt),
            (r#""<div>why?</div>""#, PromptShape::Prompt),
            (r#""""#, PromptShape::Empty),
            ("[]", PromptShape::Empty),
            (r#"[{"type":"image","source":{}}]"#, PromptShape::Prompt),
            (
                r#"[{"type":"text","text":"<ide_opened_file>a</ide_opened_file>"},{"type":"text","text":"fix"}]"#,
                PromptShape::Prompt,
            ),
            (
                r#"[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t"}]"#,
                PromptShape::ToolResult,
            ),
            (
                r#""<command-message>x</command-message>\n<command-name>/x</command-name>""#,
                PromptShape::Command,
            ),
            (
                r#"[{"type":"text","text":"[Request interrupted by user for tool use]"}]"#,
                PromptShape::InterruptedForTool,
            ),
        ];
        for (content, expected) in cases {
            assert_eq!(shape(content, none), expected, "{content}");
        }
        let meta = Flags { meta: true, ..none };
        assert_eq!(shape(r#""<command-name>x""#, meta), PromptShape::Meta);
        let summary = Flags { meta: true, compact_summary: true, ..none };
        assert_eq!(shape(r#""…""#, summary), PromptShape::CompactSummary);
    }
}
