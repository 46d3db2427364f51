//! Where the client goes on when a link leads nowhere: with the record before it in time.
//!
//! Looking is by index, and places that were tried are skipped, so that a file in which every
//! link is broken costs no more than sorting it.

use crate::links::Links;
use crate::rows::RowIndex;

/// The longest gap, in milliseconds, over which the client goes on without a link.
const LONGEST_GAP: i64 = 5000;

/// Rows by their time, to find what is before a gap.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    sides: [Option<Timed>; 2],
}

#[derive(Debug)]
struct Timed {
    /// Time and row, the earlier row last where times are equal.
    rows: Vec<(i64, RowIndex)>,
    /// The place at which to go on looking from each place.
    from: Vec<usize>,
}

impl Gaps {
    /// The newest row before `at` that is not passed yet.
    pub(super) fn before(
        &mut self,
        links: &Links<'_>,
        at: RowIndex,
        passed: &[bool],
    ) -> Option<RowIndex> {
        let row = links.rows.row(at)?;
        let time = row.timestamp?.as_millisecond();
        let side = self.sides.get_mut(usize::from(row.flags.sidechain))?;
        let timed = side.get_or_insert_with(|| Timed::new(links, row.flags.sidechain));
        let mut place = timed.rows.partition_point(|(other, _)| *other <= time).checked_sub(1)?;
        let mut tried = Vec::new();
        let found = loop {
            let (other, candidate) = *timed.rows.get(place)?;
            if time - other > LONGEST_GAP {
                break None;
            }
            if !passed.get(candidate as usize).copied().unwrap_or(true) {
                break Some(candidate);
            }
            tried.push(place);
            match timed.from.get(place).copied().filter(|next| *next < place) {
                Some(next) => place = next,
                None => break None,
            }
        };
        for one in tried {
            if let Some(slot) = timed.from.get_mut(one) {
                *slot = place;
            }
        }
        found
    }
}

impl Timed {
    fn new(links: &Links<'_>, sidechain: bool) -> Timed {
        let rows = links.held().filter(|(_, row)| {
            row.flags.sidechain == sidechain && !links.rows.is_notice(row, b"file_snapshot")
        });
        let timed = rows.filter_map(|(at, row)| Some((row.timestamp?.as_millisecond(), at)));
        let mut rows: Vec<(i64, RowIndex)> = timed.collect();
        rows.sort_by_key(|(time, at)| (*time, std::cmp::Reverse(*at)));
        let from = (0..rows.len()).map(|place: usize| place.saturating_sub(1)).collect();
        Timed { rows, from }
    }
}
