//! What calls of Claude Code's tools do. No other crate knows the names of these tools.
//!
//! Nothing is kept: inputs and results are read when somebody asks.

mod edits;
mod patch;
mod reads;

pub use edits::{EditResult, EditTool, PatchLines, asked, edited_path};
pub use reads::{reading, reading_from_text};

use backstory_format::Limits;
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_model::{
    Action, ActionKind, Assignment, Call, CallResult, Change, Content, FileEdit, Span,
};
use backstory_store::{SourceReader, StoreError};
use std::borrow::Cow;

/// What a tool does.
pub fn kind(tool: &str) -> ActionKind {
    match tool {
        _ if EditTool::of(tool).is_some() => ActionKind::Edit,
        "Read" => ActionKind::Read,
        "Bash" | "PowerShell" => ActionKind::Shell,
        "Task" | "Agent" => ActionKind::Subagent,
        "AskUserQuestion" => ActionKind::Question,
        "ExitPlanMode" => ActionKind::Plan,
        "TodoWrite" => ActionKind::Todos,
        _ => ActionKind::Other,
    }
}

/// What a call asks for, as its input says.
pub fn action(
    call: &Call,
    reader: &mut SourceReader,
) -> Result<Option<Action<'static>>, StoreError> {
    let tool = call.name.as_deref().unwrap_or_default();
    let kind = kind(tool);
    let Some(input) = call.input.as_ref().filter(|_| kind != ActionKind::Other) else {
        return Ok(None);
    };
    with_object(input, reader, |input, texts| {
        let field = |name| input.get_text(name).map(Cow::into_owned);
        match kind {
            ActionKind::Edit => {
                let edit =
                    FileEdit::new(&edited_path(input)?, asked(EditTool::of(tool)?, input, texts)?);
                Some(Action::Edit(Cow::Owned(edit)))
            }
            ActionKind::Read => Some(Action::Read { path: Cow::Owned(edited_path(input)?) }),
            ActionKind::Shell => {
                Some(Action::Shell { command: Cow::Owned(texts(&command(input)?)) })
            }
            ActionKind::Subagent => Some(Action::Subagent(Assignment {
                kind: field("subagent_type"),
                description: field("description"),
                prompt: field("prompt"),
            })),
            ActionKind::Question | ActionKind::Plan | ActionKind::Todos | ActionKind::Other => None,
        }
    })
}

/// The command that a shell gets.
pub fn command<'v>(input: &Value<'v>) -> Option<Value<'v>> {
    input.get("command").filter(|command| command.kind() == Kind::String)
}

/// What a call did to a file, or would have done had it not failed.
pub fn edit(call: &Call, reader: &mut SourceReader) -> Result<Option<FileEdit>, StoreError> {
    let Some(tool) = call.name.as_deref().and_then(EditTool::of) else { return Ok(None) };
    let Some(input) = &call.input else { return Ok(None) };
    let asked = with_object(input, reader, |input, texts| {
        Some((edited_path(input)?, asked(tool, input, texts)))
    })?;
    let Some((path, asked)) = asked else { return Ok(None) };
    let structured = call.result.as_ref().and_then(|result| result.structured.as_ref());
    let recorded = match structured {
        Some(structured) => with_object(structured, reader, |result, texts| {
            Some(EditResult::read(tool, result, PatchLines::Shown, texts))
        })?,
        None => None,
    };
    let is_recorded = recorded.is_some();
    let recorded = recorded.unwrap_or_default();
    let Some(mut change) = recorded.done.or_else(|| asked.clone()) else { return Ok(None) };
    if let (Change::Write { created, .. }, None, Some(result)) =
        (&mut change, structured, &call.result)
    {
        *created = says_created(result, reader)?;
    }
    Ok(Some(FileEdit {
        before: recorded.original,
        after: recorded.updated,
        hunks: is_recorded.then_some(recorded.hunks),
        proposed: asked.filter(|_| recorded.reviewed),
        ..FileEdit::new(&path, change)
    }))
}

/// Without a structured result the words for the model tell whether a file is new.
fn says_created(result: &CallResult, reader: &mut SourceReader) -> Result<bool, StoreError> {
    let Some(text) = result.text.first() else { return Ok(false) };
    Ok(reader.text(text)?.starts_with("File created successfully"))
}

/// Reads a JSON object, and texts in it as references to where they are written.
fn with_object<T>(
    content: &Content,
    reader: &mut SourceReader,
    read: impl FnOnce(&Value<'_>, &dyn Fn(&Value<'_>) -> Content) -> Option<T>,
) -> Result<Option<T>, StoreError> {
    let (bytes, offset) = match content {
        Content::Json(span) => (reader.bytes(*span)?, Some(span.offset)),
        Content::Owned(text) => (text.as_bytes(), None),
        Content::Text(_) => return Ok(None),
    };
    let mut tape = Tape::new();
    if scan(bytes, 0, Limits::DEPTH, &mut tape).is_err() {
        return Ok(None);
    }
    let Some(value) = tape.root(bytes).filter(|value| value.kind() == Kind::Object) else {
        return Ok(None);
    };
    let texts = |value: &Value<'_>| match (offset, value.text_span()) {
        (Some(offset), Some(place)) => {
            Content::Text(Span { offset: offset + place.start as u64, length: place.len() as u32 })
        }
        _ => Content::Owned(value.text().unwrap_or_default().into()),
    };
    Ok(read(&value, &texts))
}
