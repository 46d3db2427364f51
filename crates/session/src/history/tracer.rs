//! Marks carried from state to state.

use super::apply::{Region, TELLING};
use super::diff;
use super::lines::Lines;
use super::mark::{Confidence, LineOrigin, Mark, Why};
use super::moves::moved;
use super::reformatted::reshaped;
use super::regions::{Counted, Edited};
use super::repeats::{Repeats, twice};
use super::replay::Basis;
use crate::compare::Compared;
use backstory_format::slice::Part;
use hashbrown::{HashMap, HashSet};
use imara_diff::Token;
use jiff::Timestamp;
use std::cell::OnceCell;
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
    /// The text of the current state.
    text: String,
    pub(super) past: Vec<Rc<Snapshot>>,
}

/// A time in which a file changed without an agent's edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The last time at which the file was known before.
    pub after: Option<Timestamp>,
    /// The first time at which it was known after.
    pub before: Option<Timestamp>,
}

/// Who makes a change, for lines that come into the file with it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Maker {
    Edit { number: u32, basis: Basis },
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
    /// Telling lines that edits wrote, with the state they were first written in.
    pub(super) written: HashMap<Token, (Mark, Rc<Snapshot>)>,
    /// When a telling line was first seen that no edit is known to have written.
    pub(super) foreign: HashMap<Token, Option<Timestamp>>,
    pub(super) repeats: Repeats,
    /// How many lines edits have written so far.
    pub(super) written_lines: u32,
}

impl Tracer {
    pub(super) fn track(&self, track: usize) -> Option<&Track> {
        self.tracks.get(track)
    }

    /// The file at `track` has this content now.
    pub(super) fn see(&mut self, track: usize, text: &str, time: Option<Timestamp>) {
        let current = self.track(track).and_then(|track| track.current.clone());
        let same = self.track(track).is_some_and(|track| track.text == text);
        let tokens = match &current {
            Some(current) if same => current.tokens.clone(),
            _ => self.lines.number(text),
        };
        self.remember(track, text);
        if let Some(current) = &current
            && current.tokens == tokens
        {
            let marks = current.marks.clone();
            return self.enter_state(track, tokens, marks, time);
        }
        if let Some(same) = self.same_state(track, &tokens) {
            if let Some(current) = &current {
                self.record_removed(current, &tokens, 0..current.tokens.len());
            }
            return self.enter_state(track, tokens, same.marks.clone(), time);
        }
        let marks = self.outside_marks(track, current.as_deref(), &tokens, time);
        self.enter_state(track, tokens, marks, time);
    }

    fn remember(&mut self, track: usize, text: &str) {
        if let Some(track) = self.tracks.get_mut(track) {
            track.text.clear();
            track.text.push_str(text);
        }
    }

    /// A state that is known already. In another place it counts only if it is no trifle.
    pub(super) fn same_state(&self, track: usize, tokens: &[Token]) -> Option<Rc<Snapshot>> {
        let known = self.known.get(tokens)?;
        let own = self
            .track(track)
            .is_some_and(|track| track.past.iter().any(|snapshot| Rc::ptr_eq(snapshot, known)));
        let telling = self.lines.total_weight(tokens) >= TELLING;
        (own || telling).then(|| known.clone())
    }

    fn enter_state(
        &mut self,
        track: usize,
        tokens: Vec<Token>,
        marks: Vec<Mark>,
        time: Option<Timestamp>,
    ) {
        let snapshot = Rc::new(Snapshot { tokens, marks, time });
        for (token, mark) in snapshot.tokens.iter().zip(&snapshot.marks) {
            if self.lines.weight(*token) < TELLING {
                continue;
            }
            if mark.edit().is_some() {
                self.written.entry(*token).or_insert_with(|| (*mark, snapshot.clone()));
            } else {
                self.foreign.entry(*token).or_insert(time);
            }
        }
        self.known.insert(snapshot.tokens.clone(), snapshot.clone());
        if let Some(track) = self.tracks.get_mut(track) {
            track.past.push(snapshot.clone());
            track.current = Some(snapshot);
        }
    }

    /// Marks of a state that no edit made.
    pub(super) fn outside_marks(
        &mut self,
        track: usize,
        base: Option<&Snapshot>,
        tokens: &[Token],
        time: Option<Timestamp>,
    ) -> Vec<Mark> {
        let mut marks = match base {
            Some(base) => self.carry_outside(base, tokens, time),
            None => match self.nearest_elsewhere(track, tokens) {
                Some(base) => {
                    let marks = self.carry_outside(&base, tokens, time);
                    let elsewhere = |mark: Mark| match mark.origin {
                        LineOrigin::Edit(_) => mark.weakened(Confidence::Moved, Why::OtherPlace),
                        _ => Mark::new(LineOrigin::Before, Why::FirstSeen),
                    };
                    marks.into_iter().map(elsewhere).collect()
                }
                None => vec![Mark::new(LineOrigin::Before, Why::FirstSeen); tokens.len()],
            },
        };
        self.explain(track, tokens, &mut marks);
        marks
    }

