//! Gemini CLI: one file per session, of lines since 0.39, one document before, and a file for each
//! subagent in a folder that is called by the session's id.
//!
//! A message is written several times under one id: first without its calls, then with them and
//! their results; the fullest counts. A resumed session writes its whole history again without tokens,
//! models and calls, so only messages that are new are taken from such a list.

mod agent;
mod history;
mod subagents;
mod tools;
mod turns;

use crate::common::{Draft, document, json_lines};
use crate::reader::ReadSession;
use agent::AGENT;
pub(crate) use agent::GeminiCli;
use backstory_model::{Session, SessionFiles};
use backstory_store::{Store, StoreError};
use history::History;
use turns::TurnReader;

/// Reads a session without its subagents.
fn read_alone(files: &SessionFiles, store: &Store) -> Result<Session, StoreError> {
    if files.path.extension().is_some_and(|end| end == "jsonl") {
        return lines(files, store);
    }
    let mut document = document(&files.path, files.part.clone(), store)?;
    let draft = document.draft(AGENT, files);
    let mut history = History::default();
    if let Some(value) = document.value() {
        history.header(value);
        let messages = value.get("messages");
        for (message, number) in messages.iter().flat_map(|list| list.items()).zip(1..) {
            history.record(number, message, document.cite());
        }
    }
    Ok(TurnReader::new(draft, files).finish(history))
}

/// Reads a session with its subagents.
fn read(files: &SessionFiles, store: &Store) -> Result<ReadSession, StoreError> {
    let mut session = read_alone(files, store)?;
    let failures = subagents::add(&mut session, files, store);
    Ok((session, failures))
}

fn lines(files: &SessionFiles, store: &Store) -> Result<Session, StoreError> {
    let loaded = store.load(&files.path, None)?;
    let mut draft = Draft::new(AGENT, files.id.clone(), loaded.source(&files.path));
    let lines = json_lines(&loaded, store.limits(), &mut draft.session);
    let mut history = History::default();
    for line in &lines {
        if let Some(value) = line.value() {
            history.record(line.number, value, line.cite());
        }
    }
    Ok(TurnReader::new(draft, files).finish(history))
}
