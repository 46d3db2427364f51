//! System prompts and tool definitions reach every format, redacted.

use crate::support::Machine;
use backstory_testkit::{agent_forms, write_file};
use serde_json::{Value, json};

const KEY: &str = "sk-proj-q8Zr4LmW2xVb7TnY5cKd9HfJ3sGaPe6UuQiOoRtM1NwBzXvCyEkLhAjF";

/// A system prompt with a secret in it.
fn instructions() -> String {
    format!("You tend the mill. The key is {KEY}.")
}

/// Folders with sessions that have this prompt: every form that holds a system prompt, and forms
/// that hold it in another place.
fn install(machine: &Machine) -> Vec<String> {
    let mut folders = Vec::new();
    for form in agent_forms().into_iter().filter(|form| form.row["system"] == "yes") {
        let mark = format!("The key is {KEY}.");
        form.write(&machine.home().join(form.path()), |text| text.replace("system-mark", &mark));
        folders.push(form.path().to_owned());
    }
    let parts = json!([{ "type": "text", "text": "You tend the mill." },
        { "type": "text", "text": format!("The key is {KEY}.") }]);
    let chat = json!([{ "role": "system", "content": parts }, { "role": "user", "content": "Go" },
        { "role": "assistant", "content": "Done." }]);
    let trajectory = json!({ "trajectory": [], "history": chat }).to_string();
    let record = |kind: &str, payload: Value| {
        let time = "2026-01-31T09:30:00Z";
        format!("{}\n", json!({ "timestamp": time, "type": kind, "payload": payload }))
    };
    let said = |role: &str, text: &str| {
        let part = json!([{ "type": "text", "text": text }]);
        record("response_item", json!({ "type": "message", "role": role, "content": part }))
    };
    let meta = record("session_meta", json!({ "id": "b", "instructions": instructions() }));
    let rollout = [meta, said("user", "Go"), said("assistant", "Done.")].concat();
    for (name, text) in [
        ("codex-old/rollout-2026-01-31T09-30-00-b.jsonl", rollout),
        ("swe-agent-parts/a.traj", trajectory),
    ] {
        write_file(&machine.home().join(name), text.as_bytes());
        folders.extend(name.split_once('/').map(|(folder, _)| folder.to_owned()));
    }
    folders
}

#[test]
fn system_prompts_and_tools_reach_every_format() {
    let machine = Machine::empty();
    let mut with_tools = 0;
    for name in &install(&machine) {
        let export = |to: &str, more: &[&str]| {
            machine.json(&[&["export", "--root", name, "--to", to], more].concat())
        };
        // Parts of a prompt stand in paragraphs of their own.
        let is_told = |text: &Value| {
            let text = text.as_str().unwrap_or_default();
            text.split_whitespace().eq(instructions().split_whitespace())
        };
        let state = &export("trace-state", &["--raw"])[0];
        let first = &state["messages"][0];
        assert_eq!(first["role"], "system", "{name}: {state}");
        assert!(is_told(&first["content"]), "{name}: {state}");
        assert_eq!(state["messages"][1]["role"], "user", "{name}");
        let row = &export("sft", &["--raw"])[0];
        assert!(is_told(&row["messages"][0]["content"]), "{name}: {row}");
        let trace = &export("opentraces", &["--raw"])[0];
        let prompts = trace["system_prompts"].as_object().unwrap();
        assert!(prompts.len() == 1 && prompts.values().all(is_told), "{name}: {trace}");
        let document = &export("atif", &["--raw"])[0];
        assert!(is_told(&document["steps"][0]["message"]), "{name}: {document}");
        let id = machine.json(&["ls", "--root", name, "--json"])[0]["id"].clone();
        let show = ["show", id.as_str().unwrap(), "--root", name];
        let shown = machine.out(&[&show[..], &["--format", "json"]].concat());
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let system = &shown["requests"][0]["system_prompt"];
        assert!(system.to_string().contains(KEY), "{name}: {shown}");
        if name.starts_with("openhands") {
            with_tools += 1;
            let definition = &trace["tool_definitions"][0];
            let tool = definition["name"].as_str().unwrap();
            assert!(["execute_bash", "terminal"].contains(&tool), "{name}: {trace}");
            assert!(definition["input_schema"]["properties"]["command"].is_object(), "{name}");
            let function = &row["tools"][0]["function"];
            assert!(function["parameters"]["properties"]["command"].is_object(), "{name}: {row}");
            assert_eq!(document["agent"]["tool_definitions"][0]["function"], *function, "{name}");
        }
        for to in ["trace-state", "sft", "opentraces", "atif"] {
            let cleared = machine.out(&["export", "--root", name, "--to", to]);
            assert!(cleared.contains("You tend the mill."), "{name}: {cleared}");
            assert!(!cleared.contains(&KEY[..20]), "{name}: {cleared}");
        }
        let cleared = machine.out(&[&show[..], &["--share", "--format", "json"]].concat());
        assert!(cleared.contains("You tend the mill."), "{name}: {cleared}");
        assert!(!cleared.contains(&KEY[..20]), "{name}: {cleared}");
    }
    assert_eq!(with_tools, 5);
}

#[test]
fn instructions_in_a_message_are_not_a_system_prompt() {
    let machine = Machine::empty();
    let record = |kind: &str, payload: Value| {
        format!(
            "{}\n",
            json!({ "timestamp": "2025-09-01T09:30:00Z", "type": kind, "payload": payload })
        )
    };
    let said = |role: &str, text: &str| {
        let part = json!([{ "type": "text", "text": text }]);
        record("response_item", json!({ "type": "message", "role": role, "content": part }))
    };
    let rollout = [
        record("session_meta", json!({ "id": "c", "instructions": "Be brief." })),
        said("user", "<user_instructions>\n\nBe brief.\n\n</user_instructions>"),
        said("user", "Go"),
        said("assistant", "Done."),
    ];
    write_file(
        &machine.home().join("codex/rollout-2025-09-01T09-30-00-c.jsonl"),
        rollout.concat().as_bytes(),
    );
    let states = machine.json(&["export", "--root", "codex", "--to", "trace-state", "--raw"]);
    assert_eq!(states[0]["messages"][0]["role"], "user", "{}", states[0]);
}
