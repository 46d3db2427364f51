//! Whether a resume finds the whole conversation: branches, roots, compactions, ids.

use super::inspect::Inspector;
use super::sink::Sink;
use crate::check::{CheckId, Effect};
use crate::recovery::Link;
use crate::rows::is_message;
use crate::rows::{PromptShape, Row, RowIndex, Rows};
use crate::tree::Tree;
use backstory_format::claude::RecordKind;
use backstory_format::slice::Part;

/// The active chain of a session's file, and what is wrong with its way through the file.
#[derive(Debug)]
pub(super) struct History<'a> {
    inspector: &'a Inspector,
    tree: &'a Tree<'a>,
    chain: &'a [Link],
    on_chain: Vec<bool>,
}

impl<'a> History<'a> {
    pub(super) fn new(
        inspector: &'a Inspector,
        tree: &'a Tree<'a>,
        chain: &'a [Link],
    ) -> History<'a> {
        let mut on_chain = vec![false; inspector.rows.rows.len()];
        for (at, _) in chain {
            if let Some(slot) = on_chain.get_mut(*at as usize) {
                *slot = true;
            }
        }
        History { inspector, tree, chain, on_chain }
    }

    /// Whether there is anything to resume, be its links as they may.
    pub(super) fn is_conversation(&self) -> bool {
        self.rows().rows.iter().any(|row| is_message(row) && !row.flags.sidechain)
    }

    pub(super) fn check(&self, sink: &mut Sink<'_>) {
        self.check_root(sink);
        self.check_branches(sink);
        self.check_compaction(sink);
    }

    /// References from metadata, be there a conversation or not.
    pub(super) fn check_references(&self, sink: &mut Sink<'_>) {
        let rows = self.rows();
        for summary in &self.inspector.summaries {
            let target = rows.find(summary.target).and_then(|at| rows.row(at));
            if target.is_some_and(|row| !is_message(row)) {
                sink.reference(CheckId::SummaryLeaf, summary, "");
            }
        }
        if let Some(last) = &self.inspector.last_prompt
            && rows.find(last.target).is_none()
        {
            sink.reference(CheckId::LastPromptLeaf, last, "");
        }
        let mut taken = hashbrown::HashMap::new();
        for snapshot in &self.inspector.snapshots {
            let first = *taken.entry(snapshot.target).or_insert(snapshot.hash);
            if first != snapshot.hash {
                sink.reference(CheckId::SnapshotCollision, snapshot, "");
            }
        }
    }

    fn rows(&self) -> &'a Rows {
        &self.inspector.rows
    }

    fn is_on_chain(&self, at: RowIndex) -> bool {
        self.on_chain.get(at as usize).copied().unwrap_or(false)
    }

    fn main_messages(&self) -> impl Iterator<Item = (RowIndex, &'a Row)> {
        let rows = self.rows().rows.iter().enumerate();
        rows.map(|(at, row)| (at as RowIndex, row))
            .filter(|(_, row)| is_message(row) && !row.repeated && is_main(row))
    }

    /// The root of the chain: a beginning, a compaction, or a place where the way back is lost.
    fn check_root(&self, sink: &mut Sink<'_>) {
        let Some((root, row)) =
            self.chain.first().and_then(|(at, _)| Some((*at, self.rows().row(*at)?)))
        else {
            return;
        };
        let detail = if row.parent.is_some() {
            "the parent of this record is not in the file"
        } else if self.begins_on_purpose(row) {
            return;
        } else {
            "this record has no parent"
        };
        let earlier = self
            .main_messages()
            .filter(|(at, row)| !self.is_on_chain(*at) && self.speaks(row))
            .filter(|(_, earlier)| earlier.position < row.position)
            .count();
        if earlier > 0 {
            let messages = if earlier == 1 { "message stands" } else { "messages stand" };
            let detail = format!("{earlier} {messages} before it; {detail}");
            sink.about(CheckId::UnreachableHistory, root, None, detail, Effect::Loss);
        }
    }

    /// Whether a record without parent starts anew: a compaction, or a prompt (a rewind to the
    /// start, a plan carried out with fresh context) with the hooks before it.
    fn begins_on_purpose(&self, row: &Row) -> bool {
        let rows = self.rows();
        let compacted = rows.notice(row).is_some_and(|notice| {
            notice.subtype.is_some() && rows.names.bytes(notice.subtype) == b"compact_boundary"
        });
        let mut chain = self.chain.iter().filter_map(|(at, _)| rows.row(*at));
        let first = chain.find(|row| is_message(row));
        let shape = first.and_then(|row| rows.message(row)).map(|part| part.prompt);
        let asked = !matches!(shape, None | Some(PromptShape::ToolResult | PromptShape::None));
        compacted || asked
    }

    fn speaks(&self, row: &Row) -> bool {
        let prompt = self.rows().message(row).map(|part| part.prompt);
        row.kind == RecordKind::Assistant || prompt == Some(PromptShape::Prompt)
    }

    fn check_branches(&self, sink: &mut Sink<'_>) {
        let Some(leaf) = self.tree.way.leaf else { return };
        if !self.inspector.has_time(leaf) {
            sink.at(CheckId::LeafWithoutTime, leaf, "");
        }
        let newest = self.main_messages().max_by_key(|(_, row)| row.position);
        if let Some((newest, _)) = newest.filter(|(at, _)| !self.is_on_chain(*at)) {
            // Who goes back to another branch leaves the newest message on purpose.
            if !self.ends_at_the_noted_place() {
                let detail = "the newest message is on another branch";
                sink.about(CheckId::StaleBranch, newest, None, detail, Effect::Loss);
            }
            return;
        }
        // Older clients take the newest end of any branch, or of any that is not a subagent's.
        let rows = self.rows().rows.iter().enumerate();
        let ends = rows
            .filter(|(_, row)| !row.repeated && !row.flags.sidechain && self.tree.is_terminal(row));
        let Some((end, _)) = ends.max_by_key(|(_, row)| row.position) else { return };
        let end = end as RowIndex;
        let mut at = Some(end);
        while let Some(index) = at {
            if self.rows().row(index).is_some_and(is_message) {
                break;
            }
            at = self.tree.parent(index);
        }
        let Some(at) = at.filter(|at| *at != leaf) else { return };
        if at == end {
            sink.at(CheckId::StaleBranch, end, "it ends a branch, the newest message does not");
        } else if self.is_on_chain(at) {
            sink.at(CheckId::StaleBranch, end, "it hangs from an earlier message");
        }
    }

    /// Whether the conversation stands where the client noted it.
    fn ends_at_the_noted_place(&self) -> bool {
        let noted = self.rows().checkpoint.leaf.some();
        noted.and_then(|leaf| self.rows().find(leaf)).is_some_and(|at| self.is_on_chain(at))
    }

    /// The compaction at which the chain begins.
    fn check_compaction(&self, sink: &mut Sink<'_>) {
        let rows = self.rows();
        let is_boundary = |row: &Row| {
            let notice = rows.notice(row).map(|notice| notice.subtype);
            notice.is_some_and(|subtype| {
                subtype.is_some() && rows.names.bytes(subtype) == b"compact_boundary"
            })
        };
        let boundary =
            self.chain.iter().rposition(|(at, _)| rows.row(*at).is_some_and(is_boundary));
        let Some(place) = boundary else { return };
        let Some((boundary, _)) = self.chain.get(place) else { return };
        let mut after = self.chain.part(place + 1..).iter();
        let summarised = after.any(|(at, _)| {
            let part = rows.row(*at).and_then(|row| rows.message(row));
            part.is_some_and(|part| part.prompt == PromptShape::CompactSummary)
        });
        if !summarised {
            sink.at(CheckId::CompactionWithoutSummary, *boundary, "");
        }
        let kept = rows.preserved.iter().find(|kept| kept.boundary == *boundary);
        let listed = kept.and_then(|kept| kept.records.as_deref()).unwrap_or_default();
        let missing = listed.iter().filter(|name| rows.find(**name).is_none()).count();
        if missing > 0 {
            let detail = format!("{missing} of them");
            sink.at(CheckId::PreservedMessagesMissing, *boundary, detail);
        }
    }
}

fn is_main(row: &Row) -> bool {
    !row.flags.sidechain && !row.team.is_some() && !row.flags.meta
}
