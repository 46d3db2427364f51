//! Sessions to clone, and clones of them, in folders of their own.

use crate::session_at;
use backstory_claude::clone::{CloneError, Offline, Options, Order, Report, Run, clone};
use backstory_store::Store;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The id of a source.
pub const SOURCE: &str = "11111111-1111-4111-8111-111111111111";

/// A folder with one session in the client's place for it.
#[derive(Debug)]
pub struct Place {
    /// Goes when the test ends.
    _folder: tempfile::TempDir,
    pub source: PathBuf,
}

impl Place {
    pub fn new(bytes: &[u8]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("projects/-home-dev-kiln");
        std::fs::create_dir_all(&project).unwrap();
        let source = project.join(format!("{SOURCE}.jsonl"));
        std::fs::write(&source, bytes).unwrap();
        Place { _folder: folder, source }
    }

    pub fn clone(&self, source: &Path, options: &Options) -> Result<Report, CloneError> {
        let files = session_at(source);
        // Any id will do that no other clone of the folder has.
        let count = std::fs::read_dir(source.parent().unwrap()).unwrap().count();
        let id = format!("{:08x}-2222-4222-8222-222222222222", 0x2222_0000 + count);
        let target = source.with_file_name(format!("{id}.jsonl"));
        let now = "2026-11-01T10:00:00Z".parse().unwrap();
        let store = &Store::default();
        let order = Order { files: &files, options, id: &id, now, target, store };
        clone(&order, &Offline, Run::Write)
    }

    /// Names in the project's folder.
    pub fn names(&self) -> Vec<String> {
        let folder = self.source.parent().unwrap();
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Every record as JSON, as far as serde reads it.
pub fn records(path: &Path) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Turns of a prompt, a call with a long result, and an answer; each answer counts 12,000 tokens
/// more than the one before.
pub fn conversation(turns: u64) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for turn in 0..turns {
        let time = |second: u64| format!("2026-01-01T10:{turn:02}:{second:02}.000Z");
        let usage = |output: u64| {
            json!({
                "input_tokens": 3, "cache_creation_input_tokens": 2_000,
                "cache_read_input_tokens": 12_000 * (turn + 1), "output_tokens": output,
                "service_tier": "standard",
            })
        };
        let answer = |id: &str, output: u64, content: Value| {
            json!({ "type": "assistant", "message": {
                "id": format!("msg_{turn}_{id}"), "role": "assistant", "model": "claude-sonnet-4-5",
                "content": [content], "usage": usage(output), "stop_reason": "end_turn" } })
        };
        let call = format!("toolu_{turn}");
        let listing = "a line of what was read\n".repeat(1_600);
        let said = [
            json!({ "type": "user", "message": { "role": "user", "content": format!("Question {turn}?") } }),
            answer(
                "a",
                40,
                json!({ "type": "tool_use", "id": call, "name": "Read", "input": { "file_path": "/p/a.rs" } }),
            ),
            json!({ "type": "user", "toolUseResult": { "stdout": "" }, "message": { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": call, "content": listing }] } }),
            answer("b", 60, json!({ "type": "text", "text": format!("Answer {turn}.") })),
        ];
        for (at, mut record) in said.into_iter().enumerate() {
            let number = all.len();
            let parent = number.checked_sub(1).map(uuid);
            let fields = json!({
                "uuid": uuid(number), "parentUuid": parent, "timestamp": time(at as u64), "isSidechain": false,
                "cwd": "/home/dev/kiln", "sessionId": SOURCE, "version": "2.1.207",
            });
            record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            all.push(record);
        }
    }
    all
}

pub fn written(all: &[Value]) -> Vec<u8> {
    all.iter().flat_map(|record| format!("{record}\n").into_bytes()).collect()
}

pub fn uuid(number: usize) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}
