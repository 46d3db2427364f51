//! Rollouts of 2025: lines without envelope, and single JSON documents.

use super::rollout::Rollout;
use crate::agents::common::Cite;
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_format::{Limits, Problem, ProblemId, Totals};
use std::borrow::Cow;

/// A line without envelope: the facts of the first line, or an item as the API knows it.
pub(super) fn bare(rollout: &mut Rollout, value: Value<'_>, cite: Cite) {
    let kind = value.get_text("type");
    let state = value.get_text("record_type").is_some_and(|kind| kind == "state");
    rollout.draft.count(kind.as_deref().unwrap_or("(bare)"));
    match kind {
        _ if state => rollout.state(),
        Some(_) => rollout.item(&value, cite),
        None if value.get("role").is_some() => rollout.item(&value, cite),
        None => rollout.meta(&value, cite),
    }
}

/// `{"session": {…}, "items": [ … ]}`.
pub(super) fn read(bytes: &[u8], limits: Limits, rollout: &mut Rollout) -> Totals {
    let mut totals = Totals { bytes: bytes.len() as u64, lines: 1, ..Totals::default() };
    let mut tape = Tape::new();
    let cite = Cite::at(0);
    match scan(bytes, 0, limits.max_depth, &mut tape) {
        Ok(_) => {
            let Some(value) = tape.root(bytes) else { return totals };
            if let Some(session) = value.get("session").filter(|v| v.kind() == Kind::Object) {
                rollout.line(session, 1, cite);
            }
            let items = value.get("items");
            for (number, item) in items.iter().flat_map(|items| items.items()).enumerate() {
                totals.records += 1;
                rollout.line(item, number as u64 + 1, cite);
            }
        }
        Err(fault) => {
            totals.bad_lines = 1;
            rollout.draft.session.problems.push(Problem {
                id: ProblemId::InvalidJson,
                line: 1,
                offset: fault.at as u64,
                length: 1,
                detail: Cow::Borrowed(""),
            });
        }
    }
    totals
}

/// `{"output": "…", "metadata": {"exit_code": 1}}` inside a string.
pub(super) fn exit_code(shown: &str) -> Option<i64> {
    if !shown.starts_with('{') || !shown.contains("exit_code") {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(shown).ok()?;
    value.get("metadata")?.get("exit_code")?.as_i64()
}
