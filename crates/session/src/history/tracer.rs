//! Marks carried from state to state.

use super::apply::{Region, TELLING};
use super::diff::{self, Hunk};
use super::lines::Lines;
use super::mark::{Confidence, LineOrigin, Mark, Why};
use super::moves::moved;
use super::places;
use super::reshape::reshaped;
use hashbrown::{HashMap, HashSet};
use imara_diff::Token;
use jiff::Timestamp;
use std::rc::Rc;

/// A state of a file with what is known of its lines.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) tokens: Vec<Token>,
    pub(super) marks: Vec<Mark>,
    pub(super) time: Option<Timestamp>,
}

/// One path's states so far.
#[derive(Debug, Default)]
pub(super) struct Track {
    pub(super) current: Option<Rc<Snapshot>>,
    past: Vec<Rc<Snapshot>>,
}

/// A time in which a file changed without an agent's edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    pub after: Option<Timestamp>,
    pub before: Option<Timestamp>,
}

/// Who makes a change, for lines that come into the file with it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Maker {
    Edit { number: u32, inferred: bool },
    Outside,
}

#[derive(Debug, Default)]
pub(super) struct Tracer {
    pub(super) lines: Lines,
    pub(super) tracks: Vec<Track>,
    pub(super) outside: Vec<Span>,
    known: HashMap<Vec<Token>, Rc<Snapshot>>,
    /// Lines that were taken out, as they were last.
    removed: HashMap<Token, Mark>,
}

/// How many lines a change added and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) added: u64,
    pub(super) removed: u64,
}

impl Tracer {
    fn track(&self, track: usize) -> Option<&Track> {
        self.tracks.get(track)
    }

    /// The file at `track` is this now, whoever made it so.
    pub(super) fn see(&mut self, track: usize, text: &str, time: Option<Timestamp>) {
        let tokens = self.lines.number(text);
        let current = self.track(track).and_then(|track| track.current.clone());
        if let Some(current) = &current
            && current.tokens == tokens
        {
            let marks = current.marks.clone();
            return self.settle(track, tokens, marks, time);
        }
        if let Some(same) = self.same_state(track, &tokens) {
            return self.settle(track, tokens, same.marks.clone(), time);
        }
        let marks = self.outside_marks(track, current.as_deref(), &tokens, time);
        self.settle(track, tokens, marks, time);
    }

    /// The same for the last state, which may continue any earlier one.
    pub(super) fn see_last(&mut self, track: usize, text: &str) -> Vec<Mark> {
        let tokens = self.lines.number(text);
        if let Some(same) = self.same_state(track, &tokens) {
            return same.marks.clone();
        }
        let base = self.nearest(track, &tokens);
        self.outside_marks(track, base.as_deref(), &tokens, None)
    }

    /// A state that is known already. In another place it counts only if it is no trifle.
    fn same_state(&self, track: usize, tokens: &[Token]) -> Option<Rc<Snapshot>> {
        let known = self.known.get(tokens)?;
        let own = self
            .track(track)
            .is_some_and(|track| track.past.iter().any(|snapshot| Rc::ptr_eq(snapshot, known)));
        let telling = self.lines.total_weight(tokens) >= TELLING;
        (own || telling).then(|| known.clone())
    }

    fn settle(
        &mut self,
        track: usize,
        tokens: Vec<Token>,
        marks: Vec<Mark>,
        time: Option<Timestamp>,
    ) {
        let snapshot = Rc::new(Snapshot { tokens, marks, time });
        self.known.insert(snapshot.tokens.clone(), snapshot.clone());
        if let Some(track) = self.tracks.get_mut(track) {
            track.past.push(snapshot.clone());
            track.current = Some(snapshot);
        }
    }

