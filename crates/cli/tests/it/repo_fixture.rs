//! A repository with a session that worked in it.

use crate::support::Machine;
use backstory_testkit::{Repo, write_file};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) const SESSION: &str = "5c1a7e52-0000-4000-8000-000000000001";

/// What the session writes.
pub(crate) const TIDES: &str = "fn tide_at(hour: u32) -> f64 {\n    let phase = f64::from(hour) / 12.42;\n    (phase * std::f64::consts::TAU).cos()\n}\n";

/// A machine with a repository and the sessions that worked in it.
pub(crate) struct RepoFixture {
    pub(crate) machine: Machine,
    repo: Repo,
}

impl RepoFixture {
    pub(crate) fn new() -> RepoFixture {
        let machine = Machine::empty();
        let path = machine.home().join("work");
        write_file(&path.join("README"), b"A project for tests of links.\n");
        let repo = Repo::init(&path, machine.home());
        repo.commit("Begin", "2026-03-01T09:00:00Z");
        RepoFixture { machine, repo }
    }

    pub(crate) fn repo(&self) -> &Path {
        self.repo.path()
    }

    pub(crate) fn git_at(&self, words: &[&str], time: &str) -> String {
        self.repo.git_at(words, time)
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        self.repo.git(words)
    }

    /// Commits everything; gives the id.
    pub(crate) fn commit(&self, subject: &str, time: &str) -> String {
        self.repo.commit(subject, time)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        self.repo.write(name, text);
    }

    /// A session that writes a file and commits it; gives the commit's id.
    pub(crate) fn commits_itself(&self) -> String {
        self.put("src/tides.rs", TIDES);
        let id = self.commit("Add tides", "2026-03-01T10:00:30Z");
        let said = format!("[main {}] Add tides\n 1 file changed", &id[..7]);
        self.record(&[
            wrote("src/tides.rs", TIDES),
            ran("git add -A && git commit -m 'Add tides'", &said),
        ]);
        id
    }

    /// Writes a session whose calls are these.
    pub(crate) fn record(&self, calls: &[Played]) {
        self.record_at(&self.repo().canonicalize().unwrap().to_string_lossy(), calls);
    }

    /// The same for a session that worked in another folder.
    pub(crate) fn record_at(&self, cwd: &str, calls: &[Played]) {
        let mut lines = Vec::new();
        let mut parent = Value::Null;
        let mut push = |mut record: Value, time: &str| {
            let uuid = format!("5c1a7e52-0000-4000-9000-{:012}", lines.len());
            record["uuid"] = json!(uuid);
            record["parentUuid"] = std::mem::replace(&mut parent, json!(uuid));
            for (key, value) in [
                ("sessionId", json!(SESSION)),
                ("cwd", json!(cwd)),
                ("version", json!("2.1.100")),
                ("isSidechain", json!(false)),
                ("userType", json!("external")),
                ("timestamp", json!(time)),
            ] {
                record[key] = value;
            }
            lines.push(record.to_string());
        };
        let first = calls.first().map_or("2026-03-01T10:00:00.000Z", |call| call.began);
        push(json!({"type": "user", "message": {"role": "user", "content": "Work."}}), first);
        for (at, call) in calls.iter().enumerate() {
            let id = format!("toolu_{at}");
            let path = call.path.map(|path| format!("{cwd}/{path}"));
            let (name, input, structured, text) = match &path {
                Some(path) => (
                    "Write",
                    json!({"file_path": path, "content": call.text}),
                    json!({"type": "create", "filePath": path, "content": call.text,
                        "structuredPatch": [], "originalFile": null}),
                    format!("File created successfully at: {path}"),
                ),
                None => (
                    "Bash",
                    json!({"command": call.command}),
                    json!({"stdout": call.text, "stderr": "", "interrupted": false, "isImage": false}),
                    call.text.to_owned(),
                ),
            };
            push(
                json!({"type": "assistant", "message": {"id": format!("msg_{at}"), "role": "assistant",
                    "model": "claude-opus-5", "stop_reason": "tool_use", "content": [
                        {"type": "tool_use", "id": id, "name": name, "input": input}],
                    "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                call.began,
            );
            push(
                json!({"type": "user", "toolUseResult": structured, "message": {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": text}]}}),
                call.ended,
            );
        }
        let key: String =
            cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let file = format!(".claude/projects/{key}/{SESSION}.jsonl");
        write_file(&self.machine.home().join(file), (lines.join("\n") + "\n").as_bytes());
    }

    /// The links of a command in the repository, and its exit status.
    pub(crate) fn links(&self, arguments: &[&str]) -> (Vec<Value>, Option<i32>) {
        let all = [&["link", "--repo", "work", "--json"], arguments].concat();
        let ran = self.machine.run(&all);
        assert!(ran.code != Some(2), "{}", ran.stderr);
        let parse = |line: &str| serde_json::from_str(line).unwrap();
        (ran.stdout.lines().map(parse).collect(), ran.code)
    }
}

/// One call: a file written, or a command and what it printed.
pub(crate) struct Played<'a> {
    path: Option<&'a str>,
    command: &'a str,
    text: &'a str,
    began: &'a str,
    ended: &'a str,
}

pub(crate) fn wrote<'a>(path: &'a str, text: &'a str) -> Played<'a> {
    let (began, ended) = ("2026-03-01T10:00:00.000Z", "2026-03-01T10:00:01.000Z");
    Played { path: Some(path), command: "", text, began, ended }
}

pub(crate) fn ran<'a>(command: &'a str, text: &'a str) -> Played<'a> {
    let (began, ended) = ("2026-03-01T10:00:29.000Z", "2026-03-01T10:00:31.000Z");
    Played { path: None, command, text, began, ended }
}
