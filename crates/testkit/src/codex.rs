//! Rollouts of Codex, made for a test.

use crate::{Sample, agent, lines};
use serde_json::{Value, json};

/// A line of a rollout.
pub fn codex_line(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": "2026-01-31T09:30:00.000Z", "type": kind, "payload": payload })
}

/// A thread that writes a file and runs two commands; `usage` gives the record of a message's tokens.
pub fn codex_records(usage: impl Fn(u64, u64) -> Value) -> Vec<Value> {
    let patch = "*** Begin Patch\n*** Add File: a.py\n+x = 1\n+y = 2\n*** End Patch";
    let item = |payload| codex_line("response_item", payload);
    vec![
        codex_line(
            "session_meta",
            json!({ "id": "11111111-aaaa-4bbb-8ccc-000000000001", "cwd": "/w/demo",
                "cli_version": "0.166.0", "originator": "codex_exec", "git": { "branch": "main" } }),
        ),
        codex_line("turn_context", json!({ "model": "gpt-5", "cwd": "/w/demo" })),
        item(json!({ "type": "message", "role": "user",
            "content": [{ "type": "input_text", "text": "<environment_context>x</environment_context>" }] })),
        item(json!({ "type": "message", "role": "user",
            "content": [{ "type": "input_text", "text": "Write a.py" }] })),
        codex_line("event_msg", json!({ "type": "user_message", "message": "Write a.py" })),
        codex_line("event_msg", json!({ "type": "agent_reasoning", "text": "Plan" })),
        item(json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "Plan" }],
            "encrypted_content": "x" })),
        item(
            json!({ "type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "c1" }),
        ),
        usage(1, 100),
        item(json!({ "type": "custom_tool_call_output", "call_id": "c1", "output": "Success." })),
        item(json!({ "type": "function_call", "name": "exec_command",
            "arguments": "{\"cmd\":\"false\"}", "call_id": "c2" })),
        item(json!({ "type": "function_call", "name": "exec_command",
            "arguments": "{\"cmd\":\"ls\"}", "call_id": "c3" })),
        usage(2, 200),
        item(json!({ "type": "function_call_output", "call_id": "c2",
            "output": "Chunk ID: 1\nProcess exited with code 1\nOutput:\n" })),
        item(json!({ "type": "function_call_output", "call_id": "c3",
            "output": "Chunk ID: 2\nProcess exited with code 0\nOutput:\na.py\n" })),
        item(json!({ "type": "message", "role": "assistant",
            "content": [{ "type": "output_text", "text": "Done." }] })),
        codex_line("event_msg", json!({ "type": "agent_message", "message": "Done." })),
        usage(3, 300),
    ]
}

/// What the newest clients write after each answer.
pub fn exact(number: u64, input: u64) -> Value {
    codex_line(
        "token_usage_record",
        json!({ "response_id": format!("resp_{number}"),
            "usage": { "input_tokens": input, "cached_input_tokens": 50, "output_tokens": 10 } }),
    )
}

/// What earlier clients wrote, with running totals.
pub fn counted(number: u64, input: u64) -> Value {
    codex_line(
        "event_msg",
        json!({ "type": "token_count", "info": {
            "total_token_usage": { "total_tokens": number * 1000 },
            "last_token_usage": { "input_tokens": input, "cached_input_tokens": 50, "output_tokens": 10 } } }),
    )
}

/// Where the client puts the thread.
pub const ROLLOUT: &str =
    "sessions/2026/01/31/rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl";

/// The thread alone.
pub fn codex() -> Sample {
    Sample { agent: agent("codex"), files: vec![(ROLLOUT, lines(&codex_records(exact)))] }
}

/// A thread of a day later.
pub const SECOND: &str =
    "sessions/2026/02/01/rollout-2026-02-01T00-00-00-22222222-aaaa-4bbb-8ccc-000000000002.jsonl";
const THIRD: &str =
    "archived_sessions/rollout-2026-02-02T00-00-00-33333333-aaaa-4bbb-8ccc-000000000003.jsonl";

fn asks(text: &str) -> Value {
    codex_line(
        "response_item",
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] }),
    )
}

fn answers(text: &str) -> Value {
    codex_line(
        "response_item",
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
    )
}

fn meta(number: u64, base: Value) -> Value {
    let id = format!("{0}{0}{0}{0}-aaaa-4bbb-8ccc-00000000000{number}", number * 11);
    codex_line("session_meta", json!({ "id": id, "cwd": "/w/demo", "history_base": base }))
}

/// A thread, one that goes on from it, and one that goes on from that one and was put away.
pub fn lineage() -> Sample {
    let first = codex_records(exact);
    let cut = lines(&first).len();
    let base = json!({ "thread_id": "11111111-aaaa-4bbb-8ccc-000000000001",
        "end_ordinal_exclusive": first.len(), "end_byte_offset": cut });
    let mut own = first.clone();
    own.push(asks("Never said in the others"));
    // Ordinals go on in the second file.
    let second = [meta(2, base), asks("And then?"), answers("Then."), exact(4, 400), asks("Later")];
    let end = lines(&second[..4]).len();
    let base = json!({ "thread_id": "22222222-aaaa-4bbb-8ccc-000000000002",
        "end_ordinal_exclusive": first.len() + 4, "end_byte_offset": end });
    let third = [meta(3, base), asks("And now?")];
    Sample {
        agent: agent("codex"),
        files: vec![(ROLLOUT, lines(&own)), (SECOND, lines(&second)), (THIRD, lines(&third))],
    }
}
