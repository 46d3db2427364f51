//! The pass over the source: what a check looks at, and every record next to the conversation.

use crate::check::rules::inspect::Inspector;
use crate::clone::Lineage;
use crate::names::Name;
use crate::rows::RowIndex;
use backstory_format::claude::{RecordKind, is_transcript};
use backstory_format::{Problem, Record, Visitor};
use backstory_model::Span;

/// Everything a plan is made from.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) inspector: Inspector,
    /// Records next to the conversation, in file order.
    pub(super) others: Vec<Other>,
    /// Rows that belong to a call: what hooks said about it, what it injected.
    pub(super) ties: Vec<(RowIndex, Name)>,
    /// What the source says of its own origin.
    pub(super) lineage: Option<Lineage>,
    /// Records whose uuid an earlier one has, and those that need a uuid and have none.
    pub(super) copies: u64,
    pub(super) nameless: u64,
}

/// A record that is not part of the conversation.
#[derive(Debug, Clone)]
pub(super) struct Other {
    pub(super) kind: RecordKind,
    pub(super) place: Span,
    pub(super) line: u32,
    /// Records of the conversation that it names.
    pub(super) names: Vec<Name>,
    /// It is the lineage of a clone.
    pub(super) lineage: bool,
}

impl Visitor for Gathered {
    fn record(&mut self, record: &Record<'_>) {
        let before = self.inspector.rows.rows.len();
        self.inspector.record(record);
        let added = self.inspector.rows.rows.len() > before;
        let named = record.value().get_text("uuid").is_some();
        match (is_transcript(record.kind()), added) {
            (true, true) => self.row(record, before as RowIndex),
            (true, false) if named => self.copies += 1,
            (true, false) => self.nameless += 1,
            (false, _) => self.other(record),
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.inspector.problem(problem);
    }
}

impl Gathered {
    fn row(&mut self, record: &Record<'_>, row: RowIndex) {
        let rows = &mut self.inspector.rows;
        let value = record.value();
        let attached = value.get("attachment").and_then(|part| part.get("toolUseID"));
        let own = ["sourceToolUseID", "toolUseID", "parentToolUseID"].map(|name| value.get(name));
        for call in own.into_iter().chain([attached]) {
            self.ties.extend(rows.name(call).some().map(|call| (row, call)));
        }
    }

    fn other(&mut self, record: &Record<'_>) {
        let value = record.value();
        let lineage = value.get("type").is_some_and(|kind| kind.is_text(Lineage::KIND));
        if lineage {
            self.lineage = serde_json::from_slice(record.raw()).ok();
        }
        let snapshot = value.get("snapshot").and_then(|held| held.get("messageId"));
        let own = ["leafUuid", "messageId", "snapshotMessageId"].map(|name| value.get(name));
        let rows = &mut self.inspector.rows;
        let names = own.into_iter().chain([snapshot]);
        let names = names.filter_map(|name| rows.name(name).some()).collect();
        self.others.push(Other {
            kind: record.kind(),
            place: Span { offset: record.offset, length: record.length() },
            line: record.line.min(u64::from(u32::MAX)) as u32,
            names,
            lineage,
        });
    }
}
