//! What a tool call did to files, in words that every agent shares.
//!
//! A call that failed has no effects. What cannot be said for certain is left out: a diff that does
//! not tell which lines it replaced is no edit here.

use crate::Content;

/// Something a call did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It changed a file.
    Edit(Box<FileEdit>),
    /// It saw the whole content of a file.
    Read {
        /// As the agent wrote it.
        path: Box<str>,
        /// All that it saw.
        content: Content,
    },
    /// It ran a command in a shell, which may have touched any file.
    Shell {
        /// As the shell got it.
        command: Content,
    },
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// As the agent wrote it.
    pub path: Box<str>,
    /// What became of the file.
    pub change: Change,
    /// The whole file before, where the trace holds it.
    pub before: Option<Content>,
    /// The whole file after, where the trace holds it.
    pub after: Option<Content>,
    /// Where the changed parts stand, where the trace says so.
    pub places: Vec<HunkPlace>,
}

impl FileEdit {
    /// A change of which nothing else is known.
    pub fn new(path: &str, change: Change) -> FileEdit {
        let (before, after, places) = (None, None, Vec::new());
        FileEdit { path: path.into(), change, before, after, places }
    }
}

impl From<FileEdit> for Effect {
    fn from(edit: FileEdit) -> Effect {
        Effect::Edit(Box::new(edit))
    }
}

/// Lines that a change concerns, from 1, before and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HunkPlace {
    /// First line before the change.
    pub old_start: u32,
    /// How many there were before it.
    pub old_lines: u32,
    /// First line after the change.
    pub new_start: u32,
    /// How many there are after it.
    pub new_lines: u32,
}

/// The change itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The file got this content.
    Write {
        /// All of it.
        content: Content,
        /// It was not there before.
        created: bool,
    },
    /// Parts of it were replaced, one after the other.
    Replace(Vec<Replacement>),
    /// It was removed.
    Delete,
    /// It was given another name.
    Move {
        /// Its path now.
        to: Box<str>,
    },
}

/// Text that was replaced by other text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// What was there.
    pub old: Content,
    /// What is there instead.
    pub new: Content,
    /// Everywhere, not once.
    pub all: bool,
}
