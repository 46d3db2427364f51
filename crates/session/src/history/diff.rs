//! The difference between two states, as git sees it.

use super::lines::{Lines, split_lines};
use crate::compare::{Compared, Hunk, Placing, compare};
use imara_diff::Token;

/// For each new line, the old line it is.
pub(super) type Kept = Vec<Option<u32>>;

pub(super) fn compared(before: &[Token], after: &[Token], lines: &Lines) -> Compared {
    compare(before, after, Placing::ByIndent(&|token| lines.indent(token)))
}

/// Which old line each new line is, given where they differ.
pub(super) fn kept(hunks: &[Hunk], after: usize) -> Kept {
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

/// A difference between two texts, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDiff {
    pub added: u64,
    pub removed: u64,
    /// Unified hunks: `@@ … @@` and lines that begin with ` `, `-` or `+`.
    pub lines: Vec<String>,
}

/// What changed from one text to another, with `context` lines around each change.
pub fn line_diff(before: &str, after: &str, context: usize) -> LineDiff {
    let mut lines = Lines::default();
    let (old, new) = (lines.number(before), lines.number(after));
    let found = compared(&old, &new, &lines).hunks;
    let added = found.iter().map(|hunk| hunk.after.len() as u64).sum();
    let removed = found.iter().map(|hunk| hunk.before.len() as u64).sum();
    let old: Vec<&str> = split_lines(before).collect();
    let new: Vec<&str> = split_lines(after).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = found.get(at) {
        let mut last = at;
        while let (Some(this), Some(next)) = (found.get(last), found.get(last + 1)) {
            if next.before.start > this.before.end + 2 * context {
                break;
            }
            last += 1;
        }
        let group = found.get(at..=last).unwrap_or_default();
        let end = group.last().unwrap_or(first);
        let lead = context.min(first.before.start);
        let tail = context.min(old.len() - end.before.end);
        let (from, to) = (first.before.start - lead, end.before.end + tail);
        let (new_from, new_to) = (first.after.start - lead, end.after.end + tail);
        let start = |from: usize, to: usize| if to > from { from + 1 } else { from };
        out.push(format!(
            "@@ -{},{} +{},{} @@",
            start(from, to),
            to - from,
            start(new_from, new_to),
            new_to - new_from
        ));
        let mut position = from;
        let mut push = |sign: char, lines: &[&str]| {
            out.extend(lines.iter().map(|line| format!("{sign}{line}")));
        };
        for hunk in group {
            push(' ', old.get(position..hunk.before.start).unwrap_or_default());
            push('-', old.get(hunk.before.clone()).unwrap_or_default());
            push('+', new.get(hunk.after.clone()).unwrap_or_default());
            position = hunk.before.end;
        }
        push(' ', old.get(position..to).unwrap_or_default());
        at = last + 1;
    }
    LineDiff { added, removed, lines: out }
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
        assert_eq!(diff.lines, ["@@ -1,4 +1,5 @@", " a", "-b", "+B", " c", " d", "+e"]);
        assert_eq!(line_diff("", "x\n", 3).lines, ["@@ -0,0 +1,1 @@", "+x"]);
        assert!(line_diff("same\r\n", "same\n", 3).lines.is_empty());
    }

    #[test]
    fn kept_lines_are_found() {
        let mut lines = Lines::default();
        let (old, new) = (lines.number("a\nb\nc"), lines.number("a\nx\ny\nc"));
        let kept = kept(&compared(&old, &new, &lines).hunks, new.len());
        assert_eq!(kept, [Some(0), None, None, Some(2)]);
    }
}
