//! Sessions made up for tests about files: who edited what, and how the client wrote it down.

use crate::support::Machine;
use backstory_testkit::write_file;
use serde_json::{Value, json};

pub(crate) const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A session that works in the folder `work` of the machine's home.
pub(crate) struct Trace {
    pub(crate) id: String,
    pub(crate) folder: String,
    version: &'static str,
    records: Vec<Value>,
    count: u32,
}

impl Trace {
    pub(crate) fn new(machine: &Machine) -> Trace {
        let folder = machine.home().join("repo").to_string_lossy().into_owned();
        Trace { id: ID.to_owned(), folder, version: "2.0.75", records: Vec::new(), count: 0 }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    pub(crate) fn push(&mut self, kind: &str, message: Value, structured: Option<Value>) -> String {
        self.count += 1;
        let uuid = format!("record-{}-{}", self.id, self.count);
        let parent = self.records.last().map_or(Value::Null, |record| record["uuid"].clone());
        let mut record = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": self.id, "cwd": self.folder,
            "version": self.version, "isSidechain": false, "message": message,
            "timestamp": format!("2026-03-01T10:{:02}:{:02}.000Z", self.count / 60, self.count % 60),
        });
        if let Some(structured) = structured {
            record["toolUseResult"] = structured;
        }
        self.records.push(record);
        uuid
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.push("user", json!({"role": "user", "content": text}), None);
    }

    /// A call without its result; gives its id.
    pub(crate) fn call(&mut self, model: &str, tool: &str, input: Value) -> String {
        let id = format!("toolu_{}_{}", self.id, self.count);
        let block = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        let message = json!({"role": "assistant", "type": "message", "id": format!("msg_{id}"), "model": model,
            "content": [block], "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 7}});
        self.push("assistant", message, None);
        id
    }

    pub(crate) fn result(
        &mut self,
        call: &str,
        said: Value,
        failed: bool,
        structured: Option<Value>,
    ) {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": said, "is_error": failed});
        self.push("user", json!({"role": "user", "content": [block]}), structured);
    }

    /// A Write; `before` is the file it replaces.
    pub(crate) fn write(&mut self, model: &str, name: &str, before: Option<&str>, content: &str) {
        let path = self.path(name);
        let call = self.call(model, "Write", json!({"file_path": path, "content": content}));
        let kind = if before.is_some() { "update" } else { "create" };
        let structured = json!({"type": kind, "filePath": path, "content": content, "originalFile": before, "structuredPatch": []});
        self.result(&call, "done".into(), false, Some(structured));
    }

    pub(crate) fn edit(
        &mut self,
        model: &str,
        name: &str,
        before: &str,
        old: &str,
        new: &str,
        all: bool,
    ) {
        let path = self.path(name);
        let input =
            json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": all});
        let call = self.call(model, "Edit", input);
        let structured = json!({"filePath": path, "oldString": old, "newString": new, "originalFile": before,
            "structuredPatch": [], "userModified": false, "replaceAll": all});
        self.result(&call, "done".into(), false, Some(structured));
    }

    pub(crate) fn text(&self) -> String {
        self.records.iter().map(|record| format!("{record}\n")).collect()
    }

    /// Puts it where the client would.
    pub(crate) fn save(&self, machine: &Machine) {
        let key: String =
            self.folder.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let file = machine.home().join(format!(".claude/projects/{key}/{}.jsonl", self.id));
        write_file(&file, self.text().as_bytes());
    }

    /// The file in the project.
    pub(crate) fn file(&self, machine: &Machine, name: &str, text: &str) {
        write_file(&machine.home().join("repo").join(name), text.as_bytes());
    }
}

/// For each line, the model that wrote it or `-`.
pub(crate) fn models(machine: &Machine, name: &str) -> Vec<String> {
    let blame = &machine.json(&["blame", &format!("repo/{name}"), "--json"])[0];
    let edits = blame["edits"].as_array().unwrap();
    let lines = blame["lines"].as_array().unwrap().iter();
    lines
        .map(|line| match line["edit"].as_u64() {
            Some(edit) => edits[edit as usize]["model"].as_str().unwrap_or("?").to_owned(),
            None => "-".to_owned(),
        })
        .collect()
}
