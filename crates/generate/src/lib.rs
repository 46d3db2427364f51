//! Synthetic Claude Code session trees of any size, with their ground truth.
//!
//! For benchmarks and for tests at scale: every record type, every version regime, both subagent
//! layouts, true project keys, realistic line lengths. Nothing is read from real sessions, and nothing
//! is faulty but a missing last newline here and there; faults have files of their own in `testdata/`.

mod agents;
mod asides;
mod bookkeeping;
mod calls;
mod clock;
mod describe;
mod disk;
mod era;
mod identifier;
mod json;
mod messages;
mod pools;
mod project_key;
mod prompts;
mod random;
mod results;
mod session;
mod source_file;
mod transcript;
mod tree;
mod truth;

pub use describe::describe;
pub use project_key::project_key;
pub use tree::{Plan, generate};
pub use truth::{Counts, FileTruth, Link, Truth, Usage};
