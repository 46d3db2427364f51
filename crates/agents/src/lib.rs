//! One reader per agent; each turns that agent's files into the same model.

mod actions;
mod aider;
mod cline;
mod codex;
mod common;
mod detect;
mod ids;
mod mini_swe_agent;
mod openhands;
mod skim;
mod swe_agent;
mod swe_smith;

pub use actions::{actions, agent_meta, does, edits, reading};
pub use aider::HISTORY as AIDER_HISTORY;
use backstory_format::Limits;
use backstory_format::json::IdPaths;
use backstory_model::SessionFiles;
use backstory_model::{Agent, AgentFile, FilePart, RecordObserver, Session};
use backstory_store::StoreError;
pub use detect::{CLINE_TASK, Detected, Shape, detect, parts};
use std::path::Path;

/// Reads a session with all its subagents, whoever wrote it.
///
/// An agent file that cannot be read is left out and returned beside the session: one bad file
/// never hides the others.
pub fn read(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<(Session, Vec<StoreError>), StoreError> {
    read_observed(files, limits, buffer, &mut ())
}

/// [`read`] with somebody who looks at the records of files that hold records.
pub fn read_observed(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
    observer: &mut dyn RecordObserver,
) -> Result<(Session, Vec<StoreError>), StoreError> {
    match files.agent {
        Agent::ClaudeCode => backstory_claude::read(files, limits, buffer, observer),
        _ => read_alone(files, limits, buffer).map(|session| (session, Vec::new())),
    }
}

/// Reads a session without its subagents.
pub fn read_alone(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<Session, StoreError> {
    let mut session = match files.agent {
        Agent::ClaudeCode => return backstory_claude::read_alone(files, limits, buffer),
        Agent::Codex => codex::read(files, limits, buffer)?,
        Agent::OpenHands => openhands::read(files, limits)?,
        Agent::SweAgent => swe_agent::read(files, limits)?,
        Agent::MiniSweAgent => mini_swe_agent::read(files, limits)?,
        Agent::SweSmith => swe_smith::read(files, limits)?,
        Agent::Aider => aider::read(files)?,
        Agent::Cline => cline::read(files, limits)?,
    };
    session.project_key = files.project_key.clone();
    Ok(session)
}

/// Reads a subagent's file by itself.
pub fn read_stray(
    file: &AgentFile,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<Session, StoreError> {
    read_stray_observed(file, limits, buffer, &mut ())
}

/// [`read_stray`] with somebody who looks at the records.
pub fn read_stray_observed(
    file: &AgentFile,
    limits: Limits,
    buffer: &mut Vec<u8>,
    observer: &mut dyn RecordObserver,
) -> Result<Session, StoreError> {
    backstory_claude::read_stray(file, limits, buffer, observer)
}

/// Every file that a session is read from, its own (or its first) in front, subagents apart.
pub fn files_of(files: &SessionFiles) -> Vec<FilePart> {
    let own = || FilePart { path: files.path.clone(), part: files.part.clone() };
    let whole = |path| FilePart { path, part: None };
    match files.agent {
        Agent::OpenHands if files.path.is_dir() => {
            openhands::files_of(&files.path).into_iter().map(whole).collect()
        }
        Agent::Cline => cline::files_of(&files.path).into_iter().map(whole).collect(),
        Agent::Codex => {
            let before = codex::files_before(&files.path).into_iter();
            let before = before.map(|(path, part)| FilePart { path, part });
            std::iter::once(own()).chain(before).collect()
        }
        _ => vec![own()],
    }
}

/// Whether a folder is one conversation of an agent that writes each event into a file.
pub fn is_conversation(folder: &Path) -> bool {
    openhands::is_conversation(folder)
}

/// Where an agent's records hold ids: what redaction leaves alone.
pub fn structural_paths(agent: Agent) -> IdPaths {
    match agent {
        Agent::ClaudeCode => backstory_claude::structural_paths(),
        Agent::Codex => ids::codex(),
        Agent::OpenHands => ids::openhands(),
        Agent::SweAgent => ids::swe_agent(),
        Agent::MiniSweAgent => ids::mini_swe_agent(),
        Agent::SweSmith => ids::swe_smith(),
        // Markdown has no fields.
        Agent::Aider => IdPaths::default(),
        Agent::Cline => ids::cline(),
    }
}

/// What an agent's files cannot tell, for people who would look for it.
pub fn unread(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::ClaudeCode => &backstory_claude::UNREAD,
        Agent::Codex => &codex::UNREAD,
        Agent::OpenHands => &openhands::UNREAD,
        Agent::SweAgent => &swe_agent::UNREAD,
        Agent::MiniSweAgent => &mini_swe_agent::UNREAD,
        Agent::SweSmith => &swe_smith::UNREAD,
        Agent::Aider => &aider::UNREAD,
        Agent::Cline => &cline::UNREAD,
    }
}
