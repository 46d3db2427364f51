//! Lines that the other side does not have are left out before lists are compared, and so are common
//! ones (braces, empty lines) among many such lines, which would only lead astray.

use super::effort::Effort;
use hashbrown::HashMap;
use imara_diff::Token;

/// Both lists without what is left out.
pub(super) struct Pruned {
    pub(super) old: Side,
    pub(super) new: Side,
}

#[derive(Default)]
pub(super) struct Side {
    pub(super) tokens: Vec<Token>,
    /// Where they are in the list.
    pub(super) places: Vec<usize>,
    pub(super) left_out: Vec<usize>,
}

/// How a line is on the other side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum There {
    Never,
    Sometimes,
    Often,
}

pub(super) fn prune(old: &[Token], new: &[Token], effort: &mut Effort) -> Pruned {
    let (often_in_old, often_in_new) = (counted(old), counted(new));
    let on_other_side = |side: &[Token], other: &HashMap<Token, usize>| {
        let often = often(side.len());
        let there = |token: &Token| match other.get(token) {
            None => There::Never,
            Some(count) if *count >= often => There::Often,
            Some(_) => There::Sometimes,
        };
        side.iter().map(there).collect::<Vec<There>>()
    };
    effort.spend(4 * (old.len() + new.len()));
    Pruned {
        old: pruned(old, &on_other_side(old, &often_in_new)),
        new: pruned(new, &on_other_side(new, &often_in_old)),
    }
}

fn counted(side: &[Token]) -> HashMap<Token, usize> {
    let mut counts = HashMap::with_capacity(side.len().min(1 << 16));
    for token in side {
        *counts.entry(*token).or_default() += 1;
    }
    counts
}

/// A power of two near the root of a number.
pub(super) fn root(number: usize) -> usize {
    1 << ((usize::BITS - number.leading_zeros()) / 2)
}

/// How many times is often, in a list of this length.
fn often(length: usize) -> usize {
    root(length).min(1024)
}

fn pruned(side: &[Token], there: &[There]) -> Side {
    let around = Around::of(there);
    let mut out = Side::default();
    for (at, (token, status)) in side.iter().zip(there).enumerate() {
        let leave_out = match status {
            There::Never => true,
            There::Sometimes => false,
            There::Often => around.mostly_unmatched(at),
        };
        if leave_out {
            out.left_out.push(at);
        } else {
            out.tokens.push(*token);
            out.places.push(at);
        }
    }
    out
}

/// Lines that are looked at after a common one, and where the lines before it begin to count.
const WINDOW: usize = 100;

/// Sums over a list, so that the neighbourhood of each line costs one step.
struct Around {
    /// Of all lines before this one: those never there, and those often there.
    sums: Vec<(usize, usize)>,
    /// The last line before this one, plus one, that is sometimes there.
    last: Vec<usize>,
    /// The next line from this one on that is sometimes there.
    next: Vec<usize>,
}

impl Around {
    fn of(there: &[There]) -> Around {
        let mut sums = vec![(0, 0)];
        let mut last = vec![0];
        let (mut sum, mut latest) = ((0, 0), 0);
        for (at, status) in there.iter().enumerate() {
            match status {
                There::Never => sum.0 += 1,
                There::Often => sum.1 += 1,
                There::Sometimes => latest = at + 1,
            }
            sums.push(sum);
            last.push(latest);
        }
        let mut next = vec![there.len(); there.len() + 1];
        let mut nearest = there.len();
        for (at, status) in there.iter().enumerate().rev() {
            if *status == There::Sometimes {
                nearest = at;
            }
            if let Some(slot) = next.get_mut(at) {
                *slot = nearest;
            }
        }
        Around { sums, last, next }
    }

    /// Whether most lines around this one, up to the nearest that can be matched, are not on the other
    /// side at all. Before a line everything counts from the hundredth on, as in `imara-diff`.
    fn mostly_unmatched(&self, at: usize) -> bool {
        let length = self.sums.len() - 1;
        let start = if at > WINDOW { WINDOW } else { 0 };
        let start = start.max(self.last.get(at).copied().unwrap_or(0));
        let end = length.min(at + WINDOW).min(self.next.get(at).copied().unwrap_or(length));
        let (never_before, often_before) = self.between(start, at);
        let (never_behind, often_behind) = self.between(at, end);
        never_before > 0
            && never_behind > 0
            && never_before + never_behind > 3 * (often_before + often_behind)
    }

    fn between(&self, start: usize, end: usize) -> (usize, usize) {
        match (self.sums.get(start), self.sums.get(end)) {
            (Some(start), Some(end)) => (end.0 - start.0, end.1 - start.1),
            _ => (0, 0),
        }
    }
}
