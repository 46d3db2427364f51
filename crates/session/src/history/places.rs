//! From bytes to lines: where an edit was, and runs of lines that stayed together.

use super::apply::Region;
use super::diff::{self, Hunk};
use super::lines::Lines;
use super::tracer::Snapshot;
use hashbrown::HashMap;
use imara_diff::Token;
use std::ops::Range;
use std::rc::Rc;

/// Two texts and their lines.
#[derive(Debug)]
pub(super) struct Texts<'a> {
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) old: &'a [Token],
    pub(super) new: &'a [Token],
}

impl Texts<'_> {
    /// Where lines differ, looking only where the edit was.
    pub(super) fn hunks(&self, regions: &[Region], lines: &Lines) -> Vec<Hunk> {
        let (old, new) = (self.old, self.new);
        let (before, after) = (LineStarts::of(self.before), LineStarts::of(self.after));
        let mut places: Vec<Hunk> = Vec::new();
        for region in regions {
            let range_of = |starts: &LineStarts, range: &Range<usize>, count: usize| {
                let end = (starts.line(range.end) + 1).min(count);
                starts.line(range.start).min(end)..end
            };
            let place = Hunk {
                before: range_of(&before, &region.before, old.len()),
                after: range_of(&after, &region.after, new.len()),
            };
            match places.last_mut() {
                Some(last) if last.before.end > place.before.start => {
                    last.before.end = place.before.end.max(last.before.end);
                    last.after.end = place.after.end.max(last.after.end);
                }
                _ => places.push(place),
            }
        }
        let mut hunks = Vec::new();
        for place in places {
            let (from, to) = (place.before.start, place.after.start);
            let old = old.get(place.before).unwrap_or_default();
            let new = new.get(place.after).unwrap_or_default();
            hunks.extend(diff::hunks(old, new, lines).into_iter().map(|hunk| Hunk {
                before: hunk.before.start + from..hunk.before.end + from,
                after: hunk.after.start + to..hunk.after.end + to,
            }));
        }
        hunks
    }
}

/// Runs of lines that follow each other on both sides.
pub(super) fn runs(kept: &[Option<u32>]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for (at, old) in kept.iter().enumerate() {
        match (runs.last_mut(), old) {
            (Some(run), Some(old)) if run.end == at && last.map(|l: u32| l + 1) == Some(*old) => {
                run.end = at + 1;
            }
            (_, Some(_)) => runs.push(at..at + 1),
            _ => {}
        }
        last = *old;
    }
    runs
}

/// Where lines begin.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn of(text: &str) -> LineStarts {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        LineStarts(std::iter::once(0).chain(ends).collect())
    }

    /// Index of the line that holds a byte.
    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at) - 1
    }
}

/// Lines of a state, to find the state that shares most of them; white space does not count.
pub(super) struct Common<'l> {
    lines: &'l Lines,
    wanted: HashMap<Token, u32>,
    count: usize,
}

impl Common<'_> {
    pub(super) fn with<'l>(tokens: &[Token], lines: &'l Lines) -> Common<'l> {
        let mut wanted: HashMap<Token, u32> = HashMap::new();
        for token in tokens {
            *wanted.entry(lines.shape(*token)).or_default() += 1;
        }
        Common { lines, wanted, count: tokens.len() }
    }

    /// The first of those that share most, and what it shares.
    pub(super) fn nearest<'s>(
        &self,
        states: impl Iterator<Item = &'s Rc<Snapshot>>,
    ) -> Option<(Rc<Snapshot>, Vec<Token>)> {
        let mut best: Option<(Rc<Snapshot>, Vec<Token>)> = None;
        for snapshot in states {
            if best.as_ref().is_some_and(|(_, shared)| shared.len() == self.count) {
                break;
            }
            let shared = self.shared(&snapshot.tokens);
            if best.as_ref().is_none_or(|(_, most)| shared.len() > most.len()) {
                best = Some((snapshot.clone(), shared));
            }
        }
        best
    }

    fn shared(&self, tokens: &[Token]) -> Vec<Token> {
        let mut used: HashMap<Token, u32> = HashMap::new();
        let mut shared = Vec::new();
        for token in tokens {
            let shape = self.lines.shape(*token);
            let Some(most) = self.wanted.get(&shape) else { continue };
            let count = used.entry(shape).or_default();
            if *count < *most {
                *count += 1;
                shared.push(*token);
            }
        }
        shared
    }
}
