//! From bytes to lines: where an edit was, and runs of lines that stayed together.

use super::apply::Region;
use super::diff::compared;
use super::lines::{Lines, split_lines};
use super::tracer::Snapshot;
use crate::compare::{Compared, DifferingLines};
use backstory_format::slice::Part;
use hashbrown::{HashMap, HashSet};
use imara_diff::Token;
use std::ops::Range;
use std::rc::Rc;

/// Two texts, one made from the other by edits in some places.
pub(super) struct Edited<'t> {
    after: TextLines<'t>,
    /// The lines that hold those places; all others are the same on both sides.
    places: Vec<DifferingLines>,
}

impl<'t> Edited<'t> {
    pub(super) fn new(before: &'t str, after: &'t str, regions: &[Region]) -> Edited<'t> {
        let (before, after) = (TextLines::of(before), TextLines::of(after));
        let mut places: Vec<DifferingLines> = Vec::new();
        for region in regions {
            let place = DifferingLines {
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
        Edited { after, places }
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
        let place = DifferingLines { before: start..old - end, after: start..new - end };
        Edited { after, places: vec![place] }
    }

    /// Numbers of the new lines, given those of the old ones.
    pub(super) fn tokens(&self, old: &[Token], lines: &mut Lines) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(self.after.count());
        let mut from = 0;
        for place in &self.places {
            tokens.extend(old.part(from..place.before.start));
            tokens.extend(place.after.clone().map(|at| lines.line(self.after.line(at))));
            from = place.before.end;
        }
        tokens.extend(old.part(from..));
        tokens
    }

    /// Where lines differ, looking only where the edit was.
    pub(super) fn compared(&self, old: &[Token], new: &[Token], lines: &Lines) -> Compared {
        let mut all = Compared::default();
        for place in &self.places {
            let (from, to) = (place.before.start, place.after.start);
            let old = old.part(place.before.clone());
            let new = new.part(place.after.clone());
            let Compared { hunks, unsure } = compared(old, new, lines);
            all.hunks.extend(hunks.into_iter().map(|hunk| DifferingLines {
                before: hunk.before.start + from..hunk.before.end + from,
                after: hunk.after.start + to..hunk.after.end + to,
            }));
            all.unsure.extend(unsure.into_iter().map(|at| at + to));
        }
        all
    }
}

/// How many lines a change added and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) added: u64,
    pub(super) removed: u64,
}

impl Counted {
    pub(super) fn add(&mut self, hunks: &[DifferingLines]) {
        self.added += hunks.iter().map(|hunk| hunk.after.len() as u64).sum::<u64>();
        self.removed += hunks.iter().map(|hunk| hunk.before.len() as u64).sum::<u64>();
    }

    fn add_place(&mut self, before: &str, after: &str, (old, new): (Range<usize>, Range<usize>)) {
        self.add_texts(before.part(old), after.part(new));
    }

    /// Adds the difference of two texts. Only lines between those that are the same at both ends are
    /// numbered, and often one side has none left.
    fn add_texts(&mut self, before: &str, after: &str) {
        let old: Vec<&str> = split_lines(before).collect();
        let new: Vec<&str> = split_lines(after).collect();
        let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let (old, new) = (old.part(start..), new.part(start..));
        let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        let old = old.part(..old.len() - same);
        let new = new.part(..new.len() - same);
        if old.is_empty() || new.is_empty() {
            self.added += new.len() as u64;
            self.removed += old.len() as u64;
            return;
        }
        let mut lines = Lines::default();
        let old: Vec<Token> = old.iter().map(|line| lines.line(line)).collect();
        let new: Vec<Token> = new.iter().map(|line| lines.line(line)).collect();
        self.add(&compared(&old, &new, &lines).hunks);
    }
}

/// How many lines differ between two texts of which one was made from the other by edits in some
/// places. Looks at the lines there and at no others; at all where the places are not known.
pub(super) fn count_differing(before: &str, after: &str, regions: Option<&[Region]>) -> Counted {
    let mut counted = Counted::default();
    let Some(regions) = regions else {
        counted.add_texts(before, after);
        return counted;
    };
    let mut open: Option<(Range<usize>, Range<usize>)> = None;
    for region in regions {
        let old = whole_lines(before, &region.before);
        let new = whole_lines(after, &region.after);
        match &mut open {
            Some((last_old, last_new)) if last_old.end > old.start => {
                last_old.end = last_old.end.max(old.end);
                last_new.end = last_new.end.max(new.end);
            }
            _ => {
                if let Some(place) = open.replace((old, new)) {
                    counted.add_place(before, after, place);
                }
            }
        }
    }
    if let Some(place) = open {
        counted.add_place(before, after, place);
    }
    counted
}

/// The lines that hold some bytes and the byte after them.
fn whole_lines(text: &str, range: &Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let before = bytes.part(..range.start);
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let behind = bytes.part(range.end..);
    let end = memchr::memchr(b'\n', behind).map_or(bytes.len(), |at| range.end + at + 1);
    start..end
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

    /// The lines that hold some bytes and the byte after them.
    fn holding(&self, range: &Range<usize>) -> Range<usize> {
        let end = (self.holds(range.end) + 1).min(self.count());
        self.holds(range.start).min(end)..end
    }

    /// A line without its end.
    fn line(&self, at: usize) -> &'t str {
        let start = self.starts.get(at).copied().unwrap_or(self.text.len());
        let end = self.starts.get(at + 1).copied().unwrap_or(self.text.len());
        let line = self.text.part(start..end);
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line)
    }
}

/// Lines that are in a state once, to find the state that shares most of them; whitespace does
/// not count. Lines that are repeated in either state say nothing: any text may have them.
pub(super) struct Common<'l> {
    lines: &'l Lines,
    wanted: HashSet<Token>,
}

impl Common<'_> {
    pub(super) fn with<'l>(tokens: &[Token], lines: &'l Lines) -> Common<'l> {
        Common { lines, wanted: once(tokens, lines).into_keys().collect() }
    }

    /// The first of those that share most, and what it shares.
    pub(super) fn nearest<'s>(
        &self,
        states: impl Iterator<Item = &'s Rc<Snapshot>>,
    ) -> Option<(Rc<Snapshot>, Vec<Token>)> {
        let mut best: Option<(Rc<Snapshot>, Vec<Token>)> = None;
        for snapshot in states {
            if best.as_ref().is_some_and(|(_, shared)| shared.len() == self.wanted.len()) {
                break;
            }
            let shared = once(&snapshot.tokens, self.lines).into_iter();
            let shared = shared.filter(|(shape, _)| self.wanted.contains(shape));
            let shared: Vec<Token> = shared.map(|(_, token)| token).collect();
            if best.as_ref().is_none_or(|(_, most)| shared.len() > most.len()) {
                best = Some((snapshot.clone(), shared));
            }
        }
        best
    }
}

/// Lines that are there once, by their shapes.
fn once(tokens: &[Token], lines: &Lines) -> HashMap<Token, Token> {
    let mut found: HashMap<Token, Option<Token>> = HashMap::with_capacity(tokens.len());
    for token in tokens {
        let seen = found.entry(lines.shape(*token));
        seen.and_modify(|token| *token = None).or_insert(Some(*token));
    }
    found.into_iter().filter_map(|(shape, token)| Some((shape, token?))).collect()
}
