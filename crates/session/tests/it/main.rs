//! Discovery, histories, statistics and wire types over sessions of every agent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::print_stdout, reason = "`scripts/histories` shows what was counted")]
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

mod agents_cleared;
mod agents_edits;
mod agents_spending;
mod clone_spending;
mod discovery;
mod graphs;
mod histories;
mod library;
mod ordering;
mod own_runs_spending;
mod spending;
