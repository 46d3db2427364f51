//! The forms in which agents write sessions down: the rows of `AGENTS.tsv`.

use crate::{Sample, files_below, table, testdata, write_file};
use backstory_model::Agent;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A row of `AGENTS.tsv`, and the folder it is about.
#[derive(Debug, Clone)]
pub struct AgentForm {
    pub agent: Agent,
    pub row: BTreeMap<String, String>,
    pub folder: PathBuf,
}

/// The agent of this name.
pub fn agent(name: &str) -> Agent {
    backstory_agents::named(name).unwrap_or_else(|| panic!("{name} is not an agent"))
}

/// One form of one agent in each.
pub fn agent_forms() -> Vec<AgentForm> {
    let rows = table("AGENTS.tsv").into_iter();
    rows.map(|row| {
        let agent = agent(&row["agent"]);
        let folder = testdata("agents").join(&row["path"]);
        AgentForm { agent, row, folder }
    })
    .collect()
}

/// The form of a path: `codex/rollout`.
pub fn agent_form(path: &str) -> AgentForm {
    agent_forms().into_iter().find(|form| form.path() == path).unwrap()
}

impl AgentForm {
    /// `codex/rollout`
    pub fn path(&self) -> &str {
        &self.row["path"]
    }

    /// Its files, to be changed.
    pub fn sample(&self) -> Sample {
        let files = files_below(&self.folder).into_iter();
        let files = files.map(|path| {
            let name = path.strip_prefix(&self.folder).unwrap().to_str().unwrap().to_owned();
            (&*name.leak(), std::fs::read(&path).unwrap())
        });
        Sample { agent: self.agent, files: files.collect() }
    }

    /// Puts the files into a folder, each with its text changed.
    pub fn write(&self, folder: &Path, change: impl Fn(String) -> String) {
        for path in files_below(&self.folder) {
            let text = change(std::fs::read_to_string(&path).unwrap());
            write_file(&folder.join(path.strip_prefix(&self.folder).unwrap()), text.as_bytes());
        }
    }
}
