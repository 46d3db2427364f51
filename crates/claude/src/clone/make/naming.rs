//! New ids for a clone.
//!
//! They follow from the id of the new session, so that a clone can be made a second time and be
//! the same: two counters of the SplitMix64 generator, seeded with the halves of that id, which
//! never repeat a value within a clone.

use crate::names::Name;
use crate::rows::{RowIndex, Rows};
use hashbrown::HashMap;

/// The ids of a clone's session and records.
#[derive(Debug)]
pub(super) struct Naming {
    pub(super) session: String,
    state: [u64; 2],
    rows: HashMap<RowIndex, String>,
}

impl Naming {
    pub(super) fn new(session: &str) -> Naming {
        let digits: String = session.chars().filter(char::is_ascii_hexdigit).collect();
        let half = |at: usize| {
            let part = digits.get(at..at + 16).and_then(|part| u64::from_str_radix(part, 16).ok());
            part.unwrap_or_else(|| {
                session
                    .bytes()
                    .fold(at as u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)))
            })
        };
        Naming { session: session.to_owned(), state: [half(0), half(16)], rows: HashMap::new() }
    }

    /// Names a row; the same name every time.
    pub(super) fn add(&mut self, row: RowIndex) {
        if !self.rows.contains_key(&row) {
            let uuid = self.fresh();
            self.rows.insert(row, uuid);
        }
    }

    /// The new uuid of a row that is in the clone.
    pub(super) fn row(&self, row: RowIndex) -> Option<&str> {
        self.rows.get(&row).map(String::as_str)
    }

    /// The new uuid of the record that had `uuid`.
    pub(super) fn uuid(&self, rows: &Rows, uuid: Name) -> Option<&str> {
        uuid.some().and_then(|uuid| rows.find(uuid)).and_then(|row| self.row(row))
    }

    fn fresh(&mut self) -> String {
        let [first, second] = self.state.each_mut().map(next);
        // Version 4, variant 1.
        let high = first & 0xffff_ffff_ffff_0fff | 0x4000;
        let low = second & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut value = *state;
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_uuids_and_the_same_again() {
        let name = |rows: u32| {
            let mut naming = Naming::new("6017d1eb-063f-45a2-8f73-4ddd91431502");
            (0..rows).for_each(|row| naming.add(row));
            (0..rows).filter_map(|row| naming.row(row).map(str::to_owned)).collect::<Vec<_>>()
        };
        let names = name(1_000);
        assert_eq!(names, name(1_000));
        let different: std::collections::HashSet<&String> = names.iter().collect();
        assert_eq!(different.len(), 1_000);
        assert!(names.iter().all(|name| backstory_format::is_uuid(name)), "{names:?}");
    }
}
