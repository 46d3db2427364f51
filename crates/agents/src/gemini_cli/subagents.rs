//! Subagents: files in a folder next to the session's, which is called by the session's id.

use super::agent::AGENT;
use super::read_alone;
use backstory_model::{Evidence, Parent, Session, SessionFiles, SessionKind};
use backstory_store::{Store, StoreError};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The subagents' files of the session with this file and id.
pub(super) fn files(path: &Path, id: &str) -> Vec<PathBuf> {
    let folder = path.with_file_name(id);
    if id.is_empty() || folder == path {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_own = |path: &PathBuf| path.extension() == Some(OsStr::new("jsonl")) && path.is_file();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_own).collect();
    files.sort();
    files
}

/// Reads them and puts them below the session, and returns those that cannot be read.
pub(super) fn add(session: &mut Session, own: &SessionFiles, store: &Store) -> Vec<StoreError> {
    let mut failures = Vec::new();
    for path in files(&own.path, &session.id) {
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let files = SessionFiles { id, path, agent: AGENT, part: None, ..own.clone() };
        match read_alone(&files, store) {
            Ok(mut child) => {
                let calls = session.turns.iter().flat_map(|turn| turn.calls());
                let mut starts =
                    calls.filter(|call| call.subagent.as_deref() == Some(child.id.as_str()));
                let call = starts.next().and_then(|call| call.id.clone());
                let evidence = call.is_some().then_some(Evidence::Result);
                child.kind = SessionKind::Task;
                child.parent = Some(Parent { session: session.id.as_str().into(), call, evidence });
                session.subagents.push(child);
            }
            Err(error) => failures.push(error),
        }
    }
    session.subagents.sort_by(|a, b| (a.started, &a.id).cmp(&(b.started, &b.id)));
    failures
}
