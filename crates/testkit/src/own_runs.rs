//! What clients run for themselves, as files of subagents whose session is gone.

use crate::discover_at;
use backstory_agents as agents;
use backstory_model::{Session, SessionKind};
use backstory_store::ReadContext;
use serde_json::{Value, json};
use std::path::Path;

/// The session that is gone.
pub const OWNER: &str = "55555555-5555-4555-8555-555555555555";
const ELSEWHERE: &str = "ffffffff-0000-4000-8000-000000000000";

/// A subagent's file: words of a person or the client, then an answer each. `parent` is what the
/// first record names.
pub fn run_file(prompts: &[&str], parent: Value, more: &Value) -> String {
    let mut out = String::new();
    let mut before = parent;
    let mut add = |kind: &str, message: Value, more: &Value| {
        let uuid = format!("{:08x}-0000-4000-8000-000000000000", out.lines().count());
        let mut record = json!({
            "type": kind, "uuid": uuid, "parentUuid": before, "sessionId": OWNER, "isSidechain": true,
            "agentId": "a1", "cwd": "/w", "version": "2.1.112", "message": message,
            "timestamp": format!("2026-01-01T10:00:{:02}.000Z", out.lines().count()),
        });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        out.push_str(&format!("{record}\n"));
        before = uuid.into();
    };
    for (at, prompt) in prompts.iter().enumerate() {
        add("user", json!({ "role": "user", "content": prompt }), more);
        let usage = json!({ "input_tokens": 7, "output_tokens": 5 });
        let answer = json!({ "id": format!("msg_{prompt:.9}_{at}"), "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [{ "type": "text", "text": "Answered." }], "stop_reason": "end_turn", "usage": usage });
        add("assistant", answer, &json!({}));
    }
    out
}

/// A folder in which only the files of subagents are left.
#[derive(Debug)]
pub struct Runs {
    folder: tempfile::TempDir,
}

impl Runs {
    /// Files by their ids.
    pub fn new(files: &[(&str, String)]) -> Runs {
        let folder = tempfile::tempdir().unwrap();
        let agents = folder.path().join("projects/-w").join(OWNER).join("subagents");
        std::fs::create_dir_all(&agents).unwrap();
        for (name, text) in files {
            std::fs::write(agents.join(format!("agent-{name}.jsonl")), text).unwrap();
        }
        Runs { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn read(&self) -> Vec<Session> {
        let found = discover_at(self.path());
        let read = |file| agents::read_stray(file, &mut ReadContext::default()).unwrap();
        assert!(found.sessions.is_empty());
        found.stray_agents.iter().map(read).collect()
    }
}

/// One file of each sort, with the kind that it is.
pub fn run_samples() -> Vec<(&'static str, String, SessionKind)> {
    use SessionKind::{ClientRun, Compaction, PromptSuggestion, SideQuestion, Task, Warmup};
    let none = json!({});
    let copied = |last: &str| run_file(&["Fire the kiln", last], Value::Null, &none);
    let suggestion = "[SUGGESTION MODE: Suggest what comes next.]";
    let side = "<system-reminder>This is a side question from the user. Answer it.</system-reminder>\n\nHow hot?";
    let summary = "Your task is to create a detailed summary of the conversation so far.";
    let typed = json!({ "permissionMode": "default" });
    vec![
        // By name, whatever they hold.
        (
            "aprompt_suggestion-0a1b2c3d4e5f6a7b",
            run_file(&["x"], ELSEWHERE.into(), &none),
            PromptSuggestion,
        ),
        ("acompact-0a1b2c3d4e5f6a7b", copied("y"), Compaction),
        ("aside_question-0a1b2c3d4e5f6a7b", copied("How hot?"), SideQuestion),
        ("asession_memory-0a1b2c3d4e5f6a7b", copied("Note it"), ClientRun),
        // By what they ask.
        ("a0000001", copied(suggestion), PromptSuggestion),
        ("a0000002", copied(side), SideQuestion),
        ("a0000003", copied(summary), Compaction),
        ("a0000004", run_file(&["Warmup"], Value::Null, &none), Warmup),
        // By what they copy, under a name nobody knows yet.
        ("anew_purpose-0a1b2c3d4e5f6a7b", run_file(&["Go on"], ELSEWHERE.into(), &none), ClientRun),
        (
            "aother_purpose-0a1b2c3d4e5f6a7b",
            run_file(&["Fire", "Sum up"], Value::Null, &typed),
            ClientRun,
        ),
        // Tasks, one of them with a name.
        ("a0000005", run_file(&["Count the bricks"], Value::Null, &none), Task),
        ("abrick-counter-0a1b2c3d4e5f6a7b", run_file(&["Count bricks"], Value::Null, &none), Task),
        ("a0000006", run_file(&["Say what [SUGGESTION MODE means"], Value::Null, &none), Task),
    ]
}
