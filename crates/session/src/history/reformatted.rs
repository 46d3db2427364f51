//! Lines of which only the white space changed: re-indented, or broken and joined differently.

use super::apply::TELLING;
use super::diff::kept;
use super::lines::Lines;
use crate::compare::{Placing, compare};
use backstory_format::slice::Part;
use imara_diff::Token;
use std::ops::Range;

/// Letters and digits that a run of re-indented lines needs to be more than chance.
const ENOUGH: u32 = 8;

/// For each new line of a hunk, the old lines it was made from; empty where there are none.
pub(super) fn reshaped(before: &[Token], after: &[Token], lines: &Lines) -> Vec<Range<usize>> {
    let none = vec![0..0; after.len()];
    if before.is_empty() || after.is_empty() {
        return none;
    }
    let shapes = |tokens: &[Token]| tokens.iter().map(|t| lines.shape(*t)).collect::<Vec<_>>();
    let (old, new) = (shapes(before), shapes(after));
    let found = compare(&old, &new, Placing::Any).hunks;
    let same = kept(&found, new.len());
    let mut out = none;
    let everything = found.is_empty();
    let mut start = 0;
    while start < same.len() {
        let Some(first) = same.get(start).copied().flatten() else {
            start += 1;
            continue;
        };
        let mut end = start + 1;
        while same.get(end).copied().flatten() == Some(first + (end - start) as u32) {
            end += 1;
        }
        let weight = lines.total_weight(after.part(start..end));
        if everything || weight >= ENOUGH {
            for at in start..end {
                let old = first as usize + at - start;
                if let Some(slot) = out.get_mut(at) {
                    *slot = old..old + 1;
                }
            }
        }
        start = end;
    }
    for hunk in &found {
        let old = before.part(hunk.before.clone());
        let new = after.part(hunk.after.clone());
        for (at, range) in (hunk.after.clone()).zip(rebroken(old, new, lines)) {
            if let Some(slot) = out.get_mut(at)
                && !range.is_empty()
            {
                *slot = range.start + hunk.before.start..range.end + hunk.before.start;
            }
        }
    }
    out
}

/// The same letters in the same order, broken into lines differently.
fn rebroken(before: &[Token], after: &[Token], lines: &Lines) -> Vec<Range<usize>> {
    let texts = |tokens: &[Token]| tokens.iter().map(|t| lines.shape_text(*t)).collect::<Vec<_>>();
    let (old, new) = (texts(before), texts(after));
    let length = |texts: &[std::rc::Rc<str>]| texts.iter().map(|text| text.len()).sum::<usize>();
    let none = vec![0..0; after.len()];
    if length(&old) != length(&new) || lines.total_weight(before) < TELLING {
        return none;
    }
    if old.concat() != new.concat() {
        return none;
    }
    // Where each old line ends among all letters.
    let mut ends = Vec::with_capacity(old.len());
    let mut total = 0;
    for text in &old {
        total += text.len();
        ends.push(total);
    }
    let mut at = 0;
    let mut out = Vec::with_capacity(new.len());
    for text in &new {
        let (from, to) = (at, at + text.len());
        at = to;
        if text.is_empty() {
            out.push(0..0);
            continue;
        }
        let first = ends.partition_point(|end| *end <= from);
        let last = ends.partition_point(|end| *end < to);
        out.push(first..last + 1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reshape(before: &str, after: &str) -> Vec<Range<usize>> {
        let mut lines = Lines::default();
        let (old, new) = (lines.number(before), lines.number(after));
        reshaped(&old, &new, &lines)
    }

    #[test]
    fn indented_lines_are_known_again() {
        assert_eq!(reshape("call(one, two);\n}", "    call(one, two);\n    }"), [0..1, 1..2]);
        assert_eq!(reshape("}", "bar();\n  }"), [0..0, 0..0], "a brace alone says nothing");
    }

    #[test]
    fn broken_lines_are_known_again() {
        let (short, long) =
            ("call(argument_one, argument_two)", "call(\n  argument_one,\n  argument_two\n)");
        assert_eq!(reshape(short, long), [0..1, 0..1, 0..1, 0..1]);
        assert_eq!(reshape(long, short), vec![0..4; 1]);
        let other = long.replace("_two", "_2");
        assert!(reshape(short, &other).iter().all(Range::is_empty));
    }
}
