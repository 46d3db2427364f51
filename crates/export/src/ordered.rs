//! Many sessions, one document each, in order.
//!
//! Documents are made on all threads and handed on one after the other, so that the output does not
//! depend on which thread was first.

use crate::document::{Document, Figures};
use crate::input::Input;
use crate::options::{OnUnknown, Options, Secrets};
use crate::states::Skipped;
use backstory_model::Notice;
use backstory_redact::Report;
use backstory_session::parallel::{self, Progress};
use backstory_session::select::SessionRef;
use backstory_store::{ReadContext, Store, StoreError};
use std::path::PathBuf;

/// What to export and how.
#[derive(Debug, Clone, Copy)]
pub struct Export<'a> {
    /// In the order in which their documents are handed on.
    pub sessions: &'a [SessionRef<'a>],
    /// What the documents depend on.
    pub options: Options<'a>,
    /// Whether they are taken out.
    pub secrets: Secrets<'a>,
    /// What they are read through.
    pub store: &'a Store,
    /// Whether versions outside the wanted range end it.
    pub on_unknown: OnUnknown,
}

/// What became of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is where it belongs.
    Written,
    /// It has no place and does not count.
    Refused,
}

/// Why an export ended early.
#[derive(Debug)]
pub enum Stopped<E> {
    /// A session has messages of versions outside the wanted range.
    OutsideVersions {
        /// The session's file.
        path: PathBuf,
        /// Those outside.
        versions: Vec<String>,
    },
    /// A document could not be put where it belongs.
    Put(E),
}

/// Sums over all sessions of an export.
#[derive(Debug, Default)]
pub struct Totals {
    /// Sessions of which a document was written.
    pub sessions: u64,
    /// Sessions in which nothing was said, for which nothing is written.
    pub empty: u64,
    /// What their documents take.
    pub bytes: u64,
    /// What the documents hold and what was left out.
    pub figures: Figures,
    /// What was taken out.
    pub redacted: Report,
}

impl Totals {
    fn add(&mut self, document: &Document) {
        self.sessions += 1;
        self.bytes += document.bytes();
        self.figures.add(&document.figures);
        self.redacted.add(&document.redacted);
    }

    /// A session of which nothing is written still counts.
    fn add_empty(&mut self, document: &Document) {
        self.empty += 1;
        let (states, census) = (document.figures.states.clone(), document.figures.census.clone());
        self.figures.add(&Figures { states, census, ..Figures::default() });
    }

    /// Messages of models without a state, for a reason.
    pub fn skipped(&self, reason: Skipped) -> u64 {
        self.figures.states.skipped(reason)
    }
}

/// A session's document, or why there is none.
type WriteOutput = Result<(Document, Vec<StoreError>), StoreError>;

impl Export<'_> {
    fn make(&self, session: SessionRef<'_>, context: &mut ReadContext) -> WriteOutput {
        let format = self.options.format;
        let (mut material, failures) = match session {
            SessionRef::Session(files) => Input::read(files, format, self.secrets, context)?,
            SessionRef::Agent(file) => {
                (Input::read_stray(file, format, self.secrets, context)?, Vec::new())
            }
        };
        Ok((material.export(&self.options, self.secrets)?, failures))
    }

    fn refuses(&self, document: &Document) -> bool {
        self.on_unknown == OnUnknown::Fail && !document.figures.states.outside.is_empty()
    }

    /// Hands every document that is not empty to `put`, in the order of the sessions.
    pub fn each<E: Send>(
        &self,
        progress: &dyn Progress,
        mut put: impl FnMut(SessionRef<'_>, &mut Document) -> Result<Put, E> + Send,
    ) -> Result<(Totals, Vec<Notice>), Stopped<E>> {
        progress.begin(self.sessions.iter().map(SessionRef::total_bytes).sum());
        let mut totals = Totals::default();
        let mut notices: Vec<Notice> = Vec::new();
        let mut stopped = None;
        parallel::ordered(
            self.sessions,
            // Most of a session's content is fetched right after it was read.
            || ReadContext::new(&self.store.holding()),
            |context, session| {
                let made = self.make(*session, context);
                context.store.release();
                progress.add(session.total_bytes());
                (*session, made)
            },
            |(_, made)| made.as_ref().map_or(0, |(document, _)| document.memory()),
            |(session, made)| {
                match made {
                    Err(error) => notices.push(Notice::from(&error)),
                    Ok((document, failures)) if document.is_empty => {
                        notices.extend(failures.iter().map(Notice::from));
                        add_once(&mut notices, document.refused.as_ref());
                        totals.add_empty(&document);
                    }
                    Ok((document, _)) if self.refuses(&document) => {
                        let versions = document.figures.states.outside.keys().cloned().collect();
                        let path = session.path().to_path_buf();
                        stopped = Some(Stopped::OutsideVersions { path, versions });
                        return false;
                    }
                    Ok((mut document, failures)) => {
                        notices.extend(failures.iter().map(Notice::from));
                        add_once(&mut notices, document.refused.as_ref());
                        match put(session, &mut document) {
                            Ok(Put::Written) => totals.add(&document),
                            Ok(Put::Refused) => {}
                            Err(error) => {
                                stopped = Some(Stopped::Put(error));
                                return false;
                            }
                        }
                    }
                }
                true
            },
        );
        progress.end();
        match stopped {
            Some(stopped) => Err(stopped),
            None => Ok((totals, notices)),
        }
    }
}

/// A repository that many sessions worked in is named once.
fn add_once(notices: &mut Vec<Notice>, notice: Option<&Notice>) {
    let known = |notice: &&Notice| notices.contains(notice);
    if let Some(notice) = notice.filter(|notice| !known(notice)) {
        notices.push(notice.clone());
    }
}
