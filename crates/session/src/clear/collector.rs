//! Learning while a session is read for its model, so that its files are read and parsed once.
//!
//! Only records pass here. Where a file holds bytes that belong to no record, or was read twice
//! because it was changed, the collector knows too little: then the files must be
//! [studied](super::study) after all.

use backstory_format::json::IdPaths;
use backstory_format::{Problem, ProblemId, Record};
use backstory_model::RecordObserver;
use backstory_redact::{Redactor, Scrubber};
use std::path::Path;

/// Learns the secrets of one session from the records of its files.
#[derive(Debug)]
pub struct SecretCollector {
    scrubber: Scrubber,
    ids: &'static IdPaths,
    /// Whether everything in the files was seen, each once.
    whole: bool,
    /// A file is being read.
    open: bool,
}

impl SecretCollector {
    /// A collector that leaves alone what is at `ids`.
    pub fn new(redactor: &Redactor, ids: &'static IdPaths) -> SecretCollector {
        SecretCollector { scrubber: redactor.session(), ids, whole: true, open: false }
    }

    /// Everything that was learnt; none if something was not seen.
    pub fn learnt(self) -> Option<Scrubber> {
        (self.whole && !self.open).then_some(self.scrubber)
    }
}

impl RecordObserver for SecretCollector {
    fn begin(&mut self, _: &Path) {
        self.whole &= !self.open;
        self.open = true;
    }

    fn record(&mut self, record: &Record<'_>) {
        self.scrubber.learn_value(record.value(), self.ids);
    }

    fn problem(&mut self, problem: &Problem) {
        let harmless = matches!(
            problem.id,
            ProblemId::MissingType
                | ProblemId::UnknownType
                | ProblemId::NoFinalNewline
                | ProblemId::SeveralRecords
        );
        self.whole &= harmless;
    }

    fn end(&mut self, _: &Path) {
        self.open = false;
    }
}
