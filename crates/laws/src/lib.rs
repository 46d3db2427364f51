//! What must hold for any bytes. The fuzz targets run these laws on what the fuzzer makes up; the
//! tests of this crate run them on the seeds, cut, damaged and changed at random, and on the bundled
//! test data.
#![allow(clippy::disallowed_methods, reason = "laws about files write some")]

mod agents;
mod answers;
mod config;
mod edits;
mod git;
pub mod human;
mod lines;
mod packed;
mod redact;
pub mod render;
mod table;

pub use agents::{AGENT_FILES, agents};
pub use answers::{answers, journal};
pub use config::config;
pub use edits::edits;
pub use git::git;
pub use lines::{lines, record, splice};
pub use packed::packed;
pub use redact::redact;
pub use render::render;
pub use table::table;
