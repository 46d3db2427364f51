//! Rollouts of Codex.

use crate::support::{Sample, edits, figures, lines, sessions, texts, tokens};
use backstory_format::Limits;
use backstory_model::Agent;
use backstory_session::discover::{Root, discover};
use backstory_session::history::{self, Target};
use serde_json::{Value, json};

pub(crate) fn codex_line(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": "2026-01-31T09:30:00.000Z", "type": kind, "payload": payload })
}

pub(crate) fn codex_records(usage: impl Fn(u64, u64) -> Value) -> Vec<Value> {
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
pub(crate) fn exact(number: u64, input: u64) -> Value {
    codex_line(
        "token_usage_record",
        json!({ "response_id": format!("resp_{number}"),
            "usage": { "input_tokens": input, "cached_input_tokens": 50, "output_tokens": 10 } }),
    )
}

/// What earlier clients wrote, with running totals.
pub(crate) fn counted(number: u64, input: u64) -> Value {
    codex_line(
        "event_msg",
        json!({ "type": "token_count", "info": {
            "total_token_usage": { "total_tokens": number * 1000 },
            "last_token_usage": { "input_tokens": input, "cached_input_tokens": 50, "output_tokens": 10 } } }),
    )
}

pub(crate) const ROLLOUT: &str =
    "sessions/2026/01/31/rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl";

pub(crate) fn codex() -> Sample {
    Sample { agent: Agent::Codex, files: vec![(ROLLOUT, lines(&codex_records(exact)))] }
}

#[test]
fn codex_tells_each_thing_once() {
    for usage in [exact as fn(u64, u64) -> Value, counted] {
        let records = codex_records(usage);
        let sample = Sample { agent: Agent::Codex, files: vec![(ROLLOUT, lines(&records))] };
        let (_folder, sessions) = sessions(&sample);
        let session = &sessions[0];
        assert_eq!(session.id, "11111111-aaaa-4bbb-8ccc-000000000001");
        assert_eq!(figures(session), [1, 3, 3, 3, 1]);
        assert_eq!(tokens(session), [450, 30, 150], "cached tokens stand apart");
        assert_eq!(
            texts(session),
            [
                "user: Write a.py",
                "thinking: Plan",
                "apply_patch ok",
                "exec_command error",
                "exec_command ok",
                "Done."
            ]
        );
        assert_eq!(edits(session), [("a.py".to_owned(), "create")]);
        assert_eq!(session.models[0].as_ref(), "gpt-5");
        assert_eq!(session.last_branch.as_deref(), Some("main"));
    }
}

#[test]
fn codex_counts_before_the_answer() {
    // Releases of 2025 wrote the count first, and again without change.
    let mut records = codex_records(|_, _| codex_line("event_msg", json!({ "type": "noop" })));
    for (at, number) in [(15, 3), (10, 2), (5, 1)] {
        records.insert(at, counted(number, number * 100));
        records.insert(at, counted(number.saturating_sub(1), 1));
    }
    let sample = Sample { agent: Agent::Codex, files: vec![(ROLLOUT, lines(&records))] };
    let (_folder, sessions) = sessions(&sample);
    assert_eq!(figures(&sessions[0])[1], 3);
    assert_eq!(sessions[0].usage.output, 30, "a repeated count is no second message");
}

#[test]
fn codex_goes_back_and_goes_on_elsewhere() {
    let mut first = codex_records(exact);
    first.push(codex_line("event_msg", json!({ "type": "thread_rolled_back", "num_turns": 1 })));
    let second = vec![
        codex_line(
            "session_meta",
            json!({ "id": "22222222-aaaa-4bbb-8ccc-000000000002", "history_base": {
                "thread_id": "11111111-aaaa-4bbb-8ccc-000000000001", "end_ordinal_exclusive": 18 } }),
        ),
        codex_line(
            "response_item",
            json!({ "type": "message", "role": "user",
            "content": [{ "type": "input_text", "text": "And now?" }] }),
        ),
    ];
    let other = "sessions/2026/02/01/rollout-2026-02-01T00-00-00-22222222-aaaa-4bbb-8ccc-000000000002.jsonl";
    let sample = Sample {
        agent: Agent::Codex,
        files: vec![(ROLLOUT, lines(&first)), (other, lines(&second))],
    };
    let (_folder, sessions) = sessions(&sample);
    assert_eq!((sessions[0].turns.len(), sessions[0].abandoned.len()), (0, 1));
    assert_eq!(sessions[0].usage.output, 30, "what was left behind was paid for");
    assert_eq!(sessions[1].turns.len(), 2, "the turns before stand in the other file");
    assert_eq!(sessions[1].continues[0].as_ref(), "11111111-aaaa-4bbb-8ccc-000000000001");
    assert_eq!(texts(&sessions[1]).last().unwrap(), "user: And now?");
}

#[test]
fn codex_packed_and_legacy() {
    let plain = lines(&codex_records(exact));
    let pack = |plain: &[u8]| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        ruzstd::encoding::compress_to_vec(plain, level)
    };
    let name = "rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl.zst";
    let (_other, expected) = sessions(&codex());
    let (first, second) = plain.split_at(plain.len() / 2);
    // Of the second one, a frame in the middle is there to be skipped.
    let skipped = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let frames = [pack(first), skipped, pack(second)].concat();
    for packed in [pack(&plain), frames] {
        let (_folder, packed) =
            sessions(&Sample { agent: Agent::Codex, files: vec![(name, packed)] });
        assert_eq!(texts(&packed[0]), texts(&expected[0]));
        assert_eq!(tokens(&packed[0]), tokens(&expected[0]));
    }

    let items: Vec<Value> = codex_records(exact)
        .iter()
        .filter(|record| record["type"] == "response_item")
        .map(|record| record["payload"].clone())
        .collect();
    let facts = json!({ "id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": "" });
    let document = json!({ "session": facts, "items": items }).to_string().into_bytes();
    let bare = lines(&[vec![facts], items].concat());
    for (name, content) in [("rollout-2025-05-01-old.json", document), ("rollout-x.jsonl", bare)] {
        let (_folder, legacy) =
            sessions(&Sample { agent: Agent::Codex, files: vec![(name, content)] });
        assert_eq!(figures(&legacy[0]), [1, 3, 3, 3, 1], "{name}");
    }
}

