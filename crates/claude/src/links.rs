//! Which record follows which, as the client reads a file.

use crate::rows::{Row, RowIndex, Rows};
use backstory_format::claude::RecordKind;

/// Links as the client reads them: past progress records, and past what a compaction cut off.
#[derive(Debug)]
pub(super) struct Links<'a> {
    pub(super) rows: &'a Rows,
    pub(super) parents: Vec<Link>,
    /// What the newest compaction left behind.
    pub(super) removed: Vec<bool>,
    /// What it kept, in order.
    pub(super) kept: Vec<RowIndex>,
}

/// Where the link of a row leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// It has none: a conversation begins here.
    Root,
    To(RowIndex),
    /// To something that is not in the file.
    Lost,
}

impl<'a> Links<'a> {
    pub(super) fn new(rows: &'a Rows) -> Links<'a> {
        let count = rows.rows.len();
        let mut links =
            Links { rows, parents: Vec::new(), removed: vec![false; count], kept: Vec::new() };
        links.parents.reserve(count);
        for (at, row) in rows.rows.iter().enumerate() {
            let mut link = match (row.parent.is_some(), rows.find(row.parent)) {
                (false, _) => Link::Root,
                (true, Some(parent)) => Link::To(parent),
                (true, None) => Link::Lost,
            };
            // The client knows a progress record, or one it cannot read, only once it has read it.
            if let Link::To(parent) = link
                && rows.row(parent).is_some_and(|row| row.kind == RecordKind::Progress)
            {
                let known = links.parents.get(parent as usize).copied();
                link = known.filter(|_| (parent as usize) < at).unwrap_or(Link::Lost);
            }
            links.parents.push(link);
        }
        links.pass_unreadable();
        links.apply_compaction();
        links
    }

    /// Children of messages that cannot be sent hang from the parent of these.
    fn pass_unreadable(&mut self) {
        for at in 0..self.parents.len() {
            let mut passed = Vec::new();
            let mut link = self.link(at as RowIndex);
            while let Link::To(parent) = link
                && self.rows.row(parent).is_some_and(|row| row.unreadable)
            {
                if passed.len() > self.parents.len() {
                    link = Link::Root;
                    break;
                }
                passed.push(parent);
                link = self.link(parent);
            }
            for row in passed.into_iter().chain([at as RowIndex]) {
                self.set(row, link);
            }
        }
    }

    pub(super) fn set(&mut self, row: RowIndex, link: Link) {
        if let Some(slot) = self.parents.get_mut(row as usize) {
            *slot = link;
        }
    }

    pub(super) fn link(&self, row: RowIndex) -> Link {
        self.parents.get(row as usize).copied().unwrap_or(Link::Root)
    }

    pub(super) fn parent(&self, row: RowIndex) -> Option<RowIndex> {
        match self.link(row) {
            Link::To(parent) => Some(parent),
            Link::Root | Link::Lost => None,
        }
    }

    /// A row and what is above it, up to the first row that comes again.
    pub(super) fn ancestors(&self, row: RowIndex) -> impl Iterator<Item = RowIndex> {
        let all = std::iter::successors(Some(row), |at| self.parent(*at));
        all.take(self.parents.len())
    }

    pub(super) fn is_removed(&self, row: RowIndex) -> bool {
        self.removed.get(row as usize).copied().unwrap_or(true)
    }

    /// Whether the client holds a row as part of a conversation.
    pub(super) fn is_held(&self, at: RowIndex, row: &Row) -> bool {
        row.kind != RecordKind::Progress && !row.repeated && !row.unreadable && !self.is_removed(at)
    }

    pub(super) fn held(&self) -> impl Iterator<Item = (RowIndex, &'a Row)> {
        let rows = self.rows.rows.iter().enumerate().map(|(at, row)| (at as RowIndex, row));
        rows.filter(|(at, row)| self.is_held(*at, row))
    }
}
