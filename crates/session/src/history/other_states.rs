//! Lines that came from another state: of this path, of an earlier name, of another worktree.

use super::apply::TELLING;
use super::diff;
use super::mark::{Confidence, Mark, Why};
use super::regions::{self, Common};
use super::tracer::{Snapshot, Tracer};
use backstory_format::slice::Part;
use hashbrown::HashSet;
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
    pub(super) fn explain(&mut self, track: usize, tokens: &[Token], marks: &mut [Mark]) {
        let others = self.tracks.iter().enumerate().filter(|(at, _)| *at != track);
        let others: Vec<Rc<Snapshot>> =
            others.filter_map(|(_, track)| track.current.clone()).collect();
        let open = |mark: &Mark| mark.edit().is_none();
        let known =
            |(token, mark): (&Token, &Mark)| open(mark) && self.written_elsewhere(*token).is_some();
        if others.is_empty() && !tokens.iter().zip(&*marks).any(known) {
            return;
        }
        let alone = self.alone(tokens);
        let mut places: Vec<Rc<Snapshot>> = Vec::new();
        for (token, mark) in tokens.iter().zip(marks.iter_mut()) {
            if !open(mark) || !alone.contains(token) {
                continue;
            }
            if let Some((first, snapshot)) = self.written_elsewhere(*token) {
                *mark = first.weakened(Confidence::Moved, Why::OtherPlace);
                let known = places.iter().any(|place| Rc::ptr_eq(place, snapshot));
                if !known && places.len() < MOST_COMPARED {
                    places.push(snapshot.clone());
                }
            }
        }
        if !marks.iter().any(open) {
            return;
        }
        places.extend(others);
        // No line is in two places at once; parts of a broken one are lines of their own.
        let marked = tokens.iter().zip(&*marks).filter(|(_, mark)| !open(mark));
        let mut there: HashSet<(u32, Token)> =
            marked.map(|(token, mark)| (mark.written, *token)).collect();
        for other in places {
            let hunks = diff::compared(&other.tokens, tokens, &self.lines).hunks;
            let kept = diff::kept(&hunks, tokens.len());
            for run in regions::runs(&kept) {
                let shared = tokens.part(run.clone()).iter();
                let weight =
                    shared.filter(|token| alone.contains(*token)).map(|t| self.lines.weight(*t));
                if weight.sum::<u32>() < TELLING {
                    continue;
                }
                for at in run {
                    let old = kept.get(at).copied().flatten();
                    let old = old.and_then(|old| other.marks.get(old as usize));
                    if let (Some(old), Some(mark)) = (old, marks.get_mut(at))
                        && open(mark)
                        && old.edit().is_some()
                        && tokens.get(at).is_some_and(|token| there.insert((old.written, *token)))
                    {
                        *mark = old.weakened(Confidence::Moved, Why::OtherPlace);
                    }
                }
            }
        }
    }
}
