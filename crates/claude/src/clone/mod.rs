//! Trimmed copies of sessions that really resume.
//!
//! A clone is the source's bytes with some records left out and some spans replaced; nothing is
//! written again. This module says what can be asked for ([`Options`], [`Preset`]), how texts are
//! compressed ([`Engine`]) and what came of it ([`Report`]); how it is
//! made is in [`make`]. The surprising part: the result is checked as a stranger's file
//! would be, by reading it again, before it gets its name.

mod engine;
mod make;
mod offline;
mod options;
mod presets;
mod report;
mod verify;

pub use engine::{Answer, Engine, Offline, Piece, SHORTEST, Speaker};
pub use options::{
    Band, Branches, Droppable, Level, Older, Options, Speakers, Start, Subagents, Thinking,
    ToolMode, Tools, UpTo, overlap,
};
pub use presets::Preset;
pub use report::{Amount, Category, CloneError, Counts, Estimate, Reason, Report, Size, Source};
pub use verify::{Lineage, LineageSource, Proof, Verified};

use backstory_model::SessionFiles;
use backstory_store::Store;
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// A clone to be made.
#[derive(Debug, Clone)]
pub struct Order<'a> {
    /// The session to clone.
    pub files: &'a SessionFiles,
    /// What to keep.
    pub options: &'a Options,
    /// The id of the new session; the ids of its records follow from it.
    pub id: &'a str,
    /// The time of the clone.
    pub now: Timestamp,
    /// The file to write.
    pub target: PathBuf,
    /// Limits for reading.
    pub store: &'a Store,
}

/// Whether the clone is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Write the clone.
    Write,
    /// Everything is done but for the files.
    Dry,
}

/// Makes a clone. The source is only read; the target appears whole or not at all, and never in
/// place of another file.
pub fn clone(order: &Order<'_>, engine: &dyn Engine, run: Run) -> Result<Report, CloneError> {
    if let Some((one, two)) = overlap(&order.options.bands) {
        return Err(CloneError::Overlap(one, two));
    }
    make::make_clone(order, engine, run)
}

/// Finds the files of the session at a path.
pub type Find<'f> = &'f dyn Fn(&Path) -> Option<SessionFiles>;

/// Proves a clone: whether it would resume, and whether it is what its lineage says. `find` looks for
/// the session that it was made from.
pub fn verify(files: &SessionFiles, store: &Store, find: Find<'_>) -> Result<Verified, CloneError> {
    make::verify_clone(files, store, find)
}
