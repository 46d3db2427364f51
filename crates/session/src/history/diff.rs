//! The difference between two states, as git sees it.

use super::lines::{Lines, split_lines};
use crate::compare::{Compared, DifferingLines, Placing, compare};
use backstory_format::slice::Part;
use imara_diff::Token;
use std::ops::Range;

/// For each new line, the old line it is.
pub(super) type Kept = Vec<Option<u32>>;

pub(super) fn compared(before: &[Token], after: &[Token], lines: &Lines) -> Compared {
    compare(before, after, Placing::ByIndent(&|token| lines.indent(token)))
}

/// Which old line each new line is, given where they differ.
pub(super) fn kept(hunks: &[DifferingLines], after: usize) -> Kept {
    let mut kept = Vec::with_capacity(after);
    let mut old = 0;
    for hunk in hunks {
        while kept.len() < hunk.after.start {
            kept.push(Some(old as u32));
            old += 1;
        }
        kept.extend(hunk.after.clone().map(|_| None));
        old = hunk.before.end;
    }
    while kept.len() < after {
        kept.push(Some(old as u32));
        old += 1;
    }
    kept
}

/// For each line of the second text, the line of the first that it is; none where it is new.
pub(crate) fn aligned(before: &str, after: &str) -> Vec<Option<u32>> {
    let mut lines = Lines::default();
    let (old, new) = (lines.number(before), lines.number(after));
    kept(&compared(&old, &new, &lines).hunks, new.len())
}

/// A difference between two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDiff<'t> {
    /// Lines that only the second text has.
    pub added: u64,
    /// Lines that only the first text has.
    pub removed: u64,
    /// In the order of the texts.
    pub hunks: Vec<DiffHunk<'t>>,
}

/// Changes close to each other, with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffHunk<'t> {
    /// Lines of the first text, counted from 0.
    pub before: Range<usize>,
    /// Lines of the second text, counted from 0.
    pub after: Range<usize>,
    /// Unchanged lines at both ends, changes in between.
    pub lines: Vec<DiffLine<'t>>,
}

/// A line of a difference; printed, it has its sign in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffLine<'t> {
    /// In both texts.
    Same(&'t str),
    /// Only in the first.
    Removed(&'t str),
    /// Only in the second.
    Added(&'t str),
}

impl DiffHunk<'_> {
    /// The line that patches have above a hunk: `@@ -1,4 +1,5 @@`.
    pub fn heading(&self) -> String {
        let side = |range: &Range<usize>| {
            let start = range.start + usize::from(!range.is_empty());
            format!("{start},{}", range.len())
        };
        format!("@@ -{} +{} @@", side(&self.before), side(&self.after))
    }
}

impl std::fmt::Display for DiffLine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DiffLine::Same(line) => write!(f, " {line}"),
            DiffLine::Removed(line) => write!(f, "-{line}"),
            DiffLine::Added(line) => write!(f, "+{line}"),
        }
    }
}

/// What changed from one text to another, with `context` lines around each change.
pub fn line_diff<'t>(before: &'t str, after: &'t str, context: usize) -> LineDiff<'t> {
    let mut lines = Lines::default();
    let (old, new) = (lines.number(before), lines.number(after));
    let found = compared(&old, &new, &lines).hunks;
    let added = found.iter().map(|hunk| hunk.after.len() as u64).sum();
    let removed = found.iter().map(|hunk| hunk.before.len() as u64).sum();
    let old: Vec<&str> = split_lines(before).collect();
    let new: Vec<&str> = split_lines(after).collect();
    let mut hunks = Vec::new();
    let mut at = 0;
    while let Some(first) = found.get(at) {
        let mut last = at;
        while let (Some(this), Some(next)) = (found.get(last), found.get(last + 1)) {
            if next.before.start > this.before.end + 2 * context {
                break;
            }
            last += 1;
        }
        let group = found.part(at..=last);
        let end = group.last().unwrap_or(first);
        let lead = context.min(first.before.start);
        let tail = context.min(old.len() - end.before.end);
        let before = first.before.start - lead..end.before.end + tail;
        let after = first.after.start - lead..end.after.end + tail;
        let mut lines = Vec::new();
        let mut position = before.start;
        let mut push = |line: fn(&'t str) -> DiffLine<'t>, texts: &[&'t str]| {
            lines.extend(texts.iter().map(|text| line(text)));
        };
        for hunk in group {
            push(DiffLine::Same, old.part(position..hunk.before.start));
            push(DiffLine::Removed, old.part(hunk.before.clone()));
            push(DiffLine::Added, new.part(hunk.after.clone()));
            position = hunk.before.end;
        }
        push(DiffLine::Same, old.part(position..before.end));
        hunks.push(DiffHunk { before, after, lines });
        at = last + 1;
    }
    LineDiff { added, removed, hunks }
}

/// Lines of the second text that it has and the first one had not, as far as that is known.
pub(crate) fn added_lines<'t>(before: &str, after: &'t str) -> Vec<&'t str> {
    let mut lines = Lines::default();
    let (old, new) = (lines.number(before), lines.number(after));
    let Compared { hunks, unsure } = compared(&old, &new, &lines);
    let new: Vec<&str> = split_lines(after).collect();
    let added = hunks.into_iter().flat_map(|hunk| hunk.after);
    let sure = added.filter(|at| unsure.binary_search(at).is_err());
    sure.filter_map(|at| new.get(at).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_read_like_a_patch() {
        let diff = line_diff("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n", 1);
        assert_eq!((diff.added, diff.removed), (2, 1));
        assert_eq!(printed(&diff), ["@@ -1,4 +1,5 @@", " a", "-b", "+B", " c", " d", "+e"]);
        assert_eq!(printed(&line_diff("", "x\n", 3)), ["@@ -0,0 +1,1 @@", "+x"]);
        assert!(line_diff("same\r\n", "same\n", 3).hunks.is_empty());
    }

    fn printed(diff: &LineDiff<'_>) -> Vec<String> {
        let hunk = |hunk: &DiffHunk<'_>| {
            std::iter::once(hunk.heading())
                .chain(hunk.lines.iter().map(ToString::to_string))
                .collect::<Vec<_>>()
        };
        diff.hunks.iter().flat_map(hunk).collect()
    }

    #[test]
    fn lines_that_stay_are_aligned() {
        assert_eq!(aligned("a\nb\nc", "a\nx\ny\nc"), [Some(0), None, None, Some(2)]);
        assert_eq!(aligned("", "x\n"), [None]);
    }

    #[test]
    fn kept_lines_are_found() {
        let mut lines = Lines::default();
        let (old, new) = (lines.number("a\nb\nc"), lines.number("a\nx\ny\nc"));
        let kept = kept(&compared(&old, &new, &lines).hunks, new.len());
        assert_eq!(kept, [Some(0), None, None, Some(2)]);
    }
}
