//! Code that was read or written, with its lines where the trace proves them.

use super::step::Writer;
use crate::context::Context;
use crate::language::language;
use backstory_format::json::text::decode;
use backstory_model::{Action, Call, CallOutcome, Change, Content, FileEdit, Reading};
use backstory_store::StoreError;

impl Writer<'_, '_, '_> {
    pub(super) fn snippets(
        &mut self,
        member: usize,
        at: usize,
        call: &Call,
    ) -> Result<(), StoreError> {
        if call.result.as_ref().is_none_or(|result| result.outcome != CallOutcome::Ok) {
            return Ok(());
        }
        if let Some(reading) = self.fetcher.reading(member, call)? {
            self.read_snippet(member, at, &reading)?;
        }
        for action in self.fetcher.actions(member, call)? {
            if let Action::Edit(edit) = action {
                self.edit_snippets(member, at, call, &edit)?;
            }
        }
        Ok(())
    }

    fn read_snippet(
        &mut self,
        member: usize,
        at: usize,
        reading: &Reading<'_>,
    ) -> Result<(), StoreError> {
        if reading.path.is_empty() {
            return Ok(());
        }
        let last = reading.first.zip(reading.lines);
        let last = last.map(|(first, count)| (first + count).saturating_sub(1));
        let lines = (reading.first, last.filter(|last| Some(*last) >= reading.first));
        // A result that is cut is not told whole here.
        let most = self.options.max_observation.unwrap_or(usize::MAX);
        let fits = match self.fetcher.written(member, &reading.content)? {
            Some(raw) => raw.len() <= most || decode(raw).chars().count() <= most,
            None => self.fetcher.text(member, &reading.content)?.chars().count() <= most,
        };
        let text = Some(&*reading.content).filter(|_| fits);
        self.snippet(member, at, Snippet { path: &reading.path, lines, text })
    }

    fn edit_snippets(
        &mut self,
        member: usize,
        at: usize,
        call: &Call,
        edit: &FileEdit,
    ) -> Result<(), StoreError> {
        let parts: Vec<&Content> = match &edit.change {
            Change::Write { content, .. } => vec![content],
            Change::Replace(list) => list.iter().map(|part| &part.new).collect(),
            Change::Cell { source } => source.iter().collect(),
            Change::Delete | Change::Move { .. } => Vec::new(),
        };
        let known = call.id.as_deref().and_then(|id| self.context.edit_of.get(id));
        // Of several changes it is not known which wrote which lines.
        let placed = match (known.map(Vec::as_slice), parts.as_slice()) {
            (Some([one]), [_]) => self.context.written.edits.get(*one),
            _ => None,
        };
        let lines = placed.and_then(|edit| edit.lines);
        let lines = lines.map(|(first, last)| (u64::from(first), u64::from(last))).unzip();
        for text in parts.into_iter().filter(|_| !edit.path.is_empty()) {
            self.snippet(member, at, Snippet { path: &edit.path, lines, text: Some(text) })?;
        }
        Ok(())
    }

    fn snippet(
        &mut self,
        member: usize,
        at: usize,
        snippet: Snippet<'_>,
    ) -> Result<(), StoreError> {
        let Snippet { path, lines, text } = snippet;
        let path = self.context.shown(path);
        self.canon.open();
        self.canon.key("end_line");
        self.canon.number_or_null(lines.1);
        self.canon.key("file_path");
        self.canon.text(path);
        self.canon.key("language");
        self.canon.plain_or_null(language(path));
        self.canon.key("source_step");
        self.canon.number(Context::number(at));
        self.canon.key("start_line");
        self.canon.number_or_null(lines.0);
        self.canon.key("text");
        match text {
            None => self.canon.null(),
            Some(text) => match self.fetcher.written(member, text)? {
                Some(raw) => self.canon.written_text(raw),
                None => self.canon.text(&self.fetcher.text(member, text)?),
            },
        }
        self.canon.close();
        Ok(())
    }
}

/// A piece of a file.
struct Snippet<'t> {
    path: &'t str,
    lines: (Option<u64>, Option<u64>),
    text: Option<&'t Content>,
}
