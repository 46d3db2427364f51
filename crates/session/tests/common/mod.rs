//! The bundled test data, found and read: shared by tests that go over all of it.
#![allow(dead_code, reason = "each test takes what it needs")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use backstory_agents as agents;
use backstory_export::{Arguments, Per, SftFormat, SftOptions, StateOptions};
use backstory_format::Limits;
use backstory_model::{Agent, Change, Effect, Session};
use backstory_session::discover::{Root, discover};
use base64::Engine as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// The seeds of a fuzz target.
pub(crate) fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = testdata("../fuzz/corpus").join(target);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let seeds: Vec<Vec<u8>> = files.map(|path| std::fs::read(path).unwrap()).collect();
    assert!(!seeds.is_empty(), "{target} has no seeds");
    seeds
}

/// A table of the test data: its rows by the names of its columns.
pub(crate) fn table(name: &str) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(testdata(name)).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    lines
        .map(|cells| names.iter().zip(cells).map(|(n, c)| (n.to_string(), c.to_owned())).collect())
        .collect()
}

pub(crate) fn sessions(root: &Path) -> Vec<Session> {
    let found = discover(&[Root { path: root.to_path_buf() }]);
    let read = |files| agents::read(files, Limits::default(), &mut Vec::new()).unwrap().0;
    found.sessions.iter().map(read).collect()
}

/// Claude Code's: the sample, and every bundled session and tree.
pub(crate) fn claude_sessions() -> Vec<Session> {
    let mut all = sessions(&testdata("sample"));
    for folder in ["sessions", "trees"] {
        for entry in std::fs::read_dir(testdata(folder)).unwrap() {
            all.extend(sessions(&entry.unwrap().path()));
        }
    }
    assert!(all.len() > 100, "{}", all.len());
    all
}

/// The folders of `AGENTS.tsv`: one form of one agent in each.
pub(crate) fn agent_folders() -> Vec<PathBuf> {
    let rows = table("AGENTS.tsv");
    rows.iter().map(|row| testdata("agents").join(&row["path"])).collect()
}

/// A session of every other agent in every form.
pub(crate) fn agent_sessions() -> Vec<Session> {
    let all: Vec<Session> = agent_folders().iter().flat_map(|folder| sessions(folder)).collect();
    let others = Agent::ALL.into_iter().filter(|agent| *agent != Agent::ClaudeCode);
    for agent in others {
        assert!(all.iter().any(|session| session.agent == agent), "{agent:?}");
    }
    all
}

/// Every bundled session of every agent.
pub(crate) fn all_sessions() -> Vec<Session> {
    let mut all = claude_sessions();
    all.extend(agent_sessions());
    all
}

/// What the calls of a session did to files: `create:a.py`, `replace:a.py` …
pub(crate) fn edits(session: &Session) -> Vec<String> {
    let effects = session.turns.iter().flat_map(|turn| turn.calls()).flat_map(|call| &call.effects);
    let word = |effect: &Effect| {
        let Effect::Edit(edit) = effect else { return None };
        let change = match edit.change {
            Change::Write { created: true, .. } => "create",
            Change::Write { .. } => "write",
            Change::Replace(_) => "replace",
            Change::Delete => "delete",
            Change::Move { .. } => "move",
        };
        Some(format!("{change}:{}", edit.path))
    };
    effects.filter_map(word).collect()
}

/// Rows of every trainer, by session and by step.
pub(crate) fn rows_of_trainers<'o>(
    states: StateOptions<'o>,
) -> impl Iterator<Item = SftOptions<'o>> {
    let formats = [
        SftFormat::Trl,
        SftFormat::LlamaFactory,
        SftFormat::Axolotl,
        SftFormat::OpenAi,
        SftFormat::Verl,
        SftFormat::SkyRl,
    ];
    formats.into_iter().flat_map(move |format| {
        [Per::Session, Per::Step].map(|per| SftOptions {
            format,
            per,
            arguments: Arguments::Object,
            states,
        })
    })
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    base64::prelude::BASE64_STANDARD.encode(bytes)
}
