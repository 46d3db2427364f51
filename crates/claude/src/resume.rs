//! The conversation that the client resumes: where it ends, and the way back from there.
//!
//! These are the rules of the newest client, found by resuming sessions with it
//! (`scripts/forge/chain.py`). The record written last says where a conversation stands, whatever
//! it is; where the client noted a place on another branch, that place does. A parent that is not
//! in the file, or that was passed already, is replaced by the record before it in time.

use crate::checkpoint;
use crate::gaps::Gaps;
use crate::links::{Link, Links};
use crate::rows::{Row, RowIndex, Rows, is_message};
use backstory_format::slice::Part;

impl<'a> Links<'a> {
    /// The last message of the conversation.
    pub(super) fn leaf(&self) -> Option<RowIndex> {
        let rows = self.rows;
        let main = || self.held().filter(|(_, row)| !row.flags.sidechain && !is_aside(rows, row));
        let Some((last, last_row)) = main().max_by_key(|(_, row)| row.position) else {
            return self.last_unreadable();
        };
        let snapshots = self.held().any(|(_, row)| {
            row.position > last_row.position && rows.is_notice(row, b"file_snapshot")
        });
        let noted = rows.checkpoint;
        let place = noted.leaf.some().and_then(|leaf| rows.find(leaf));
        let place = place.filter(|at| rows.row(*at).is_some_and(|row| self.is_held(*at, row)));
        let settled = !self.kept.is_empty();
        let explicit = noted.explicit && place.is_some_and(|at| self.is_main(at));
        let mut end = None;
        if !settled || explicit {
            end = place.map(|place| {
                if !noted.explicit && checkpoint::continues(self, place, last, true) {
                    last
                } else {
                    place
                }
            });
            if end.is_none() && !settled && !snapshots {
                end = Some(if noted.named { last } else { self.newest_below(last) });
            }
        }
        let end = end.and_then(|end| self.message_at(end));
        let end = end.or_else(|| self.best_end(place, last, snapshots));
        let newest = || main().max_by_key(|(at, row)| (row.timestamp, std::cmp::Reverse(*at)));
        end.or_else(|| newest().map(|(at, _)| at))
    }

    /// The last message of a file in which none can be sent.
    fn last_unreadable(&self) -> Option<RowIndex> {
        let rows = self.rows.rows.iter().enumerate();
        let messages = rows.filter(|(_, row)| row.unreadable && !row.repeated);
        let main = messages.filter(|(_, row)| !row.flags.sidechain);
        main.max_by_key(|(_, row)| row.position).map(|(at, _)| at as RowIndex)
    }

    fn is_main(&self, at: RowIndex) -> bool {
        self.rows.row(at).is_some_and(|row| !row.flags.sidechain)
    }

    /// The row or the nearest one above it that is a message of this conversation.
    fn message_at(&self, row: RowIndex) -> Option<RowIndex> {
        let found = self.ancestors(row).find(|at| self.rows.row(*at).is_some_and(is_message));
        found.filter(|at| self.is_main(*at))
    }

    /// The newest row below the last one of the file, which need not end its branch.
    fn newest_below(&self, last: RowIndex) -> RowIndex {
        let newest = self.held().filter(|(_, row)| !row.flags.sidechain);
        let newest = newest.max_by_key(|(at, row)| (row.timestamp, std::cmp::Reverse(*at)));
        if newest.is_none_or(|(at, _)| at == last) {
            return last;
        }
        let mut below = vec![None; self.parents.len()];
        if let Some(slot) = below.get_mut(last as usize) {
            *slot = Some(true);
        }
        let mut best = (None, last);
        for (at, row) in self.held().filter(|(at, row)| !row.flags.sidechain && *at != last) {
            if row.timestamp.is_some() && row.timestamp >= best.0 && self.leads(at, &mut below) {
                best = (row.timestamp, at);
            }
        }
        best.1
    }

    /// Whether the way up from a row comes to one that is marked; marks the way.
    fn leads(&self, row: RowIndex, known: &mut [Option<bool>]) -> bool {
        self.first_answer(row, known, |_| None)
    }

    /// The first answer on the way up from a row: that of `answer_at`, or one that is known already.
    /// The default if there is none. Every row on the way gets the answer too.
    fn first_answer<T: Copy + Default>(
        &self,
        start: RowIndex,
        known: &mut [Option<T>],
        answer_at: impl Fn(RowIndex) -> Option<T>,
    ) -> T {
        let mut passed = Vec::new();
        let mut answer = T::default();
        for at in self.ancestors(start) {
            if let Some(found) = answer_at(at) {
                answer = found;
                break;
            }
            match known.get_mut(at as usize) {
                Some(slot @ None) => *slot = Some(T::default()),
                Some(Some(found)) => {
                    answer = *found;
                    break;
                }
                None => break,
            }
            passed.push(at);
        }
        for at in passed {
            if let Some(slot) = known.get_mut(at as usize) {
                *slot = Some(answer);
            }
        }
        answer
    }

