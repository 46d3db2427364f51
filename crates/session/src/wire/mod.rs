//! JSON forms of the model: separate from it, versioned, documented in `docs/session-json.md`.

mod blame;
mod blocks;
mod content;
mod session;

pub use blame::{
    BLAME_SCHEMA, BlameLine, LOG_SCHEMA, edit_json, fetched, line_json, outside_json, summary_json,
    touch_json,
};
pub use session::SessionJson;

/// Name and version of the JSON form of a session.
pub const SESSION_SCHEMA: &str = "backstory.session/1";
