//! What Cline's tools do to files.

use crate::common::{Cite, Dialect, search_replace};
use backstory_format::json::Value;
use backstory_model::{Call, Change, Content, Effect, FileEdit, Replacement};

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

/// The outcome says that the file is new, which the call does not.
pub(super) fn mark_created(call: &mut Call) {
    for effect in &mut call.effects {
        if let Effect::Edit(edit) = effect
            && let Change::Write { created, .. } = &mut edit.change
        {
            *created = true;
        }
    }
}

fn shell(command: Content) -> Effect {
    Effect::Shell { command }
}

fn write(path: &str, content: Content) -> Effect {
    FileEdit::new(path, Change::Write { content, created: false }).into()
}

fn replace(path: &str, old: Content, new: Content) -> Effect {
    let replacements = vec![Replacement { old, new, all: false }];
    FileEdit::new(path, Change::Replace(replacements)).into()
}

/// `------- SEARCH` … `=======` … `+++++++ REPLACE`, in either of two spellings.
fn blocks(path: &str, diff: &str) -> Option<Effect> {
    let replacements = search_replace(diff, Dialect::Cline)?;
    Some(FileEdit::new(path, Change::Replace(replacements)).into())
}
