//! Sessions as records and training data.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

mod exporting;
mod gating;
mod leaks;
mod own_runs;
mod states;
mod support;
