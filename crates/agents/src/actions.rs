//! What calls do: looked up by the reader of the agent that made them, or found while it read.

use backstory_claude::actions as claude_code;
use backstory_model::{Action, ActionKind, Agent, AgentMeta, Call, Effect, FileEdit, Reading};
use backstory_store::{SourceReader, StoreError};
use std::borrow::Cow;
use std::path::Path;

/// Whether a call does something of this kind.
pub fn does(agent: Agent, call: &Call, kind: ActionKind) -> bool {
    match (agent, call.name.as_deref()) {
        (Agent::ClaudeCode, Some(name)) => claude_code::kind(name) == kind,
        _ => call.effects.iter().any(|effect| ActionKind::of(effect) == kind),
    }
}

/// What a call asks for.
pub fn actions<'c>(
    agent: Agent,
    call: &'c Call,
    reader: &mut SourceReader,
) -> Result<Vec<Action<'c>>, StoreError> {
    match agent {
        Agent::ClaudeCode => Ok(claude_code::action(call, reader)?.into_iter().collect()),
        _ => Ok(call.effects.iter().map(Action::from).collect()),
    }
}

/// What a call did to files, or would have done had it not failed, with all that its result says.
pub fn edits<'c>(
    agent: Agent,
    call: &'c Call,
    reader: &mut SourceReader,
) -> Result<Vec<Cow<'c, FileEdit>>, StoreError> {
    if agent == Agent::ClaudeCode {
        return Ok(claude_code::edit(call, reader)?.map(Cow::Owned).into_iter().collect());
    }
    let edit = |effect: &'c Effect| match effect {
        Effect::Edit(edit) => Some(Cow::Borrowed(edit.as_ref())),
        Effect::Read { .. } | Effect::Shell { .. } => None,
    };
    Ok(call.effects.iter().filter_map(edit).collect())
}

/// What a call saw of a file, as its result says.
pub fn reading<'c>(
    agent: Agent,
    call: &'c Call,
    reader: &mut SourceReader,
) -> Result<Option<Reading<'c>>, StoreError> {
    if agent == Agent::ClaudeCode {
        let reads = does(agent, call, ActionKind::Read);
        let result = call.result.as_ref().filter(|_| reads);
        let structured = result.and_then(|result| result.structured.as_ref());
        return structured.map_or(Ok(None), |told| claude_code::reading(told, reader));
    }
    Ok(call.effects.iter().find_map(|effect| match effect {
        Effect::Read { path, content } => Some(Reading {
            path: Cow::Borrowed(path),
            first: None,
            lines: None,
            content: Cow::Borrowed(content),
            whole: true,
        }),
        Effect::Edit(_) | Effect::Shell { .. } => None,
    }))
}

/// The metadata of a subagent, from the file next to its own.
pub fn agent_meta(path: &Path) -> Option<AgentMeta> {
    backstory_claude::agent_meta(path)
}
