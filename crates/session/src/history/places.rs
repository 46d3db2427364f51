//! From bytes to lines: where an edit was, and runs of lines that stayed together.

use super::apply::Region;
use super::diff::{self, Hunk};
use super::lines::Lines;
use super::tracer::Snapshot;
use hashbrown::HashMap;
use imara_diff::Token;
use std::ops::Range;
use std::rc::Rc;

/// Two texts, one made from the other by edits in some places.
pub(super) struct Edited<'t> {
    before: TextLines<'t>,
    after: TextLines<'t>,
    /// The lines that hold those places; all others are the same on both sides.
    places: Vec<Hunk>,
}

impl<'t> Edited<'t> {
    pub(super) fn new(before: &'t str, after: &'t str, regions: &[Region]) -> Edited<'t> {
        let (before, after) = (TextLines::of(before), TextLines::of(after));
        let mut places: Vec<Hunk> = Vec::new();
        for region in regions {
            let place = Hunk {
                before: before.holding(&region.before),
                after: after.holding(&region.after),
            };
            match places.last_mut() {
                Some(last) if last.before.end > place.before.start => {
                    last.before.end = place.before.end.max(last.before.end);
                    last.after.end = place.after.end.max(last.after.end);
                }
                _ => places.push(place),
            }
        }
        Edited { before, after, places }
    }

    /// The same where it is not known what an edit replaced: everything between the first and the
    /// last line that differ.
    pub(super) fn whole(before: &'t str, after: &'t str) -> Edited<'t> {
        let (before, after) = (TextLines::of(before), TextLines::of(after));
        let (old, new) = (before.count(), after.count());
        let most = old.min(new);
        let start = (0..most).take_while(|at| before.line(*at) == after.line(*at)).count();
        let same = |at: &usize| before.line(old - 1 - at) == after.line(new - 1 - at);
        let end = (0..most - start).take_while(same).count();
        let place = Hunk { before: start..old - end, after: start..new - end };
        Edited { before, after, places: vec![place] }
    }

    /// Numbers of the new lines, given those of the old ones.
    pub(super) fn tokens(&self, old: &[Token], lines: &mut Lines) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(self.after.count());
        let mut from = 0;
        for place in &self.places {
            tokens.extend(old.get(from..place.before.start).unwrap_or_default());
            tokens.extend(place.after.clone().map(|at| lines.line(self.after.line(at))));
            from = place.before.end;
        }
        tokens.extend(old.get(from..).unwrap_or_default());
        tokens
    }

    /// Where lines differ, looking only where the edit was.
    pub(super) fn hunks(&self, old: &[Token], new: &[Token], lines: &Lines) -> Vec<Hunk> {
        let mut hunks = Vec::new();
        for place in &self.places {
            let (from, to) = (place.before.start, place.after.start);
            let old = old.get(place.before.clone()).unwrap_or_default();
            let new = new.get(place.after.clone()).unwrap_or_default();
            hunks.extend(diff::hunks(old, new, lines).into_iter().map(|hunk| Hunk {
                before: hunk.before.start + from..hunk.before.end + from,
                after: hunk.after.start + to..hunk.after.end + to,
            }));
        }
        hunks
    }

    /// How many lines differ, without numbering those that do not.
    pub(super) fn counted(&self) -> Counted {
        let mut counted = Counted::default();
        for place in &self.places {
            if place.before.is_empty() || place.after.is_empty() {
                counted.add(std::slice::from_ref(place));
                continue;
            }
            let mut lines = Lines::default();
            let mut number = |text: &TextLines<'_>, range: &Range<usize>| -> Vec<Token> {
                range.clone().map(|at| lines.line(text.line(at))).collect()
            };
            let old = number(&self.before, &place.before);
            let new = number(&self.after, &place.after);
            counted.add(&diff::hunks(&old, &new, &lines));
        }
        counted
    }
}

/// How many lines a change added and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) added: u64,
    pub(super) removed: u64,
}

impl Counted {
    pub(super) fn add(&mut self, hunks: &[Hunk]) {
        self.added += hunks.iter().map(|hunk| hunk.after.len() as u64).sum::<u64>();
        self.removed += hunks.iter().map(|hunk| hunk.before.len() as u64).sum::<u64>();
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

/// A text and where its lines begin.
struct TextLines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> TextLines<'t> {
    fn of(text: &'t str) -> TextLines<'t> {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        TextLines { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    /// How many lines there are, as [`split_lines`](super::split_lines) counts them.
    fn count(&self) -> usize {
        let last = self.starts.last().copied().unwrap_or(0);
        self.starts.len() - usize::from(last == self.text.len())
    }

    /// Index of the line that holds a byte.
    fn holds(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// The lines that hold some bytes and the byte behind them.
    fn holding(&self, range: &Range<usize>) -> Range<usize> {
        let end = (self.holds(range.end) + 1).min(self.count());
        self.holds(range.start).min(end)..end
    }

    /// A line without its end.
    fn line(&self, at: usize) -> &'t str {
        let start = self.starts.get(at).copied().unwrap_or(self.text.len());
        let end = self.starts.get(at + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or_default();
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
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
