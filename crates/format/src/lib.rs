//! Bytes to records and back, for the session files that Claude Code writes.
//!
//! This crate is the trust boundary: it accepts any bytes, never fails on content, and gives back
//! records (with the exact span they were read from) and [`Problem`]s. It does no I/O and knows
//! neither clock nor environment. What a record *means* is decided one layer up.
//!
//! The three steps: [`line`] gives every byte to exactly one line, [`Reader`] turns lines into
//! records and problems, [`json`] reads inside a record without copying or re-serialising it.
//! Changes are made with [`json::splice`], so whatever was not changed keeps its bytes.

pub mod claude;
mod content;
pub mod json;
pub mod limits;
pub mod line;
pub mod problem;
pub mod reader;
pub mod record;
mod record_kind;
pub mod slice;
mod uuid;

pub use content::{Content, Span};
pub use limits::Limits;
pub use problem::{Problem, ProblemId, Severity};
pub use reader::{Reader, Totals, Visitor, read_all};
pub use record::Record;
pub use uuid::is_uuid;
