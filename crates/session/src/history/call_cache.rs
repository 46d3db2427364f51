//! Inputs and results of calls that change or read files, kept while the session is read.
//!
//! Inputs and results are the bulk of a session, so looking them up afterwards would mean reading
//! and parsing most of it a second time. Entries are kept by the place of the value in the file. They
//! are a short cut only: a value without an entry is looked up.

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

/// The file or command that an input names.
#[derive(Debug)]
pub(super) enum CallTarget {
    /// The file that is read or edited.
    Path(String),
    Command(String),
    Nothing,
}

/// The calls of one file of a session, by the place of their inputs and results.
pub struct CallCache<'w> {
    path: PathBuf,
    wanted: Wanted<'w>,
    inputs: HashMap<u64, CallTarget>,
    results: HashMap<u64, EditResult<String>>,
    /// Tools of edits whose result is still to come, by the call's id.
    awaited: HashMap<Box<str>, EditTool>,
}

/// Fills a cache for every file of a session.
pub struct CallCacheBuilder<'w> {
    wanted: Wanted<'w>,
    /// On the file that is being read.
    open: CallCache<'w>,
    done: Vec<CallCache<'w>>,
}

impl std::fmt::Debug for CallCache<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CallCache").field("path", &self.path).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for CallCacheBuilder<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CallCacheBuilder").field("done", &self.done).finish_non_exhaustive()
    }
}

impl<'w> CallCacheBuilder<'w> {
    /// A builder for the wanted files.
    pub fn new(wanted: Wanted<'w>) -> CallCacheBuilder<'w> {
        CallCacheBuilder { wanted, open: CallCache::new(wanted, PathBuf::new()), done: Vec::new() }
    }

    /// The caches of all files that were read to their end.
    pub fn into_caches(self) -> Vec<CallCache<'w>> {
        self.done
    }
}

impl RecordObserver for CallCacheBuilder<'_> {
    fn begin(&mut self, path: &Path) {
        self.open = CallCache::new(self.wanted, path.to_path_buf());
    }

    fn record(&mut self, record: &Record<'_>) {
        self.open.record(record);
    }

    fn end(&mut self, _: &Path) {
        let next = CallCache::new(self.wanted, PathBuf::new());
        let mut cache = std::mem::replace(&mut self.open, next);
        cache.awaited = HashMap::new();
        self.done.push(cache);
    }
}

impl<'w> CallCache<'w> {
    fn new(wanted: Wanted<'w>, path: PathBuf) -> CallCache<'w> {
        let (inputs, results, awaited) = (HashMap::new(), HashMap::new(), HashMap::new());
        CallCache { path, wanted, inputs, results, awaited }
    }

    /// The file they are about.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the input that begins at `offset` names.
    pub(super) fn input(&self, offset: u64) -> Option<&CallTarget> {
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
                command.map(|command| CallTarget::Command(command.into_owned()))
            }
            _ => actions::edited_path(&input).map(CallTarget::Path),
        };
        let tool = EditTool::of(&name);
        if let (Some(CallTarget::Path(path)), Some(tool)) = (&named, tool)
            && (!path.starts_with('/') || (self.wanted)(&normal_path(path, None)))
            && let Some(id) = block.get_text("id")
        {
            self.awaited.insert(id.as_ref().into(), tool);
        }
        self.inputs.insert(record.offset_of(&input), named.unwrap_or(CallTarget::Nothing));
    }
}
