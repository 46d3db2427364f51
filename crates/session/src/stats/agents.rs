//! What sort of agent a subagent was.
//!
//! Newer clients say so in a file beside the agent's; before, only the call that started it does,
//! which takes the model of the session to find.

use super::gather::{Ledger, Origin};
use backstory_agents as agents;
use backstory_format::Limits;
use backstory_model::SessionFiles;
use backstory_model::{Session, SessionKind};
use backstory_store::{LARGEST_META, read_small_text};
use hashbrown::HashMap;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Meta {
    agent_type: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Input {
    subagent_type: Option<String>,
}

/// The type of each subagent, by its file; one that nothing tells is missing.
pub fn agent_types(
    ledger: &Ledger,
    sessions: &[SessionFiles],
    limits: Limits,
) -> HashMap<PathBuf, String> {
    let mut types = HashMap::new();
    for source in ledger.sources.iter().filter(|source| source.origin != Origin::Session) {
        let meta = source.meta().and_then(|path| read_small_text(path, LARGEST_META).ok());
        let meta: Option<Meta> = meta.and_then(|text| serde_json::from_str(&text).ok());
        if let Some(kind) = meta.and_then(|meta| meta.agent_type) {
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
        |buffer, files| match agents::read(files, limits, buffer) {
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
            let input = calls
                .find(|known| known.id.as_deref() == Some(call))
                .and_then(|call| call.input.as_ref());
            if reader.is_none() {
                reader = parent.source.open().ok();
            }
            let Some((input, reader)) = input.zip(reader.as_mut()) else { continue };
            let text = reader.text(input).ok();
            let input: Option<Input> = text.and_then(|text| serde_json::from_str(&text).ok());
            if let Some(kind) = input.and_then(|input| input.subagent_type) {
                found.push((path, kind));
            }
        }
    }
    found
}
