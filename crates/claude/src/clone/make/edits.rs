//! What happens to each row: nothing, some of its blocks, or it goes.

use crate::clone::Reason;
use crate::rows::{RowIndex, Rows};
use hashbrown::HashMap;

/// What happens to one content block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Action {
    #[default]
    Keep,
    Remove,
    /// Long texts in it are cut to about this many bytes.
    Truncate(usize),
    /// Its text becomes another one.
    Replace(String),
}

/// What happens to one row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RowEdit {
    pub(super) blocks: Vec<Action>,
    /// It was the reason to stop that its message ended with a call, which is gone.
    pub(super) ends_turn: bool,
    /// It gets the time of cloning.
    pub(super) timed_anew: bool,
}

/// Edits of all rows; rows that are not mentioned stay.
#[derive(Debug, Default)]
pub(super) struct Edits {
    rows: HashMap<RowIndex, RowEdit>,
    gone: HashMap<RowIndex, Reason>,
}

impl Edits {
    pub(super) fn edit(&mut self, rows: &Rows, row: RowIndex) -> &mut RowEdit {
        self.rows.entry(row).or_insert_with(|| {
            let count = rows.row(row).map_or(0, |row| rows.blocks_of(row).len());
            RowEdit { blocks: vec![Action::Keep; count], ..RowEdit::default() }
        })
    }

    pub(super) fn of(&self, row: RowIndex) -> Option<&RowEdit> {
        self.rows.get(&row)
    }

    pub(super) fn set(&mut self, rows: &Rows, row: RowIndex, block: usize, action: Action) {
        if let Some(slot) = self.edit(rows, row).blocks.get_mut(block) {
            *slot = action;
        }
    }

    pub(super) fn action(&self, row: RowIndex, block: usize) -> &Action {
        let known = self.rows.get(&row).and_then(|edit| edit.blocks.get(block));
        known.unwrap_or(&Action::Keep)
    }

    pub(super) fn is_removed(&self, row: RowIndex, block: usize) -> bool {
        self.gone.contains_key(&row) || *self.action(row, block) == Action::Remove
    }

    pub(super) fn drop_row(&mut self, row: RowIndex, reason: Reason) {
        self.gone.entry(row).or_insert(reason);
    }

    pub(super) fn restore(&mut self, row: RowIndex) {
        self.gone.remove(&row);
    }

    pub(super) fn is_gone(&self, row: RowIndex) -> bool {
        self.gone.contains_key(&row)
    }

    pub(super) fn reason(&self, row: RowIndex) -> Option<Reason> {
        self.gone.get(&row).copied()
    }
}
