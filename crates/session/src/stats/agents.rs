//! What sort of agent a subagent was.
//!
//! Newer clients say so in a file next to the agent's; before, only the call that started it does,
//! which takes the model of the session to find.

use super::gather::{Ledger, Origin};
use backstory_agents as agents;
use backstory_model::{Action, Session, SessionFiles, SessionKind};
use backstory_store::{ReadContext, Store};
use hashbrown::HashMap;
use std::path::PathBuf;

/// The type of each subagent, by its file; unknown ones are missing.
pub fn agent_types(
    ledger: &Ledger,
    sessions: &[SessionFiles],
    store: &Store,
) -> HashMap<PathBuf, String> {
    let mut types = HashMap::new();
    for source in ledger.sources.iter().filter(|source| source.origin != Origin::Session) {
        if let Some(kind) = source.agent_meta().and_then(|meta| meta.agent_type) {
            types.insert(source.path.clone(), kind);
        }
    }
    let open: Vec<&SessionFiles> = sessions
        .iter()
        .filter(|files| files.agents.iter().any(|agent| !types.contains_key(&agent.path)))
        .collect();
    let found = crate::parallel::map(
        &open,
        |files| files.total_bytes(),
        || ReadContext::new(store),
        |context, files| match agents::read(files, context) {
            Ok((session, _)) => from_calls(&session),
            Err(_) => Vec::new(),
        },
    );
    for (path, kind) in found.into_iter().flatten() {
        types.entry(path).or_insert(kind);
    }
    types
}

/// What the calls that started the subagents of a session asked for.
fn from_calls(session: &Session) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for parent in session.walk() {
        let mut reader = None;
        for child in &parent.subagents {
            if child.source.path() == parent.source.path() {
                continue;
            }
            let path = child.source.path().to_path_buf();
            if child.kind.is_housekeeping() || child.kind == SessionKind::Fork {
                found.push((path, format!("({})", child.kind.name())));
                continue;
            }
            let Some(call) = child.parent.as_ref().and_then(|parent| parent.call.as_deref()) else {
                continue;
            };
            let turns = parent.turns.iter();
            let left = parent.abandoned.iter().flat_map(|branch| &branch.turns);
            let mut calls = turns.chain(left).flat_map(|turn| turn.calls());
            let call = calls.find(|known| known.id.as_deref() == Some(call));
            if reader.is_none() {
                reader = parent.source.open().ok();
            }
            let Some((call, reader)) = call.zip(reader.as_mut()) else { continue };
            let actions = agents::actions(session.agent, call, reader).unwrap_or_default();
            let kind = actions.into_iter().find_map(|action| match action {
                Action::Subagent(assignment) => assignment.kind,
                _ => None,
            });
            if let Some(kind) = kind {
                found.push((path, kind));
            }
        }
    }
    found
}
