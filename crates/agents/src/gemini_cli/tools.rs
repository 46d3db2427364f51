//! What calls did, and what they returned.

use crate::common::{Cite, Draft, other};
use backstory_format::json::Value;
use backstory_model::{CallOutcome, CallResult, Change, Effect, FileEdit, Replacement};

const SHELL: &str = "run_shell_command";

/// What a call does to files. The client shows the file before and after a change, with what the
/// person changed in review; a copy of the call has only its arguments.
pub(super) fn effects(call: &Value<'_>, cite: Cite) -> Vec<Effect> {
    let Some(args) = call.get("args") else { return Vec::new() };
    let text = |name: &str| args.get(name).and_then(|value| cite.text(&value));
    let shown = call.get("resultDisplay").filter(|shown| shown.get("newContent").is_some());
    let path = shown.as_ref().and_then(|shown| shown.get_text("filePath"));
    let path = path.or_else(|| args.get_text("file_path"));
    let effect = match (call.get_text("name").as_deref(), path) {
        (Some(SHELL), _) => text("command").map(|command| Effect::Shell { command }),
        (Some("write_file"), Some(path)) => {
            edit(&path, write(&args, shown.as_ref(), cite), shown, cite)
        }
        (Some("replace"), Some(path)) => {
            edit(&path, replace(&args, shown.as_ref(), cite), shown, cite)
        }
        _ => None,
    };
    effect.into_iter().collect()
}

fn edit(
    path: &str,
    change: Option<Change>,
    shown: Option<Value<'_>>,
    cite: Cite,
) -> Option<Effect> {
    let text = |name: &str| shown.as_ref()?.get(name).and_then(|value| cite.text(&value));
    let before = text("originalContent").filter(|_| !shown.as_ref().is_some_and(is_new));
    Some(FileEdit { before, after: text("newContent"), ..FileEdit::new(path, change?) }.into())
}

fn write(args: &Value<'_>, shown: Option<&Value<'_>>, cite: Cite) -> Option<Change> {
    let after = shown.and_then(|shown| cite.text(&shown.get("newContent")?));
    let content = after.or_else(|| cite.text(&args.get("content")?))?;
    Some(Change::Write { content, created: shown.is_some_and(is_new) })
}

/// One replacement; the whole file where there were several, or where the person changed it.
fn replace(args: &Value<'_>, shown: Option<&Value<'_>>, cite: Cite) -> Option<Change> {
    let several = args.get("allow_multiple").and_then(|all| all.boolean()) == Some(true)
        || args.get("expected_replacements").and_then(|count| count.unsigned()).unwrap_or(1) > 1;
    let text = |name: &str| cite.text(&args.get(name)?);
    match (text("old_string"), text("new_string")) {
        (Some(old), Some(new)) if old.size() > 0 && !several && !shown.is_some_and(is_reviewed) => {
            Some(Change::Replace(vec![Replacement { old, new, all: false }]))
        }
        _ => write(args, Some(shown?), cite),
    }
}

fn is_new(shown: &Value<'_>) -> bool {
    shown.get("isNewFile").and_then(|new| new.boolean()) == Some(true)
}

fn is_reviewed(shown: &Value<'_>) -> bool {
    let lines = |name: &str| shown.get("diffStat")?.get(name)?.unsigned();
    let count = ["user_added_lines", "user_removed_lines"].map(|name| lines(name).unwrap_or(0));
    count.iter().any(|count| *count > 0)
}

/// What a call returned; none if the session ends before it.
pub(super) fn result(call: &Value<'_>, cite: Cite, draft: &Draft) -> Option<CallResult> {
    let result = call.get("result");
    let status = call.get_text("status");
    let (mut texts, mut blocks) = (Vec::new(), Vec::new());
    let mut failed = false;
    for part in result.iter().flat_map(|list| list.items()) {
        let Some(response) = part.get("functionResponse").and_then(|part| part.get("response"))
        else {
            blocks.push(other(&part, cite));
            continue;
        };
        let said = ["output", "error"].iter().filter_map(|name| cite.field(&response, name));
        let before = texts.len();
        texts.extend(said);
        if texts.len() == before {
            texts.push(cite.json(&response));
        }
        failed |= response.get("error").is_some();
        let is_shell = call.get_text("name").is_some_and(|name| name == SHELL);
        failed |= is_shell && response.get_text("output").is_some_and(|text| says_failed(&text));
    }
    let outcome = match status.as_deref() {
        Some("cancelled") => CallOutcome::Interrupted,
        Some("error") => CallOutcome::Error,
        Some("success") if failed => CallOutcome::Error,
        Some("success") => CallOutcome::Ok,
        // Not finished when the record was written.
        _ if texts.is_empty() && blocks.is_empty() => return None,
        _ if failed => CallOutcome::Error,
        _ => CallOutcome::Ok,
    };
    let mut result = draft.plain_result(outcome, texts);
    result.blocks = blocks;
    Some(result)
}

/// The exit status of a command is in the text only, on one of the last lines.
fn says_failed(output: &str) -> bool {
    let last = output.lines().rev().take(6);
    let mut codes = last.filter_map(|line| line.strip_prefix("Exit Code: "));
    codes.next().is_some_and(|code| code.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_in_the_text() {
        assert!(says_failed("Output: no\nExit Code: 1\nProcess Group PGID: 7"));
        assert!(!says_failed("Output: yes\nProcess Group PGID: 7"));
        assert!(!says_failed("Output: yes\nExit Code: 0"));
    }
}
