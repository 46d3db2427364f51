//! Sessions of other agents, through every command that takes them.

use crate::support::Machine;
use backstory_testkit::{agent_form, write_file};
use serde_json::{Value, json};

const ID: &str = "11111111-aaaa-4bbb-8ccc-000000000001";
const MODEL: &str = "gpt-5.2-codex";
const KEY: &str = "sk-proj-q8Zr4LmW2xVb7TnY5cKd9HfJ3sGaPe6UuQiOoRtM1NwBzXvCyEkLhAjF";

/// A rollout of Codex that writes `a.py` in the folder `repo`, where its client would keep it.
pub(crate) fn codex(machine: &Machine) -> String {
    let folder = machine.home().join("repo");
    let line = |kind: &str, second: u32, payload: Value| {
        json!({ "timestamp": format!("2026-03-01T10:00:{second:02}.000Z"), "type": kind, "payload": payload })
            .to_string()
            + "\n"
    };
    let patch = "*** Begin Patch\n*** Add File: a.py\n+one = 1\n+two = 2\n*** End Patch\n";
    let text = [
        line(
            "session_meta",
            0,
            json!({ "id": ID, "cwd": folder, "cli_version": "0.80.0", "model_provider": "openai" }),
        ),
        line("turn_context", 1, json!({ "cwd": folder, "model": MODEL })),
        line(
            "response_item",
            2,
            json!({ "type": "message", "role": "user", "content": [{ "type": "input_text",
                "text": format!("Write a.py, the key is {KEY}") }] }),
        ),
        line(
            "response_item",
            3,
            json!({ "type": "custom_tool_call", "call_id": "call_1", "name": "apply_patch", "input": patch }),
        ),
        line(
            "response_item",
            4,
            json!({ "type": "custom_tool_call_output", "call_id": "call_1",
                "output": "Success. Updated the following files:\nA a.py\n" }),
        ),
        line(
            "response_item",
            5,
            json!({ "type": "function_call", "call_id": "call_2", "name": "exec_command",
                "arguments": json!({ "cmd": format!("curl -H 'Authorization: Bearer {KEY}' x") }).to_string() }),
        ),
        line(
            "response_item",
            6,
            json!({ "type": "function_call_output", "call_id": "call_2", "output": "ok" }),
        ),
    ]
    .concat();
    let path = format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{ID}.jsonl");
    write_file(&machine.home().join(&path), text.as_bytes());
    write_file(&folder.join("a.py"), b"one = 1\ntwo = 2\n");
    path
}

/// A pretty-printed trajectory of mini-swe-agent with the key in an escaped text.
fn trajectory(machine: &Machine) -> &'static str {
    let said = format!("Say \\\"{KEY}\\\"\\nnow");
    let form = agent_form("mini-swe-agent/calls");
    form.write(&machine.home().join("runs"), |text| text.replace("prompt-mark", &said));
    "runs/demo__mill-2.traj.json"
}

#[test]
fn sessions_of_codex_are_found_where_its_client_keeps_them() {
    let machine = Machine::empty();
    codex(&machine);
    let rows = machine.json(&["ls", "--json"]);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["agent"], "codex");
    assert_eq!(rows[0]["id"], ID);
    assert_eq!(machine.json(&["ls", "--agent", "codex", "--json"]).len(), 1);
    let kept = machine.home().join(".codex");
    assert_eq!(machine.json(&["ls", kept.to_str().unwrap(), "--json"]).len(), 1);
    assert_eq!(machine.run(&["ls", "--agent", "aider"]).code, Some(1));
    let shown = machine.out(&["show", "latest", "--format", "text"]);
    assert!(shown.contains("codex 0.80.0") && shown.contains("apply_patch"), "{shown}");
}

#[test]
fn arguments_in_a_text_are_exported_as_an_object() {
    let machine = Machine::empty();
    codex(&machine);
    let document = machine.json(&["export", "latest", "--to", "atif", "--raw"]);
    let steps = document[0]["steps"].as_array().unwrap();
    let calls: Vec<&Value> =
        steps.iter().filter_map(|step| step["tool_calls"].as_array()).flatten().collect();
    let called = calls.iter().find(|call| call["function_name"] == "exec_command").unwrap();
    assert!(called["arguments"]["cmd"].as_str().unwrap().starts_with("curl"), "{called}");
    assert_eq!(document[0]["agent"]["name"], "codex");
}

#[test]
fn lines_are_exported_whatever_the_editing_tool_is_called() {
    let machine = Machine::empty();
    codex(&machine);
    let rows = machine.json(&["export", "latest", "--to", "agent-trace", "--no-git"]);
    assert_eq!(rows.len(), 1);
    let file = &rows[0]["files"][0];
    assert_eq!(file["path"], "a.py");
    let conversation = &file["conversations"][0];
    assert_eq!(conversation["contributor"]["model_id"], MODEL);
    let range = &conversation["ranges"][0];
    assert_eq!((&range["start_line"], &range["end_line"]), (&json!(1), &json!(2)));
}

