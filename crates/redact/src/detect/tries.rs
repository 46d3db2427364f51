//! What earlier tries on a text tell about later ones, so that keywords close together cost no more
//! than the text they stand in.
//!
//! A long match holds many keywords of its own rule, and each would match to the same end: of those
//! inside it only the last is tried. An expression that may begin before its keyword is tried further
//! ahead the closer its keywords stand, and where it found nothing none of them is tried again.

use hashbrown::HashMap;

/// What counts as a long match, or as a long run of names.
const LONG: usize = 256;
/// Keywords that are not farther from each other stand close together.
const CLOSE: usize = 128;
const FARTHEST_AHEAD: usize = 4 << 10;
/// How many names are tried in one long run.
const MOST_NAMES: usize = 16;

/// What is known of each rule.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    rules: HashMap<usize, Tried>,
}

/// What is known of one rule.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    /// Where the last long match ends.
    end: usize,
    /// The last keyword before that, which was not tried.
    waiting: Option<usize>,
    /// No match that was not looked at begins before.
    nothing_before: usize,
    last: usize,
    ahead: usize,
}

impl Tries {
    pub(crate) fn of(&mut self, rule: usize) -> &mut Tried {
        self.rules.entry(rule).or_default()
    }

    /// The keywords that were not tried, with their rules.
    pub(crate) fn waiting(&mut self) -> Vec<(usize, usize)> {
        let waiting = self.rules.iter_mut();
        waiting.filter_map(|(rule, tried)| Some((*rule, tried.waiting.take()?))).collect()
    }
}

impl Tried {
    /// The places to try now that a keyword stands at `place`.
    pub(crate) fn next(&mut self, place: usize) -> [Option<usize>; 2] {
        if place < self.nothing_before {
            return [None, None];
        }
        if place < self.end {
            self.waiting = Some(place);
            return [None, None];
        }
        [self.waiting.take(), Some(place)]
    }

    /// How far ahead of a keyword a match may begin that is looked for with it.
    pub(crate) fn ahead(&mut self, place: usize) -> usize {
        let is_close = place.saturating_sub(self.last) < CLOSE && self.last > 0;
        self.ahead = if is_close { (2 * self.ahead).clamp(64, FARTHEST_AHEAD) } else { 0 };
        self.last = place;
        self.ahead
    }

    pub(crate) fn found_nothing_before(&mut self, place: usize) {
        self.nothing_before = self.nothing_before.max(place);
    }

    pub(crate) fn matched(&mut self, match_: &std::ops::Range<usize>) {
        if match_.len() >= LONG {
            self.end = self.end.max(match_.end);
        }
    }
}

/// Names in a run that nothing interrupts: what the first ones are given is all of it.
#[derive(Debug, Default)]
pub(crate) struct Names {
    end: usize,
    count: usize,
    waiting: Option<std::ops::Range<usize>>,
}

impl Names {
    /// The names to try now that one stands at `name`.
    pub(crate) fn next(
        &mut self,
        bytes: &[u8],
        name: std::ops::Range<usize>,
    ) -> [Option<std::ops::Range<usize>>; 2] {
        if name.end < self.end {
            self.count += 1;
            if self.count > MOST_NAMES {
                self.waiting = Some(name);
                return [None, None];
            }
            return [Some(name), None];
        }
        let rest = bytes.get(name.end..).unwrap_or_default();
        let run = rest.iter().position(|byte| {
            byte.is_ascii_whitespace()
                || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b',' | b';' | b'&' | b'|')
        });
        let run = run.unwrap_or(rest.len());
        self.end = if run >= LONG { name.end + run } else { 0 };
        self.count = 0;
        [self.waiting.take(), Some(name)]
    }

    pub(crate) fn waiting(&mut self) -> Option<std::ops::Range<usize>> {
        self.waiting.take()
    }
}
