//! Asking sessions.

use crate::copies;
use crate::hit::{Hit, HitSession, id_is_name};
use crate::judge::Judge;
use crate::matcher::Matcher;
use crate::raw::{Finder, WIDEST};
use crate::unit::{Member, Unit, each_unit, members};
use backstory_agents as agents;
use backstory_model::{FilePart, Notice, Session};
use backstory_redact::Redactor;
use backstory_session::clear::{ClearedCopy, CopyError};
use backstory_session::parallel::{self, Progress};
use backstory_session::select::{SessionRef, fold_sessions};
use backstory_store::{Ends, ReadContext, Store, StoreError, is_packed};
use std::cell::Cell;
use std::sync::Arc;

/// What to search, and how.
#[derive(Debug)]
pub struct Search<'a> {
    /// What to search for.
    pub matcher: &'a Matcher,
    /// What sessions are read through.
    pub store: &'a Store,
    /// Lines on both sides of a match; the lines with matches if none.
    pub context: Option<usize>,
    /// Redacts what is found. Sessions with hits are searched again without their secrets.
    pub redactor: Option<&'a Redactor>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Every message once, in no particular order.
    pub hits: Vec<Hit>,
    /// Files that could not be read.
    pub notices: Vec<Notice>,
}

/// Why a session could not be searched.
#[derive(Debug, thiserror::Error)]
enum SearchError {
    #[error(transparent)]
    Read(#[from] StoreError),
    #[error(transparent)]
    Copy(#[from] CopyError),
}

/// Searches sessions on all threads.
pub fn search(sessions: &[SessionRef<'_>], search: &Search<'_>, progress: &dyn Progress) -> Found {
    let mut copies_failed = Vec::new();
    let ((hits, failed), mut notices) = fold_sessions(
        sessions,
        search.store,
        progress,
        || (Vec::new(), Vec::new()),
        |(hits, failed): &mut (Vec<Hit>, Vec<Notice>), _, session, _| match search.session(session)
        {
            Ok((found, failures)) => {
                hits.extend(found);
                Ok(failures)
            }
            Err(SearchError::Read(error)) => Err(error),
            Err(SearchError::Copy(error)) => {
                failed.push(Notice::failed(session.path(), error.to_string()));
                Ok(Vec::new())
            }
        },
        |(hits, failed), (more, others)| {
            hits.extend(more);
            failed.extend(others);
        },
    );
    copies_failed.extend(failed);
    notices.extend(copies_failed);
    Found { hits: copies::once_each(hits), notices }
}

/// Searches sessions on all threads and hands on the hits of each, in the order of the sessions, as
/// soon as those before it are searched. Copies of a message are handed on like any other. `take`
/// says whether to go on.
pub fn search_in_order(
    sessions: &[SessionRef<'_>],
    search: &Search<'_>,
    take: impl FnMut(Found) -> bool + Send,
) {
    parallel::ordered(
        sessions,
        || (),
        |(), session| match search.session(*session) {
            Ok((hits, failures)) => {
                Found { hits, notices: failures.iter().map(Notice::from).collect() }
            }
            Err(error) => {
                let notice = match &error {
                    SearchError::Read(error) => Notice::from(error),
                    SearchError::Copy(error) => Notice::failed(session.path(), error.to_string()),
                };
                Found { hits: Vec::new(), notices: vec![notice] }
            }
        },
        |found| found.hits.len() as u64 * 1_024,
        take,
    );
}

type Searched = Result<(Vec<Hit>, Vec<StoreError>), SearchError>;

impl Search<'_> {
    fn session(&self, session: SessionRef<'_>) -> Searched {
        if !self.may_match(session) {
            return Ok((Vec::new(), Vec::new()));
        }
        // What is read is searched right away, so the files stay in memory.
        let context = &mut ReadContext::new(&self.store.holding());
        let (read, failures) = match session {
            SessionRef::Session(files) => agents::read(files, context)?,
            SessionRef::Agent(file) => (agents::read_stray(file, context)?, Vec::new()),
        };
        let hits = self.hits(&read)?;
        let Some(redactor) = self.redactor.filter(|_| !hits.is_empty()) else {
            return Ok((hits, failures));
        };
        let copy = match session {
            SessionRef::Session(files) => ClearedCopy::of(files, redactor, self.store)?,
            SessionRef::Agent(file) => ClearedCopy::of_agent(file, redactor)?,
        };
        let (mut cleared, _) = match (copy.session(), copy.agents().get()) {
            (Some(files), _) => agents::read(files.get(), context)?,
            (None, [agent, ..]) => (agents::read_stray(agent, context)?, Vec::new()),
            (None, []) => return Ok((Vec::new(), failures)),
        };
        let mut hits = self.hits(&cleared)?;
        copy.name_origins(&mut cleared);
        let session = Arc::new(HitSession::of(&cleared));
        for hit in &mut hits {
            // Places in the copy are not those in the file.
            hit.offset = None;
            hit.path = session.path.as_path().into();
            hit.session = session.clone();
        }
        Ok((hits, failures))
    }

    /// Whether the names and the bytes of a session's files allow for a hit.
    fn may_match(&self, session: SessionRef<'_>) -> bool {
        let (agent, subagents) = match session {
            SessionRef::Session(files) => (files.agent, files.agents.as_slice()),
            SessionRef::Agent(file) => (file.agent, std::slice::from_ref(file)),
        };
        let ids: Vec<&str> =
            std::iter::once(session.id()).chain(subagents.iter().map(|one| &*one.id)).collect();
        let known = id_is_name(agent) && matches!(session, SessionRef::Session(_));
        if !self.matcher.may_be_of(agent, &ids, known) {
            return false;
        }
        if self.matcher.finders.is_empty() {
            return true;
        }
        let own = match session {
            SessionRef::Session(files) => agents::files_of(files, self.store),
            SessionRef::Agent(_) => Vec::new(),
        };
        let theirs = subagents.iter().map(|one| FilePart { path: one.path.clone(), part: None });
        let missing = Missing::new(&self.matcher.finders, self.store);
        // What cannot be searched is reported by the reading.
        own.into_iter().chain(theirs).any(|file| missing.search(&file).unwrap_or(true))
    }

    fn hits(&self, root: &Session) -> Result<Vec<Hit>, StoreError> {
        let session = Arc::new(HitSession::of(root));
        let judge = Judge::new(self.matcher, root);
        let mut hits = Vec::new();
        for member in members(root) {
            let mut reader = member.session.source.open()?;
            let mut look = |member: Member<'_>, unit: Unit<'_>| {
                if let Some(segments) = judge.judge(member, &unit, &mut reader)? {
                    let (matcher, context) = (self.matcher, self.context);
                    hits.extend(Hit::new(matcher, &session, member, &unit, &segments, context));
                }
                Ok::<(), StoreError>(())
            };
            let is_root = std::ptr::eq(member.session, root);
            if let Some(title) = Unit::title(root, self.matcher.fields).filter(|_| is_root) {
                look(member, title)?;
            }
            each_unit(member, |unit| look(member, unit))?;
        }
        Ok(hits)
    }
}

/// Letters that were not found yet.
struct Missing<'m> {
    finders: &'m [Finder],
    store: &'m Store,
    found: Cell<u64>,
}

impl<'m> Missing<'m> {
    fn new(finders: &'m [Finder], store: &'m Store) -> Missing<'m> {
        Missing { finders, store, found: Cell::new(0) }
    }

    /// Searches a file for what is missing; whether nothing is any more.
    fn search(&self, file: &FilePart) -> Result<bool, StoreError> {
        if is_packed(&file.path)? {
            let loaded = self.store.load(&file.path, file.part.clone())?;
            return Ok(self.look(&loaded.bytes));
        }
        let part = file.part.clone().unwrap_or(0..u64::MAX);
        Ends::open(&file.path)?.any(part.start, part.end, WIDEST, |bytes| self.look(bytes))
    }

    fn look(&self, bytes: &[u8]) -> bool {
        let mut all = true;
        for (at, finder) in self.finders.iter().enumerate() {
            let bit = 1 << at;
            if self.found.get() & bit == 0 {
                if finder.may_be_in(bytes) {
                    self.found.set(self.found.get() | bit);
                } else {
                    all = false;
                }
            }
        }
        all
    }
}
