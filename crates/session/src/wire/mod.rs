//! JSON forms of the model: separate from it, versioned, documented in `docs/session-json.md`
//! and `docs/check-json.md`.

mod blame;
mod blocks;
mod check;
mod content;
mod session;
mod stats;

pub use blame::{
    BLAME_SCHEMA, BlameLine, LOG_SCHEMA, edit_json, fetched, line_json, outside_json, summary_json,
    touch_json,
};
pub use check::CheckJson;
pub use session::SessionJson;
pub use stats::{STATS_SCHEMA, stats_json, zone_name};

/// Name and version of the JSON form of a session.
pub const SESSION_SCHEMA: &str = "backstory.session/1";

/// Name and version of the JSON form of what a check found.
pub const CHECK_SCHEMA: &str = "backstory.check/1";
