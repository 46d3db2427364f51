//! Lists matched in one pass, by the lines that stand once on each side and come in the same order on
//! both.

use super::common_edges;
use super::effort::Effort;
use backstory_format::slice::Part;
use hashbrown::{HashMap, HashSet};
use imara_diff::Token;
use std::ops::Range;

/// Lines between two matches.
pub(super) struct Gap {
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
    /// New lines that the old side of the gap has, too.
    pub(super) unsure: Vec<usize>,
}

/// Everything that is not matched.
pub(super) fn gaps(old: &[Token], new: &[Token], effort: &mut Effort) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut from = (0, 0);
    let anchors = in_order(&once_on_each_side(old, new));
    for (old_end, new_end) in anchors.into_iter().chain([(old.len(), new.len())]) {
        let (before, after) = (from.0..old_end, from.1..new_end);
        from = (old_end + 1, new_end + 1);
        let old = old.part(before.clone());
        let new = new.part(after.clone());
        let (start, end) = common_edges(old, new);
        let before = before.start + start..before.end - end;
        let after = after.start + start..after.end - end;
        let new = new.part(start..new.len() - end);
        let there: HashSet<Token> = old.part(start..old.len() - end).iter().copied().collect();
        let unsure = new.iter().enumerate().filter(|(_, token)| there.contains(*token));
        let unsure = unsure.map(|(at, _)| after.start + at).collect();
        gaps.push(Gap { before, after, unsure });
    }
    effort.spend(4 * (old.len() + new.len()));
    gaps
}

/// Places of the lines that stand once on each side, in the order of the old side.
fn once_on_each_side(old: &[Token], new: &[Token]) -> Vec<(usize, usize)> {
    /// How many times a line was met, and where last.
    #[derive(Default)]
    struct Met {
        old: usize,
        new: usize,
        new_at: usize,
    }
    let mut lines: HashMap<Token, Met> = HashMap::new();
    old.iter().for_each(|token| lines.entry(*token).or_default().old += 1);
    for (at, token) in new.iter().enumerate() {
        let met = lines.entry(*token).or_default();
        met.new += 1;
        met.new_at = at;
    }
    let once = |(at, token): (usize, &Token)| {
        let met = lines.get(token).filter(|met| met.old == 1 && met.new == 1)?;
        Some((at, met.new_at))
    };
    old.iter().enumerate().filter_map(once).collect()
}

/// The longest part of the pairs that is in order on both sides.
fn in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best list of each length, and for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let new = |at: &usize| pairs.get(*at).map_or(0, |(_, new)| *new);
    for (at, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| new(end) < *place);
        before.push(length.checked_sub(1).and_then(|length| ends.get(length).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let last = ends.last().copied();
    let chain = std::iter::successors(last, |at| before.get(*at).copied().flatten());
    let mut found: Vec<(usize, usize)> = chain.filter_map(|at| pairs.get(at).copied()).collect();
    found.reverse();
    found
}
