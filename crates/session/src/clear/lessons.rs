//! Learning while a session is read for its model, so that its files are read and parsed once.
//!
//! Only records pass here. Where a file holds bytes that belong to no record, or was read twice
//! because somebody changed it, there is nothing to be had from it: then the files must be
//! [studied](super::study) after all.

use backstory_format::json::IdPaths;
use backstory_format::{Problem, ProblemId, Record};
use backstory_redact::Redactor;
use backstory_redact::Scrubber;
use std::cell::{Cell, RefCell};

/// What the files of one session teach.
#[derive(Debug)]
pub(crate) struct Lessons {
    scrubber: RefCell<Scrubber>,
    ids: &'static IdPaths,
    /// Whether everything in the files was seen, each once.
    whole: Cell<bool>,
    /// A file is being read.
    open: Cell<bool>,
}

/// What one file teaches.
#[derive(Debug)]
pub(crate) struct Lesson<'l>(&'l Lessons);

impl Lessons {
    pub(crate) fn new(redactor: &Redactor, ids: &'static IdPaths) -> Lessons {
        let scrubber = RefCell::new(redactor.session());
        Lessons { scrubber, ids, whole: Cell::new(true), open: Cell::new(false) }
    }

    /// For the next file.
    pub(crate) fn begin(&self) -> Lesson<'_> {
        if self.open.replace(true) {
            self.whole.set(false);
        }
        Lesson(self)
    }

    /// Everything that was learnt; none if something was not seen.
    pub(crate) fn learnt(self) -> Option<Scrubber> {
        (self.whole.get() && !self.open.get()).then(|| self.scrubber.into_inner())
    }
}

impl Lesson<'_> {
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        self.0.scrubber.borrow_mut().learn_value(record.value(), self.0.ids);
    }

    pub(crate) fn problem(&mut self, problem: &Problem) {
        let harmless = matches!(
            problem.id,
            ProblemId::MissingType
                | ProblemId::UnknownType
                | ProblemId::NoFinalNewline
                | ProblemId::SeveralRecords
        );
        if !harmless {
            self.0.whole.set(false);
        }
    }

    pub(crate) fn finish(&mut self) {
        self.0.open.set(false);
    }
}
