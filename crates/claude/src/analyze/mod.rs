//! The format's specification, from the data itself.
//!
//! Three layers. While files are read, a [`Collector`] counts the shape of every record and the
//! agent's reader counts what records do together ([`FileFigures`]). An [`Analysis`] adds all of it
//! up by client version. From that come the [`document`](report), a [`Profile`] (the part that is
//! about the format and not about user data) and the differences between two profiles.
//! Counts are kept, never values; memory does not grow with the data.

mod analysis;
mod collect;
mod counts;
mod others;
mod profile;
pub mod report;
mod routes;
mod sample;
mod shape;
mod values;
mod versions;

pub use analysis::{AmbiguousRecord, Analysis, Grouping, Part, References, SessionRow};
pub use collect::{Collector, Examined};
pub use counts::Counts;
pub use others::Others;
pub use profile::{Difference, DifferenceKind, Profile, ProfileError};
pub use sample::Samples;
pub use shape::{Field, Node, Place, Shapes, Type};
pub use values::{Format, Values};
pub use versions::{Version, is_version, version_range};

/// Whose record it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The session itself.
    Main,
    /// A subagent.
    Agent,
}

/// A record that could be read in more than one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ambiguity {
    /// The line of the record.
    pub line: u64,
    /// Why it is ambiguous.
    pub why: &'static str,
}

/// What records of one file do together.
#[derive(Debug, Clone, Default)]
pub struct FileFigures {
    /// By client version as written.
    pub counts: Vec<(Box<str>, Scope, Counts)>,
    /// Ambiguous records, the first of them.
    pub ambiguous: Vec<Ambiguity>,
    /// All ambiguous records.
    pub ambiguous_count: u64,
    /// Hashes of the uuids of all records, and of those that are named as parent or as a title's
    /// record but are not here.
    pub uuids: Vec<u64>,
    /// Parents that are not in the file.
    pub missing: Vec<u64>,
    /// Records that titles name and that are not in the file.
    pub leaves: Vec<u64>,
    /// How many records that titles name are in the file.
    pub leaves_here: u64,
}

/// A name from the data that is safe to show: short, one line, no control characters.
pub(crate) fn clean_name(name: &str) -> String {
    const MAX: usize = 60;
    let safe = backstory_text::escape::terminal_line(name);
    let mut short: String = safe.chars().take(MAX).collect();
    if safe.chars().nth(MAX).is_some() {
        short.push('…');
    }
    short
}
