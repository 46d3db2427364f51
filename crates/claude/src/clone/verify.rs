//! Where a clone comes from, as it says itself, and whether that is true.

use super::options::Options;
use super::report::Counts;
use crate::check::Report;
use serde::{Deserialize, Serialize};

/// The record in which a clone says what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lineage {
    /// `backstory-clone`
    #[serde(rename = "type")]
    pub kind: String,
    /// The id of the clone.
    #[serde(rename = "sessionId")]
    pub session: String,
    /// The version of this program.
    pub made_by: String,
    /// When it was made.
    pub made_at: String,
    /// The session it was made from.
    pub source: LineageSource,
    /// The options that were used.
    pub options: Options,
    /// Whether texts were compressed by this program or by another.
    pub engine: String,
    /// What was kept and removed.
    pub counts: Counts,
}

impl Lineage {
    /// The `type` of its record.
    pub const KIND: &'static str = "backstory-clone";
}

/// What a clone was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineageSource {
    /// The session's id.
    pub session: String,
    /// Its file.
    pub path: String,
    /// Bytes that were read of it.
    pub bytes: u64,
    /// Records that were read of it.
    pub records: u64,
    /// The sessions that the source was cloned from, oldest first.
    pub ancestors: Vec<String>,
}

/// How far a clone could be held against its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// Made again with the recorded options, it is the same byte for byte.
    Same,
    /// The same, with this many bytes after it: it was resumed since.
    SameAndMore(u64),
    /// It differs from this byte on.
    Differs(u64),
    /// It says nothing of its origin.
    NoLineage,
    /// The source is gone or has changed; the reason.
    NoSource(String),
    /// Another program compressed texts, so that it cannot be made again.
    NotRepeatable,
}

impl Proof {
    /// The word used in output.
    pub fn name(&self) -> &'static str {
        match self {
            Proof::Same => "same",
            Proof::SameAndMore(_) => "same-and-more",
            Proof::Differs(_) => "differs",
            Proof::NoLineage => "no-lineage",
            Proof::NoSource(_) => "no-source",
            Proof::NotRepeatable => "not-repeatable",
        }
    }
}

/// The outcome of a proof.
#[derive(Debug, Clone)]
pub struct Verified {
    /// What `check` finds in the clone.
    pub report: Report,
    /// Where the clone comes from, if its file says so.
    pub lineage: Option<Lineage>,
    /// Whether it could be made again.
    pub proof: Proof,
}
