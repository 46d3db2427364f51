//! JSON forms of the model: separate from it, versioned, documented in `docs/session-json.md`,
//! `docs/check-json.md` and `docs/clone-json.md`.

mod blame;
mod blocks;
mod check;
mod clone;
mod content;
mod link;
mod session;
mod stats;
mod summary;

pub use blame::{
    BLAME_SCHEMA, LOG_SCHEMA, edit_json, fetched, line_json, outside_json, summary_json, touch_json,
};
pub use check::CheckJson;
pub use clone::{CloneJson, ProofJson};
pub use link::{LINK_SCHEMA, NOTE_SCHEMA, link_json, note_json};
pub use session::SessionJson;
pub use stats::{STATS_SCHEMA, stats_json, zone_name};
pub use summary::SummaryJson;

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
