//! One reader per agent; each turns that agent's files into the same model.

mod aider;
pub mod claude_code;
mod cline;
mod codex;
mod common;
mod detect;
mod mini_swe_agent;
mod openhands;
mod swe_agent;
mod swe_smith;

use crate::model::{Agent, Session};
use crate::redact::StructuralPaths;
use crate::store::{SessionFiles, StoreError};
use backstory_format::Limits;
pub(crate) use detect::{Shape, detect, parts};
use std::path::PathBuf;

/// Reads a session with all its subagents, whoever wrote it.
///
/// An agent file that cannot be read is left out and returned beside the session: one bad file
/// never hides the others.
pub fn read(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<(Session, Vec<StoreError>), StoreError> {
    match files.agent {
        Agent::ClaudeCode => claude_code::read(files, limits, buffer),
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
        Agent::ClaudeCode => return claude_code::read_alone(files, limits, buffer),
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

/// Every file that a session is read from, its own (or its first) in front. What a rollout of Codex
/// continues in another file is not among them.
pub(crate) fn files_of(files: &SessionFiles) -> Vec<PathBuf> {
    match files.agent {
        Agent::OpenHands if files.path.is_dir() => openhands::files_of(&files.path),
        Agent::Cline => cline::files_of(&files.path),
        _ => vec![files.path.clone()],
    }
}

/// Where an agent's records hold ids: what redaction leaves alone.
pub fn structural_paths(agent: Agent) -> StructuralPaths {
    /// Fields that link calls with results and sessions with each other, in whatever they stand.
    const LINKS: [&str; 16] = [
        "id",
        "timestamp",
        "payload.id",
        "payload.session_id",
        "**.call_id",
        "**.tool_call_id",
        "**.tool_call_ids",
        "**.tool_use_id",
        "**.turn_id",
        "**.llm_response_id",
        "**.action_id",
        "**.instance_id",
        "**.traj_id",
        "**.sessionId",
        "messages.id",
        "messages.tool_calls.id",
    ];
    match agent {
        Agent::ClaudeCode => claude_code::structural_paths(),
        _ => StructuralPaths::new(LINKS),
    }
}

/// What an agent's files cannot tell, for people who would look for it.
pub fn unread(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::ClaudeCode => &claude_code::UNREAD,
        Agent::Codex => &codex::UNREAD,
        Agent::OpenHands => &openhands::UNREAD,
        Agent::SweAgent => &swe_agent::UNREAD,
        Agent::MiniSweAgent => &mini_swe_agent::UNREAD,
        Agent::SweSmith => &swe_smith::UNREAD,
        Agent::Aider => &aider::UNREAD,
        Agent::Cline => &cline::UNREAD,
    }
}
