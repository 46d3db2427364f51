//! What is known of tools: other names, inputs that do not matter, what a call is used on.
//!
//! The table is data: it maps tool names of many agents, also of such as no reader knows, to one
//! name each, so that answers of different models can be compared. Nothing else in this crate may know
//! a tool by its name. A tool that is not listed is compared by its own name and all of its inputs.

use super::shell;
use super::{composed, seen_from};
use backstory_model::shell::unwrapped;
use serde_json::{Map, Value};

/// A tool by its common name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool<'n> {
    name: &'n str,
    known: Option<&'static Known>,
}

#[derive(Debug, PartialEq, Eq)]
struct Known {
    name: &'static str,
    aliases: &'static [&'static str],
    /// Other names of inputs.
    inputs: &'static [(&'static str, &'static str)],
    /// Inputs that do not change what is done.
    dropped: &'static [&'static str],
    /// Inputs that say what it is used on, all of them.
    target: &'static [&'static str],
    changes: Changes,
}

/// Whether using a tool can change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    Never,
    Files,
    /// That depends on the command.
    Command,
}

const FILE: &[(&str, &str)] = &[
    ("path", "file_path"),
    ("file", "file_path"),
    ("filepath", "file_path"),
    ("filePath", "file_path"),
    ("filename", "file_path"),
    ("target_file", "file_path"),
    ("absolute_path", "file_path"),
    ("old_str", "old_string"),
    ("oldString", "old_string"),
    ("new_str", "new_string"),
    ("newString", "new_string"),
    ("file_text", "content"),
    ("contents", "content"),
    ("start_line", "offset"),
];
const SEARCH: &[(&str, &str)] =
    &[("query", "pattern"), ("regex", "pattern"), ("dir_path", "path"), ("include", "glob")];

const KNOWN: [Known; 14] = [
    Known {
        name: "Bash",
        aliases: &[
            "execute_bash",
            "shell",
            "bash",
            "exec_command",
            "run_shell_command",
            "run_terminal_cmd",
            "execute_command",
            "run_command",
            "local_shell",
            "terminal",
            "shell_command",
            "container.exec",
        ],
        inputs: &[("cmd", "command"), ("script", "command")],
        dropped: &[
            "description",
            "timeout",
            "timeout_ms",
            "run_in_background",
            "dangerouslyDisableSandbox",
            "is_background",
            "explanation",
            "security_risk",
            "is_input",
            "requires_approval",
            "justification",
        ],
        target: &["command"],
        changes: Changes::Command,
    },
    Known {
        name: "Read",
        aliases: &["read_file", "view", "View", "open_file", "ReadFile", "read", "view_file"],
        inputs: FILE,
        dropped: &["explanation"],
        target: &["file_path"],
        changes: Changes::Never,
    },
    Known {
        name: "Edit",
        aliases: &[
            "edit_file",
            "str_replace",
            "search_replace",
            "replace",
            "replace_in_file",
            "edit",
        ],
        inputs: FILE,
        dropped: &["explanation", "instruction", "instructions"],
        target: &["file_path"],
        changes: Changes::Files,
    },
    Known {
        name: "MultiEdit",
        aliases: &["multi_edit", "multiedit"],
        inputs: FILE,
        dropped: &[],
        target: &["file_path"],
        changes: Changes::Files,
    },
    Known {
        name: "Write",
        aliases: &["write_file", "create_file", "write_to_file", "WriteFile", "write", "create"],
        inputs: FILE,
        dropped: &["explanation"],
        target: &["file_path"],
        changes: Changes::Files,
    },
    Known {
        name: "NotebookEdit",
        aliases: &["edit_notebook", "notebook_edit"],
        inputs: &[],
        dropped: &[],
        target: &["notebook_path", "cell_id"],
        changes: Changes::Files,
    },
    Known {
        name: "apply_patch",
        aliases: &["ApplyPatch", "apply_diff"],
        inputs: &[("patch", "input"), ("diff", "input")],
        dropped: &["explanation"],
        target: &[],
        changes: Changes::Files,
    },
    Known {
        name: "Glob",
        aliases: &["glob", "find_files", "glob_file_search", "file_search", "find_by_name"],
        inputs: &[("glob_pattern", "pattern"), ("query", "pattern"), ("dir_path", "path")],
        dropped: &["case_sensitive", "respect_git_ignore", "explanation"],
        target: &["pattern"],
        changes: Changes::Never,
    },
    Known {
        name: "Grep",
        aliases: &[
            "grep",
            "grep_search",
            "search_file_content",
            "search_files",
            "ripgrep",
            "search",
        ],
        inputs: SEARCH,
        dropped: &["head_limit", "-n", "explanation", "max_results"],
        target: &["pattern"],
        changes: Changes::Never,
    },
    Known {
        name: "LS",
        aliases: &["list_dir", "list_directory", "list_files", "ls", "list"],
        inputs: &[("dir_path", "path"), ("relative_workspace_path", "path")],
        dropped: &["explanation", "ignore"],
        target: &["path"],
        changes: Changes::Never,
    },
    Known {
        name: "Agent",
        aliases: &["Task", "task", "spawn_agent", "new_task", "delegate"],
        inputs: &[],
        dropped: &["description", "run_in_background"],
        target: &["subagent_type"],
        changes: Changes::Never,
    },
    Known {
        name: "WebFetch",
        aliases: &["web_fetch", "fetch", "fetch_url", "read_url_content", "webfetch"],
        inputs: &[("uri", "url"), ("URL", "url")],
        dropped: &["explanation"],
        target: &["url"],
        changes: Changes::Never,
    },
    Known {
        name: "WebSearch",
        aliases: &["web_search", "google_web_search", "search_web", "websearch"],
        inputs: &[("search_term", "query")],
        dropped: &["explanation"],
        target: &["query"],
        changes: Changes::Never,
    },
    Known {
        name: "TodoWrite",
        aliases: &[
            "todo_write",
            "update_plan",
            "write_todos",
            "todowrite",
            "TaskCreate",
            "TaskUpdate",
        ],
        inputs: &[("plan", "todos"), ("items", "todos")],
        dropped: &["explanation"],
        target: &[],
        changes: Changes::Never,
    },
];

