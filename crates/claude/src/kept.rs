//! What the newest compaction kept of the conversation, and what it cut off.

use crate::links::{Link, Links};
use crate::names::Name;
use crate::rows::is_message;
use crate::rows::{Row, RowIndex};
use backstory_format::claude::RecordKind;

impl Links<'_> {
    /// Puts what the newest compaction kept after its summary, and drops what it cut off.
    pub(super) fn apply_compaction(&mut self) {
        let boundary = |row: &Row| !row.repeated && self.rows.is_notice(row, b"compact_boundary");
        let Some(last) = self.rows.rows.iter().rposition(boundary) else { return };
        let Some(kept) = self.rows.preserved.last() else { return };
        let known = |name: &Name| self.rows.find(*name).filter(|at| self.is_known(*at));
        let mut records = Vec::new();
        if kept.boundary as usize == last {
            let listed = match &kept.records {
                Some(names) => names.iter().map(known).collect(),
                None => self.between(known(&kept.head), known(&kept.tail)),
            };
            let Some(listed) = listed else { return };
            records = listed;
        }
        if let (Some(first), Some(tail)) = (records.first().copied(), records.last().copied()) {
            let anchor = known(&kept.anchor);
            let mut above = anchor.map_or(Link::Lost, Link::To);
            for row in &records {
                self.set(*row, above);
                above = Link::To(*row);
            }
            for at in 0..self.parents.len() as RowIndex {
                if anchor.is_some_and(|anchor| self.link(at) == Link::To(anchor)) && at != first {
                    self.set(at, Link::To(tail));
                }
            }
        }
        for slot in self.removed.iter_mut().take(last) {
            *slot = true;
        }
        for row in &records {
            if let Some(slot) = self.removed.get_mut(*row as usize) {
                *slot = false;
            }
        }
        for at in 0..self.parents.len() as RowIndex {
            if let Link::To(parent) = self.link(at)
                && self.is_removed(parent)
            {
                let joins = self.rows.row(at).is_some_and(is_message);
                let tail = records.last().filter(|_| joins && !self.is_removed(at));
                self.set(at, tail.map_or(Link::Lost, |tail| Link::To(*tail)));
            }
        }
        self.kept = records;
    }

    /// Whether the client can find a row by its uuid: no progress record, and none it cannot read.
    fn is_known(&self, at: RowIndex) -> bool {
        let row = self.rows.row(at);
        row.is_some_and(|row| row.kind != RecordKind::Progress && !row.unreadable)
    }

    /// The records from `head` to `tail`, by their links.
    fn between(&self, head: Option<RowIndex>, tail: Option<RowIndex>) -> Option<Vec<RowIndex>> {
        let (head, tail) = head.zip(tail)?;
        let mut found = vec![tail];
        let mut at = tail;
        while at != head {
            at = self.parent(at).filter(|_| found.len() <= self.parents.len())?;
            found.push(at);
        }
        found.reverse();
        Some(found)
    }
}
