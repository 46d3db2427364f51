//! Where a hunk is that could be in several places: next to another one, else where the indents of
//! lines say.

use super::effort::Effort;
use super::{Sides, run_end, set};
use backstory_format::slice::Part;
use imara_diff::{IndentHeuristic, IndentLevel, SliderHeuristic as _, Token};
use std::ops::Range;

/// Places the hunks of new lines, then those of old ones.
pub(super) fn slide(
    sides: &mut Sides,
    before: &[Token],
    after: &[Token],
    indent: &dyn Fn(Token) -> IndentLevel,
    effort: &mut Effort,
) {
    let Sides { removed, added, .. } = sides;
    let (at, other_at) = (0..0, 0..0);
    Slider { own: added, other: removed, tokens: after, at, other_at }.run(indent, effort);
    let (at, other_at) = (0..0, 0..0);
    Slider { own: removed, other: added, tokens: before, at, other_at }.run(indent, effort);
}

struct Slider<'s> {
    own: &'s mut [bool],
    other: &'s [bool],
    tokens: &'s [Token],
    /// The hunk, and what differs at the same place on the other side.
    at: Range<usize>,
    other_at: Range<usize>,
}

impl Slider<'_> {
    fn run(mut self, indent: &dyn Fn(Token) -> IndentLevel, effort: &mut Effort) {
        effort.spend(self.own.len() + self.other.len());
        while !effort.is_used_up() && self.next() {
            let mut top;
            let mut beside;
            loop {
                while self.up(effort) {}
                top = self.at.end;
                beside = !self.other_at.is_empty();
                let size = self.at.len();
                while self.down(effort) {
                    beside |= !self.other_at.is_empty();
                }
                // Joined with another hunk it may be able to go up further.
                if size == self.at.len() || effort.is_used_up() {
                    break;
                }
            }
            if self.at.end == top {
                continue;
            }
            if beside {
                while self.other_at.is_empty() && self.up(effort) {}
            } else {
                let range = self.at.start as u32..self.at.end as u32;
                let mut heuristic = IndentHeuristic::new(indent);
                let end = heuristic.best_slider_end(self.tokens, range, top as u32) as usize;
                for _ in end..self.at.end {
                    self.up(effort);
                }
            }
        }
    }

    /// Goes to the next hunk.
    fn next(&mut self) -> bool {
        let Some(unchanged) = next_marked(self.own, self.at.end) else { return false };
        let mut passed = 0;
        loop {
            let rest = self.other.len() - self.other_at.end;
            let other = next_marked(self.other, self.other_at.end).unwrap_or(rest);
            if passed + other > unchanged {
                let at = self.other_at.end + unchanged - passed;
                self.other_at = at..at;
                break;
            }
            passed += other;
            let start = self.other_at.end + other;
            self.other_at = start..run_end(self.other, start);
            if passed == unchanged {
                break;
            }
        }
        let start = self.at.end + unchanged;
        self.at = start..run_end(self.own, start);
        true
    }

    /// One line down, if that changes nothing; hunks that meet become one.
    fn down(&mut self, effort: &mut Effort) -> bool {
        let (first, next) = (self.tokens.get(self.at.start), self.tokens.get(self.at.end));
        if next.is_none() || first != next || effort.is_used_up() {
            return false;
        }
        set(self.own, self.at.start, false);
        set(self.own, self.at.end, true);
        let end = run_end(self.own, self.at.end);
        effort.spend(end - self.at.end);
        self.at = self.at.start + 1..end;
        let start = self.other_at.end + 1;
        self.other_at = start..run_end(self.other, start);
        effort.spend(self.other_at.len());
        true
    }

    fn up(&mut self, effort: &mut Effort) -> bool {
        let above = self.at.start.checked_sub(1);
        let Some(above) = above.filter(|_| !effort.is_used_up()) else { return false };
        if self.tokens.get(above) != self.tokens.get(self.at.end - 1) {
            return false;
        }
        set(self.own, above, true);
        set(self.own, self.at.end - 1, false);
        let start = run_start(self.own, above);
        effort.spend(self.at.start - start);
        self.at = start..self.at.end - 1;
        let end = self.other_at.start.saturating_sub(1);
        self.other_at = run_start(self.other, end)..end;
        effort.spend(self.other_at.len());
        true
    }
}

/// How many lines there are before the next marked one.
fn next_marked(marks: &[bool], from: usize) -> Option<usize> {
    marks.part(from..).iter().position(|mark| *mark)
}

fn run_start(marks: &[bool], end: usize) -> usize {
    let before = marks.part(..end);
    end - before.iter().rev().take_while(|mark| **mark).count()
}
