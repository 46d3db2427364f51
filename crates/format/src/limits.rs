//! How much of one file this crate is willing to hold at a time.
//!
//! Limits bound memory, not content: what exceeds one is kept as a byte span with a problem.

/// Bounds on a single record; every one can be overridden by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest line that is read, in bytes; a longer one is skipped with `too-long`.
    pub max_record: u64,
    /// Deepest nesting that is indexed; a deeper record is kept raw with `too-deep`.
    pub max_depth: u32,
    /// How often the bytes of a damaged line may be read again in search of whole records.
    pub salvage_effort: u32,
}

impl Limits {
    /// Spans inside a record are 32-bit, so no record may be longer than this.
    pub const MAX_RECORD_CEILING: u64 = u32::MAX as u64 - 1;

    /// The depth that is indexed where the caller does not say otherwise.
    pub const DEPTH: u32 = 1024;
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_record: 256 << 20, max_depth: Limits::DEPTH, salvage_effort: 4 }
    }
}
