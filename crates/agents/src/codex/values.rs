//! Single values of a rollout: what a text, a count or an argument says.

use super::{legacy, patch, script};
use backstory_format::json::{Tape, Value, scan};
use backstory_model::shell::unwrapped;
use backstory_model::{CallOutcome, Content, Effect, UsageTotal};

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

/// Whether these are the instructions that the user keeps in a file.
pub(super) fn is_users(text: &str) -> bool {
    let text = text.trim_start();
    let starts = ["<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions for "];
    starts.iter().any(|start| text.starts_with(start))
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

/// There is no status. Commands report their exit code in one of three wordings, in a line of its own
/// before what they printed; other tools say what went wrong.
pub(super) fn outcome(shown: &str) -> CallOutcome {
    let head: String = shown.chars().take(400).collect();
    let lines = head.lines().take_while(|line| !line.starts_with("Output:"));
    let mut codes = lines.filter_map(|line| {
        let marks = ["Process exited with code ", "Exit code: "];
        let rest = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
        let is_sign = |letter: &char| *letter == '-' || letter.is_ascii_digit();
        rest.chars().take_while(is_sign).collect::<String>().parse::<i64>().ok()
    });
    let exit = codes.next().or_else(|| legacy::exit_code(shown));
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
    let folder = value.get_text("workdir").unwrap_or_default();
    if name == "apply_patch" {
        let text = value.get_text("input").or_else(|| value.get_text("patch"));
        return text.map(|text| patch::effects(&text, &folder)).unwrap_or_default();
    }
    match command(&value) {
        Some(Command::Patch(patch)) => patch::effects(&patch, &folder),
        Some(Command::Script(script)) => script::effects(&script, &folder),
        None => Vec::new(),
    }
}

/// What is run.
enum Command {
    /// A patch that the client applies itself.
    Patch(String),
    /// Words for a shell.
    Script(String),
}

/// `{"cmd": "…"}`, `{"command": "…"}`, `{"command": ["bash", "-lc", "…"]}` or
/// `{"command": ["apply_patch", "…"]}`.
fn command(input: &Value<'_>) -> Option<Command> {
    if let Some(text) = input.get_text("cmd").or_else(|| input.get_text("command")) {
        return Some(Command::Script(text.into_owned()));
    }
    let words: Vec<String> = input
        .get("command")?
        .items()
        .filter_map(|word| word.text().map(|w| w.into_owned()))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(script) = unwrapped(&words) {
        return Some(Command::Script(script.to_owned()));
    }
    match words.as_slice() {
        [name, patch] if script::NAMES.contains(name) => Some(Command::Patch((*patch).to_owned())),
        [] => None,
        words => Some(Command::Script(words.join(" "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_a_command_prints_are_not_its_own() {
        let printed = "Exit code: 0\nWall time: 1 s\nOutput:\nProcess exited with code 3\n";
        assert_eq!(outcome(printed), CallOutcome::Ok);
        let failed = "Chunk ID: 1\nProcess exited with code 3\nOutput:\nExit code: 0\n";
        assert_eq!(outcome(failed), CallOutcome::Error);
        assert_eq!(outcome("It said Exit code: 1"), CallOutcome::Ok);
    }
}