    fn carry_outside(
        &mut self,
        base: &Snapshot,
        tokens: &[Token],
        time: Option<Timestamp>,
    ) -> Vec<Mark> {
        let compared = diff::compared(&base.tokens, tokens, &self.lines);
        self.carry(base, tokens, &compared, Maker::Outside, time)
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
        let Some(current) = self.track(track).and_then(|track| track.current.clone()) else {
            return Counted::default();
        };
        self.remember(track, after);
        let (tokens, compared) = match regions {
            Some(regions) => {
                let edited = Edited::new(before, after, regions);
                let tokens = edited.tokens(&current.tokens, &mut self.lines);
                let compared = edited.compared(&current.tokens, &tokens, &self.lines);
                (tokens, compared)
            }
            None => {
                let edited = Edited::whole(before, after);
                let tokens = edited.tokens(&current.tokens, &mut self.lines);
                let compared = diff::compared(&current.tokens, &tokens, &self.lines);
                (tokens, compared)
            }
        };
        let mut counted = Counted::default();
        counted.add(&compared.hunks);
        let mut marks = self.carry(&current, &tokens, &compared, maker, time);
        if let Some(same) = self.same_state(track, &tokens) {
            // The edit restores an earlier state; lines without an author then have none now.
            for (mark, then) in marks.iter_mut().zip(&same.marks) {
                if mark.edit().is_some() && then.edit().is_none() {
                    *mark = Mark { why: Why::SameTextBefore, ..*then };
                }
            }
        }
        self.enter_state(track, tokens, marks, time);
        counted
    }

    /// Sets marks of the current state again.
    pub(super) fn override_marks(&mut self, track: usize, change: impl Fn(usize, Mark) -> Mark) {
        let Some(current) = self.track(track).and_then(|track| track.current.clone()) else {
            return;
        };
        let marks: Vec<Mark> =
            current.marks.iter().enumerate().map(|(at, mark)| change(at, *mark)).collect();
        // What was marked too early is forgotten.
        for ((token, then), now) in current.tokens.iter().zip(&current.marks).zip(&marks) {
            let known = self.written.get(token).map(|(mark, _)| mark.edit());
            if then.edit().is_some() && now.edit().is_none() && known == Some(then.edit()) {
                self.written.remove(token);
            }
        }
        if let Some(track) = self.tracks.get_mut(track) {
            track.past.pop();
        }
        self.enter_state(track, current.tokens.clone(), marks, current.time);
    }

    /// Marks of the new state, given where it differs from the old one.
    fn carry(
        &mut self,
        base: &Snapshot,
        tokens: &[Token],
        Compared { hunks, unsure }: &Compared,
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
            let old = base.tokens.part(hunk.before.clone());
            let new = tokens.part(hunk.after.clone());
            for (at, made) in hunk.after.clone().zip(reshaped(old, new, &self.lines)) {
                let made = made.start + hunk.before.start..made.end + hunk.before.start;
                let sources = base.marks.part(made.clone());
                if let (Some(mark), Some(slot)) = (of_several(sources), marks.get_mut(at)) {
                    *slot = Some(mark.weakened(Confidence::Reformatted, Why::WhiteSpace));
                    free_old.get_mut(made).into_iter().flatten().for_each(|free| *free = false);
                }
            }
        }
        let same = |tokens: &[Token], at: usize| tokens.get(at).copied();
        let shape = |tokens: &[Token], at| same(tokens, at).map(|token| self.lines.shape(token));
        let weight = |at: usize| tokens.get(at).map_or(0, |token| self.lines.weight(*token));
        type Look<'l> = &'l dyn Fn(&[Token], usize) -> Option<Token>;
        let passes: [(Confidence, Why, Look<'_>); 2] = [
            (Confidence::Moved, Why::Moved, &same),
            (Confidence::Reformatted, Why::MovedAndSpaced, &shape),
        ];
        for (confidence, why, look) in passes {
            let free_new: Vec<bool> = marks.iter().map(Option::is_none).collect();
            let numbers = (|at| look(&base.tokens, at), |at| look(tokens, at));
            // What an edit writes is the edit's or a line that it moved. A line that came without
            // an edit may be another one with the same text.
            let repeated = OnceCell::new();
            let find = || -> HashSet<Token> {
                let seen = |tokens: &[Token]| -> Vec<Token> {
                    (0..tokens.len()).filter_map(|at| look(tokens, at)).collect()
                };
                twice(&seen(&base.tokens)).chain(twice(&seen(tokens))).collect()
            };
            let alone = |token: Token| match maker {
                Maker::Edit { .. } => true,
                Maker::Outside => !repeated.get_or_init(find).contains(&token),
            };
            let free = (free_old.as_slice(), free_new.as_slice());
            let pairs = moved(numbers, hunks, free, (&weight, &alone));
            for (new, old) in pairs {
                if let (Some(mark), Some(slot)) = (base.marks.get(old), marks.get_mut(new)) {
                    *slot = Some(mark.weakened(confidence, why));
                    free_old.get_mut(old).into_iter().for_each(|free| *free = false);
                }
            }
        }
        for at in unsure {
            if let Some(slot @ None) = marks.get_mut(*at) {
                *slot = Some(Mark::new(LineOrigin::Before, Why::NotCompared));
            }
        }
        let restorable = match maker {
            Maker::Outside => self.restorable(tokens, &marks),
            Maker::Edit { .. } => HashSet::new(),
        };
        let (mut outside, times) = (None, (base.time, time));
        let mut made =
            |token: &Token| self.mark_new(*token, maker, times, (&mut outside, &restorable));
        let marks: Vec<Mark> = marks
            .into_iter()
            .zip(tokens)
            .map(|(mark, token)| mark.unwrap_or_else(|| made(token)))
            .collect();
        self.record_removed(base, tokens, hunks.iter().flat_map(|hunk| hunk.before.clone()));
        marks
    }

