//! What Claude Code puts into its records: kinds, the envelope, messages, tool results.
//!
//! Every reader here is lenient: a field of the wrong JSON type is absent and reported, never an
//! error. Facts about versions cite what real files contained.

mod envelope;
mod message;
mod tool_result;

pub use crate::record_kind::{RecordKind, is_transcript};
pub use envelope::{Envelope, Flags};
pub use message::{Block, BlockKind, Message, Usage, blocks};
pub use tool_result::{Outcome, outcome};
