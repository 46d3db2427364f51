//! What names were judged to be: sessions have few names, and most of them many times.
//!
//! All threads share one small table without a lock. A name is known by its hash under a key of this
//! run; one that falls on the place of another takes it.

use crate::strength::Strength;
use foldhash::fast::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, Ordering};

const PLACES: usize = 1 << 10;
/// The bits of an entry that hold the verdict; the others hold those of the hash.
const VERDICT: u64 = 0b111;

#[derive(Debug)]
pub(crate) struct Verdicts {
    state: RandomState,
    entries: Box<[AtomicU64]>,
}

impl Default for Verdicts {
    fn default() -> Verdicts {
        let entries = (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        Verdicts { state: RandomState::default(), entries }
    }
}

impl Verdicts {
    /// The verdict on a name, judged only if it is not known.
    pub(crate) fn of(
        &self,
        name: &str,
        judge: impl FnOnce() -> Option<Strength>,
    ) -> Option<Strength> {
        let hash = self.state.hash_one(name);
        let place = (hash >> 32) as usize % PLACES;
        let Some(entry) = self.entries.get(place) else { return judge() };
        let known = entry.load(Ordering::Relaxed);
        if known & !VERDICT == hash & !VERDICT && known & VERDICT != 0 {
            return read(known & VERDICT);
        }
        let verdict = judge();
        entry.store(hash & !VERDICT | written(verdict), Ordering::Relaxed);
        verdict
    }
}

/// From 1, so that an empty entry is none.
fn written(verdict: Option<Strength>) -> u64 {
    let place = Strength::ALL.iter().position(|strength| Some(*strength) == verdict);
    place.map_or(1, |place| place as u64 + 2)
}

fn read(written: u64) -> Option<Strength> {
    Strength::ALL.get((written as usize).checked_sub(2)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_given_once_and_read_again() {
        let verdicts = Verdicts::default();
        let all = Strength::ALL.map(Some);
        for verdict in all.into_iter().chain([None]) {
            let name = format!("{verdict:?}");
            let mut count = 0;
            for _ in 0..3 {
                let judge = || {
                    count += 1;
                    verdict
                };
                assert_eq!(verdicts.of(&name, judge), verdict);
            }
            assert_eq!(count, 1, "{name}");
        }
    }

    #[test]
    fn names_that_share_a_place_are_not_mixed_up() {
        let verdicts = Verdicts::default();
        let verdict = |number: usize| Strength::ALL.get(number % 7).copied();
        for _ in 0..2 {
            for number in 0..4 * PLACES {
                let name = format!("name_{number}");
                assert_eq!(verdicts.of(&name, || verdict(number)), verdict(number), "{name}");
            }
        }
    }
}
