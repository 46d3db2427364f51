//! The session files in which a history is written down, with the copies that clients make.

use super::simulation::{FOLDER, Record, Simulation, session_id};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn write(simulation: &Simulation, folder: &Path) {
    let project = folder.join("projects/-w-app");
    std::fs::create_dir_all(&project).unwrap();
    for session in 0..simulation.sessions.len() {
        let id = session_id(session);
        let mut main = File::new(&id, false);
        let mut agent = File::new(&id, true);
        // A resume of the first generations begins with a copy of the session before it, under new
        // ids and times; a fork of the last keeps the times.
        let copies = session > 0 && session % 2 == 1;
        if copies {
            for record in own(simulation, session - 1).filter(|record| !record.subagent) {
                main.call(record, if session % 3 == 0 { 1_000 } else { 0 });
            }
        }
        for record in own(simulation, session) {
            if record.subagent { agent.call(record, 0) } else { main.call(record, 0) }
        }
        std::fs::write(project.join(format!("{id}.jsonl")), main.text()).unwrap();
        let below = project.join(&id).join("subagents");
        std::fs::create_dir_all(&below).unwrap();
        if agent.lines.len() > 1 {
            std::fs::write(below.join("agent-a0000001.jsonl"), agent.text()).unwrap();
        }
        if session % 3 == 0 {
            // The client compacts in an agent that starts with a copy of the conversation.
            std::fs::write(below.join("agent-acompact-0a0b0c.jsonl"), main.text()).unwrap();
        }
    }
}

/// All of it in one file, one call after the other, with the times of a clock.
pub(crate) fn write_by_clock(simulation: &Simulation, folder: &Path, clock: impl Fn(u64) -> u64) {
    let project = folder.join("projects/-w-app");
    std::fs::create_dir_all(&project).unwrap();
    let id = session_id(0);
    let mut main = File::new(&id, false);
    for record in &simulation.records {
        main.call_at(record, clock(10 * record.time));
    }
    std::fs::write(project.join(format!("{id}.jsonl")), main.text()).unwrap();
}

fn own(simulation: &Simulation, session: usize) -> impl Iterator<Item = &Record> {
    simulation.records.iter().filter(move |record| record.session == session)
}

struct File {
    id: String,
    sidechain: bool,
    lines: Vec<String>,
    parent: Value,
}

impl File {
    fn new(id: &str, sidechain: bool) -> File {
        let mut file =
            File { id: id.to_owned(), sidechain, lines: Vec::new(), parent: Value::Null };
        let message = json!({"role": "user", "content": "Please work on the file"});
        file.record(&format!("{id}-prompt-{sidechain}"), 0, "user", message, None);
        file
    }

    fn record(
        &mut self,
        uuid: &str,
        time: u64,
        kind: &str,
        message: Value,
        structured: Option<&Value>,
    ) {
        let mut record = json!({
            "type": kind, "uuid": uuid, "parentUuid": self.parent, "sessionId": self.id,
            "isSidechain": self.sidechain, "cwd": FOLDER, "version": "2.1.0",
            "timestamp": format!("2026-01-01T{:02}:{:02}:{:02}.000Z", time / 3600, time / 60 % 60, time % 60),
            "message": message,
        });
        if let Some(structured) = structured {
            record["toolUseResult"] = structured.clone();
        }
        if self.sidechain {
            record["agentId"] = "a0000001".into();
        }
        self.parent = uuid.into();
        self.lines.push(record.to_string());
    }

    fn call(&mut self, record: &Record, later: u64) {
        self.call_at(record, 10 * record.time + later);
    }

    fn call_at(&mut self, record: &Record, time: u64) {
        let call = &record.call;
        let block =
            json!({"type": "tool_use", "id": call, "name": record.tool, "input": record.input});
        let message = json!({"role": "assistant", "type": "message", "id": format!("msg_{call}"), "model": record.model,
            "content": [block], "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}});
        self.record(&format!("{call}-use"), time, "assistant", message, None);
        let result = json!({"type": "tool_result", "tool_use_id": call, "content": record.said, "is_error": record.failed});
        let message = json!({"role": "user", "content": [result]});
        self.record(
            &format!("{call}-result"),
            time + 1,
            "user",
            message,
            record.structured.as_ref(),
        );
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}