    /// The state with most lines in common; of equals the latest, of this path before others.
    fn nearest(&self, track: usize, tokens: &[Token]) -> Option<Rc<Snapshot>> {
        let mut wanted: HashMap<Token, u32> = HashMap::new();
        for token in tokens {
            *wanted.entry(*token).or_default() += 1;
        }
        let common = |snapshot: &Snapshot| {
            let mut left = wanted.clone();
            let mut shared = 0u64;
            for token in &snapshot.tokens {
                if let Some(count) = left.get_mut(token).filter(|count| **count > 0) {
                    *count -= 1;
                    shared += 1;
                }
            }
            shared
        };
        let own = &self.track(track)?.past;
        let (mut best, mut most) = (None, 0);
        for (at, snapshot) in own.iter().enumerate().rev() {
            // The newest is right unless an older one is clearly nearer.
            let shared = common(snapshot);
            if best.is_none() || shared > most {
                (best, most) = (Some(snapshot.clone()), shared);
            }
            if at + 1 == own.len() && shared as usize == tokens.len() {
                break;
            }
        }
        best
    }

    /// Marks of a state that no edit made.
    fn outside_marks(
        &mut self,
        track: usize,
        base: Option<&Snapshot>,
        tokens: &[Token],
        time: Option<Timestamp>,
    ) -> Vec<Mark> {
        let mut marks = match base {
            Some(base) => {
                let hunks = diff::hunks(&base.tokens, tokens, &self.lines);
                self.carry(base, tokens, &hunks, Maker::Outside, time)
            }
            None => vec![Mark::new(LineOrigin::Before, Why::FirstSeen); tokens.len()],
        };
        self.explain(track, tokens, &mut marks);
        marks
    }

    /// Lines without an author that stand in the file under another path (its earlier name, another
    /// worktree) and have one there.
    fn explain(&self, track: usize, tokens: &[Token], marks: &mut [Mark]) {
        if marks.iter().all(|mark| mark.edit().is_some()) {
            return;
        }
        let others = self.tracks.iter().enumerate().filter(|(at, _)| *at != track);
        for other in others.filter_map(|(_, track)| track.current.as_ref()) {
            let hunks = diff::hunks(&other.tokens, tokens, &self.lines);
            let kept = diff::kept(&hunks, tokens.len());
            for run in places::runs(&kept) {
                let shared = tokens.get(run.clone()).unwrap_or_default();
                if self.lines.total_weight(shared) < TELLING {
                    continue;
                }
                for at in run {
                    let there = kept.get(at).copied().flatten();
                    let there = there.and_then(|old| other.marks.get(old as usize));
                    if let (Some(there), Some(mark)) = (there, marks.get_mut(at))
                        && mark.edit().is_none()
                        && there.edit().is_some()
                    {
                        *mark = there.weakened(Confidence::Moved, Why::OtherPlace);
                    }
                }
            }
        }
    }

    /// Applies an edit to the current state of a path.
    pub(super) fn edit(
        &mut self,
        track: usize,
        texts: (&str, &str),
        regions: Option<&[Region]>,
        maker: Maker,
        time: Option<Timestamp>,
    ) -> Counted {
        let (before, after) = texts;
        let tokens = self.lines.number(after);
        let Some(current) = self.track(track).and_then(|track| track.current.clone()) else {
            return Counted::default();
        };
        let hunks = match regions {
            Some(regions) => {
                let place = places::Texts { before, after, old: &current.tokens, new: &tokens };
                place.hunks(regions, &self.lines)
            }
            None => diff::hunks(&current.tokens, &tokens, &self.lines),
        };
        let counted = Counted {
            added: hunks.iter().map(|hunk| hunk.after.len() as u64).sum(),
            removed: hunks.iter().map(|hunk| hunk.before.len() as u64).sum(),
        };
        let mut marks = self.carry(&current, &tokens, &hunks, maker, time);
        if let Some(same) = self.same_state(track, &tokens) {
            // The edit brings an earlier state back; what was nobody's then is nobody's now.
            for (mark, then) in marks.iter_mut().zip(&same.marks) {
                if mark.edit().is_some() && then.edit().is_none() {
                    *mark = Mark { why: Why::SameTextBefore, ..*then };
                }
            }
        }
        self.settle(track, tokens, marks, time);
        counted
    }

    /// Sets marks of the current state anew.
    pub(super) fn remark(&mut self, track: usize, change: impl Fn(usize, Mark) -> Mark) {
        let Some(current) = self.track(track).and_then(|track| track.current.clone()) else {
            return;
        };
        let marks = current.marks.iter().enumerate().map(|(at, mark)| change(at, *mark)).collect();
        self.settle(track, current.tokens.clone(), marks, current.time);
    }

