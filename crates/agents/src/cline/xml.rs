//! Tools in the text of an answer, and outcomes in the text of the user's message.

use crate::common::Action;
use backstory_format::json::{Tape, scan};
use backstory_model::{CallOutcome, UsageTotal};
use hashbrown::HashMap;

/// Tools that the extension knows by tag.
const TOOLS: [&str; 20] = [
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "new_rule",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "browser_action",
    "use_mcp_tool",
    "access_mcp_resource",
    "load_mcp_documentation",
    "ask_followup_question",
    "plan_mode_respond",
    "attempt_completion",
    "new_task",
    "condense",
    "summarize_task",
    "web_fetch",
    "focus_chain",
];

/// Names of parameters are short; what is longer is no tag.
const LONGEST_KEY: usize = 64;

/// The first action in a text.
pub(super) fn action(text: &str) -> Option<Action> {
    let tags = TOOLS.iter().filter_map(|name| {
        let at = text.find(&format!("<{name}>"))?;
        Some((at, *name))
    });
    let (at, name) = tags.min()?;
    let body = text.get(at + name.len() + 2..)?;
    let end = body.rfind(&format!("</{name}>")).unwrap_or(body.len());
    let body = body.get(..end)?;
    let closing = closing(body);
    let mut parameters = serde_json::Map::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'<', body.as_bytes().get(at..)?) {
        at += open + 1;
        let Some(key) = key(body.get(at..)?) else { continue };
        let start = at + key.len() + 1;
        let stops = closing.get(key).map(Vec::as_slice).unwrap_or_default();
        let stop = match key {
            // Content may hold anything, its own closing tag included: the last one counts.
            "content" | "diff" => stops.last().filter(|stop| **stop >= start),
            _ => stops.get(stops.partition_point(|stop| *stop < start)),
        };
        at = start;
        let Some(stop) = stop.copied() else { continue };
        let value = body.get(start..stop)?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = match key {
            "content" | "diff" => value,
            _ => value.strip_suffix('\n').unwrap_or(value),
        };
        parameters.entry(key).or_insert_with(|| value.into());
        at = stop + key.len() + 3;
    }
    let input = serde_json::Value::Object(parameters).to_string();
    Some(Action { name: name.to_owned(), input })
}

/// Where the closing tags of each name are.
fn closing(text: &str) -> HashMap<&str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), "</") {
        if let Some(key) = text.get(at + 2..).and_then(key) {
            places.entry(key).or_default().push(at);
        }
    }
    places
}

/// The name of the tag that `text` continues with, after `<` or `</`.
fn key(text: &str) -> Option<&str> {
    let letters = text.bytes().take(LONGEST_KEY + 1);
    let length = letters.take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let is_tag = (1..=LONGEST_KEY).contains(&length) && text.as_bytes().get(length) == Some(&b'>');
    text.get(..length).filter(|_| is_tag)
}

/// How an action ended, if a text says so.
pub(super) fn outcome(text: &str) -> Option<CallOutcome> {
    let inside = text.strip_prefix('[')?;
    let name = inside.split([' ', ']']).next()?;
    if !TOOLS.contains(&name) {
        return None;
    }
    let rest = text.split_once("] Result:").map_or(text, |(_, rest)| rest).trim_start();
    Some(if rest.starts_with("The user denied this operation") {
        CallOutcome::Rejected
    } else if rest.starts_with("The tool execution failed") || rest.starts_with("Error ") {
        CallOutcome::Error
    } else {
        CallOutcome::Ok
    })
}

/// Whether the extension added a text to what was typed.
pub(super) fn is_added(text: &str) -> bool {
    let starts = ["<environment_details>", "[TASK RESUMPTION]", "<explicit_instructions"];
    let text = text.trim_start();
    starts.iter().any(|start| text.starts_with(start))
        || text.starts_with("Result:") && text.len() < 10
}

/// What was typed, without the tags around it.
pub(super) fn typed(text: &str) -> &str {
    let text = text.trim();
    // The SDK says in which mode it was typed.
    let marked = text.strip_prefix("<user_input mode=\"").and_then(|rest| rest.split_once("\">"));
    let marked = marked.and_then(|(_, rest)| rest.strip_suffix("</user_input>"));
    if let Some(inside) = marked {
        return inside.trim();
    }
    for tag in ["task", "feedback", "user_message", "answer"] {
        let inside = text
            .strip_prefix(&format!("<{tag}>"))
            .and_then(|rest| rest.strip_suffix(&format!("</{tag}>")));
        if let Some(inside) = inside {
            return inside.trim();
        }
    }
    text
}

/// Tokens and cost of one request, from the screen's messages.
pub(super) fn request(text: &str) -> Option<(Option<UsageTotal>, f64)> {
    let mut tape = Tape::new();
    scan(text.as_bytes(), 0, 64, &mut tape).ok()?;
    let value = tape.root(text.as_bytes())?;
    let cost = value.get("cost").and_then(|cost| cost.float()).unwrap_or(0.0);
    Some((super::usage(&value), cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_in_an_answer() {
        let text = "I will write it.\n<write_to_file>\n<path>src/a.xml</path>\n<content>\n<content>x</content>\n</content>\n</write_to_file>";
        let action = action(text).unwrap();
        assert_eq!(action.name, "write_to_file");
        let input: serde_json::Value = serde_json::from_str(&action.input).unwrap();
        assert_eq!(input["path"], "src/a.xml");
        assert_eq!(input["content"], "<content>x</content>\n");
        assert!(super::action("no <b>tools</b> here").is_none());
    }

    #[test]
    fn outcomes_in_text() {
        let ok = "[execute_command for 'ls'] Result:\nCommand executed.";
        assert_eq!(outcome(ok), Some(CallOutcome::Ok));
        let no = "[write_to_file for 'a'] Result:\nThe user denied this operation.";
        assert_eq!(outcome(no), Some(CallOutcome::Rejected));
        assert_eq!(outcome("[a list] of things"), None);
        assert_eq!(typed("<task>\nDo it\n</task>"), "Do it");
    }
}
