//! Gemini CLI: one file per session, of lines since 0.39, one document before, and a file for each
//! subagent in a folder that is called by the session's id.
//!
//! A message is written several times under one id: first without its calls, then with them and
//! their results; the fullest counts. A resumed session writes its whole history again without tokens,
//! models and calls, so only messages that are new are taken from such a list.

mod agent;
mod history;
mod subagents;
mod tell;
mod tools;

use crate::common::{Cite, Draft, document, parse};
use crate::reader::ReadSession;
use agent::AGENT;
pub(crate) use agent::GeminiCli;
use backstory_format::Problem;
use backstory_format::json::{Tape, Value};
use backstory_format::line::split;
use backstory_model::{Problems, Session, SessionFiles};
use backstory_store::{Store, StoreError};
use history::History;
use tell::Telling;

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
    Ok(Telling::new(draft, files).finish(history))
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
    let session = &mut draft.session;
    session.file.modified = loaded.state.modified;
    let mut records: Vec<(u64, u64, &[u8], Tape)> = Vec::new();
    let mut at = 0;
    for line in split(&loaded.bytes) {
        let offset = at;
        at += line.width() as u64;
        session.file.lines += 1;
        if line.content.trim_ascii().is_empty() {
            session.file.blank_lines += 1;
            continue;
        }
        let number = session.file.lines;
        let mut problems = Problems::default();
        let tape = parse(line.content, offset, store.limits(), &mut problems);
        for problem in problems.listed() {
            session.problems.push(Problem { line: number, ..problem.clone() });
        }
        session.file.bad_lines += u64::from(tape.is_none());
        records.extend(tape.map(|tape| (number, offset, line.content, tape)));
    }
    session.file.bytes = at;
    let mut history = History::default();
    for (number, offset, bytes, tape) in &records {
        let value: Option<Value<'_>> = tape.root(bytes);
        if let Some(value) = value {
            history.record(*number, value, Cite::at(*offset));
        }
    }
    Ok(Telling::new(draft, files).finish(history))
}
