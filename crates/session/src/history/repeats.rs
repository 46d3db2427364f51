//! Lines that are in a file more than once.
//!
//! Such a line cannot be known by its text alone, however long it is: another one like it may have
//! been written by any author.

use super::tracer::Tracer;
use hashbrown::HashSet;
use imara_diff::Token;

/// Lines, whitespace apart, that were in one state of any path twice. Computed on demand.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    found: HashSet<Token>,
    /// How many states of each track were looked through.
    looked: Vec<usize>,
}

impl Repeats {
    pub(super) fn holds(&self, shape: Token) -> bool {
        self.found.contains(&shape)
    }
}

impl Tracer {
    /// Lines of a state that can be known by their text: whitespace apart, none like them is
    /// next to them, or were twice in an earlier state.
    pub(super) fn alone(&mut self, tokens: &[Token]) -> HashSet<Token> {
        let Repeats { found, looked } = &mut self.repeats;
        let shapes = |tokens: &[Token]| -> Vec<Token> {
            tokens.iter().map(|token| self.lines.shape(*token)).collect()
        };
        looked.resize(self.tracks.len(), 0);
        for (track, looked) in self.tracks.iter().zip(looked) {
            for state in track.past.iter().skip(*looked) {
                found.extend(twice(&shapes(&state.tokens)));
            }
            *looked = track.past.len();
        }
        let now = shapes(tokens);
        let repeated: HashSet<Token> = twice(&now).collect();
        let is_alone = |shape: &Token| !repeated.contains(shape) && !self.repeats.holds(*shape);
        let lines = tokens.iter().zip(&now).filter(|(_, shape)| is_alone(shape));
        lines.map(|(token, _)| *token).collect()
    }
}

/// Those that are there a second time.
pub(super) fn twice(tokens: &[Token]) -> impl Iterator<Item = Token> {
    let mut seen = HashSet::with_capacity(tokens.len());
    tokens.iter().copied().filter(move |token| !seen.insert(*token))
}
