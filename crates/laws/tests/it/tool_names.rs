//! Only readers know tools by the names that agents give them.
//!
//! A crate that asks for a name works for one agent alone, and for that one until its next release.
//! What a call does is asked of its reader (`backstory_agents::does`, `actions`, `edits`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that must not know any.
const CRATES: [&str; 9] =
    ["cli", "export", "format", "model", "redact", "replay", "search", "session", "store"];

/// Tools of Claude Code and of other agents.
const NAMES: [&str; 43] = [
    "Agent",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
    "SlashCommand",
    "Task",
    "TaskCreate",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
    "apply_patch",
    "applypatch",
    "ask_followup_question",
    "exec_command",
    "execute_bash",
    "execute_command",
    "exit_plan_mode",
    "local_shell",
    "read_file",
    "replace_in_file",
    "request_user_input",
    "run_commands",
    "run_shell_command",
    "str_replace_editor",
    "task_tracker",
    "update_plan",
    "view_image",
    "write_file",
    "write_to_file",
    "write_todos",
];

/// The table that maps names to common ones for comparisons, and words that are no tool.
const ALLOWED: [(&str, &[&str]); 4] = [
    ("export/src/normalise/tools.rs", &NAMES),
    ("session/src/render/heading.rs", &["Agent"]),
    ("session/src/render/html/calls.rs", &["Edit"]),
    ("session/src/render/markdown/mod.rs", &["Edit"]),
];

#[test]
fn tools_are_named_by_readers_alone() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for name in CRATES {
        sources(&crates.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 200, "{} files are too few to be all", files.len());
    let mut found = BTreeSet::new();
    for file in &files {
        let place = file.strip_prefix(crates).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(file).unwrap();
        for line in without_tests(&text) {
            let names = NAMES.iter().filter(|name| line.contains(&format!("\"{name}\"")));
            found.extend(names.map(|name| (place.clone(), *name)));
        }
    }
    let is_allowed = |place: &str, name: &str| {
        ALLOWED.iter().any(|(file, names)| *file == place && names.contains(&name))
    };
    let new: Vec<_> = found.iter().filter(|(place, name)| !is_allowed(place, name)).collect();
    assert!(new.is_empty(), "names of tools outside of readers: {new:?}");
    for (file, _) in ALLOWED {
        assert!(found.iter().any(|(place, _)| place == file), "{file} names no tool any more");
    }
}

/// Source files below a folder that are not tests.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            sources(&path, files);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}

/// Lines of code; tests come last in a file.
fn without_tests(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}
