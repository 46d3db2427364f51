//! The text whose lines are asked about: a file as it is, or as a commit has it.

use super::LARGEST_FILE;
use backstory_store::{Git, GitError, StoreError, read_small};
use jiff::{Timestamp, ToSpan};
use std::path::{Path, PathBuf};

/// Bytes at the start in which a zero means that a file is not text.
const LOOKED_AT: usize = 8_000;

/// A text file at one point in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// The content; what is not UTF-8 is replaced.
    pub text: String,
    /// The commit that it was taken from.
    pub commit: Option<String>,
    /// Edits made later have no part in it.
    pub until: Option<Timestamp>,
}

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub enum FileTextError {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] StoreError),
    /// Git has no such commit or file, or could not be asked.
    #[error(transparent)]
    Git(#[from] GitError),
    /// It holds bytes that no text has.
    #[error("`{}`: not a text file", .0.display())]
    NotText(PathBuf),
}

impl FileText {
    /// The file as it is.
    pub fn on_disk(path: &Path) -> Result<FileText, FileTextError> {
        let text = decoded(path, &read_small(path, LARGEST_FILE)?)?;
        Ok(FileText { text, commit: None, until: None })
    }

    /// The file as the commit `rev` has it.
    pub fn in_commit(path: &Path, git: &Git, rev: &str) -> Result<FileText, FileTextError> {
        let (commit, time) = git.commit(rev)?;
        let inside = git.relative(path).unwrap_or_default();
        let text = decoded(path, &git.file(&commit, &inside)?)?;
        // Commit times have whole seconds.
        let until = time.and_then(|time| time.checked_add(1.second()).ok());
        Ok(FileText { text, commit: Some(commit), until })
    }

    /// The commit whose history the text has.
    pub(super) fn commit_or_head(&self) -> &str {
        self.commit.as_deref().unwrap_or("HEAD")
    }
}

fn decoded(path: &Path, bytes: &[u8]) -> Result<String, FileTextError> {
    if bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0) {
        return Err(FileTextError::NotText(path.to_path_buf()));
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
