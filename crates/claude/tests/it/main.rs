//! Claude Code: reading, checking, cloning and analysing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

mod actions;
mod analysis;
mod check;
mod clones;
mod manifest;
mod own_runs;
mod resuming;
