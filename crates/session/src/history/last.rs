//! The last state, which may continue any earlier one.

use super::apply::TELLING;
use super::mark::{Confidence, LineOrigin, Mark, Why};
use super::repeats::twice;
use super::tracer::Tracer;
use hashbrown::{HashMap, HashSet};
use imara_diff::Token;

/// Where lines, whitespace apart, were last at a path.
#[derive(Debug, Default)]
struct Latest {
    lines: HashMap<Token, (Token, Mark)>,
    /// Those that were in one state twice.
    repeated: HashSet<Token>,
}

impl Tracer {
    /// Marks of the file as it is in the end.
    pub(super) fn see_last(&mut self, track: usize, text: &str) -> Vec<Mark> {
        let tokens = self.lines.number(text);
        if let Some(same) = self.same_state(track, &tokens) {
            return same.marks.clone();
        }
        let base = self.nearest(track, &tokens);
        let mut marks = self.outside_marks(track, base.as_deref(), &tokens, None);
        let lacks_author = |token: &Token, mark: &Mark| {
            matches!(mark.origin, LineOrigin::Outside(_)) && self.lines.weight(*token) >= TELLING
        };
        if !tokens.iter().zip(&marks).any(|(token, mark)| lacks_author(token, mark)) {
            return marks;
        }
        let latest = self.latest(track, &tokens);
        for (token, mark) in tokens.iter().zip(&mut marks) {
            let shape = self.lines.shape(*token);
            if !lacks_author(token, mark) || latest.repeated.contains(&shape) {
                continue;
            }
            let Some((text, last)) = latest.lines.get(&shape) else { continue };
            if last.edit().is_some() {
                let spaced = (Confidence::Reformatted, Why::MovedAndSpaced);
                let same = (Confidence::Moved, Why::Restored);
                let (confidence, why) = if text == token { same } else { spaced };
                *mark = last.weakened(confidence, why);
            }
        }
        marks
    }

    /// First in the latest state that has them; `now` is the state that is asked about.
    fn latest(&self, track: usize, now: &[Token]) -> Latest {
        let shapes = |tokens: &[Token]| -> Vec<Token> {
            tokens.iter().map(|token| self.lines.shape(*token)).collect()
        };
        let mut latest = Latest::default();
        latest.repeated.extend(twice(&shapes(now)));
        for then in self.track(track).map_or(&[][..], |track| &track.past).iter().rev() {
            let shapes = shapes(&then.tokens);
            latest.repeated.extend(twice(&shapes));
            for (shape, line) in shapes.into_iter().zip(then.tokens.iter().zip(&then.marks)) {
                latest.lines.entry(shape).or_insert((*line.0, *line.1));
            }
        }
        latest
    }
}
