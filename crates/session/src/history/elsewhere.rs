//! Lines that came from another state: of this path, of an earlier name, of another worktree.

use super::apply::TELLING;
use super::diff;
use super::mark::{Confidence, Mark, Why};
use super::places::{self, Common};
use super::tracer::{Snapshot, Tracer};
use imara_diff::Token;
use std::rc::Rc;

/// How many states of other places are compared to explain one.
const MOST_COMPARED: usize = 24;

impl Tracer {
    /// The state of this path with most lines in common; of equals the latest.
    pub(super) fn nearest(&self, track: usize, tokens: &[Token]) -> Option<Rc<Snapshot>> {
        let past = &self.track(track)?.past;
        Common::with(tokens, &self.lines).nearest(past.iter().rev()).map(|(snapshot, _)| snapshot)
    }

    /// The same among the states of other paths, if what they share is no trifle.
    pub(super) fn nearest_elsewhere(&self, track: usize, tokens: &[Token]) -> Option<Rc<Snapshot>> {
        let others = self.tracks.iter().enumerate().filter(|(at, _)| *at != track);
        let mut past = others.flat_map(|(_, other)| other.past.iter().rev()).peekable();
        // To number the shapes of all lines is work, and most files have one name.
        past.peek()?;
        let (snapshot, shared) = Common::with(tokens, &self.lines).nearest(past)?;
        let weight: u32 = shared.iter().map(|token| self.lines.weight(*token)).sum();
        (weight >= TELLING).then_some(snapshot)
    }

    /// The mark of a telling line that an edit wrote under any path, unless somebody else had it
    /// first.
    fn written_elsewhere(&self, token: Token) -> Option<&(Mark, Rc<Snapshot>)> {
        let written = self.written.get(&token)?;
        let first = self.foreign.get(&token);
        first.is_none_or(|first| *first >= written.1.time).then_some(written)
    }

    /// Lines without an author that stand in the file under another path (its earlier name, another
    /// worktree) and have one there.
    pub(super) fn explain(&self, track: usize, tokens: &[Token], marks: &mut [Mark]) {
        let mut places: Vec<Rc<Snapshot>> = Vec::new();
        for (token, mark) in tokens.iter().zip(marks.iter_mut()) {
            if mark.edit().is_some() {
                continue;
            }
            if let Some((there, snapshot)) = self.written_elsewhere(*token) {
                *mark = there.weakened(Confidence::Moved, Why::OtherPlace);
                let known = places.iter().any(|place| Rc::ptr_eq(place, snapshot));
                if !known && places.len() < MOST_COMPARED {
                    places.push(snapshot.clone());
                }
            }
        }
        if marks.iter().all(|mark| mark.edit().is_some()) {
            return;
        }
        let others = self.tracks.iter().enumerate().filter(|(at, _)| *at != track);
        places.extend(others.filter_map(|(_, track)| track.current.clone()));
        for other in places {
            let hunks = diff::compared(&other.tokens, tokens, &self.lines).hunks;
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
}
