//! Whole files: studied first, then copied without what is to go.
//!
//! The second reading sees the bytes that the first one saw: what was appended meanwhile is not
//! copied, and a file that was replaced or cut fails. Lines in which the rules found nothing are
//! only searched for what was learnt elsewhere, so that copying costs little more than reading.

use backstory_format::json::IdPaths;
use backstory_format::json::Tape;
use backstory_redact::Scrubber;
use backstory_store::{FileState, StoreError, each_line};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that was learnt from.
#[derive(Debug)]
pub struct Studied {
    path: PathBuf,
    state: FileState,
    /// By line: whether the rules found something.
    marks: Vec<bool>,
}

/// Why a file could not be copied.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(transparent)]
    Read(#[from] StoreError),
    #[error(transparent)]
    Write(#[from] io::Error),
    /// Secrets in it would not be seen.
    #[error("`{}`: UTF-16, which is not searched for secrets", .0.display())]
    Utf16(PathBuf),
}

/// Learns from every line of a file.
pub fn study(scrubber: &mut Scrubber, path: &Path, ids: &IdPaths) -> Result<Studied, CopyError> {
    let mut tape = Tape::new();
    let mut marks = Vec::new();
    let state = each_line(path, None, |line| {
        if marks.is_empty() && is_utf16(line) {
            return Err(CopyError::Utf16(path.to_path_buf()));
        }
        marks.push(scrubber.learn_line(line, ids, &mut tape));
        Ok(())
    })?;
    Ok(Studied { path: path.to_path_buf(), state, marks })
}

/// Writes a file that was studied, cleared.
pub(super) fn copy(
    scrubber: &Scrubber,
    studied: &Studied,
    ids: &IdPaths,
    out: &mut dyn Write,
) -> Result<(), CopyError> {
    let mut tape = Tape::new();
    let mut marks = studied.marks.iter();
    each_line(&studied.path, Some(studied.state), |line| {
        let found = marks.next().copied().unwrap_or(true);
        if !found && !scrubber.may_hold(line) {
            out.write_all(line)?;
            return Ok(());
        }
        out.write_all(scrubber.clear_line(line, ids, &mut tape).get())?;
        Ok(())
    })
    .map(drop)
}

pub(super) fn is_utf16(line: &[u8]) -> bool {
    line.starts_with(b"\xFF\xFE")
        || line.starts_with(b"\xFE\xFF")
        || line.starts_with(b"{\0\"\0")
        || line.starts_with(b"\0{\0\"")
}
