//! Links as JSON, documented in `docs/link-json.md`.

use crate::link::{Evidence, Link};
use serde_json::{Value, json};
use std::path::Path;

/// Name and version of the JSON form of a link.
pub const LINK_SCHEMA: &str = "backstory.link/1";

/// Name and version of the JSON form of a note.
pub const NOTE_SCHEMA: &str = "backstory.link-note/1";

/// One link as a JSON object.
pub fn link_json(link: &Link, repository: &Path) -> Value {
    json!({
        "schema": LINK_SCHEMA,
        "repository": repository.to_string_lossy(),
        "session": link.session,
        "commit": {
            "id": link.commit.id,
            "authored": link.commit.authored,
            "committed": link.commit.committed,
            "subject": link.commit.subject,
        },
        "tier": link.tier.name(),
        "is_committed": link.is_committed(),
        "divergence": link.divergence(),
        "evidence": link.evidence.iter().map(evidence).collect::<Vec<_>>(),
    })
}

fn evidence(evidence: &Evidence) -> Value {
    let tier = evidence.tier().name();
    match evidence {
        Evidence::Printed { id, line, call, announced } => json!({
            "tier": tier, "printed_id": id, "line": line, "call": call, "announced": announced,
        }),
        Evidence::Blob { path, recorded, blob, line, call, last, copy } => json!({
            "tier": tier, "path": path, "recorded_path": recorded, "blob": blob, "line": line,
            "call": call, "last_edit": last, "copied_commit": copy,
        }),
        Evidence::Lines { path, recorded, added, exact, reformatted } => json!({
            "tier": tier, "path": path, "recorded_path": recorded, "lines_added": added,
            "lines_exact": exact, "lines_reformatted": reformatted,
        }),
        Evidence::Overlap { path, recorded } => {
            json!({ "tier": tier, "path": path, "recorded_path": recorded })
        }
    }
}

/// The note of a commit: sessions and evidence, but no folder of this machine and no subject.
/// Nothing if no link holds work of a session.
pub fn note_json(links: &[Link]) -> Option<Value> {
    let held: Vec<&Link> = links.iter().filter(|link| link.is_committed()).collect();
    let sessions: Vec<Value> = held
        .iter()
        .map(|link| {
            let proofs: Vec<Value> = link
                .evidence
                .iter()
                .map(|proof| {
                    let mut value = evidence(proof);
                    if let Some(map) = value.as_object_mut() {
                        map.remove("recorded_path");
                    }
                    value
                })
                .collect();
            json!({
                "agent": "claude-code", "session": link.session, "tier": link.tier.name(),
                "evidence": proofs,
            })
        })
        .collect();
    (!sessions.is_empty()).then(|| json!({ "schema": NOTE_SCHEMA, "sessions": sessions }))
}
