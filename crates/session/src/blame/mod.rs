//! Which session, model and prompt wrote each line of a file.
//!
//! [`FileHistory`] is what sessions and commits say about a file, under all names that it had;
//! [`blame`] lays that over a [`FileText`]. [`EditedFiles`] does the same for everything that was
//! edited below some folders.
//!
//! ```no_run
//! use backstory_session::blame::{FileHistory, FileText, NameSources, blame};
//! use backstory_session::discover::{Root, discover};
//! use backstory_store::{Git, Store};
//! use std::path::Path;
//!
//! let store = Store::default();
//! let found = discover(&[Root { path: "/home/me/.claude".into() }], &store);
//! let path = Path::new("src/main.rs");
//! let text = FileText::on_disk(path)?;
//! let mut history = FileHistory::read(path, &found, NameSources::default(), &());
//! let git = Git::holding(path, &store);
//! if let Some(git) = &git {
//!     history.look_into_commits(git, &text);
//! }
//! let blame = blame(&history, &text, git.as_ref())?;
//! for line in &blame.lines {
//!     let model = blame.edit_of(line).and_then(|edit| edit.edit.by.model.as_deref());
//!     println!("{:20} {}", model.unwrap_or("-"), line.text);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod committed;
mod edited_files;
mod file_history;
mod file_text;
mod owned;

pub use edited_files::{EditedFile, EditedFiles};
pub use file_history::{FileHistory, Follow, NameSources};
pub use file_text::{FileText, FileTextError};
pub use owned::{BlamedEdit, BlamedFile, BlamedLine};

use crate::history::{Mark, Traced, TracedEdit, Why, split_lines};
use backstory_store::{Git, GitError, GitLine};

/// Larger than any file that people edit; what is larger is not read.
pub const LARGEST_FILE: u64 = 256 << 20;

/// A line with its origin.
#[derive(Debug)]
#[non_exhaustive]
pub struct BlameLine<'t> {
    /// Counted from 1.
    pub number: u64,
    /// Without its end.
    pub text: &'t str,
    /// Where it comes from, and on what evidence.
    pub mark: Mark,
    /// The commit that has the line, where git was asked and knows one.
    pub git: Option<GitLine>,
}

/// The lines of a file with their origins.
#[derive(Debug)]
#[non_exhaustive]
pub struct Blame<'h> {
    /// What the lines were attributed by.
    pub history: &'h FileHistory,
    /// The edits that marks refer to, and unrecorded changes.
    pub traced: Traced<'h>,
    /// All lines of the text.
    pub lines: Vec<BlameLine<'h>>,
}

impl<'h> Blame<'h> {
    /// The edit that wrote a line.
    pub fn edit_of(&self, line: &BlameLine<'_>) -> Option<&TracedEdit<'h>> {
        self.traced.edit_of(line.mark)
    }

    /// Whether neither an edit nor a commit is known.
    pub fn is_unknown(&self) -> bool {
        self.traced.edits.is_empty() && self.lines.iter().all(|line| line.git.is_none())
    }
}

/// Attributes every line of `text`. With `committed`, each line also gets the commit that git
/// blames, and no line is attributed to an edit made after its commit.
pub fn blame<'h>(
    history: &'h FileHistory,
    text: &'h FileText,
    committed: Option<&Git>,
) -> Result<Blame<'h>, GitError> {
    let mut traced = history.trace(text);
    if traced.marks.iter().all(|mark| mark.edit().is_none()) && traced.edits.is_empty() {
        for mark in &mut traced.marks {
            *mark = Mark { why: Why::NoHistory, ..*mark };
        }
    }
    let committed = match committed {
        Some(git) => committed::lines(git, &history.path, text)?,
        None => Vec::new(),
    };
    committed::contradict(&mut traced, &committed);
    let mut committed = committed.into_iter();
    let lines = split_lines(&text.text)
        .zip(&traced.marks)
        .enumerate()
        .map(|(at, (text, mark))| BlameLine {
            number: at as u64 + 1,
            text,
            mark: *mark,
            git: committed.next().flatten(),
        })
        .collect();
    Ok(Blame { history, traced, lines })
}