/// Inputs that are paths whatever the tool.
const PATHS: [&str; 7] =
    ["file_path", "path", "notebook_path", "cwd", "workdir", "directory", "paths"];
/// What a tool that is not known may be used on, the first there is.
const TELLING: [&str; 10] = [
    "file_path",
    "path",
    "url",
    "command",
    "query",
    "pattern",
    "id",
    "name",
    "skill",
    "subagent_type",
];

impl<'n> Tool<'n> {
    /// A tool by any of its names.
    pub fn of(name: &'n str) -> Tool<'n> {
        let known = KNOWN.iter().find(|tool| tool.name == name || tool.aliases.contains(&name));
        Tool { name, known }
    }

    /// The common name.
    pub fn name(&self) -> &'n str {
        self.known.map_or(self.name, |known| known.name)
    }

    /// Whether it writes files by itself.
    pub fn edits(&self) -> bool {
        self.known.is_some_and(|known| known.changes == Changes::Files)
    }

    /// Whether it runs commands in a shell.
    pub fn runs_commands(&self) -> bool {
        self.known.is_some_and(|known| known.changes == Changes::Command)
    }

    /// Whether a call with this normal input may change something: writes a file, or runs a command
    /// that does more than read. Of tools that are not known nothing is assumed.
    pub fn changes(&self, input: &Value) -> bool {
        match self.known.map(|known| known.changes) {
            Some(Changes::Files) => true,
            Some(Changes::Command) => {
                let command = input.get("command").and_then(Value::as_str);
                command.is_some_and(|command| !shell::is_read_only(command))
            }
            Some(Changes::Never) | None => false,
        }
    }

    pub(super) fn normal_input(&self, input: &Value, folder: Option<&str>) -> Value {
        // Some agents write inputs as JSON in a text.
        let unpacked = input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let input = unpacked.as_ref().filter(|value| value.is_object()).unwrap_or(input);
        let Value::Object(fields) = input else { return plain(input) };
        let mut normal = Map::new();
        // Names as they are go before other names for the same.
        let renamed = |name: &str| {
            let pairs = self.known.map_or(&[][..], |known| known.inputs);
            pairs.iter().find(|(other, _)| *other == name).map(|(_, name)| *name)
        };
        let (own, other): (Vec<_>, Vec<_>) =
            fields.iter().partition(|(name, _)| renamed(name).is_none());
        for (name, value) in own.into_iter().chain(other) {
            let name = match renamed(name) {
                Some(name) if normal.contains_key(name) => continue,
                Some(name) => name,
                None => name.as_str(),
            };
            let dropped = self.known.is_some_and(|known| known.dropped.contains(&name));
            // Left out and null are the same; so is what is the default.
            if dropped || value.is_null() || (name == "replace_all" && value == &Value::Bool(false))
            {
                continue;
            }
            let value = self.normal_value(name, value, folder);
            if value == "." && name == "path" && matches!(self.name(), "Glob" | "Grep" | "LS") {
                continue;
            }
            if value == "." && matches!(name, "cwd" | "workdir") {
                continue;
            }
            normal.insert(composed(name), value);
        }
        Value::Object(normal)
    }

    fn normal_value(&self, name: &str, value: &Value, folder: Option<&str>) -> Value {
        let known = |kind| self.known.is_some_and(|known| known.changes == kind);
        match value {
            Value::String(path) if PATHS.contains(&name) => seen_from(path, folder).into(),
            Value::Array(paths) if name == "paths" => {
                paths.iter().map(|path| self.normal_value("path", path, folder)).collect()
            }
            Value::String(command) if name == "command" && known(Changes::Command) => {
                shell::normal_command(command, folder).into()
            }
            Value::Array(words) if name == "command" && known(Changes::Command) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                let command = match unwrapped(&words) {
                    Some(script) => script.to_owned(),
                    None => words.join(" "),
                };
                shell::normal_command(&command, folder).into()
            }
            value => plain(value),
        }
    }

    /// What a call with this normal input is used on; empty if unknown.
    pub(super) fn target(&self, input: &Value, folder: Option<&str>) -> String {
        let text = |name: &&str| input.get(name).and_then(Value::as_str);
        match self.known {
            Some(known) if known.changes == Changes::Command => {
                shell::target(text(&"command").unwrap_or_default(), folder)
            }
            Some(known) => {
                let parts: Vec<&str> = known.target.iter().filter_map(text).collect();
                parts.join(" ")
            }
            None => TELLING.iter().find_map(text).unwrap_or_default().to_owned(),
        }
    }
}

/// A value with composed letters, whatever it holds.
fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => composed(text).into(),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (composed(name), plain(value))).collect(),
        ),
        value => value.clone(),
    }
}
