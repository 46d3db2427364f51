//! A home folder of its own for each test, and the program run in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) struct Machine {
    folder: tempfile::TempDir,
}

pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Machine {
    /// Without any sessions.
    pub(crate) fn empty() -> Machine {
        Machine { folder: tempfile::tempdir().unwrap() }
    }

    /// With the bundled sample as its sessions.
    pub(crate) fn with_sample() -> Machine {
        let machine = Machine::empty();
        copy(&testdata("sample"), &machine.home().join(".claude"));
        machine
    }

    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backstory"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home())
            .env("TZ", "UTC")
            .current_dir(self.home());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("output is UTF-8");
            text.replace(&*self.home().to_string_lossy(), "[HOME]")
        };
        Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Standard output of a command that must succeed.
    pub(crate) fn out(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    }

    /// One JSON value per line.
    pub(crate) fn json(&self, arguments: &[&str]) -> Vec<serde_json::Value> {
        self.out(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A form in which an agent writes sessions down: a row of `AGENTS.tsv` and the files it is about.
pub(crate) struct AgentForm {
    pub(crate) row: BTreeMap<String, String>,
}

pub(crate) fn agent_forms() -> Vec<AgentForm> {
    let rows = crate::common::table("AGENTS.tsv");
    rows.into_iter().map(|row| AgentForm { row }).collect()
}

pub(crate) fn agent_form(path: &str) -> AgentForm {
    agent_forms().into_iter().find(|form| form.path() == path).unwrap()
}

impl AgentForm {
    /// `codex/rollout`
    pub(crate) fn path(&self) -> &str {
        &self.row["path"]
    }

    /// Puts the files into a folder, each with its text changed.
    pub(crate) fn write(&self, folder: &Path, change: impl Fn(String) -> String) {
        let from = testdata("agents").join(self.path());
        copy(&from, folder);
        let mut open = vec![folder.to_path_buf()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let text = std::fs::read_to_string(&path).unwrap();
                    write(&path, change(text).as_bytes());
                }
            }
        }
    }
}

pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// Every key of the values, at any depth, stands in the document; the number of keys. Keys that
/// are the user's words (`own`) need not.
pub(crate) fn assert_documented(
    document: &str,
    mut values: Vec<serde_json::Value>,
    own: impl Fn(&str) -> bool,
) -> usize {
    let text = std::fs::read_to_string(testdata("../docs").join(document)).unwrap();
    let mut seen = 0;
    while let Some(value) = values.pop() {
        match value {
            serde_json::Value::Object(fields) => {
                for (key, value) in fields {
                    let known = own(&key) || text.contains(&format!("`{key}`"));
                    assert!(known, "{key} is not in {document}");
                    values.push(value);
                    seen += 1;
                }
            }
            serde_json::Value::Array(items) => values.extend(items),
            _ => {}
        }
    }
    seen
}

#[allow(clippy::disallowed_methods)]
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).map(drop).unwrap();
        }
    }
}

#[allow(clippy::disallowed_methods)]
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}
