//! Lines that were taken out in one place and put back in another.
//!
//! Git's measure: a block of lines with fewer than twenty letters and digits is too common to be
//! followed.

use super::apply::TELLING;
use crate::compare::DifferingLines;
use hashbrown::HashMap;
use imara_diff::Token;

/// Pairs of a new line and the old line that moved there. Lines are the same if their numbers are;
/// `before` and `after` give those of the old and the new lines, `weight` how many letters and
/// digits a new line has. A block begins with a line that left once and came once, and that `alone`
/// says is not there otherwise.
pub(super) fn moved(
    (before, after): (impl Fn(usize) -> Option<Token>, impl Fn(usize) -> Option<Token>),
    hunks: &[DifferingLines],
    (free_old, free_new): (&[bool], &[bool]),
    (weight, alone): (impl Fn(usize) -> u32, impl Fn(Token) -> bool),
) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut places: HashMap<Token, Vec<usize>> = HashMap::new();
    for at in hunks.iter().flat_map(|hunk| hunk.before.clone()) {
        if let Some(true) = free_old.get(at)
            && let Some(token) = before(at)
        {
            places.entry(token).or_default().push(at);
        }
    }
    if places.is_empty() {
        return out;
    }
    let new: Vec<usize> = hunks
        .iter()
        .flat_map(|hunk| hunk.after.clone())
        .filter(|at| free_new.get(*at) == Some(&true))
        .collect();
    let mut wanted: HashMap<Token, usize> = HashMap::new();
    for token in new.iter().filter_map(|at| after(*at)) {
        *wanted.entry(token).or_default() += 1;
    }
    // Pairs of new and old lines; a block continues where both are the next.
    let mut block: Vec<(usize, usize)> = Vec::new();
    for at in new {
        let Some(token) = after(at) else { continue };
        let old = places.get(&token).map_or(&[][..], Vec::as_slice);
        let follows = block.last().filter(|(last, _)| last + 1 == at).map(|(_, old)| old + 1);
        let next = follows.filter(|next| old.binary_search(next).is_ok());
        let unique = match old {
            [one] if next.is_none() && wanted.get(&token) == Some(&1) && alone(token) => Some(*one),
            _ => None,
        };
        if next.is_none() {
            finish_block(&mut block, &weight, &mut out);
        }
        if let Some(old) = next.or(unique) {
            block.push((at, old));
        }
    }
    finish_block(&mut block, &weight, &mut out);
    out
}

fn finish_block(
    block: &mut Vec<(usize, usize)>,
    weight: &impl Fn(usize) -> u32,
    out: &mut Vec<(usize, usize)>,
) {
    let weight: u32 = block.iter().map(|(new, _)| weight(*new)).sum();
    if weight >= TELLING {
        out.append(block);
    }
    block.clear();
}
