//! Messages that several sessions hold, each once.

use crate::hit::Hit;
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};

/// Leaves one of each set of copies, which names the sessions of the others: the one in the session
/// that began first, where the conversation did not leave it and the client did not copy it.
pub(crate) fn once_each(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by(|a, b| preference(a).cmp(&preference(b)));
    let mut known: HashMap<(u64, u64), usize, FixedState> = HashMap::default();
    let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        let Some(key) = hit.key else {
            kept.push(hit);
            continue;
        };
        match known.get(&key).and_then(|at| kept.get_mut(*at)) {
            None => {
                known.insert(key, kept.len());
                kept.push(hit);
            }
            Some(first) => {
                let other = &hit.session.id;
                if *other != first.session.id && !first.also_in.contains(other) {
                    first.also_in.push(other.clone());
                }
            }
        }
    }
    kept
}

fn preference(hit: &Hit) -> impl Ord + '_ {
    let session = &hit.session;
    (
        hit.abandoned,
        hit.housekeeping,
        session.forked,
        (session.started.is_none(), session.started),
        (&session.path, &session.id),
        (hit.turn, hit.line),
    )
}

/// Messages that were handed on, for searching in order: a copy is known when it comes.
#[derive(Debug, Default)]
pub struct Seen {
    keys: HashSet<(u64, u64), FixedState>,
    /// How many copies there were.
    pub copies: usize,
}

impl Seen {
    /// Whether the message was not seen before.
    pub fn is_new(&mut self, hit: &Hit) -> bool {
        let is_new = hit.key.is_none_or(|key| self.keys.insert(key));
        self.copies += usize::from(!is_new);
        is_new
    }
}
