//! What there is to take out of an export: learnt from every file of the session before the first
//! byte is written.
//!
//! All of the files, not only what the format has a place for: a password that only a record of
//! bookkeeping shows in clear may stand elsewhere in another form.

use backstory_agents::structural_paths;
use backstory_format::json::IdPaths;
use backstory_format::json::Tape;
use backstory_model::SessionFiles;
use backstory_model::{Agent, Session};
use backstory_redact::Scrubber;
use backstory_session::clear::{CopyError, study, study_foreign};
use backstory_store::{StoreError, load};
use std::path::Path;
use std::sync::OnceLock;

/// Learns from the files of a session; `files` are those of another agent than Claude Code.
pub(super) fn learn(
    session: &Session,
    files: Option<&SessionFiles>,
    scrubber: &mut Scrubber,
) -> Result<(), StoreError> {
    if session.agent != Agent::ClaudeCode {
        return learn_foreign(session, files, scrubber);
    }
    let mut paths: Vec<&Path> = Vec::new();
    for member in session.walk() {
        // Older clients wrote subagents into the session's own file.
        let path = member.source.path();
        if !paths.contains(&path) {
            paths.push(path);
            read(path, study(scrubber, path, claude_code_ids()).map(drop))?;
        }
    }
    learn_names(session, scrubber);
    Ok(())
}

/// Fields of Claude Code's records that are ids.
pub(super) fn claude_code_ids() -> &'static IdPaths {
    static IDS: OnceLock<IdPaths> = OnceLock::new();
    IDS.get_or_init(|| structural_paths(Agent::ClaudeCode))
}

/// Learns from what is not in the records of Claude Code.
pub(super) fn learn_names(session: &Session, scrubber: &mut Scrubber) {
    let ids = claude_code_ids();
    for member in session.walk() {
        if let Some(meta) = &member.meta {
            scrubber.learn_line(meta.text.as_bytes(), ids, &mut Tape::new());
        }
        for text in member.project_key.iter().chain([&member.id]) {
            scrubber.learn(text);
        }
    }
}

/// Its files are documents of all kinds; without their names, the one it was read from is searched.
fn learn_foreign(
    session: &Session,
    files: Option<&SessionFiles>,
    scrubber: &mut Scrubber,
) -> Result<(), StoreError> {
    let (ids, path) = (structural_paths(session.agent), session.source.path());
    match files {
        Some(files) => read(path, study_foreign(scrubber, files, &ids).map(drop))?,
        None => {
            scrubber.learn_line(&load(path, None)?.bytes, &ids, &mut Tape::new());
        }
    }
    for text in session.project_key.iter().chain([&session.id]) {
        scrubber.learn(text);
    }
    Ok(())
}

fn read(path: &Path, studied: Result<(), CopyError>) -> Result<(), StoreError> {
    match studied {
        // No text of such a file is in the model either.
        Ok(()) | Err(CopyError::Utf16(_)) => Ok(()),
        Err(CopyError::Read(error)) => Err(error),
        Err(CopyError::Write(cause)) => Err(StoreError::Io { path: path.to_path_buf(), cause }),
    }
}
