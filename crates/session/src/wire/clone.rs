//! Clones and proofs of them as JSON, documented in `docs/clone-json.md`.

use super::{CLONE_PROOF_SCHEMA, CLONE_SCHEMA, CheckDocument, check_json};
use backstory_claude::clone::{
    Amount, Category, Counts, Lineage, Options, Proof, Report, Size, Verified,
};
use backstory_format::Severity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `backstory clone --json` prints. Fields are in the order in which they are printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CloneDocument {
    /// `backstory.clone/1`
    pub schema: String,
    /// The agent.
    pub agent: String,
    /// The new session.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Whether the clone was written.
    pub written: bool,
    /// The file of the clone.
    pub path: String,
    /// The folder in which to resume it.
    pub folder: Option<String>,
    /// The session that was cloned.
    pub source: CloneSource,
    /// The conversation of the source.
    pub before: CloneSize,
    /// The conversation of the clone.
    pub after: CloneSize,
    /// What was done.
    pub counts: Counts,
    /// What was asked for.
    pub options: Options,
    /// Messages of the clone and of the source.
    pub messages: Vec<CloneMessage>,
    /// The first reasons why texts could not be compressed.
    pub failures: Vec<String>,
}

/// The session that was cloned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CloneSource {
    /// The length of its file.
    pub bytes: u64,
    /// The session.
    pub id: String,
    /// Its file.
    pub path: String,
    /// How many records it has.
    pub records: u64,
}

/// The size of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CloneSize {
    /// The length of the file.
    pub bytes: u64,
    /// The parts by category.
    pub categories: BTreeMap<String, Amount>,
    /// Messages that a resume would send.
    pub messages: u64,
    /// Records in the file.
    pub records: u64,
    /// Tokens that a resume would send, estimated.
    pub tokens: u64,
}

/// A message of a clone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CloneMessage {
    /// The record in the source.
    pub source_uuid: String,
    /// The record in the clone.
    pub uuid: String,
}

/// What `backstory clone --verify --json` prints. Fields are in the order in which they are printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProofDocument {
    /// `backstory.clone-proof/1`
    pub schema: String,
    /// The result of the comparison with the source.
    pub proof: ProofOutcome,
    /// The record in which the clone describes its origin.
    pub lineage: Option<Lineage>,
    /// The check of the clone.
    pub check: CheckDocument,
}

/// The result of comparing a clone with its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProofOutcome {
    /// The offset of the first difference, or the number of additional bytes.
    pub bytes: Option<u64>,
    /// Why the source cannot be read.
    pub detail: Option<String>,
    /// The result in one word.
    pub outcome: String,
}

/// A report as one JSON object.
pub fn clone_json(report: &Report) -> CloneDocument {
    let message = |(uuid, source): &(String, String)| CloneMessage {
        source_uuid: source.clone(),
        uuid: uuid.clone(),
    };
    CloneDocument {
        schema: CLONE_SCHEMA.to_owned(),
        agent: "claude-code".to_owned(),
        id: report.id.clone(),
        title: report.title.clone(),
        written: report.path.is_some(),
        path: report.target.to_string_lossy().into_owned(),
        folder: report.folder.clone(),
        source: CloneSource {
            bytes: report.source.bytes,
            id: report.source.id.clone(),
            path: report.source.path.to_string_lossy().into_owned(),
            records: report.source.records,
        },
        before: size(&report.before),
        after: size(&report.after),
        counts: report.counts.clone(),
        options: report.options.clone(),
        messages: report.messages.iter().map(message).collect(),
        failures: report.failures.clone(),
    }
}

fn size(size: &Size) -> CloneSize {
    let category = |category: &Category| (category.name().to_owned(), size.estimate.of(*category));
    CloneSize {
        bytes: size.bytes,
        categories: Category::ALL.iter().map(category).collect(),
        messages: size.messages,
        records: size.records,
        tokens: size.estimate.tokens(),
    }
}

/// A proof as one JSON object.
pub fn proof_json(verified: &Verified) -> ProofDocument {
    let Verified { report, lineage, proof } = verified;
    let (detail, bytes) = match proof {
        Proof::NoSource(why) => (Some(why.to_string()), None),
        Proof::Differs(at) | Proof::SameAndMore(at) => (None, Some(*at)),
        _ => (None, None),
    };
    ProofDocument {
        schema: CLONE_PROOF_SCHEMA.to_owned(),
        proof: ProofOutcome { bytes, detail, outcome: proof.name().to_owned() },
        lineage: lineage.clone(),
        check: check_json(report, Severity::Warning),
    }
}
