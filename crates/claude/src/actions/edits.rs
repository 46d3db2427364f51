//! Edits: what an input asks for, and what the client's structured result says was done.
//!
//! Texts are taken as the caller wants them: decoded, or as references to where they are written.

use super::patch::patch;
use backstory_format::json::{Kind, Value};
use backstory_model::{Change, Hunk, Replacement};

/// A tool that changes files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditTool {
    /// Replaces a text.
    Edit,
    /// Replaces several.
    MultiEdit,
    /// Writes a whole file.
    Write,
    /// Changes a cell of a notebook.
    NotebookEdit,
}

impl EditTool {
    /// The tool of this name.
    pub fn of(name: &str) -> Option<EditTool> {
        match name {
            "Edit" => Some(EditTool::Edit),
            "MultiEdit" => Some(EditTool::MultiEdit),
            "Write" => Some(EditTool::Write),
            "NotebookEdit" => Some(EditTool::NotebookEdit),
            _ => None,
        }
    }
}

/// Which lines of the client's patch are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchLines {
    /// All, as the file has them: the client shows leading tabs as two spaces.
    Shown,
    /// Those that were there before, as the client shows them; new lines are only counted.
    Old,
}

/// The file that a call names.
pub fn edited_path(input: &Value<'_>) -> Option<String> {
    let names = ["file_path", "notebook_path", "path"];
    names.iter().find_map(|name| input.get_text(name)).map(|path| path.into_owned())
}

/// What the model asked for.
pub fn asked<T>(
    tool: EditTool,
    input: &Value<'_>,
    texts: &dyn Fn(&Value<'_>) -> T,
) -> Option<Change<T>> {
    let text = |name| string(input, name).map(|value| texts(&value));
    match tool {
        EditTool::Write => Some(Change::Write { content: text("content")?, created: false }),
        EditTool::Edit => Some(Change::Replace(vec![replacement(input, texts)?])),
        EditTool::MultiEdit => Some(Change::Replace(replacements(&input.get("edits")?, texts)?)),
        EditTool::NotebookEdit => {
            let deletes = input.get("edit_mode").is_some_and(|mode| mode.is_text("delete"));
            let source = if deletes { None } else { Some(text("new_source")?) };
            Some(Change::Cell { source })
        }
    }
}

/// The client's structured result of an edit.
#[derive(Debug, PartialEq, Eq)]
pub struct EditResult<T> {
    /// What was done, where it says so.
    pub done: Option<Change<T>>,
    /// The whole file before.
    pub original: Option<T>,
    /// The whole file after.
    pub updated: Option<T>,
    /// The client's patch.
    pub hunks: Vec<Hunk>,
    /// A person changed the edit in review.
    pub reviewed: bool,
}

impl<T> Default for EditResult<T> {
    fn default() -> EditResult<T> {
        let (done, original, updated, hunks) = (None, None, None, Vec::new());
        EditResult { done, original, updated, hunks, reviewed: false }
    }
}

impl<T> EditResult<T> {
    /// Reads it.
    pub fn read(
        tool: EditTool,
        result: &Value<'_>,
        lines: PatchLines,
        texts: &dyn Fn(&Value<'_>) -> T,
    ) -> EditResult<T> {
        EditResult {
            done: done(tool, result, texts),
            original: original(result).map(|value| texts(&value)),
            updated: string(result, "updated_file").map(|value| texts(&value)),
            hunks: patch(result, lines),
            reviewed: flag(result, "userModified"),
        }
    }

    /// Whether it says all that is known of the edit, so that nobody needs the input.
    pub fn is_complete(&self) -> bool {
        self.done.is_some() && !self.reviewed
    }
}

fn done<T>(
    tool: EditTool,
    result: &Value<'_>,
    texts: &dyn Fn(&Value<'_>) -> T,
) -> Option<Change<T>> {
    let text = |name| string(result, name).map(|value| texts(&value));
    match tool {
        EditTool::Write => {
            let created = result.get("type").is_some_and(|kind| kind.is_text("create"));
            Some(Change::Write { content: text("content")?, created })
        }
        EditTool::Edit => {
            let (old, new) = (text("oldString")?, text("newString")?);
            Some(Change::Replace(vec![Replacement { old, new, all: flag(result, "replaceAll") }]))
        }
        EditTool::MultiEdit => Some(Change::Replace(replacements(&result.get("edits")?, texts)?)),
        EditTool::NotebookEdit => None,
    }
}

/// The whole file before, where the client wrote it down.
pub(super) fn original<'v>(result: &Value<'v>) -> Option<Value<'v>> {
    let names = ["originalFile", "originalFileContents", "original_file"];
    names.iter().find_map(|name| string(result, name))
}

fn replacement<T>(value: &Value<'_>, texts: &dyn Fn(&Value<'_>) -> T) -> Option<Replacement<T>> {
    let (old, new) = (string(value, "old_string")?, string(value, "new_string")?);
    Some(Replacement { old: texts(&old), new: texts(&new), all: flag(value, "replace_all") })
}

fn replacements<T>(
    list: &Value<'_>,
    texts: &dyn Fn(&Value<'_>) -> T,
) -> Option<Vec<Replacement<T>>> {
    list.items().map(|item| replacement(&item, texts)).collect()
}

pub(super) fn string<'v>(value: &Value<'v>, name: &str) -> Option<Value<'v>> {
    value.get(name).filter(|field| field.kind() == Kind::String)
}

fn flag(value: &Value<'_>, name: &str) -> bool {
    value.get(name).and_then(|flag| flag.boolean()).unwrap_or(false)
}
