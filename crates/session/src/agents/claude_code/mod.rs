//! Claude Code: one JSON Lines file per session, more for its subagents.
//!
//! [`read`] gives the whole model of a session. The steps: [`collect`] makes a row per record in
//! one pass over the bytes; [`tree`], [`recovery`] and [`story`] find what belongs together and in
//! which order; [`turns`] and [`calls`] make the neutral model; [`linkage`] hangs subagents under
//! the calls that started them.

mod build;
mod calls;
mod collect;
mod facts;
mod family;
mod glance;
mod inline;
mod linkage;
mod names;
mod parts;
mod presence;
pub(crate) mod prompts;
mod queue;
mod recovery;
mod relatives;
mod rows;
mod story;
mod time;
mod titles;
mod told;
mod tree;
mod turns;

use crate::model::{Session, SessionKind};
use crate::store::{AgentFile, AgentPlace, SessionFiles, Source, StoreError, read_file};
use backstory_format::{Limits, ProblemId};
use build::{Origin, build};
pub(crate) use glance::{LONGEST_TITLE_MARKER, find_title, glance};
use linkage::Linkage;
pub use presence::{Presence, presence};
pub use relatives::relate;
use rows::Rows;

/// What a Claude Code file cannot tell, for people who would look for it.
pub const UNREAD: [&str; 2] = ["cost", "edits made outside the agent's tools"];

/// Reads a session with all its subagents.
///
/// An agent file that cannot be read is left out and returned beside the session: one bad file
/// never hides the others.
pub fn read(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<(Session, Vec<StoreError>), StoreError> {
    let (mut session, linkage) = read_main(files, limits, buffer)?;
    let mut failures = Vec::new();
    let mut agents = Vec::new();
    for file in &files.agents {
        match read_agent(file, files.project_key.clone(), limits, buffer) {
            Ok(agent) => agents.push(agent),
            Err(error) => failures.push(error),
        }
    }
    family::unite(&mut session, linkage, agents);
    Ok((session, failures))
}

/// Reads a session's own file, without its subagents.
pub fn read_alone(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<Session, StoreError> {
    read_main(files, limits, buffer).map(|(session, _)| session)
}

/// Reads a subagent's file by itself.
pub fn read_stray(
    file: &AgentFile,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<Session, StoreError> {
    read_agent(file, None, limits, buffer).map(|agent| agent.session)
}

fn read_main(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<(Session, Linkage), StoreError> {
    read_one(&files.path, buffer, limits, |source, modified| Origin {
        id: files.id.clone(),
        kind: SessionKind::Session,
        project_key: files.project_key.clone(),
        source,
        modified,
    })
}

fn read_agent(
    file: &AgentFile,
    project_key: Option<String>,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<family::Member, StoreError> {
    let (mut session, linkage) = read_one(&file.path, buffer, limits, |source, modified| Origin {
        id: file.id.clone(),
        kind: kind_by_place(file),
        project_key,
        source,
        modified,
    })?;
    let meta = file.meta.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    session.meta = meta.map(Into::into);
    family::refine_kind(&mut session);
    Ok(family::Member { session, linkage })
}

fn kind_by_place(file: &AgentFile) -> SessionKind {
    if file.id.starts_with("acompact-") {
        SessionKind::Compaction
    } else if file.id.starts_with("aprompt_suggestion-") {
        SessionKind::PromptSuggestion
    } else if file.place == AgentPlace::Workflow {
        SessionKind::Workflow
    } else {
        SessionKind::Task
    }
}

fn read_one(
    path: &std::path::Path,
    buffer: &mut Vec<u8>,
    limits: Limits,
    origin: impl FnOnce(Source, Option<jiff::Timestamp>) -> Origin,
) -> Result<(Session, Linkage), StoreError> {
    let read = read_file(path, limits, buffer, Rows::default)?;
    let mut rows = read.visitor;
    rows.totals = read.totals;
    if read.growing {
        rows.problems.remove(ProblemId::TornTail);
        rows.problems.remove(ProblemId::NoFinalNewline);
    }
    let source = Source::new(path, Some(read.state));
    Ok(build(&mut rows, origin(source, read.state.modified)))
}
