//! Code that was read or written, with its lines where the trace proves them.

use super::step::Writer;
use crate::json::Canon;
use crate::language::language;
use crate::prepared::Prepared;
use backstory_format::json::text::decode;
use backstory_model::{Call, CallOutcome, CallResult};
use backstory_store::StoreError;

impl Writer<'_, '_, '_> {
    pub(super) fn snippets(
        &mut self,
        member: usize,
        at: usize,
        call: &Call,
    ) -> Result<(), StoreError> {
        let Some(result) = call.result.as_ref().filter(|it| it.outcome == CallOutcome::Ok) else {
            return Ok(());
        };
        match call.name.as_deref() {
            Some("Read") => self.read_snippet(member, at, result),
            Some("Edit" | "Write" | "MultiEdit" | "NotebookEdit") => {
                self.edit_snippets(member, at, call)
            }
            _ => Ok(()),
        }
    }

    fn read_snippet(
        &mut self,
        member: usize,
        at: usize,
        result: &CallResult,
    ) -> Result<(), StoreError> {
        let Some(structured) = &result.structured else { return Ok(()) };
        let Some(value) = self.fetcher.json(member, structured)? else { return Ok(()) };
        let Some(file) = value.get("file") else { return Ok(()) };
        let text = file.get("content").and_then(|text| text.raw_text());
        let (Some(path), Some(text)) = (file.get_text("filePath"), text) else { return Ok(()) };
        let first = file.get("startLine").and_then(|line| line.unsigned());
        let count = file.get("numLines").and_then(|line| line.unsigned());
        let last = first.zip(count).map(|(first, count)| (first + count).saturating_sub(1));
        let lines = (first, last.filter(|last| Some(*last) >= first));
        // A result that is cut is not told whole here.
        let most = self.options.max_observation.unwrap_or(usize::MAX);
        let text =
            Some(text).filter(|text| text.len() <= most || decode(text).chars().count() <= most);
        let snippet = Snippet { path: self.prepared.shown(&path), lines, text };
        snippet.write(at, self.canon);
        Ok(())
    }

    fn edit_snippets(&mut self, member: usize, at: usize, call: &Call) -> Result<(), StoreError> {
        let Some(input) = &call.input else { return Ok(()) };
        let edit = call.id.as_deref().and_then(|id| self.prepared.edit_of.get(id));
        let edit = edit.and_then(|edits| match edits.as_slice() {
            [one] => self.prepared.written.edits.get(*one),
            _ => None,
        });
        let Some(value) = self.fetcher.json(member, input)? else { return Ok(()) };
        let path = value.get_text("file_path").or_else(|| value.get_text("notebook_path"));
        let Some(path) = path.filter(|path| !path.is_empty()) else { return Ok(()) };
        let path = self.prepared.shown(&path);
        let lines = match edit.and_then(|edit| edit.lines) {
            Some((first, last)) => (Some(u64::from(first)), Some(u64::from(last))),
            None => (None, None),
        };
        let named = ["new_string", "content", "new_source"];
        let written = named.iter().find_map(|name| value.get(name)?.raw_text());
        if let Some(text) = written {
            Snippet { path, lines, text: Some(text) }.write(at, self.canon);
        }
        for part in value.get("edits").into_iter().flat_map(|list| list.items()) {
            let new = part.get("new_string");
            let text = new.as_ref().and_then(|new| new.raw_text());
            Snippet { path, lines: (None, None), text }.write(at, self.canon);
        }
        Ok(())
    }
}

/// A piece of a file.
struct Snippet<'t> {
    path: &'t str,
    lines: (Option<u64>, Option<u64>),
    /// As it is written in JSON.
    text: Option<&'t [u8]>,
}

impl Snippet<'_> {
    fn write(&self, at: usize, canon: &mut Canon<'_>) {
        canon.open();
        canon.key("end_line");
        canon.number_or_null(self.lines.1);
        canon.key("file_path");
        canon.text(self.path);
        canon.key("language");
        canon.plain_or_null(language(self.path));
        canon.key("source_step");
        canon.number(Prepared::number(at));
        canon.key("start_line");
        canon.number_or_null(self.lines.0);
        canon.key("text");
        match self.text {
            Some(text) => canon.written_text(text),
            None => canon.null(),
        }
        canon.close();
    }
}
