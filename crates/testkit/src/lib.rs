//! Fixtures that tests of several crates share: the bundled test data, homes, repositories, sessions
//! of every agent made for a test.
//!
//! For integration tests only. It uses the readers and the discovery of sessions, so the unit tests
//! of a crate below those would see two versions of the crate's types.
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

mod agent_form;
mod bundled;
pub mod clones;
pub mod codex;
mod describe;
mod files;
mod home;
pub mod own_runs;
pub mod planted;
mod read;
mod repo;
mod sample;
mod slow;
mod testdata;

pub use agent_form::{AgentForm, agent, agent_form, agent_forms};
pub use bundled::{agent_sessions, all_sessions, claude_sessions};
pub use describe::{edits, texts};
pub use files::{copy_tree, files_below, write_file};
pub use home::Home;
pub use read::{discover_at, discover_in, session_at, sessions};
pub use repo::Repo;
pub use sample::{Sample, lines, one_session};
pub use slow::{number, or_slow};
pub use testdata::{agrees, document, seeds, table, testdata, top, tree};

/// Standard base64, with padding.
pub fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(bytes)
}
