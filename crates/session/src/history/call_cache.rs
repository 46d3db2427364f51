//! What tool calls say about files, taken down while the session is read for its model.
//!
//! Inputs and results are the bulk of a session, so looking them up afterwards would mean reading
//! and parsing most of it a second time. Notes are kept by where the value stands in the file. They
//! are a short cut and nothing else: what has no note is looked up.

use super::extract::Wanted;
use super::lines::unix;
use super::path::normal_path;
use backstory_claude::actions::{self, EditResult, EditTool, PatchLines};
use backstory_format::Record;
use backstory_format::claude::RecordKind;
use backstory_format::json::{Kind, Value};
use backstory_model::{ActionKind, RecordObserver};
use hashbrown::HashMap;
use std::path::{Path, PathBuf};

/// What an input names.
#[derive(Debug)]
pub(super) enum Named {
    /// The file that is read or edited.
    Path(String),
    Command(String),
    Nothing,
}

/// Notes on the calls of one file of a session.
pub struct Notes<'w> {
    path: PathBuf,
    wanted: Wanted<'w>,
    inputs: HashMap<u64, Named>,
    results: HashMap<u64, EditResult<String>>,
    /// Tools of edits whose result is still to come, by the call's id.
    awaited: HashMap<Box<str>, EditTool>,
}

/// Takes the notes on every file of a session.
pub struct NoteTaker<'w> {
    wanted: Wanted<'w>,
    /// On the file that is being read.
    open: Notes<'w>,
    done: Vec<Notes<'w>>,
}

impl std::fmt::Debug for Notes<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Notes").field("path", &self.path).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for NoteTaker<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("NoteTaker").field("done", &self.done).finish_non_exhaustive()
    }
}

impl<'w> NoteTaker<'w> {
    /// Takes notes on the wanted files.
    pub fn new(wanted: Wanted<'w>) -> NoteTaker<'w> {
        NoteTaker { wanted, open: Notes::new(wanted, PathBuf::new()), done: Vec::new() }
    }

    /// The notes on every file that was read to its end.
    pub fn into_notes(self) -> Vec<Notes<'w>> {
        self.done
    }
}

impl RecordObserver for NoteTaker<'_> {
    fn begin(&mut self, path: &Path) {
        self.open = Notes::new(self.wanted, path.to_path_buf());
    }

    fn record(&mut self, record: &Record<'_>) {
        self.open.record(record);
    }

    fn end(&mut self, _: &Path) {
        let next = Notes::new(self.wanted, PathBuf::new());
        let mut notes = std::mem::replace(&mut self.open, next);
        notes.awaited = HashMap::new();
        self.done.push(notes);
    }
}

impl<'w> Notes<'w> {
    fn new(wanted: Wanted<'w>, path: PathBuf) -> Notes<'w> {
        let (inputs, results, awaited) = (HashMap::new(), HashMap::new(), HashMap::new());
        Notes { path, wanted, inputs, results, awaited }
    }

    /// The file they are about.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the input that begins at `offset` names.
    pub(super) fn input(&self, offset: u64) -> Option<&Named> {
        self.inputs.get(&offset)
    }

    /// The structured result of an edit that begins at `offset`. It can be had once: only a copy of
    /// the call would ask again.
    pub(super) fn take_result(&mut self, offset: u64) -> Option<EditResult<String>> {
        self.results.remove(&offset)
    }

    fn record(&mut self, record: &Record<'_>) {
        let kind = record.kind();
        if !matches!(kind, RecordKind::Assistant | RecordKind::User) {
            return;
        }
        let value = record.value();
        let blocks = || value.get("message").and_then(|message| message.get("content"));
        if kind == RecordKind::Assistant {
            for block in blocks().iter().flat_map(|blocks| blocks.items()) {
                self.call(record, &block);
            }
        } else if !self.awaited.is_empty()
            && let Some(result) = value.get("toolUseResult")
            && result.kind() == Kind::Object
        {
            let blocks = blocks();
            let mut blocks = blocks.iter().flat_map(|blocks| blocks.items());
            // Of several results in one record it is not clear whose the structured one is.
            if let (Some(block), None) = (blocks.next(), blocks.next())
                && let Some(id) = block.get_text("tool_use_id")
                && let Some(tool) = self.awaited.remove(&*id)
            {
                let texts = |value: &Value<'_>| unix(value.text().unwrap_or_default());
                let edit = EditResult::read(tool, &result, PatchLines::Old, &texts);
                self.results.insert(record.offset_of(&result), edit);
            }
        }
    }

    fn call(&mut self, record: &Record<'_>, block: &Value<'_>) {
        let Some(name) = block.get_text("name") else { return };
        let kind = actions::kind(&name);
        if !matches!(kind, ActionKind::Edit | ActionKind::Read | ActionKind::Shell) {
            return;
        }
        let Some(input) = block.get("input") else { return };
        let named = match kind {
            ActionKind::Shell => {
                let command = actions::command(&input).and_then(|command| command.text());
                command.map(|command| Named::Command(command.into_owned()))
            }
            _ => actions::edited_path(&input).map(Named::Path),
        };
        let tool = EditTool::of(&name);
        if let (Some(Named::Path(path)), Some(tool)) = (&named, tool)
            && (!path.starts_with('/') || (self.wanted)(&normal_path(path, None)))
            && let Some(id) = block.get_text("id")
        {
            self.awaited.insert(id.as_ref().into(), tool);
        }
        self.inputs.insert(record.offset_of(&input), named.unwrap_or(Named::Nothing));
    }
}
