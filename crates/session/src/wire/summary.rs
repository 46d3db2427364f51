//! The JSON form of a session's row in a list.

use backstory_model::Summary;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// `backstory.ls/1`.
#[derive(Debug)]
pub struct SummaryJson<'a>(pub &'a Summary);

impl Serialize for SummaryJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = self.0;
        let full = row.full.as_ref();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", "backstory.ls/1")?;
        map.serialize_entry("id", &row.id)?;
        map.serialize_entry("agent", row.agent.name())?;
        map.serialize_entry("kind", row.kind.name())?;
        map.serialize_entry("path", &row.path.to_string_lossy())?;
        map.serialize_entry("project", &row.cwd)?;
        map.serialize_entry("project_key", &row.project_key)?;
        map.serialize_entry("title", &row.title.as_ref().map(|title| &title.text))?;
        map.serialize_entry("title_source", &row.title.as_ref().map(|title| title.source.name()))?;
        map.serialize_entry("branch", &row.branch)?;
        map.serialize_entry("models", &full.map(|full| &full.models))?;
        map.serialize_entry("versions", &full.map(|full| &full.versions))?;
        map.serialize_entry("turns", &full.map(|full| full.turns))?;
        map.serialize_entry("calls", &full.map(|full| full.calls))?;
        map.serialize_entry("subagents", &full.map(|full| full.subagents))?;
        map.serialize_entry(
            "tokens",
            &full.and_then(|full| full.tokens).map(|tokens| {
                serde_json::json!({
                    "input": tokens.input, "output": tokens.output,
                    "cache_read": tokens.cache_read, "cache_write": tokens.cache_write,
                    "incomplete": tokens.incomplete,
                })
            }),
        )?;
        map.serialize_entry("duration_ms", &row.duration_ms())?;
        map.serialize_entry("started", &row.started)?;
        map.serialize_entry("ended", &row.ended)?;
        map.serialize_entry("modified", &row.modified)?;
        map.serialize_entry("bytes", &row.bytes)?;
        map.serialize_entry("problems", &full.map(|full| full.problems))?;
        map.end()
    }
}
