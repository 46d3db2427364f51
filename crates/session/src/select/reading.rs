//! Reading many sessions on all threads.

use super::SessionRef;
use crate::discover::{Found, ProjectScope};
use crate::history::{mentions_any, search_needle};
use crate::parallel::{self, Progress};
use backstory_agents::{self as agents, Folders};
use backstory_model::{Notice, Session, SessionFiles, Summary};
use backstory_store::{ReadContext, Store, StoreError};
use rayon::prelude::*;
use std::sync::Arc;

impl Found {
    /// Reads every session with its subagents and keeps what `keep` makes of each.
    pub fn map_sessions<T: Send>(
        &self,
        progress: &dyn Progress,
        keep: impl Fn(&Session) -> T + Sync,
    ) -> (Vec<T>, Vec<Notice>) {
        let sessions: Vec<SessionRef<'_>> = self.sessions.iter().map(SessionRef::Session).collect();
        fold_sessions(
            &sessions,
            &self.store,
            progress,
            Vec::new,
            |kept, _, session, context| match session {
                SessionRef::Session(files) => {
                    let (session, failures) = agents::read(files, context)?;
                    kept.push(keep(&session));
                    Ok(failures)
                }
                SessionRef::Agent(_) => Ok(Vec::new()),
            },
            |all, more| all.extend(more),
        )
    }

    /// The quick row of every session.
    pub fn summaries(&self) -> (Vec<Summary>, Vec<Notice>) {
        let results: Vec<Result<Summary, Notice>> = self
            .sessions
            .par_iter()
            .map_init(
                || ReadContext::new(&self.store),
                |context, files| {
                    agents::summary(files, context).map_err(|error| Notice::from(&error))
                },
            )
            .collect();
        let mut rows = Vec::with_capacity(results.len());
        let mut notices = Vec::new();
        for result in results {
            match result {
                Ok(row) => rows.push(row),
                Err(failure) => notices.push(failure),
            }
        }
        (rows, notices)
    }

    /// The session that a row is of.
    pub fn files_of(&self, row: &Summary) -> Option<&SessionFiles> {
        let is_of = |files: &&SessionFiles| {
            files.path == row.path && (files.part.is_none() || files.id == row.id)
        };
        self.sessions.iter().find(is_of)
    }

    /// Sessions that worked inside one of these folders.
    pub fn worked_in(&self, scopes: &[ProjectScope]) -> Vec<&SessionFiles> {
        let holds = |cwd: &Arc<str>| scopes.iter().any(|scope| scope.holds(cwd));
        let inside = |context: &mut ReadContext, files: &&SessionFiles| {
            let row = agents::summary(files, context);
            row.is_ok_and(|row| row.cwd.as_ref().is_some_and(holds))
                || folder_inside(files, scopes, context).is_some()
        };
        let all: Vec<&SessionFiles> = self.sessions.iter().collect();
        let worked: Vec<bool> =
            all.par_iter().map_init(|| ReadContext::new(&self.store), inside).collect();
        all.into_iter().zip(worked).filter(|(_, inside)| *inside).map(|(files, _)| files).collect()
    }

    /// What is missing after all sessions were searched, of which these could not be read.
    pub fn missing(&self, failures: &[StoreError]) -> Vec<Notice> {
        self.notices.iter().cloned().chain(failures.iter().map(Notice::from)).collect()
    }
}

/// The folder inside one of these that a session worked in, if it did. Only a reading of all of it
/// knows every folder; what does not even hold a folder's name is not read.
pub fn folder_inside(
    files: &SessionFiles,
    scopes: &[ProjectScope],
    context: &mut ReadContext,
) -> Option<Arc<str>> {
    let roots = scopes.iter().flat_map(ProjectScope::roots);
    let names: Option<Vec<String>> =
        roots.map(|root| search_needle(root).map(str::to_owned)).collect();
    let written = agents::reader(files.agent).folders() == Folders::Written;
    if written && names.is_some_and(|names| !mentions_any(files, &names)) {
        return None;
    }
    let session = agents::read_alone(files, context).ok()?;
    session.cwds.into_iter().find(|cwd| scopes.iter().any(|scope| scope.holds(cwd)))
}

/// The quick rows of these sessions, the newest first; without those that cannot be read.
pub fn newest_first(sessions: &[&SessionFiles], store: &Store) -> Vec<Summary> {
    let mut context = ReadContext::new(store);
    let mut rows: Vec<Summary> =
        sessions.iter().filter_map(|files| agents::summary(files, &mut context).ok()).collect();
    rows.sort_by(|a, b| a.newest_first().cmp(&b.newest_first()));
    rows
}

/// Works on sessions on all threads: `step` gets what its thread has found so far, the item's place
/// in `sessions`, the item and what the thread reads with; `join` puts two findings together. What cannot be read
/// becomes a notice; those are in order of paths.
pub fn fold_sessions<A: Send>(
    sessions: &[SessionRef<'_>],
    store: &Store,
    progress: &dyn Progress,
    new: impl Fn() -> A + Sync,
    step: impl Fn(
        &mut A,
        usize,
        SessionRef<'_>,
        &mut ReadContext,
    ) -> Result<Vec<StoreError>, StoreError>
    + Sync,
    join: impl Fn(&mut A, A),
) -> (A, Vec<Notice>) {
    let items: Vec<(usize, SessionRef<'_>)> = sessions.iter().copied().enumerate().collect();
    progress.begin(items.iter().map(|(_, session)| session.total_bytes()).sum());
    let threads = parallel::fold(
        &items,
        |(_, session)| session.total_bytes(),
        || (new(), Vec::new(), ReadContext::new(store)),
        |(found, notices, context), (at, session)| {
            match step(found, *at, *session, context) {
                Ok(failures) => notices.extend(failures.iter().map(Notice::from)),
                Err(error) => notices.push(Notice::from(&error)),
            }
            progress.add(session.total_bytes());
        },
    );
    progress.end();
    let (mut all, mut notices) = (new(), Vec::new());
    for (found, more, _) in threads {
        join(&mut all, found);
        notices.extend(more);
    }
    notices.sort_by(|a: &Notice, b| a.path.cmp(&b.path));
    (all, notices)
}
