//! JSON forms: separate from the model, versioned, documented in `docs/*-json.md`.
//!
//! Types named `…Document` are what is printed; they can be read back. With the feature `schema`,
//! `schemas` describes them as JSON Schemas.

mod blame;
mod blocks;
mod check;
mod clone;
mod content;
mod link;
mod row;
#[cfg(feature = "schema")]
mod schemas;
mod search;
mod session;
mod session_document;
mod stats;

pub use blame::{
    BLAME_SCHEMA, BlameDocument, BlameSummary, CommandDocument, EditTotals, EvidenceDocument,
    FileEditDocument, LOG_SCHEMA, LineCommit, LineDocument, LogDocument, OutsideDocument,
    blame_json, fetched, log_json,
};
pub use check::{CheckDocument, CheckFile, CheckFinding, CheckGroup, CheckResume, check_json};
pub use clone::{
    CloneDocument, CloneMessage, CloneSize, CloneSource, ProofDocument, ProofOutcome, clone_json,
    proof_json,
};
pub use link::{
    LINK_SCHEMA, LinkDocument, LinkEvidence, LinkedCommit, NOTE_SCHEMA, NoteDocument, NoteSession,
    link_json, note_json,
};
pub use row::{ListDocument, ListTokens};
#[cfg(feature = "schema")]
pub use schemas::schemas;
pub use search::{SEARCH_SCHEMA, SearchDocument, SearchLine, SearchPlace};
pub use session::SessionJson;
pub use session_document::{
    BenchmarkDocument, BlockDocument, BranchDocument, ChainDocument, CommandLine,
    CompactionDocument, CountsDocument, EventDocument, FileDocument, ForkDocument,
    InterjectionDocument, OrphanDocument, ParentDocument, ProblemDocument, ProjectDocument,
    PromptDocument, RequestDocument, ResultDocument, SessionDocument, StepDocument, TitleDocument,
    TurnDocument, UsageDocument,
};
pub use stats::{
    STATS_SCHEMA, StatsCost, StatsDocument, StatsFigures, StatsPrices, StatsRow, StatsTokens,
    UnpricedModel, stats_json, zone_name,
};

/// Name and version of the JSON form of a session.
pub const SESSION_SCHEMA: &str = "backstory.session/1";

/// Name and version of the JSON form of what a check found.
pub const CHECK_SCHEMA: &str = "backstory.check/1";

/// Name and version of the JSON form of a clone that was made.
pub const CLONE_SCHEMA: &str = "backstory.clone/1";

/// Name and version of the JSON form of the proof of a clone.
pub const CLONE_PROOF_SCHEMA: &str = "backstory.clone-proof/1";

/// Name and version of what a program that compresses texts is given.
pub const SUMMARIZE_SCHEMA: &str = "backstory.summarize/1";
