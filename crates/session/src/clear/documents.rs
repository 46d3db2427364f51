//! Files that are not lines of records: studied and cleared in memory.
//!
//! They are documents, lines, parts of files, packed files or folders, so each is unpacked and
//! searched as a whole. A document is searched value by value however it is laid out, and Markdown
//! at once: line by line, what an escape hides or what takes several lines would be missed.

use super::file::{CopyError, is_utf16};
use backstory_agents as agents;
use backstory_format::json::IdPaths;
use backstory_format::json::Tape;
use backstory_model::FilePart;
use backstory_model::SessionFiles;
use backstory_redact::Cleared;
use backstory_redact::Scrubber;
use backstory_store::Store;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A file of a session that was learnt from.
#[derive(Debug)]
pub struct DocumentFile {
    /// Its place next to the others, with the ending of what was packed.
    pub(super) name: PathBuf,
    bytes: Vec<u8>,
}

impl DocumentFile {
    /// What is searched at once: the document, or each of its lines.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let whole = self.name.extension().is_none_or(|end| end != "jsonl");
        let lines = self.bytes.split_inclusive(|byte| *byte == b'\n');
        let document = whole.then_some(self.bytes.as_slice());
        document.into_iter().chain(lines.take(if whole { 0 } else { usize::MAX }))
    }
}

/// Learns from every file of a session; its own comes first.
pub fn study_documents(
    scrubber: &mut Scrubber,
    files: &SessionFiles,
    store: &Store,
) -> Result<Vec<DocumentFile>, CopyError> {
    let base = if files.path.is_dir() { Some(files.path.as_path()) } else { files.path.parent() };
    let ids = agents::reader(files.agent).id_fields();
    let mut tape = Tape::new();
    let mut studied = Vec::new();
    for FilePart { path, part } in agents::files_of(files, store) {
        let bytes = store.load(&path, part)?.bytes;
        if is_utf16(&bytes) {
            return Err(CopyError::Utf16(path));
        }
        // A rollout that another one continues may lie in another folder.
        let beside = base.and_then(|base| path.strip_prefix(base).ok());
        let Some(name) = beside.or(path.file_name().map(Path::new)) else { continue };
        let name = match name.extension().and_then(OsStr::to_str) {
            Some("zst") => name.with_extension(""),
            Some("parquet") => name.with_extension("jsonl"),
            _ => name.to_path_buf(),
        };
        let file = DocumentFile { name, bytes };
        for piece in file.pieces() {
            scrubber.learn_line(piece, ids, &mut tape);
        }
        studied.push(file);
    }
    Ok(studied)
}

/// A file that was studied, cleared.
pub(super) fn clear_document(
    scrubber: &Scrubber,
    file: &DocumentFile,
    ids: &IdPaths,
) -> Cleared<Vec<u8>> {
    let mut tape = Tape::new();
    let mut cleared = Vec::with_capacity(file.bytes.len());
    for piece in file.pieces() {
        cleared.extend_from_slice(scrubber.clear_line(piece, ids, &mut tape).get());
    }
    Cleared::assert_cleared(cleared)
}
