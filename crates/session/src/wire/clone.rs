//! What a clone holds, and the proof of one, as JSON.

use super::{CLONE_PROOF_SCHEMA, CLONE_SCHEMA, CheckJson};
use backstory_claude::clone::{Category, Proof, Report, Size, Verified};
use backstory_format::Severity;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

/// A report to be written as `backstory.clone/1`.
#[derive(Debug)]
pub struct CloneJson<'a>(pub &'a Report);

impl Serialize for CloneJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", CLONE_SCHEMA)?;
        map.serialize_entry("agent", "claude-code")?;
        map.serialize_entry("id", &report.id)?;
        map.serialize_entry("title", &report.title)?;
        map.serialize_entry("written", &report.path.is_some())?;
        map.serialize_entry("path", &report.target.to_string_lossy())?;
        map.serialize_entry("folder", &report.folder)?;
        map.serialize_entry(
            "source",
            &json!({
                "id": report.source.id,
                "path": report.source.path.to_string_lossy(),
                "bytes": report.source.bytes,
                "records": report.source.records,
            }),
        )?;
        map.serialize_entry("before", &size(&report.before))?;
        map.serialize_entry("after", &size(&report.after))?;
        map.serialize_entry("counts", &report.counts)?;
        map.serialize_entry("options", &report.options)?;
        let messages: Vec<_> = report.messages.iter().map(message).collect();
        map.serialize_entry("messages", &messages)?;
        map.serialize_entry("failures", &report.failures)?;
        map.end()
    }
}

fn message((uuid, source): &(String, String)) -> serde_json::Value {
    json!({ "uuid": uuid, "source_uuid": source })
}

fn size(size: &Size) -> serde_json::Value {
    let categories: serde_json::Map<String, serde_json::Value> = Category::ALL
        .iter()
        .map(|category| (category.name().to_owned(), json!(size.estimate.of(*category))))
        .collect();
    json!({
        "bytes": size.bytes,
        "records": size.records,
        "messages": size.messages,
        "tokens": size.estimate.tokens(),
        "categories": categories,
    })
}

/// A proof to be written as `backstory.clone-proof/1`.
#[derive(Debug)]
pub struct ProofJson<'a>(pub &'a Verified);

impl Serialize for ProofJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Verified { report, lineage, proof } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", CLONE_PROOF_SCHEMA)?;
        let (detail, at) = match proof {
            Proof::NoSource(why) => (Some(why), None),
            Proof::Differs(at) | Proof::SameAndMore(at) => (None, Some(at)),
            _ => (None, None),
        };
        let proof = json!({ "outcome": proof.name(), "detail": detail, "bytes": at });
        map.serialize_entry("proof", &proof)?;
        map.serialize_entry("lineage", lineage)?;
        map.serialize_entry("check", &CheckJson(report, Severity::Warning))?;
        map.end()
    }
}