/// Lines of mid 2025: no counts, but a state after each answer; patches are words for the shell.
#[test]
fn codex_with_states() {
    let state = || json!({ "record_type": "state" });
    let said = |role: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": "output_text", "text": text }] });
    let call = |id: &str, words: Value| {
        json!({ "type": "function_call", "name": "shell", "call_id": id,
            "arguments": json!({ "command": words }).to_string() })
    };
    let output = |id: &str| {
        let output = json!({ "output": "", "metadata": { "exit_code": 0 } }).to_string();
        json!({ "type": "function_call_output", "call_id": id, "output": output })
    };
    let patch = "*** Begin Patch\n*** Add File: a.py\n+x = 1\n*** End Patch";
    let records = [
        json!({ "id": "old", "timestamp": "2025-08-01T00:00:00Z", "instructions": null }),
        state(),
        said("user", "Do it"),
        state(),
        call("c1", json!(["bash", "-c", "ls"])),
        output("c1"),
        call("c2", json!(["apply_patch", patch])),
        output("c2"),
        state(),
        said("assistant", "Done."),
    ];
    let files = vec![("rollout-2025-08-01T00-00-00-old.jsonl", lines(&records))];
    let (_folder, sessions) = sessions(&Sample { agent: Agent::Codex, files });
    assert_eq!(figures(&sessions[0]), [1, 2, 2, 2, 0], "calls of one answer are one message");
    assert_eq!(edits(&sessions[0]), [("a.py".to_owned(), "create")]);
}

/// Lines are followed from a patch to the file as it is now.
#[test]
fn a_patch_is_blamed() {
    let (folder, _) = sessions(&codex());
    let found = discover(&[Root { path: folder.path().to_path_buf() }]);
    let wanted = |path: &str| path == "/w/demo/a.py";
    let collected = history::collect(&found, Limits::default(), &wanted, None, &());
    let text = "x = 1\ny = 3\n";
    let path = "/w/demo/a.py";
    let target = Target { path, text, until: None };
    let traced = history::trace(&collected.gathered, &[path.to_owned()], Some(target));
    let known: Vec<bool> = traced
        .marks
        .iter()
        .map(|mark| matches!(mark.origin, history::LineOrigin::Edit(_)))
        .collect();
    assert_eq!(known, [true, false], "a line that was changed later is nobody's");
}
