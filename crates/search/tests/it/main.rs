//! Searching sessions of every agent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::print_stdout, reason = "`scripts/corpus` shows what was compared")]
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

mod encodings;
mod hits;
mod oracle;
mod oracle_queries;
mod queries;
mod random;
mod support;