    /// Marks of the new state, given where it differs from the old one.
    fn carry(
        &mut self,
        base: &Snapshot,
        tokens: &[Token],
        hunks: &[Hunk],
        maker: Maker,
        time: Option<Timestamp>,
    ) -> Vec<Mark> {
        let kept = diff::kept(hunks, tokens.len());
        let mut marks: Vec<Option<Mark>> =
            kept.iter().map(|old| base.marks.get((*old)? as usize).copied()).collect();
        let mut free_old = vec![false; base.tokens.len()];
        for at in hunks.iter().flat_map(|hunk| hunk.before.clone()) {
            free_old.get_mut(at).into_iter().for_each(|free| *free = true);
        }
        for hunk in hunks {
            let old = base.tokens.get(hunk.before.clone()).unwrap_or_default();
            let new = tokens.get(hunk.after.clone()).unwrap_or_default();
            for (at, made) in hunk.after.clone().zip(reshaped(old, new, &self.lines)) {
                let made = made.start + hunk.before.start..made.end + hunk.before.start;
                let sources = base.marks.get(made.clone()).unwrap_or_default();
                if let (Some(mark), Some(slot)) = (of_several(sources), marks.get_mut(at)) {
                    *slot = Some(mark.weakened(Confidence::Reformatted, Why::WhiteSpace));
                    free_old.get_mut(made).into_iter().flatten().for_each(|free| *free = false);
                }
            }
        }
        let free_new: Vec<bool> = marks.iter().map(Option::is_none).collect();
        let moves = moved(&base.tokens, tokens, hunks, &free_old, &free_new, &self.lines);
        for (slot, old) in marks.iter_mut().zip(moves) {
            if let Some(mark) = old.and_then(|old| base.marks.get(old)) {
                *slot = Some(mark.weakened(Confidence::Moved, Why::Moved));
            }
        }
        let mut outside = None;
        let marks: Vec<Mark> = marks
            .into_iter()
            .zip(tokens)
            .map(|(mark, token)| {
                mark.unwrap_or_else(|| self.fresh(*token, maker, (base.time, time), &mut outside))
            })
            .collect();
        let still: HashSet<Token> = tokens.iter().copied().collect();
        for at in hunks.iter().flat_map(|hunk| hunk.before.clone()) {
            if let (Some(token), Some(mark)) = (base.tokens.get(at), base.marks.get(at))
                && !still.contains(token)
            {
                self.removed.insert(*token, *mark);
            }
        }
        marks
    }

    /// The mark of a line that comes into the file.
    fn fresh(
        &mut self,
        token: Token,
        maker: Maker,
        times: (Option<Timestamp>, Option<Timestamp>),
        outside: &mut Option<u32>,
    ) -> Mark {
        let telling = self.lines.weight(token) >= TELLING;
        let before = self.removed.get(&token).copied().filter(|_| telling);
        match (maker, before) {
            (Maker::Outside, Some(mark)) if mark.edit().is_some() => {
                mark.weakened(Confidence::Moved, Why::Restored)
            }
            (Maker::Edit { .. }, Some(mark)) if mark.edit().is_none() => {
                Mark { why: Why::SameTextBefore, ..mark }
            }
            (Maker::Edit { number, inferred: false }, _) => {
                Mark::new(LineOrigin::Edit(number), Why::Written)
            }
            (Maker::Edit { number, .. }, _) => Mark::new(LineOrigin::Edit(number), Why::Written)
                .weakened(Confidence::Inferred, Why::FoundOnce),
            (Maker::Outside, _) => {
                let span = *outside.get_or_insert_with(|| {
                    self.outside.push(Span { after: times.0, before: times.1 });
                    self.outside.len() as u32 - 1
                });
                Mark::new(LineOrigin::Outside(span), Why::ChangedOutside)
            }
        }
    }
}

/// One mark for a line made from several: the last edit if all of them are edits, else the one
/// that is none.
fn of_several(marks: &[Mark]) -> Option<Mark> {
    let unknown = marks.iter().find(|mark| mark.edit().is_none());
    unknown.or_else(|| marks.iter().max_by_key(|mark| mark.edit())).copied()
}
