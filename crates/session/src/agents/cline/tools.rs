//! What Cline's tools do to files.

use crate::agents::common::Cite;
use crate::model::{Change, Content, Effect, FileEdit, Replacement};
use backstory_format::json::Value;

/// Effects of a native tool call.
pub(super) fn effects(name: &str, input: &Value<'_>, cite: Cite) -> Vec<Effect> {
    let text = |name: &str| input.get(name).and_then(|value| cite.text(&value));
    let path = input.get_text("path").or_else(|| input.get_text("absolutePath"));
    match name {
        "editor" => {
            let Some(path) = path else { return Vec::new() };
            match (text("old_text"), text("new_text").or_else(|| text("content"))) {
                (Some(old), Some(new)) if old.size() > 0 => vec![replace(&path, old, new)],
                (_, Some(content)) if input.get("insert_line").is_none() => {
                    vec![write(&path, content)]
                }
                _ => Vec::new(),
            }
        }
        "write_to_file" => {
            let content = text("content");
            path.zip(content).map(|(path, content)| write(&path, content)).into_iter().collect()
        }
        "replace_in_file" => {
            let diff = input.get_text("diff");
            path.zip(diff).map(|(path, diff)| blocks(&path, &diff)).into_iter().flatten().collect()
        }
        "run_commands" => {
            let commands = input.get("commands");
            let commands = commands.iter().flat_map(|list| list.items());
            commands.filter_map(|command| cite.text(&command)).map(shell).collect()
        }
        "execute_command" => text("command").map(shell).into_iter().collect(),
        _ => Vec::new(),
    }
}

pub(super) fn shell(command: Content) -> Effect {
    Effect::Shell { command }
}

pub(super) fn write(path: &str, content: Content) -> Effect {
    edit(path, Change::Write { content, created: false })
}

fn replace(path: &str, old: Content, new: Content) -> Effect {
    edit(path, Change::Replace(vec![Replacement { old, new, all: false }]))
}

fn edit(path: &str, change: Change) -> Effect {
    let (before, after, places) = (None, None, Vec::new());
    Effect::Edit(Box::new(FileEdit { path: path.into(), change, before, after, places }))
}

/// `------- SEARCH` … `=======` … `+++++++ REPLACE`, in either of two spellings.
pub(super) fn blocks(path: &str, diff: &str) -> Option<Effect> {
    let replacements = crate::agents::common::search_replace(diff)?;
    Some(edit(path, Change::Replace(replacements)))
}
