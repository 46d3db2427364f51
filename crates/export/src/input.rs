//! A session read for an export.

use crate::document::{Document, make};
use crate::options::{Format, Options, Secrets};
use backstory_agents::{self as agents, Observed};
use backstory_format::{Problem, Record};
use backstory_model::{Agent, AgentFile, RecordObserver, Session, SessionFiles};
use backstory_redact::Scrubber;
use backstory_session::clear::SecretCollector;
use backstory_session::history::{CallCache, CallCacheBuilder};
use backstory_store::{ReadContext, StoreError};
use std::path::Path;

/// A session, what its calls say about files and what is to be taken out of it, taken down while it
/// was read: looking that up afterwards would mean to parse most of it a second time.
pub struct Input {
    pub session: Session,
    caches: Vec<CallCache<'static>>,
    /// Of a session of documents: the files it was read from.
    files: Option<SessionFiles>,
    /// What there is to take out, as far as reading told.
    learnt: Option<Scrubber>,
}

impl std::fmt::Debug for Input {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Input").field("session", &self.session).finish_non_exhaustive()
    }
}

/// The call cache covers every file.
fn every_file(_: &str) -> bool {
    true
}

impl Input {
    /// Reads a session with its subagents; agents that cannot be read are returned beside it. Where
    /// secrets are to be taken out they are failures: nobody can say what such a file holds, nor look
    /// for it elsewhere.
    pub fn read(
        files: &SessionFiles,
        format: Format<'_>,
        secrets: Secrets<'_>,
        context: &mut ReadContext,
    ) -> Result<(Input, Vec<StoreError>), StoreError> {
        let mut observer = Observer::new(files.agent, format, secrets);
        let (session, failures) = agents::read_observed(files, context, &mut observer)?;
        let failures = allowed(failures, secrets)?;
        let is_documents = agents::reader(files.agent).observed() == Observed::Nothing;
        let documents = is_documents.then(|| files.clone());
        Ok((observer.material(session, documents), failures))
    }

    /// The same for a subagent's file by itself.
    pub fn read_stray(
        file: &AgentFile,
        format: Format<'_>,
        secrets: Secrets<'_>,
        context: &mut ReadContext,
    ) -> Result<Input, StoreError> {
        let mut observer = Observer::new(file.agent, format, secrets);
        let session = agents::read_stray_observed(file, context, &mut observer)?;
        Ok(observer.material(session, None))
    }

    /// Makes a document of it. Nothing comes out when redaction or reading fails.
    pub fn export(
        &mut self,
        options: &Options<'_>,
        secrets: Secrets<'_>,
    ) -> Result<Document, StoreError> {
        let learnt = self.learnt.take();
        make(&self.session, self.files.as_ref(), learnt, &mut self.caches, options, secrets)
    }
}

/// What may be missing in an export.
fn allowed(
    mut missing: Vec<StoreError>,
    secrets: Secrets<'_>,
) -> Result<Vec<StoreError>, StoreError> {
    match (secrets, missing.is_empty()) {
        (Secrets::TakenOut(_), false) => Err(missing.swap_remove(0)),
        _ => Ok(missing),
    }
}

/// Looks at everything that an export wants to know of a file besides its model.
struct Observer {
    caches: Option<CallCacheBuilder<'static>>,
    secrets: Option<SecretCollector>,
}

impl Observer {
    fn new(agent: Agent, format: Format<'_>, secrets: Secrets<'_>) -> Observer {
        let reader = agents::reader(agent);
        let secrets = match (secrets, reader.observed()) {
            (Secrets::TakenOut(redactor), Observed::Records) => {
                Some(SecretCollector::new(redactor, reader.id_fields()))
            }
            // Documents are searched as a whole.
            (Secrets::TakenOut(_), Observed::Nothing) | (Secrets::Kept(_), _) => None,
        };
        let caches = format.needs_lines().then(|| CallCacheBuilder::new(&every_file));
        Observer { caches, secrets }
    }

    fn material(self, session: Session, files: Option<SessionFiles>) -> Input {
        let caches = self.caches.map(CallCacheBuilder::into_caches).unwrap_or_default();
        let learnt = self.secrets.and_then(SecretCollector::learnt);
        Input { session, caches, files, learnt }
    }

    fn each(&mut self) -> impl Iterator<Item = &mut dyn RecordObserver> {
        let caches = self.caches.as_mut().map(|caches| caches as &mut dyn RecordObserver);
        let secrets = self.secrets.as_mut().map(|secrets| secrets as &mut dyn RecordObserver);
        caches.into_iter().chain(secrets)
    }
}

impl RecordObserver for Observer {
    fn begin(&mut self, path: &Path) {
        self.each().for_each(|one| one.begin(path));
    }

    fn record(&mut self, record: &Record<'_>) {
        self.each().for_each(|one| one.record(record));
    }

    fn problem(&mut self, problem: &Problem) {
        self.each().for_each(|one| one.problem(problem));
    }

    fn end(&mut self, path: &Path) {
        self.each().for_each(|one| one.end(path));
    }
}
