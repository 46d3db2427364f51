//! Which hits come first.
//!
//! 1. All words in a row before the same words apart; as whole words before parts of words.
//! 2. Prompts, answers and titles before calls and thinking, those before results.
//! 3. Short texts before long ones; up to twice as long counts as equal.
//! 4. Newer before older.

use crate::hit::{Hit, weight};
use hashbrown::HashMap;
use std::cmp::Reverse;

/// Hits of one session.
#[derive(Debug)]
pub struct Group {
    /// In order; there is at least one.
    pub hits: Vec<Hit>,
    /// Further hits of the session that are not among them.
    pub more: usize,
}

/// The best first.
pub fn ranked(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by(|a, b| rank(a).cmp(&rank(b)));
    hits
}

fn rank(hit: &Hit) -> impl Ord + '_ {
    (
        Reverse(hit.closeness),
        weight(hit.field),
        hit.length.max(1).ilog2(),
        Reverse(hit.time.or(hit.session.last)),
        (&hit.session.path, &hit.session.id),
        (hit.turn, hit.line),
    )
}

/// Ranked hits by session, at most `each` of one; sessions in the order of their best.
pub fn grouped(hits: Vec<Hit>, each: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<(std::path::PathBuf, String), usize> = HashMap::new();
    for hit in hits {
        let place = (hit.session.path.clone(), hit.session.id.clone());
        let at = *known.entry(place).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) if group.hits.len() < each => group.hits.push(hit),
            Some(group) => group.more += 1,
            None => groups.push(Group { hits: vec![hit], more: 0 }),
        }
    }
    groups
}
