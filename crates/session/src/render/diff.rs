//! Differences between two texts, line by line.

use crate::compare::{self, Placing};
use backstory_format::slice::{Part, item};
use backstory_model::Hunk;
use hashbrown::HashMap;
use imara_diff::{IndentLevel, Token};
use std::ops::Range;

/// What an edit did to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileDiff {
    pub path: String,
    /// The file did not exist before.
    pub created: bool,
    /// Every occurrence was replaced.
    pub everywhere: bool,
    pub hunks: Vec<Hunk>,
}

impl FileDiff {
    /// How many lines were added and removed.
    pub fn counts(&self) -> (usize, usize) {
        let signs = |sign: char| {
            let lines = self.hunks.iter().flat_map(|hunk| hunk.lines.split('\n'));
            lines.filter(|line| line.starts_with(sign)).count()
        };
        (signs('+'), signs('-'))
    }
}

/// The lines in which two texts differ, with what surrounds them.
pub(super) fn compare<'t>(old: &'t str, new: &'t str) -> Option<Hunk> {
    let mut lines = String::with_capacity(old.len() + new.len());
    if old.is_empty() || new.is_empty() {
        push_all(&mut lines, '-', old);
        push_all(&mut lines, '+', new);
        return (!lines.is_empty()).then_some(Hunk { place: None, lines });
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut numbers: HashMap<&str, Token> = HashMap::new();
    let mut distinct: Vec<&str> = Vec::new();
    let mut number = |line: &&'t str| {
        *numbers.entry(line).or_insert_with(|| {
            distinct.push(line);
            Token(distinct.len() as u32 - 1)
        })
    };
    let before: Vec<Token> = old.iter().map(&mut number).collect();
    let after: Vec<Token> = new.iter().map(&mut number).collect();
    let indent = |token: Token| {
        let line = item(&distinct, token.0 as usize);
        IndentLevel::for_ascii_line(line.bytes(), 8)
    };
    let mut take = |sign: char, side: &[&str], range: Range<usize>| {
        for line in side.part(range) {
            push(&mut lines, sign, line);
        }
    };
    let mut at = 0;
    for hunk in compare::compare(&before, &after, Placing::ByIndent(&indent)).hunks {
        take(' ', &old, at..hunk.before.start);
        take('-', &old, hunk.before.clone());
        take('+', &new, hunk.after.clone());
        at = hunk.before.end;
    }
    take(' ', &old, at..old.len());
    Some(Hunk { place: None, lines })
}

fn push_all(lines: &mut String, sign: char, text: &str) {
    if !text.is_empty() {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            push(lines, sign, line);
        }
    }
}

fn push(lines: &mut String, sign: char, line: &str) {
    lines.push(sign);
    lines.push_str(line.strip_suffix('\n').unwrap_or(line));
    lines.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_are_shown_once() {
        let hunk = compare("one\ntwo\nthree", "one\n2\nthree").unwrap();
        assert_eq!(hunk.lines, " one\n-two\n+2\n three\n");
        let diff = FileDiff { hunks: vec![hunk], ..FileDiff::default() };
        assert_eq!(diff.counts(), (1, 1));
        assert_eq!(compare("", "a\n\nb\n").unwrap().lines, "+a\n+\n+b\n");
        assert!(compare("", "").is_none());
    }
}
