//! What there is to take out of an export: learnt from every file of the session before the first
//! byte is written.
//!
//! All of the files, not only what the format has a place for: a password that only a record of
//! bookkeeping shows in plain text may be elsewhere in another form.

use backstory_agents::{Observed, reader};
use backstory_format::json::Tape;
use backstory_model::{Session, SessionFiles};
use backstory_redact::Scrubber;
use backstory_session::clear::{CopyError, study, study_documents};
use backstory_store::StoreError;
use std::path::Path;

/// Learns from the files of a session; `files` are those of a session that is not records.
pub(super) fn learn(
    session: &Session,
    files: Option<&SessionFiles>,
    scrubber: &mut Scrubber,
) -> Result<(), StoreError> {
    let reader = reader(session.agent);
    if reader.observed() == Observed::Nothing {
        return learn_documents(session, files, scrubber);
    }
    let mut paths: Vec<&Path> = Vec::new();
    for member in session.walk() {
        // Older clients wrote subagents into the session's own file.
        let path = member.source.path();
        if !paths.contains(&path) {
            paths.push(path);
            read(path, study(scrubber, path, reader.id_fields()).map(drop))?;
        }
    }
    learn_names(session, scrubber);
    Ok(())
}

/// Learns from what is not in the records of a session.
pub(super) fn learn_names(session: &Session, scrubber: &mut Scrubber) {
    let ids = reader(session.agent).id_fields();
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
fn learn_documents(
    session: &Session,
    files: Option<&SessionFiles>,
    scrubber: &mut Scrubber,
) -> Result<(), StoreError> {
    let (path, store) = (session.source.path(), session.source.store());
    match files {
        Some(files) => read(path, study_documents(scrubber, files, store).map(drop))?,
        None => {
            let ids = reader(session.agent).id_fields();
            scrubber.learn_line(&store.load(path, None)?.bytes, ids, &mut Tape::new());
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
