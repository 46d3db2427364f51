//! Tools in the text of an answer, and outcomes in the text of the user's message.

use super::tools;
use crate::model::{CallOutcome, Content, Effect, UsageTotal};
use backstory_format::json::{Tape, scan};

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

/// An action with its parameters.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) name: String,
    /// A JSON object.
    pub(super) input: String,
    parameters: Vec<(String, String)>,
}

impl Action {
    pub(super) fn effects(&self) -> Vec<Effect> {
        let get = |name: &str| {
            let mut found = self.parameters.iter().filter(|(key, _)| key == name);
            found.next().map(|(_, value)| value.as_str())
        };
        let content = |text: &str| Content::Owned(text.into());
        match (self.name.as_str(), get("path")) {
            ("execute_command", _) => {
                get("command").map(|command| tools::shell(content(command))).into_iter().collect()
            }
            ("write_to_file", Some(path)) => {
                get("content").map(|text| tools::write(path, content(text))).into_iter().collect()
            }
            ("replace_in_file", Some(path)) => {
                get("diff").and_then(|diff| tools::blocks(path, diff)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The first action in a text.
pub(super) fn action(text: &str) -> Option<Action> {
    let tags = TOOLS.iter().filter_map(|name| {
        let at = text.find(&format!("<{name}>"))?;
        Some((at, *name))
    });
    let (at, name) = tags.min()?;
    let body = text.get(at + name.len() + 2..)?;
    let end = body.rfind(&format!("</{name}>")).unwrap_or(body.len());
    let mut rest = body.get(..end)?;
    let mut parameters = Vec::new();
    while let Some(open) = rest.find('<') {
        let after = rest.get(open + 1..)?;
        let Some((key, inside)) = after.split_once('>') else { break };
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if key.is_empty() || !key.chars().all(plain) {
            rest = after;
            continue;
        }
        let close = format!("</{key}>");
        // Content may hold anything, its own closing tag included: the last one counts.
        let found = match key {
            "content" | "diff" => inside.rfind(&close),
            _ => inside.find(&close),
        };
        let Some(stop) = found else {
            rest = inside;
            continue;
        };
        let value = inside.get(..stop)?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = match key {
            "content" | "diff" => value,
            _ => value.strip_suffix('\n').unwrap_or(value),
        };
        parameters.push((key.to_owned(), value.to_owned()));
        rest = inside.get(stop + close.len()..)?;
    }
    let map: serde_json::Map<String, serde_json::Value> =
        parameters.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    let input = serde_json::Value::Object(map).to_string();
    Some(Action { name: name.to_owned(), input, parameters })
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