#[test]
fn exports_of_other_agents_hold_no_secret() {
    let machine = Machine::empty();
    let rollout = codex(&machine);
    let trajectory = trajectory(&machine);
    for session in [rollout.as_str(), trajectory] {
        let before = std::fs::read(machine.home().join(session)).unwrap();
        let raw = machine.out(&["show", session, "--format", "md", "--full"]);
        assert!(raw.contains(KEY), "the fixture holds the key");
        for arguments in [
            vec!["show", session, "--share", "--format", "md", "--full"],
            vec!["show", session, "--share", "--format", "html", "--full"],
            vec!["show", session, "--share", "--format", "json"],
            vec!["redact", session],
            vec!["export", session, "--to", "trace-state"],
            vec!["export", session, "--to", "opentraces"],
        ] {
            let shown = machine.out(&arguments);
            assert!(!shown.contains(&KEY[..20]) && !shown.is_empty(), "{arguments:?}: {shown}");
        }
        assert_eq!(machine.run(&["redact", "--scan", session]).code, Some(1));
        assert_eq!(before, std::fs::read(machine.home().join(session)).unwrap());
    }
    // A copy is still a session of its agent.
    machine.out(&["redact", &rollout, trajectory, "--out", "clean/"]);
    let rows = machine.json(&["ls", "--root", "clean", "--json"]);
    let agents: Vec<&Value> = rows.iter().map(|row| &row["agent"]).collect();
    assert_eq!(agents.len(), 2, "{agents:?}");
    for name in ["codex", "mini-swe-agent"] {
        assert!(agents.contains(&&json!(name)), "{agents:?}");
    }
}

#[test]
fn analysis_counts_every_agent() {
    let machine = Machine::empty();
    codex(&machine);
    trajectory(&machine);
    let text = machine.out(&["analyze", ".codex", "runs"]);
    assert!(text.contains("| `codex` | 1 | 1 |"), "{text}");
    let value = &machine.json(&["analyze", ".codex", "runs", "--format", "json"])[0];
    let counts = &value["other_agents"]["codex"];
    assert_eq!((&counts["calls"], &counts["results"]), (&json!(2), &json!(2)));
    assert_eq!(counts["edits"], 1);
    assert_eq!(counts["tools"], json!({ "apply_patch": 1, "exec_command": 1 }));
    assert_eq!(value["other_agents"]["mini-swe-agent"]["versions"], json!({ "2.4.6": 1 }));
    // Only Claude Code's format has a profile.
    assert_eq!(machine.run(&["analyze", ".codex", "--drift"]).code, Some(1));
}