    /// Remembers lines that are no longer in the file.
    fn record_removed(
        &mut self,
        base: &Snapshot,
        now: &[Token],
        lines: impl Iterator<Item = usize>,
    ) {
        let still: HashSet<Token> = now.iter().copied().collect();
        for at in lines {
            if let (Some(token), Some(mark)) = (base.tokens.get(at), base.marks.get(at))
                && !still.contains(token)
            {
                self.removed.insert(*token, *mark);
            }
        }
    }

    /// A number for a line that an edit wrote.
    pub(super) fn next_written(&mut self) -> u32 {
        self.written_lines += 1;
        self.written_lines
    }

    /// Lines among those without a mark that were taken out before and may have been put back: they
    /// are known by their text, so it must be unique.
    fn restorable(&mut self, tokens: &[Token], marks: &[Option<Mark>]) -> HashSet<Token> {
        let came = tokens.iter().zip(marks).filter(|(_, mark)| mark.is_none());
        let removed = |token: &Token| {
            let mark = self.removed.get(token).filter(|mark| mark.edit().is_some());
            mark.is_some() && self.lines.weight(*token) >= TELLING
        };
        let mut found: HashSet<Token> = came.map(|(token, _)| *token).filter(removed).collect();
        if !found.is_empty() {
            let alone = self.alone(tokens);
            found.retain(|token| alone.contains(token));
        }
        found
    }

    /// The mark of a line that comes into the file.
    fn mark_new(
        &mut self,
        token: Token,
        maker: Maker,
        times: (Option<Timestamp>, Option<Timestamp>),
        (outside, restorable): (&mut Option<u32>, &HashSet<Token>),
    ) -> Mark {
        let telling = self.lines.weight(token) >= TELLING;
        let before = self.removed.get(&token).copied().filter(|_| telling);
        match (maker, before) {
            (Maker::Outside, Some(mark)) if restorable.contains(&token) => {
                mark.weakened(Confidence::Moved, Why::Restored)
            }
            (Maker::Edit { .. }, Some(mark)) if mark.edit().is_none() => {
                Mark { why: Why::SameTextBefore, ..mark }
            }
            (Maker::Edit { number, basis }, _) => {
                let mark = Mark::by_edit(number, Why::Written, self.next_written());
                match basis {
                    Basis::Session => mark,
                    Basis::LaterState => mark.weakened(Confidence::Inferred, Why::FoundOnce),
                    Basis::Commit => mark.weakened(Confidence::Inferred, Why::FitsCommit),
                }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::DifferingLines;

    #[test]
    fn tracer_gives_lines_that_were_not_compared_to_no_edit() {
        let mut tracer = Tracer { tracks: vec![Track::default()], ..Tracer::default() };
        tracer.see(0, "a\nb\nc\nd\n", None);
        let base = tracer.tracks[0].current.clone().unwrap();
        let tokens = tracer.lines.number("a\nx\ny\nd\n");
        let hunks = vec![DifferingLines { before: 1..3, after: 1..3 }];
        let compared = Compared { hunks, unsure: vec![1] };
        let maker = Maker::Edit { number: 0, basis: Basis::Session };
        let marks = tracer.carry(&base, &tokens, &compared, maker, None);
        assert_eq!((marks[1].edit(), marks[1].why), (None, Why::NotCompared));
        assert_eq!(marks[2].edit(), Some(0));
    }
}
