//! Samples of agents' files, and what is read in them, in figures and words.

use crate::common::{table, testdata};
use backstory_agents as agents;
use backstory_format::Limits;
use backstory_model::{Agent, Block, Change, Effect, Session};
use backstory_session::discover::{Root, discover};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file of some agent, by its path below the test's folder.
pub(crate) struct Sample {
    pub(crate) agent: Agent,
    pub(crate) files: Vec<(&'static str, Vec<u8>)>,
}

/// A form of an agent's files: a row of `AGENTS.tsv` and the folder it is about.
pub(crate) struct Form {
    pub(crate) agent: Agent,
    pub(crate) row: BTreeMap<String, String>,
    pub(crate) folder: PathBuf,
}

pub(crate) fn forms() -> Vec<Form> {
    let rows = table("AGENTS.tsv").into_iter();
    rows.map(|row| {
        let agent = Agent::ALL.into_iter().find(|agent| agent.name() == row["agent"]).unwrap();
        let folder = testdata("agents").join(&row["path"]);
        Form { agent, row, folder }
    })
    .collect()
}

impl Form {
    pub(crate) fn sample(&self) -> Sample {
        let (mut files, mut open) = (Vec::new(), vec![self.folder.clone()]);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                    continue;
                }
                let name = path.strip_prefix(&self.folder).unwrap().to_str().unwrap().to_owned();
                files.push((&*name.leak(), std::fs::read(&path).unwrap()));
            }
        }
        // In the same order everywhere.
        files.sort();
        Sample { agent: self.agent, files }
    }
}

pub(crate) fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

pub(crate) fn write(folder: &Path, sample: &Sample) {
    for (name, content) in &sample.files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

pub(crate) fn read_all(path: PathBuf) -> Vec<Session> {
    let found = discover(&[Root { path }]);
    let read = |files| agents::read(files, Limits::default(), &mut Vec::new()).unwrap().0;
    found.sessions.iter().map(read).collect()
}

pub(crate) fn sessions(sample: &Sample) -> (tempfile::TempDir, Vec<Session>) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), sample);
    let sessions = read_all(folder.path().to_path_buf());
    for session in &sessions {
        assert_eq!(session.agent, sample.agent);
    }
    (folder, sessions)
}

/// Turns, steps, calls, results and failed calls.
pub(crate) fn figures(session: &Session) -> [u64; 5] {
    let counts = &session.counts;
    [counts.turns, counts.steps, counts.calls, counts.results, counts.errors]
}

/// Input, output, and what came from a cache.
pub(crate) fn tokens(session: &Session) -> [u64; 3] {
    [session.usage.input, session.usage.output, session.usage.cache_read]
}

pub(crate) fn texts(session: &Session) -> Vec<String> {
    let mut reader = session.source.open().unwrap();
    let mut texts = Vec::new();
    for turn in &session.turns {
        for part in &turn.prompt.blocks {
            if let Block::Text(text) = &part.block {
                texts.push(format!("user: {}", reader.text(text).unwrap()));
            }
        }
        for block in turn.steps.iter().flat_map(|step| &step.blocks) {
            match block {
                Block::Text(text) => texts.push(reader.text(text).unwrap().into_owned()),
                Block::Thinking { text: Some(text), .. } => {
                    texts.push(format!("thinking: {}", reader.text(text).unwrap()));
                }
                Block::Call(call) => {
                    let result = call.result.as_ref().map(|result| result.outcome.name());
                    let name = call.name.as_deref().unwrap_or_default();
                    texts.push(format!("{name} {}", result.unwrap_or("-")));
                }
                _ => {}
            }
        }
    }
    texts
}

pub(crate) fn edits(session: &Session) -> Vec<(String, &'static str)> {
    let calls = session.turns.iter().flat_map(|turn| turn.calls());
    let effects = calls.flat_map(|call| &call.effects);
    effects
        .filter_map(|effect| match effect {
            Effect::Edit(edit) => Some((
                edit.path.to_string(),
                match edit.change {
                    Change::Write { created: true, .. } => "create",
                    Change::Write { .. } => "write",
                    Change::Replace(_) => "replace",
                    Change::Delete => "delete",
                    Change::Move { .. } => "move",
                },
            )),
            _ => None,
        })
        .collect()
}

/// What happened beside prompts and answers.
pub(crate) fn events(session: &Session) -> Vec<String> {
    let mut reader = session.source.open().unwrap();
    let events = session.turns.iter().flat_map(|turn| &turn.events);
    let mut told = |event: &backstory_model::Event| match &event.text {
        Some(text) => format!("{}: {}", event.kind, reader.text(text).unwrap()),
        None => event.kind.to_string(),
    };
    events.map(&mut told).collect()
}

/// The only session of a sample.
pub(crate) fn one(
    agent: Agent,
    files: Vec<(&'static str, Vec<u8>)>,
) -> (tempfile::TempDir, Session) {
    let (folder, mut sessions) = sessions(&Sample { agent, files });
    assert_eq!(sessions.len(), 1);
    (folder, sessions.remove(0))
}
