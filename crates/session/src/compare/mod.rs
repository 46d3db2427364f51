//! Two lists of lines compared, with effort that grows as their length does.
//!
//! The result is the one git gives: Myers' algorithm with git's heuristics, and its rule for placing a
//! hunk that could be in several places. The steps are those of `imara-diff` (which tests compare
//! with), but every step is counted, and lists that are made to be hard to compare use up what there is
//! for their length. What is left then is matched by the lines that are once on both sides; of new
//! lines that this does not match, and that the old side has too, it is unknown whether they stayed.
//! They are *unsure*, and no author may be claimed for them.

mod anchors;
mod effort;
mod prune;
mod slide;
mod snake;

use backstory_format::slice::Part;
use effort::Effort;
use imara_diff::{IndentLevel, Token};
use std::ops::Range;

/// Ranges of lines that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DifferingLines {
    pub(crate) before: Range<usize>,
    pub(crate) after: Range<usize>,
}

/// How two lists differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) hunks: Vec<DifferingLines>,
    /// New lines, in order, of which it is not known whether they stayed.
    pub(crate) unsure: Vec<usize>,
}

/// Where hunks are placed that could be in several places.
pub(crate) enum Placing<'i> {
    /// As it comes, for machines.
    Any,
    /// By the indents of lines, for people.
    ByIndent(&'i dyn Fn(Token) -> IndentLevel),
}

pub(crate) fn compare(before: &[Token], after: &[Token], placing: Placing<'_>) -> Compared {
    compare_within(before, after, placing, &mut Effort::for_lines(before.len() + after.len()))
}

fn compare_within(
    before: &[Token],
    after: &[Token],
    placing: Placing<'_>,
    effort: &mut Effort,
) -> Compared {
    if before == after {
        return Compared::default();
    }
    let mut sides = Sides {
        removed: vec![false; before.len()],
        added: vec![false; after.len()],
        unsure: Vec::new(),
    };
    let (start, end) = common_edges(before, after);
    effort.spend(start + end);
    let old = before.part(start..before.len() - end);
    let new = after.part(start..after.len() - end);
    let pruned = prune::prune(old, new, effort);
    pruned.old.left_out.iter().for_each(|at| set(&mut sides.removed, start + at, true));
    pruned.new.left_out.iter().for_each(|at| set(&mut sides.added, start + at, true));
    snake::Search::new(&pruned, start, effort).run(&mut sides);
    if let Placing::ByIndent(indent) = placing
        && !effort.is_used_up()
    {
        slide::slide(&mut sides, before, after, indent, effort);
    }
    Compared { hunks: sides.hunks(), unsure: sides.unsure }
}

/// Which lines of both sides differ.
struct Sides {
    removed: Vec<bool>,
    added: Vec<bool>,
    unsure: Vec<usize>,
}

impl Sides {
    fn hunks(&self) -> Vec<DifferingLines> {
        let mut hunks = Vec::new();
        let (mut old, mut new) = (0, 0);
        while old < self.removed.len() || new < self.added.len() {
            let (old_end, new_end) = (run_end(&self.removed, old), run_end(&self.added, new));
            if old_end > old || new_end > new {
                hunks.push(DifferingLines { before: old..old_end, after: new..new_end });
            }
            (old, new) = (old_end + 1, new_end + 1);
        }
        hunks
    }
}

/// Where a run of marked lines ends.
fn run_end(marked: &[bool], from: usize) -> usize {
    from + marked.part(from..).iter().take_while(|mark| **mark).count()
}

fn set(marks: &mut [bool], at: usize, value: bool) {
    if let Some(mark) = marks.get_mut(at) {
        *mark = value;
    }
}

/// How many lines are the same at the start, and after that at the end.
fn common_edges(old: &[Token], new: &[Token]) -> (usize, usize) {
    let start = common_start(old, new);
    let rest = |side: &'_ [Token]| side.len() - start;
    let (old_rest, new_rest) = (rest(old), rest(new));
    let end = common_end(old, new).min(old_rest).min(new_rest);
    (start, end)
}

fn common_start(old: &[Token], new: &[Token]) -> usize {
    old.iter().zip(new).take_while(|(old, new)| old == new).count()
}

fn common_end(old: &[Token], new: &[Token]) -> usize {
    old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count()
}

#[cfg(test)]
mod tests;
