//! The order of what happened to a file, within sessions and between them.

use backstory_session::discover::Found;
use backstory_session::history::{Gathered, read};
use backstory_session::stats::{Dimension, gather};
use backstory_store::{ReadContext, Store};
use serde_json::{Value, json};
use std::path::Path;

const ONE: &str = "11111111-1111-4111-8111-111111111111";
const TWO: &str = "22222222-2222-4222-8222-222222222222";

/// Records of one file, each below the one before.
struct File {
    session: &'static str,
    agent: Option<&'static str>,
    lines: Vec<Value>,
}

impl File {
    fn new(session: &'static str, agent: Option<&'static str>) -> File {
        let mut file = File { session, agent, lines: Vec::new() };
        file.add(
            "user",
            "08:00:00",
            json!({ "role": "user", "content": "Write the file" }),
            json!({}),
        );
        file
    }

    fn add(&mut self, kind: &str, time: &str, message: Value, more: Value) {
        let uuid =
            format!("{}-{}-{}", self.session, self.agent.unwrap_or("main"), self.lines.len());
        let parent = self.lines.last().map(|line| line["uuid"].clone());
        let mut record = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": self.session, "cwd": "/w",
            "isSidechain": self.agent.is_some(), "version": "1.0.55", "message": message,
            "timestamp": format!("2026-01-01T{time}.000Z"),
        });
        let more = more.as_object().unwrap().clone();
        record.as_object_mut().unwrap().extend(more);
        if let Some(agent) = self.agent {
            record["agentId"] = agent.into();
        }
        self.lines.push(record);
    }

    fn call(&mut self, times: [&str; 2], call: &str, tool: &str, input: Value, structured: Value) {
        self.start(times[0], call, tool, input);
        self.result(times[1], call, structured);
    }

    fn start(&mut self, time: &str, call: &str, tool: &str, input: Value) {
        let block = json!({ "type": "tool_use", "id": call, "name": tool, "input": input });
        let message = json!({ "id": format!("msg_{call}"), "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [block], "usage": { "input_tokens": 3, "output_tokens": 2 } });
        self.add("assistant", time, message, json!({}));
    }

    fn result(&mut self, time: &str, call: &str, structured: Value) {
        let block = json!({ "type": "tool_result", "tool_use_id": call, "content": "ok" });
        self.add(
            "user",
            time,
            json!({ "role": "user", "content": [block] }),
            json!({ "toolUseResult": structured }),
        );
    }

    fn write(&mut self, time: &str, call: &str, content: &str) {
        let input = json!({ "file_path": "/w/a.txt", "content": content });
        let structured = json!({ "type": "update", "filePath": "/w/a.txt", "content": content, "structuredPatch": [] });
        self.call([time, time], call, "Write", input, structured);
    }

    fn put(&self, folder: &Path) {
        let project = folder.join("projects/-w");
        let path = match self.agent {
            None => project.join(format!("{}.jsonl", self.session)),
            Some(agent) => {
                project.join(self.session).join(format!("subagents/agent-{agent}.jsonl"))
            }
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(path, text).unwrap();
    }
}

fn discover_at(folder: &Path) -> Found {
    backstory_testkit::discover_at(folder)
}

fn gathered(folder: &Path) -> Gathered {
    let read = |files| read(files, &mut ReadContext::default(), &|_| true).unwrap().0;
    Gathered::new(discover_at(folder).sessions.iter().map(read).collect())
}

fn calls(gathered: &Gathered) -> Vec<String> {
    let edits = gathered.chains["/w/a.txt"].edits();
    edits.map(|(_, edit)| edit.by.call.as_deref().unwrap().to_owned()).collect()
}

#[test]
fn a_subagent_works_between_its_call_and_the_result() {
    for (subagent, structured) in [
        ("03:00:00", json!({ "status": "completed", "agentId": "a0000001" })),
        ("20:00:00", json!({ "agentId": "a0000001" })),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut main = File::new(ONE, None);
        main.write("09:00:00", "first", "one\n");
        main.start("09:01:00", "task", "Task", json!({ "prompt": "Write the file" }));
        let mut agent = File::new(ONE, Some("a0000001"));
        // By its clock, before everything or after it.
        agent.write(subagent, "second", "one\ntwo\n");
        main.result("09:05:00", "task", structured);
        main.write("09:06:00", "third", "one\ntwo\nthree\n");
        main.put(folder.path());
        agent.put(folder.path());
        assert_eq!(calls(&gathered(folder.path())), ["first", "second", "third"]);
    }
}

#[test]
fn a_subagent_in_the_background_goes_on_after_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let mut main = File::new(ONE, None);
    main.start("09:01:00", "task", "Agent", json!({ "prompt": "Write the file" }));
    main.result("09:01:01", "task", json!({ "status": "async_launched", "agentId": "a0000001" }));
    main.write("09:02:00", "first", "one\n");
    let mut agent = File::new(ONE, Some("a0000001"));
    agent.write("09:03:00", "second", "one\ntwo\n");
    main.write("09:04:00", "third", "one\ntwo\nthree\n");
    main.put(folder.path());
    agent.put(folder.path());
    assert_eq!(calls(&gathered(folder.path())), ["first", "second", "third"]);
}

#[test]
fn copies_of_a_resume_count_once_and_at_the_first_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = File::new(ONE, None);
    first.write("09:00:00", "w1", "one\n");
    first.call(
        ["09:01:00", "09:01:00"],
        "b1",
        "Bash",
        json!({ "command": "sed -i s/one/two/ /w/a.txt" }),
        json!({ "stdout": "" }),
    );
    first.call(
        ["09:02:00", "09:02:00"],
        "b2",
        "Bash",
        json!({ "command": "mv /w/b.txt /w/c.txt" }),
        json!({ "stdout": "" }),
    );
    // The copy has the old uuids, a new session id, and the time of the resume.
    let mut second = File { session: TWO, agent: None, lines: first.lines.clone() };
    for line in &mut second.lines {
        line["sessionId"] = TWO.into();
        line["timestamp"] = "2026-01-01T12:00:00.000Z".into();
    }
    second.write("12:05:00", "w2", "three\n");
    first.put(folder.path());
    second.put(folder.path());
    let gathered = gathered(folder.path());
    let edits: Vec<_> = gathered.chains["/w/a.txt"].edits().collect();
    let structured =
        edits.iter().map(|(event, edit)| (&*edit.by.session, event.time.unwrap().to_string()));
    let structured: Vec<_> = structured.collect();
    assert_eq!(
        structured,
        [(ONE, "2026-01-01T09:00:00Z".to_owned()), (TWO, "2026-01-01T12:05:00Z".to_owned())]
    );
    let touches: Vec<_> = gathered
        .shell
        .iter()
        .map(|touch| (&*touch.session, touch.time.unwrap().to_string()))
        .collect();
    assert_eq!(
        touches,
        [(ONE, "2026-01-01T09:01:00Z".to_owned()), (ONE, "2026-01-01T09:02:00Z".to_owned())]
    );
    let ledger = gather(
        &discover_at(folder.path()).sessions,
        &[],
        Dimension::Session,
        &Store::default(),
        |_| {},
    );
    let times: Vec<_> = ledger.messages.iter().map(|one| one.time.unwrap().to_string()).collect();
    assert_eq!(
        times,
        [
            "2026-01-01T09:00:00Z",
            "2026-01-01T09:01:00Z",
            "2026-01-01T09:02:00Z",
            "2026-01-01T12:05:00Z"
        ]
    );
    assert_eq!(ledger.repeated, 3);
}
