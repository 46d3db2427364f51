//! Rollouts of 2025: lines without envelope, and single JSON documents.

use super::agent::AGENT;
use super::rollout::Rollout;
use crate::common::{Cite, document};
use backstory_format::json::{Kind, Value};
use backstory_model::Session;
use backstory_model::SessionFiles;
use backstory_store::{Store, StoreError};

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
pub(super) fn read(files: &SessionFiles, store: &Store) -> Result<Session, StoreError> {
    let mut document = document(&files.path, files.part.clone(), store)?;
    let mut rollout = Rollout::new(document.draft(AGENT, files));
    if let Some(value) = document.value() {
        let cite = document.cite();
        if let Some(session) = value.get("session").filter(|v| v.kind() == Kind::Object) {
            rollout.line(session, 1, cite);
        }
        let items = value.get("items");
        for (item, number) in items.iter().flat_map(|items| items.items()).zip(1..) {
            rollout.line(item, number, cite);
        }
    }
    Ok(rollout.finish())
}

/// `{"output": "…", "metadata": {"exit_code": 1}}` inside a string.
pub(super) fn exit_code(shown: &str) -> Option<i64> {
    if !shown.starts_with('{') || !shown.contains("exit_code") {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(shown).ok()?;
    value.get("metadata")?.get("exit_code")?.as_i64()
}
