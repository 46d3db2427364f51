//! What a tool call did to files, in words that every agent shares.
//!
//! A call that failed has no effects. What cannot be said for certain is left out: a diff that does
//! not show which lines it replaced is not an edit here.

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

/// A change of one file. Its texts are references into the trace, or (`FileEdit<String>`) were
/// fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit<T = Content> {
    /// As the agent wrote it.
    pub path: Box<str>,
    /// What became of the file; what was asked for where the call did not get that far.
    pub change: Change<T>,
    /// The whole file before, where the trace holds it.
    pub before: Option<T>,
    /// The whole file after, where the trace holds it.
    pub after: Option<T>,
    /// The changed parts, where the trace says which they are. An empty list says that there are none.
    pub hunks: Option<Vec<Hunk>>,
    /// What the model asked for, where a person changed it in review before it was applied.
    pub proposed: Option<Change<T>>,
}

impl<T> FileEdit<T> {
    /// A change of which nothing else is known.
    pub fn new(path: &str, change: Change<T>) -> FileEdit<T> {
        let (before, after, hunks) = (None, None, None);
        FileEdit { path: path.into(), change, before, after, hunks, proposed: None }
    }
}

impl From<FileEdit> for Effect {
    fn from(edit: FileEdit) -> Effect {
        Effect::Edit(Box::new(edit))
    }
}

/// Lines that a change concerns, from 1, before and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// Neighbouring lines that changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Hunk {
    /// Where they are, if that is known.
    pub place: Option<HunkPlace>,
    /// Lines with their sign (space, `-`, `+`, `\`) in front, each ended by a newline. Empty where the
    /// trace only says which lines they are.
    pub lines: String,
}

impl Hunk {
    /// Lines from `old_start` on that became the lines from `new_start` on.
    pub fn at(old_start: u32, new_start: u32, lines: String) -> Hunk {
        let count = |not: [char; 2]| {
            let lines = lines.split_terminator('\n');
            lines.filter(|line| !line.starts_with(not)).count() as u32
        };
        let (old_lines, new_lines) = (count(['+', '\\']), count(['-', '\\']));
        let place = HunkPlace { old_start, old_lines, new_start, new_lines };
        Hunk { place: Some(place), lines }
    }

    /// The lines before the change, without their signs.
    pub fn old(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.split_terminator('\n');
        lines.filter(|line| !line.starts_with(['+', '\\'])).map(|line| {
            let mut letters = line.chars();
            letters.next();
            letters.as_str()
        })
    }

    /// The numbers of the lines that are new, from 1.
    pub fn added(&self) -> impl Iterator<Item = u32> {
        let lines = self.lines.split_terminator('\n').filter(|line| !line.starts_with(['-', '\\']));
        let first = self.place.map(|place| place.new_start);
        let numbered = first.into_iter().flat_map(move |first| (first..).zip(lines.clone()));
        numbered.filter(|(_, line)| line.starts_with('+')).map(|(number, _)| number)
    }
}

/// The change itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change<T = Content> {
    /// The file got this content.
    Write {
        /// All of it.
        content: T,
        /// It was not there before.
        created: bool,
    },
    /// Parts of it were replaced, one after the other.
    Replace(Vec<Replacement<T>>),
    /// A cell of a notebook was changed.
    Cell {
        /// All that the cell holds now; none if it was removed.
        source: Option<T>,
    },
    /// It was removed.
    Delete,
    /// It was given another name.
    Move {
        /// Its path now.
        to: Box<str>,
    },
}

impl<T> Change<T> {
    /// The same change with each text as `text` makes it.
    pub fn with_texts<U, E>(
        &self,
        text: &mut impl FnMut(&T) -> Result<U, E>,
    ) -> Result<Change<U>, E> {
        Ok(match self {
            Change::Write { content, created } => {
                Change::Write { content: text(content)?, created: *created }
            }
            Change::Replace(list) => {
                let part = |part: &Replacement<T>| {
                    Ok(Replacement { old: text(&part.old)?, new: text(&part.new)?, all: part.all })
                };
                Change::Replace(list.iter().map(part).collect::<Result<_, E>>()?)
            }
            Change::Cell { source } => {
                Change::Cell { source: source.as_ref().map(text).transpose()? }
            }
            Change::Delete => Change::Delete,
            Change::Move { to } => Change::Move { to: to.clone() },
        })
    }
}

/// Text that was replaced by other text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Replacement<T = Content> {
    /// What was there.
    pub old: T,
    /// What is there instead.
    pub new: T,
    /// Everywhere, not once.
    pub all: bool,
}