    /// The end of a branch, where no place is noted: that of the last row if there are several.
    fn best_end(
        &self,
        place: Option<RowIndex>,
        last: RowIndex,
        snapshots: bool,
    ) -> Option<RowIndex> {
        let mut has_child = vec![false; self.parents.len()];
        let mut has_answer = vec![false; self.parents.len()];
        for (at, row) in self.held() {
            let Some(parent) = self.parent(at) else { continue };
            for (list, holds) in [(&mut has_child, true), (&mut has_answer, is_message(row))] {
                if let Some(slot) = list.get_mut(parent as usize).filter(|_| holds) {
                    *slot = true;
                }
            }
        }
        let free = |list: &[bool], at: RowIndex| !list.get(at as usize).copied().unwrap_or(true);
        let mut known = vec![None; self.parents.len()];
        let mut ends: Vec<RowIndex> = Vec::new();
        for (at, _) in self.held().filter(|(at, _)| free(&has_child, *at)) {
            let end = self.nearest_message(at, &mut known);
            ends.extend(end.filter(|end| free(&has_answer, *end)));
        }
        ends.sort_unstable();
        ends.dedup();
        if ends.len() > 1 {
            let stands = place.filter(|place| {
                let explicit = self.rows.checkpoint.explicit;
                ends.contains(place)
                    && (explicit || !checkpoint::continues(self, *place, last, false))
            });
            let end = stands.or(Some(last).filter(|_| !snapshots));
            if let Some(end) = end.and_then(|end| self.message_at(end)) {
                return Some(end);
            }
        }
        let time = |at: &RowIndex| self.rows.row(*at).and_then(|row| row.timestamp);
        let ends = ends.into_iter().filter(|at| self.is_main(*at));
        ends.max_by_key(|at| (time(at), std::cmp::Reverse(*at)))
    }

    fn nearest_message(
        &self,
        start: RowIndex,
        known: &mut [Option<Option<RowIndex>>],
    ) -> Option<RowIndex> {
        let is_message = |at: &RowIndex| self.rows.row(*at).is_some_and(is_message);
        self.first_answer(start, known, |at| Some(at).filter(is_message).map(Some))
    }

    /// What hooks and the client wrote after the last message, in the order of the client, and
    /// messages that it cannot read.
    pub(super) fn notes_below(&self, leaf: RowIndex) -> Vec<RowIndex> {
        let rows = self.rows.rows.iter().enumerate().map(|(at, row)| (at as RowIndex, row));
        let notes = rows.filter(|(at, row)| {
            let unread = row.unreadable && !row.repeated && !self.is_removed(*at);
            unread || !is_message(row) && self.is_held(*at, row)
        });
        let mut below: Vec<(RowIndex, RowIndex)> =
            notes.filter_map(|(at, _)| Some((self.parent(at)?, at))).collect();
        below.sort_by_key(|(parent, at)| {
            (*parent, self.rows.row(*at).and_then(|row| row.timestamp))
        });
        let children = |row: RowIndex| {
            let start = below.partition_point(|(parent, _)| *parent < row);
            let rest = below.part(start..);
            rest.iter().take_while(move |(parent, _)| *parent == row).map(|(_, at)| *at)
        };
        let mut found: Vec<RowIndex> = Vec::new();
        let mut seen: hashbrown::HashSet<RowIndex> = [leaf].into_iter().collect();
        let mut open: Vec<RowIndex> = children(leaf).collect();
        open.reverse();
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                found.push(at);
                let next: Vec<RowIndex> = children(at).collect();
                open.extend(next.into_iter().rev());
            }
        }
        found
    }

    /// The way from the first record of the conversation to `leaf`, over gaps where there are any.
    pub(super) fn way_to(&self, leaf: RowIndex) -> Vec<RowIndex> {
        let mut passed = vec![false; self.parents.len()];
        let mut gaps = Gaps::default();
        let mut way = Vec::new();
        let mut next = Some(leaf);
        while let Some(at) = next {
            way.push(at);
            if let Some(slot) = passed.get_mut(at as usize) {
                *slot = true;
            }
            let is_new = |row: &RowIndex| !passed.get(*row as usize).copied().unwrap_or(true);
            next = match self.link(at) {
                Link::Root => None,
                Link::To(parent) if is_new(&parent) => Some(parent),
                Link::To(_) | Link::Lost => gaps.before(self, at, &passed),
            };
        }
        way.reverse();
        way
    }
}

/// A record that does not say where the conversation stands.
fn is_aside(rows: &Rows, row: &Row) -> bool {
    let briefing = rows.attachment(row).is_some_and(|part| part.briefing);
    briefing || rows.is_notice(row, b"file_snapshot")
}
