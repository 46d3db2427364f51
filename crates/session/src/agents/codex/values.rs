//! Single values of a rollout: what a text, a picture, a count or an argument says.

use super::{legacy, patch};
use crate::model::{Block, CallOutcome, Content, Effect, UsageTotal};
use backstory_format::json::{Tape, Value, scan};

/// Words with which the client begins what it says in the user's name.
const SCAFFOLDING: [&str; 12] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<apps_instructions>",
    "<collaboration_mode>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<INSTRUCTIONS>",
    "<skill>",
    "# AGENTS.md instructions for ",
];

pub(super) fn is_scaffolding(text: &str) -> bool {
    let text = text.trim_start();
    SCAFFOLDING.iter().any(|start| text.starts_with(start))
}

pub(super) fn image(part: &Value<'_>) -> Block {
    let url = part.get_text("image_url").unwrap_or_default();
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, data)) => Block::Image {
            media_type: Some(media_type.into()),
            data: Some(Content::Owned(data.into())),
        },
        None => Block::Other {
            type_name: part.get_text("type").map(Into::into),
            value: Content::Owned(String::from_utf8_lossy(part.raw()).into()),
        },
    }
}

/// Cached tokens are counted among the input here, and apart in the model.
pub(super) fn tokens(usage: &Value<'_>) -> UsageTotal {
    let number = |name: &str| usage.get(name).and_then(|value| value.unsigned()).unwrap_or(0);
    let (cached, written) = (number("cached_input_tokens"), number("cache_write_input_tokens"));
    UsageTotal {
        input: number("input_tokens").saturating_sub(cached).saturating_sub(written),
        output: number("output_tokens"),
        cache_read: cached,
        cache_write: written,
        messages: 1,
        ..UsageTotal::default()
    }
}

/// There is no status. Commands end with their exit code, in one of three wordings; other tools say
/// what went wrong.
pub(super) fn outcome(shown: &str) -> CallOutcome {
    let head: String = shown.chars().take(400).collect();
    let code = |marker: &str| {
        let rest = head.split(marker).nth(1)?;
        let digits: String =
            rest.chars().take_while(|letter| *letter == '-' || letter.is_ascii_digit()).collect();
        digits.parse::<i64>().ok()
    };
    let exit = code("Process exited with code ").or_else(|| code("Exit code: "));
    let exit = exit.or_else(|| legacy::exit_code(shown));
    let refused = ["unsupported call", "unsupported custom tool call", "failed to parse function"];
    let failed = ["apply_patch verification failed", "failed for `", "error: "];
    match exit {
        Some(0) => CallOutcome::Ok,
        Some(_) => CallOutcome::Error,
        None if head.starts_with("exec command rejected by user")
            || head.starts_with("patch rejected by user") =>
        {
            CallOutcome::Rejected
        }
        None if head.starts_with("aborted") => CallOutcome::Interrupted,
        None if refused.iter().chain(&failed).any(|start| head.starts_with(start)) => {
            CallOutcome::Error
        }
        None => CallOutcome::Ok,
    }
}

/// What a call does to files, by its input.
pub(super) fn effects(name: &str, input: Option<&Content>) -> Vec<Effect> {
    let Some(Content::Owned(input)) = input else { return Vec::new() };
    let mut tape = Tape::new();
    if scan(input.as_bytes(), 0, 256, &mut tape).is_err() {
        return Vec::new();
    }
    let Some(value) = tape.root(input.as_bytes()) else { return Vec::new() };
    if name == "apply_patch" {
        let text = value.get_text("input").or_else(|| value.get_text("patch"));
        return text.map(|text| patch::effects(&text)).unwrap_or_default();
    }
    let Some(command) = command(&value) else { return Vec::new() };
    let edits = patch::effects(&command);
    if edits.is_empty() {
        vec![Effect::Shell { command: Content::Owned(command.into()) }]
    } else {
        edits
    }
}

/// `{"cmd": "…"}`, `{"command": "…"}`, `{"command": ["bash", "-lc", "…"]}` or
/// `{"command": ["apply_patch", "…"]}`, which the client carries out itself.
fn command(input: &Value<'_>) -> Option<String> {
    if let Some(text) = input.get_text("cmd").or_else(|| input.get_text("command")) {
        return Some(text.into_owned());
    }
    let words: Vec<String> = input
        .get("command")?
        .items()
        .filter_map(|word| word.text().map(|w| w.into_owned()))
        .collect();
    match words.as_slice() {
        [_, flag, script] if flag.starts_with('-') => Some(script.clone()),
        [name, patch] if name == "apply_patch" || name == "applypatch" => Some(patch.clone()),
        [] => None,
        words => Some(words.join(" ")),
    }
}
