//! Command lines as a shell splits them: words, redirections, here-documents, and what connects
//! commands.
//!
//! This is not a shell. Nothing is run or expanded, and reserved words such as `then` are words of
//! their command. Every text can be split: a quote that is never closed ends with the text.

mod quoting;
mod split;

use backstory_format::slice::Part;
use std::ops::Range;

/// A script, split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script<'s> {
    /// As it is written.
    pub text: &'s str,
    /// Commands outside of substitutions, in order.
    pub commands: Vec<Command>,
    /// Whitespace outside of quotes and here-documents: blanks, line ends, and line ends that a
    /// backslash takes away.
    pub gaps: Vec<Range<usize>>,
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Its words, settings of variables in front of it included.
    pub words: Vec<Word>,
    /// Where its input comes from and its output goes to.
    pub redirections: Vec<Redirection>,
    /// Commands whose output is part of its words: those in `$(…)`, `` `…` `` and `<(…)`.
    pub substituted: Vec<Command>,
    /// From its first to its last word or redirection.
    pub span: Range<usize>,
    /// What connects it to the next command.
    pub link: Link,
    /// Where that is written.
    pub link_at: usize,
}

/// A word without its quotes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Substitutions and variables in it are left as they are written.
    pub text: String,
    /// Where it is written.
    pub span: Range<usize>,
}

/// What connects a command to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Link {
    /// A semicolon, a line end, a parenthesis, or the end of the script.
    #[default]
    Sequence,
    /// `&`
    Background,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` or `|&`
    Pipe,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// What it does.
    pub operator: Operator,
    /// A file, a file descriptor, a text, or the word that ends a here-document.
    pub target: Word,
    /// Where it is written, from the number in front to the target.
    pub span: Range<usize>,
    /// The lines of a here-document.
    pub document: Option<Document>,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<` and `<>`
    Input,
    /// `>`, `>|`, `&>` and `>&` with a file
    Output,
    /// `>>` and `&>>`
    Append,
    /// `2>&1`, `<&3` and `>&-`
    Duplicate,
    /// `<<<`
    Text,
    /// `<<` and `<<-`
    Document,
}

/// Where a here-document is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its lines.
    pub lines: Range<usize>,
    /// Where the line after the word that ends it begins.
    pub end: usize,
}

impl Script<'_> {
    /// Splits a script.
    pub fn split(text: &str) -> Script<'_> {
        split::split(text)
    }

    /// All commands, each followed by those that are substituted in it.
    pub fn all(&self) -> Vec<&Command> {
        let mut found = Vec::new();
        let mut waiting: Vec<&Command> = self.commands.iter().rev().collect();
        while let Some(command) = waiting.pop() {
            found.push(command);
            waiting.extend(command.substituted.iter().rev());
        }
        found
    }

    /// The lines of a here-document.
    pub fn lines_of(&self, document: &Document) -> &str {
        self.text.part(document.lines.clone())
    }
}

impl Command {
    /// The texts of its words.
    pub fn texts(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.text.as_str()).collect()
    }

    /// Files that its output goes to.
    pub fn outputs(&self) -> impl Iterator<Item = &str> {
        self.redirections.iter().filter_map(Redirection::written)
    }

    /// Its here-documents.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.redirections.iter().filter_map(|redirection| redirection.document.as_ref())
    }
}

impl Redirection {
    /// The file that is written.
    pub fn written(&self) -> Option<&str> {
        matches!(self.operator, Operator::Output | Operator::Append)
            .then_some(self.target.text.as_str())
    }
}

/// Whether a word in front of a command sets a variable.
pub fn assigns(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The script that a command hands to a shell, as `bash -lc SCRIPT` does.
pub fn unwrapped<'w>(words: &[&'w str]) -> Option<&'w str> {
    let [program, flag, script, ..] = words else { return None };
    let name = program.rsplit(['/', '\\']).next()?;
    let runs = match name.strip_suffix(".exe").unwrap_or(name) {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" => {
            flag.strip_prefix('-').is_some_and(|letters| letters.ends_with('c'))
        }
        "pwsh" | "powershell" => flag.eq_ignore_ascii_case("-command") || *flag == "-c",
        _ => false,
    };
    runs.then_some(script)
}