#[test]
fn commands_for_claude_code_refuse_other_agents() {
    let machine = Machine::empty();
    codex(&machine);
    let ran = machine.run(&["clone", "latest"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("codex"), "{}", ran.stderr);
}

/// A conversation of OpenHands in a folder that is not called as the conversation is.
fn conversation(machine: &Machine, text: &str) {
    let state =
        json!({ "id": "0a1b2c3d-0000-4000-8000-000000000007", "agent": {}, "workspace": {} });
    let event = json!({ "id": "e0", "kind": "MessageEvent", "source": "user",
        "llm_message": { "role": "user", "content": [{ "type": "text", "text": text }] } });
    let folder = machine.home().join("talks/first");
    write_file(&folder.join("base_state.json"), state.to_string().as_bytes());
    write_file(&folder.join("events/event-00000-e0.json"), event.to_string().as_bytes());
}

#[test]
fn ids_that_ls_prints_are_found_by_show() {
    let machine = Machine::empty();
    conversation(&machine, "Say hello");
    let rows = machine.json(&["ls", "--root", "talks", "--json"]);
    let id = rows[0]["id"].as_str().unwrap();
    for wanted in [id, &id[..8], "first"] {
        let shown = machine.out(&["show", wanted, "--root", "talks", "--format", "text"]);
        assert!(shown.contains("Say hello"), "{wanted}: {shown}");
    }
    let ran = machine.run(&["show", "0a1b9", "--root", "talks"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
}

#[test]
fn documents_follow_every_file_of_a_conversation() {
    let machine = Machine::empty();
    let show = ["show", "--all", "--root", "talks", "--format", "md", "--out", "shown"];
    conversation(&machine, "Say hello");
    machine.out(&show);
    conversation(&machine, "Say good morning");
    machine.out(&show);
    let mut texts = String::new();
    for entry in std::fs::read_dir(machine.home().join("shown")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "md") {
            texts.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    assert!(texts.contains("Say good morning") && !texts.contains("Say hello"), "{texts}");
}

/// Rows of SWE-smith in all three dialects, one of them with its messages as text.
fn rows() -> Vec<Value> {
    let xml = "I write it.\n<function=str_replace_editor>\n<parameter=command>create</parameter>\n<parameter=path>/testbed/b.py</parameter>\n<parameter=file_text>\nx = 1\n</parameter>\n</function>";
    let ticks = format!("Look.\n```\ncurl -H 'Authorization: Bearer {KEY}' x\n```");
    let done = "OBSERVATION:\nFile created successfully at: /testbed/b.py";
    let row = |id: &str, resolved: bool, messages: Value| {
        json!({ "instance_id": "demo__demo-1", "traj_id": id, "model": "m-1", "resolved": resolved,
            "patch": "diff --git a/b.py b/b.py\n", "messages": messages })
    };
    let chat = |action: &str, outcome: &str| {
        json!([{ "role": "user", "content": "Fix it" }, { "role": "assistant", "content": action },
            { "role": "user", "content": outcome }])
    };
    vec![
        row("a", true, chat(xml, done).to_string().into()),
        row("b", false, chat(&ticks, "OBSERVATION:\nok").to_string().into()),
        row("c", false, chat("```\nls\n```", "OBSERVATION:\n\u{e9}\"\n").to_string().into()),
    ]
}

fn table(path: &std::path::Path, rows: &[Value], messages: backstory_table::Column) {
    use backstory_table::{Column, Field, TableWriter};
    let columns = vec![
        Field::new("instance_id", Column::Text),
        Field::new("traj_id", Column::Text),
        Field::new("model", Column::Text),
        Field::new("resolved", Column::Flag),
        Field::new("patch", Column::Text),
        Field::new("messages", messages),
    ];
    let mut bytes = Vec::new();
    let mut table = TableWriter::new(&mut bytes, columns).unwrap();
    for row in rows {
        table.push(format!("{row}\n").as_bytes()).unwrap();
    }
    table.finish().unwrap();
    write_file(path, &bytes);
}

#[test]
fn rows_of_a_table_are_read_like_lines() {
    use backstory_table::{Column, Field};
    let rows = rows();
    // The same with messages that are columns themselves.
    let mut nested = rows.clone();
    for row in &mut nested {
        row["messages"] = serde_json::from_str(row["messages"].as_str().unwrap()).unwrap();
    }
    let message = vec![
        Field::new("role", Column::Text),
        Field::new("content", Column::Text),
        // What no message has.
        Field::new("tool_call_ids", Column::List(Box::new(Column::Text))),
    ];
    let list = Column::List(Box::new(Column::Record(message)));
    for (rows, column) in [(rows, Column::Text), (nested, list)] {
        let machine = Machine::empty();
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        write_file(&machine.home().join("lines/rows.jsonl"), lines.as_bytes());
        table(&machine.home().join("tables/rows.parquet"), &rows, column);
        let shown = |root: &str, words: &[&str]| {
            let words = [&["--root", root], words].concat();
            machine.out(&words).replace("rows.parquet", "rows.jsonl").replace("tables", "lines")
        };
        for words in [
            &["show", "a", "--format", "md"][..],
            &["show", "b", "--format", "md"],
            &["show", "c", "--format", "md"],
            &["log", "--all", "--diff"],
            &["log", "--all", "--json"],
            &["stats", "--json"],
            &["export", "--to", "trace-state"],
        ] {
            assert_eq!(shown("tables", words), shown("lines", words), "{words:?}");
        }
        let listed = machine.json(&["--root", "tables", "ls", "--json"]);
        assert_eq!(listed.len(), 3);
        let agents = machine.json(&["--root", "tables", "ls", "--agent", "swe-smith", "--json"]);
        assert_eq!(agents.len(), 3);
        machine.out(&["--root", "tables", "redact", "b", "--out", "clean/"]);
        let clean = std::fs::read_to_string(machine.home().join("clean/b.jsonl")).unwrap();
        assert!(!clean.contains(KEY) && clean.contains("Authorization"), "{clean}");
        let copies = machine.json(&["--root", "clean", "ls", "--json"]);
        assert_eq!((copies.len(), &copies[0]["agent"]), (1, &json!("swe-smith")));
        assert_eq!(copies[0]["id"], "b");
    }
}

#[test]
fn discover_reports_a_broken_table_and_continues() {
    let machine = Machine::empty();
    let path = machine.home().join("tables/rows.parquet");
    table(&path, &rows(), backstory_table::Column::Text);
    let bytes = std::fs::read(&path).unwrap();
    write_file(&machine.home().join("tables/cut.parquet"), &bytes[..bytes.len() / 2]);
    write_file(&machine.home().join("tables/other.parquet"), b"not a table at all");
    let run = machine.run(&["--root", "tables", "ls", "--json"]);
    assert_eq!(run.stdout.lines().count(), 3);
    let said = run.stderr;
    assert!(said.contains("cut.parquet") && !said.contains("other.parquet"), "{said}");
}
