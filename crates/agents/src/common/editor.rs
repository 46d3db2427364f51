//! The editing tool that several agents share: one function with a `command` of `view`, `create`,
//! `str_replace`, `insert` or `undo_edit`.

use backstory_model::{Change, Content, Effect, FileEdit, Replacement};

/// Arguments of the tool, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct Editor {
    pub(crate) command: String,
    pub(crate) path: String,
    pub(crate) file_text: Option<Content>,
    pub(crate) old_str: Option<Content>,
    pub(crate) new_str: Option<Content>,
}

/// What a call of the tool does. An insertion names a line only, so it needs the file before and
/// after to be understood; without them, and for `undo_edit`, nothing is claimed.
pub(crate) fn editor(
    arguments: Editor,
    before: Option<Content>,
    after: Option<Content>,
) -> Option<Effect> {
    let Editor { command, path, file_text, old_str, new_str } = arguments;
    if path.is_empty() {
        return None;
    }
    let change = match (command.as_str(), file_text, old_str) {
        ("create", Some(content), _) => Change::Write { content, created: before.is_none() },
        ("str_replace", _, Some(old)) => {
            let new = new_str.unwrap_or(Content::Owned("".into()));
            Change::Replace(vec![Replacement { old, new, all: false }])
        }
        ("insert" | "undo_edit", ..) => {
            Change::Write { content: after.clone()?, created: before.is_none() }
        }
        _ => return None,
    };
    Some(FileEdit { before, after, ..FileEdit::new(&path, change) }.into())
}
