//! What agents' models were told before the first prompt: it reaches every format, cleared.

use crate::support::{Machine, write};
use serde_json::{Value, json};

const KEY: &str = "sk-proj-q8Zr4LmW2xVb7TnY5cKd9HfJ3sGaPe6UuQiOoRtM1NwBzXvCyEkLhAjF";

/// What the model is told, with something in it that nobody else should be.
fn told() -> String {
    format!("You act.\n\nThe key is {KEY}.")
}

/// Name and content of a file of each form that holds a system prompt, and whether it has tools.
fn files() -> Vec<(&'static str, Vec<u8>, bool)> {
    let told = told();
    let parts = json!([{ "type": "text", "text": "You act." },
        { "type": "text", "text": format!("The key is {KEY}.") }]);
    let chat = |system: Value| {
        json!([{ "role": "system", "content": system }, { "role": "user", "content": "Go" },
            { "role": "assistant", "content": "Done." }])
    };
    let row = |id: &str, messages: Value| json!({ "messages": messages, "instance_id": "i", "traj_id": id });
    let tools = json!([{ "type": "function", "function": { "name": "execute_bash",
        "description": "Runs it.", "parameters": { "type": "object",
            "properties": { "command": { "type": "string" } } } } }]);
    let record = |kind: &str, payload: Value| {
        format!(
            "{}\n",
            json!({ "timestamp": "2026-01-31T09:30:00Z", "type": kind, "payload": payload })
        )
    };
    let said = |role: &str, text: &str| {
        let part = json!([{ "type": "text", "text": text }]);
        record("response_item", json!({ "type": "message", "role": role, "content": part }))
    };
    let talk = [said("user", "Go"), said("assistant", "Done.")].concat();
    let meta = |facts: Value| record("session_meta", facts);
    let events = json!([
        { "id": 0, "source": "agent", "action": "system", "args": { "content": told, "tools": tools } },
        { "id": 1, "source": "user", "action": "message", "args": { "content": "Go" } },
        { "id": 2, "source": "agent", "action": "message", "args": { "content": "Done." } },
    ]);
    let message = |id: &str, source: &str, role: &str, text: &str| {
        json!({ "id": id, "kind": "MessageEvent", "source": source,
            "llm_message": { "role": role, "content": [{ "type": "text", "text": text }] } })
    };
    let sdk = [
        json!({ "id": "s", "kind": "SystemPromptEvent", "source": "agent",
            "system_prompt": { "type": "text", "text": told }, "tools": tools }),
        message("u", "user", "user", "Go"),
        message("a", "agent", "assistant", "Done."),
    ];
    let lines =
        |values: &[Value]| values.iter().map(|value| format!("{value}\n")).collect::<String>();
    let files = vec![
        (
            "codex/rollout-2026-01-31T09-30-00-a.jsonl",
            meta(json!({ "id": "a", "base_instructions": { "text": told } })) + &talk,
            false,
        ),
        (
            "codex-old/rollout-2026-01-31T09-30-00-b.jsonl",
            meta(json!({ "id": "b", "instructions": told })) + &talk,
            false,
        ),
        ("openhands/trajectory.json", events.to_string(), true),
        (
            "openhands-row/output.jsonl",
            lines(&[json!({ "instance_id": "i", "history": events })]),
            true,
        ),
        ("openhands-sdk/events.jsonl", lines(&sdk), true),
        (
            "swe-agent/a.traj",
            json!({ "trajectory": [], "history": chat(json!(told)) }).to_string(),
            false,
        ),
        (
            "swe-agent-parts/a.traj",
            json!({ "trajectory": [], "history": chat(parts) }).to_string(),
            false,
        ),
        (
            "mini/a.traj.json",
            json!({ "info": { "mini_version": "2" }, "messages": chat(json!(told)) }).to_string(),
            false,
        ),
        ("smith/rows.jsonl", lines(&[row("r", chat(json!(told)))]), false),
        ("smith-text/rows.jsonl", lines(&[row("t", json!(chat(json!(told)).to_string()))]), false),
        (
            "cline/s.messages.json",
            json!({ "version": 1, "sessionId": "s", "system_prompt": told, "messages": [
                { "role": "user", "content": [{ "type": "text", "text": "Go" }] },
                { "role": "assistant", "content": [{ "type": "text", "text": "Done." }] } ] })
            .to_string(),
            false,
        ),
    ];
    files.into_iter().map(|(name, text, tools)| (name, text.into_bytes(), tools)).collect()
}

#[test]
fn system_prompts_and_tools_reach_every_format() {
    let machine = Machine::empty();
    for (name, content, tools) in files() {
        write(&machine.home().join(name), &content);
        let export = |to: &str, more: &[&str]| {
            machine.json(&[&["export", "--root", name, "--to", to], more].concat())
        };
        let state = &export("trace-state", &["--raw"])[0];
        let first = &state["messages"][0];
        assert_eq!(
            (&first["role"], &first["content"]),
            (&json!("system"), &json!(told())),
            "{name}: {state}"
        );
        assert_eq!(state["messages"][1]["content"], "Go", "{name}");
        let row = &export("sft", &["--raw"])[0];
        assert_eq!(row["messages"][0]["content"], told(), "{name}: {row}");
        let trace = &export("opentraces", &["--raw"])[0];
        let prompts = trace["system_prompts"].as_object().unwrap();
        assert_eq!(prompts.values().collect::<Vec<_>>(), [&json!(told())], "{name}: {trace}");
        let document = &export("atif", &["--raw"])[0];
        assert_eq!(document["steps"][0]["message"], told(), "{name}: {document}");
        let shown = &machine.json(&["show", name, "--format", "json"])[0];
        let system = &shown["requests"][0]["system_prompt"];
        assert!(system.to_string().contains(KEY), "{name}: {shown}");
        if tools {
            let definition = &trace["tool_definitions"][0];
            assert_eq!(definition["name"], "execute_bash", "{name}: {trace}");
            assert!(definition["input_schema"]["properties"]["command"].is_object(), "{name}");
            let function = &row["tools"][0]["function"];
            assert!(function["parameters"]["properties"]["command"].is_object(), "{name}: {row}");
            assert_eq!(document["agent"]["tool_definitions"][0]["function"], *function, "{name}");
        }
        for to in ["trace-state", "sft", "opentraces", "atif"] {
            let cleared = machine.out(&["export", "--root", name, "--to", to]);
            assert!(
                cleared.contains("You act.") && !cleared.contains(&KEY[..20]),
                "{name}: {cleared}"
            );
        }
        let cleared = machine.out(&["show", name, "--share", "--format", "json"]);
        assert!(cleared.contains("You act.") && !cleared.contains(&KEY[..20]), "{name}: {cleared}");
    }
}

#[test]
fn instructions_told_as_a_message_are_no_system_prompt() {
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
    write(
        &machine.home().join("codex/rollout-2025-09-01T09-30-00-c.jsonl"),
        rollout.concat().as_bytes(),
    );
    let states = machine.json(&["export", "--root", "codex", "--to", "trace-state", "--raw"]);
    assert_eq!(states[0]["messages"][0]["role"], "user", "{}", states[0]);
}
