//! Looking at records while a session is read, so that its files are read and parsed once.

use backstory_format::{Problem, Record};
use std::path::Path;

/// Looks at the records of a session's files while they are read for its model.
///
/// The files come one after the other, the session's own first. A file that changes while it is
/// read begins a second time; one that cannot be read begins and never ends.
pub trait RecordObserver {
    /// A file is read from its beginning.
    fn begin(&mut self, path: &Path);

    /// The next record of the file.
    fn record(&mut self, record: &Record<'_>);

    /// Something is wrong with the file.
    fn problem(&mut self, problem: &Problem) {
        let _ = problem;
    }

    /// The file was read to its end.
    fn end(&mut self, path: &Path);
}

/// Looks at nothing.
impl RecordObserver for () {
    fn begin(&mut self, _: &Path) {}

    fn record(&mut self, _: &Record<'_>) {}

    fn end(&mut self, _: &Path) {}
}
