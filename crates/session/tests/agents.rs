//! Readers of other agents' traces, on files written here.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::disallowed_methods)]

use backstory_format::Limits;
use backstory_session::agents;
use backstory_session::history::{self, Target};
use backstory_session::model::{Agent, Block, Change, Effect, Outcome, Session};
use backstory_session::store::{Root, discover};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/laws/agents.rs"]
mod laws;

/// A file of some agent, by its path below the test's folder.
struct Sample {
    agent: Agent,
    files: Vec<(&'static str, Vec<u8>)>,
}

fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

fn write(folder: &Path, sample: &Sample) {
    for (name, content) in &sample.files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

fn read_all(path: PathBuf) -> Vec<Session> {
    let found = discover(&[Root { path }]);
    let read = |files| agents::read(files, Limits::default(), &mut Vec::new()).unwrap().0;
    found.sessions.iter().map(read).collect()
}

fn sessions(sample: &Sample) -> (tempfile::TempDir, Vec<Session>) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), sample);
    let sessions = read_all(folder.path().to_path_buf());
    for session in &sessions {
        assert_eq!(session.agent, sample.agent);
    }
    (folder, sessions)
}

/// Turns, steps, calls, results and failed calls.
fn figures(session: &Session) -> [u64; 5] {
    let counts = &session.counts;
    [counts.turns, counts.steps, counts.calls, counts.results, counts.errors]
}

/// Input, output, and what came from a cache.
fn tokens(session: &Session) -> [u64; 3] {
    [session.usage.input, session.usage.output, session.usage.cache_read]
}

fn texts(session: &Session) -> Vec<String> {
    let mut reader = session.source.open().unwrap();
    let mut texts = Vec::new();
    for turn in &session.turns {
        for part in &turn.prompt.blocks {
            if let Block::Text(text) = &part.block {
                texts.push(format!("user: {}", reader.text(text).unwrap()));
            }
        }
        for block in turn.steps.iter().flat_map(|step| &step.blocks) {
            match block {
                Block::Text(text) => texts.push(reader.text(text).unwrap().into_owned()),
                Block::Thinking { text: Some(text), .. } => {
                    texts.push(format!("thinking: {}", reader.text(text).unwrap()));
                }
                Block::Call(call) => {
                    let result = call.result.as_ref().map(|result| result.outcome.name());
                    let name = call.name.as_deref().unwrap_or_default();
                    texts.push(format!("{name} {}", result.unwrap_or("-")));
                }
                _ => {}
            }
        }
    }
    texts
}

fn edits(session: &Session) -> Vec<(String, &'static str)> {
    let calls = session.turns.iter().flat_map(|turn| turn.calls());
    let effects = calls.flat_map(|call| &call.effects);
    effects
        .filter_map(|effect| match effect {
            Effect::Edit(edit) => Some((
                edit.path.to_string(),
                match edit.change {
                    Change::Write { created: true, .. } => "create",
                    Change::Write { .. } => "write",
                    Change::Replace(_) => "replace",
                    Change::Delete => "delete",
                    Change::Move { .. } => "move",
                },
            )),
            _ => None,
        })
        .collect()
}

fn codex_line(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": "2026-01-31T09:30:00.000Z", "type": kind, "payload": payload })
}

fn codex_records(usage: impl Fn(u64, u64) -> Value) -> Vec<Value> {
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
fn exact(number: u64, input: u64) -> Value {
    codex_line(
        "token_usage_record",
        json!({ "response_id": format!("resp_{number}"),
            "usage": { "input_tokens": input, "cached_input_tokens": 50, "output_tokens": 10 } }),
    )
}

/// What earlier clients wrote, with running totals.
fn counted(number: u64, input: u64) -> Value {
    codex_line(
        "event_msg",
        json!({ "type": "token_count", "info": {
            "total_token_usage": { "total_tokens": number * 1000 },
            "last_token_usage": { "input_tokens": input, "cached_input_tokens": 50, "output_tokens": 10 } } }),
    )
}

const ROLLOUT: &str =
    "sessions/2026/01/31/rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl";

fn codex() -> Sample {
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
    let packed = ruzstd::encoding::compress_to_vec(
        plain.as_slice(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let name = "rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl.zst";
    let (_folder, packed) = sessions(&Sample { agent: Agent::Codex, files: vec![(name, packed)] });
    let (_other, plain) = sessions(&codex());
    assert_eq!(texts(&packed[0]), texts(&plain[0]));
    assert_eq!(tokens(&packed[0]), tokens(&plain[0]));

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

fn openhands_events() -> Vec<Value> {
    let response = |id: &str, call: &str, name: &str, arguments: &str| {
        json!({ "function_name": name, "tool_call_id": call, "total_calls_in_response": 1,
            "model_response": { "id": id, "model": "claude-x",
                "choices": [{ "message": { "content": "I look.", "tool_calls": [
                    { "id": call, "function": { "name": name, "arguments": arguments } }] } }],
                "usage": { "prompt_tokens": 100, "completion_tokens": 7, "cache_read_input_tokens": 60 } } })
    };
    let run = response("r1", "c1", "execute_bash", "{\"command\":\"ls\"}");
    let edit = response("r2", "c2", "str_replace_editor", "{\"command\":\"create\"}");
    let at = "2026-01-31T09:30:00.5";
    vec![
        json!({ "id": 0, "timestamp": at, "source": "agent", "action": "system",
            "args": { "content": "You are an agent.", "openhands_version": "0.35.0" } }),
        json!({ "id": 1, "timestamp": at, "source": "user", "action": "message", "args": { "content": "Fix it" } }),
        json!({ "id": 2, "timestamp": at, "source": "agent", "action": "run",
            "args": { "command": "ls", "thought": "I look." }, "tool_call_metadata": run }),
        json!({ "id": 3, "timestamp": at, "source": "agent", "observation": "run", "cause": 2, "content": "no",
            "extras": { "metadata": { "exit_code": 2 } }, "success": false, "tool_call_metadata": run }),
        json!({ "id": 4, "timestamp": at, "source": "agent", "action": "edit", "args": { "path": "/w/a.py" },
            "tool_call_metadata": edit }),
        json!({ "id": 5, "timestamp": at, "source": "agent", "observation": "edit", "cause": 4,
            "content": "created", "extras": { "path": "/w/a.py", "prev_exist": false,
                "old_content": null, "new_content": "x = 1\n" }, "tool_call_metadata": edit }),
        json!({ "id": 6, "timestamp": at, "source": "agent", "action": "finish", "args": { "thought": "Done." } }),
    ]
}

fn openhands() -> Sample {
    let array = Value::Array(openhands_events()).to_string().into_bytes();
    Sample { agent: Agent::OpenHands, files: vec![("trajectory.json", array)] }
}

#[test]
fn openhands_events_in_four_places() {
    let events = openhands_events();
    let row = json!({ "instance_id": "demo__demo-1", "test_result": { "git_patch": "diff" },
        "metadata": { "llm_config": { "model": "claude-x" } }, "history": events,
        "metrics": { "accumulated_cost": 0.25 }, "report": { "resolved": true } });
    let pairs: Vec<Value> = vec![
        json!([events[1], json!({ "observation": "null", "content": "" })]),
        json!([events[2], events[3]]),
        json!([events[4], events[5]]),
        json!([events[6], json!({ "observation": "null", "content": "" })]),
    ];
    let old = json!({ "instance_id": "demo__demo-2", "history": pairs, "git_patch": "" });
    let rows = lines(&[row, old]);
    let files: Vec<(&'static str, Vec<u8>)> = vec![
        ("s/events/0.json", events[0].to_string().into_bytes()),
        ("s/events/1.json", events[1].to_string().into_bytes()),
        ("s/events/2.json", events[2].to_string().into_bytes()),
        ("s/events/3.json", events[3].to_string().into_bytes()),
        ("s/events/4.json", events[4].to_string().into_bytes()),
        ("s/events/5.json", events[5].to_string().into_bytes()),
        ("s/events/6.json", events[6].to_string().into_bytes()),
        ("s/event_cache/0-6.json", b"[]".to_vec()),
        ("s/metadata.json", b"{}".to_vec()),
        ("output.jsonl", rows),
        ("trajectory.json", Value::Array(events.clone()).to_string().into_bytes()),
    ];
    let (_folder, sessions) = sessions(&Sample { agent: Agent::OpenHands, files });
    assert_eq!(sessions.len(), 4);
    for session in &sessions {
        // The last call ends the run, and nothing answers it.
        assert_eq!(figures(session), [1, 3, 3, 2, 1], "{}", session.id);
        assert_eq!(session.turns[0].outcome, Outcome::Completed);
        assert!(session.problems.listed().is_empty(), "{:?}", session.problems);
        assert_eq!(tokens(session), [80, 14, 120], "{}", session.id);
        assert_eq!(edits(session), [("/w/a.py".to_owned(), "create")]);
        assert_eq!(texts(session)[..2], ["user: Fix it", "I look."]);
    }
    let row = sessions.iter().find(|session| session.id == "demo__demo-1").unwrap();
    let benchmark = row.benchmark.as_ref().unwrap();
    assert_eq!((benchmark.resolved, row.reported_cost), (Some(true), Some(0.25)));
    assert!(benchmark.patch.is_some());
}

#[test]
fn openhands_conversations_of_the_sdk() {
    let stats = |prompt: u64, output: u64| {
        json!({ "id": "s", "kind": "ConversationStateUpdateEvent", "source": "environment", "key": "stats",
            "value": { "usage_to_metrics": { "default": { "model_name": "m", "accumulated_cost": 0.5,
                "accumulated_token_usage": { "prompt_tokens": prompt, "completion_tokens": output,
                    "cache_read_tokens": 0 } } } } })
    };
    let action = |id: &str, call: &str, response: &str, action: Value| {
        json!({ "id": id, "kind": "ActionEvent", "source": "agent", "timestamp": "2026-01-31T09:30:00",
            "thought": [{ "type": "text", "text": "Look." }], "reasoning_content": "Hm.",
            "action": action, "tool_name": "tool", "tool_call_id": call, "llm_response_id": response,
            "tool_call": { "id": call, "name": "tool", "arguments": "{}" } })
    };
    let answer = |call: &str, failed: bool| {
        json!({ "id": format!("o{call}"), "kind": "ObservationEvent", "source": "environment",
            "tool_call_id": call, "observation": { "content": [{ "type": "text", "text": "out" }], "is_error": failed } })
    };
    let terminal = json!({ "kind": "TerminalAction", "command": "ls" });
    let editor = json!({ "kind": "FileEditorAction", "command": "str_replace", "path": "/w/a.py",
        "old_str": "x", "new_str": "y" });
    let events = [
        json!({ "id": "u", "kind": "MessageEvent", "source": "user",
            "llm_message": { "role": "user", "content": [{ "type": "text", "text": "Do it" }] } }),
        stats(100, 10),
        action("a1", "c1", "r1", terminal.clone()),
        action("a2", "c2", "r1", editor),
        answer("c1", true),
        answer("c2", false),
        stats(300, 30),
        action("a3", "c3", "r2", terminal),
        json!({ "id": "rj", "kind": "UserRejectObservation", "source": "user", "tool_call_id": "c3",
            "rejection_reason": "no" }),
    ];
    let state = json!({ "id": "33333333", "agent": { "llm": { "model": "m" } },
        "workspace": { "working_dir": "/w" } });
    let mut files: Vec<(&'static str, Vec<u8>)> =
        vec![("c/base_state.json", state.to_string().into_bytes())];
    for (number, event) in events.iter().enumerate() {
        let name = format!("c/events/event-{number:05}-{}.json", event["id"].as_str().unwrap());
        files.push((name.leak(), event.to_string().into_bytes()));
    }
    files.push(("events.jsonl", lines(&events)));
    // In a folder the state tells the tokens of each answer, with or without the events.
    let usage = |id: &str, prompt: u64, output: u64| json!({ "model": "m", "prompt_tokens": prompt, "completion_tokens": output, "response_id": id });
    let mut told = state;
    told["id"] = json!("44444444");
    told["stats"] = json!({ "usage_to_metrics": { "default": { "accumulated_cost": 0.5,
        "token_usages": [usage("r1", 100, 10), usage("r2", 200, 20), usage("other", 7, 7)] } } });
    files.push(("d/base_state.json", told.to_string().into_bytes()));
    told["id"] = json!("55555555");
    files.push(("e/base_state.json", told.to_string().into_bytes()));
    for (number, event) in events.iter().enumerate() {
        let name = format!("event-{number:05}-{}.json", event["id"].as_str().unwrap());
        files.push((format!("d/events/{name}").leak(), event.to_string().into_bytes()));
        if event["key"] != "stats" {
            files.push((format!("e/events/{name}").leak(), event.to_string().into_bytes()));
        }
    }
    let (_folder, sessions) = sessions(&Sample { agent: Agent::OpenHands, files });
    assert_eq!(sessions.len(), 4);
    for session in &sessions {
        assert_eq!(figures(session), [1, 2, 3, 3, 2], "calls of one response are one message");
        assert_eq!(tokens(session), [300, 30, 0], "running totals are not added up");
        assert_eq!(edits(session), [("/w/a.py".to_owned(), "replace")]);
        assert_eq!(session.reported_cost, Some(0.5));
    }
}

fn swe_agent() -> Sample {
    let call = |id: &str, arguments: Value| {
        json!([{ "id": id, "type": "function",
            "function": { "name": "str_replace_editor", "arguments": arguments.to_string() } }])
    };
    let replace =
        json!({ "command": "str_replace", "path": "/t/a.py", "old_str": "x", "new_str": "y" });
    let document = json!({
        "environment": "demo__demo-1", "trajectory": [{ "state": { "working_dir": "/t" } }],
        "info": { "exit_status": "submitted", "submission": "diff", "swe_agent_version": "1.1.0",
            "model_stats": { "instance_cost": 0.5, "tokens_sent": 900, "tokens_received": 30, "api_calls": 2 } },
        "replay_config": json!({ "agent": { "model": { "name": "model-x" } } }).to_string(),
        "history": [
            { "role": "system", "content": "You can edit." },
            { "role": "user", "content": "A demonstration", "is_demo": true },
            { "role": "user", "content": [{ "type": "text", "text": "Fix it" }] },
            { "role": "assistant", "content": "First.", "tool_calls": call("c1", replace.clone()) },
            { "role": "tool", "content": "ERROR: no such text", "tool_call_ids": ["c1"] },
            { "role": "assistant", "content": "Again.", "tool_calls": call("c2", replace) },
            { "role": "tool", "content": "The file has been edited.", "tool_call_ids": ["c2"] },
        ],
    });
    let old = json!({ "environment": "swe_main",
        "trajectory": [{ "state": "{\"working_dir\": \"/old\"}\n" }],
        "history": [
            { "role": "user", "content": "Fix it" },
            { "role": "assistant", "content": "Look.", "action": "open a.py\n" },
            { "role": "user", "content": "[File: a.py]" },
            { "role": "assistant", "content": "No idea." },
            { "role": "user", "content": "Your output was not formatted correctly." },
            { "role": "assistant", "content": "Out.", "action": "submit\n" },
        ],
    });
    Sample {
        agent: Agent::SweAgent,
        files: vec![
            ("new.traj", document.to_string().into_bytes()),
            ("old.traj", old.to_string().into_bytes()),
        ],
    }
}

#[test]
fn swe_agent_of_two_generations() {
    let (_folder, sessions) = sessions(&swe_agent());
    let [new, old] = sessions.as_slice() else { panic!("{}", sessions.len()) };
    assert_eq!(figures(new), [1, 2, 2, 2, 1]);
    assert_eq!(edits(new), [("/t/a.py".to_owned(), "replace")], "what failed did not happen");
    assert_eq!(tokens(new), [900, 30, 0]);
    assert_eq!((new.reported_cost, new.models[0].as_ref()), (Some(0.5), "model-x"));
    let benchmark = new.benchmark.as_ref().unwrap();
    assert_eq!(benchmark.instance.as_deref(), Some("demo__demo-1"));
    assert_eq!(benchmark.exit_status.as_deref(), Some("submitted"));
    assert_eq!(figures(old), [1, 3, 2, 1, 0]);
    assert_eq!(old.cwds[0].as_ref(), "/old");
    assert_eq!(texts(old), ["user: Fix it", "Look.", "open ok", "No idea.", "Out.", "submit -"]);
}

fn mini_swe_agent() -> Sample {
    let document = json!({
        "info": { "mini_version": "2.4.6", "exit_status": "Submitted", "submission": "diff",
            "model_stats": { "instance_cost": 0.1, "api_calls": 2 },
            "config": { "model": { "model_name": "model-y" }, "environment": { "cwd": "/m" } } },
        "messages": [
            { "role": "system", "content": "Use bash." },
            { "role": "user", "content": "Fix it" },
            { "role": "assistant", "content": "Look.\n\n```mswea_bash_command\nls\n```", "extra": {
                "actions": [{ "command": "ls" }], "timestamp": 1769851800.5, "response": { "usage": {
                    "prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": { "cached_tokens": 20 } } } } },
            { "role": "user", "content": "<returncode>1</returncode>", "extra": { "returncode": 1 } },
            { "role": "assistant", "content": "", "tool_calls": [{ "id": "t1", "type": "function",
                "function": { "name": "bash", "arguments": "{\"command\":\"ls -a\"}" } }] },
            { "role": "tool", "tool_call_id": "t1", "content": ".", "extra": { "returncode": 0 } },
            { "role": "exit", "content": "", "extra": { "exit_status": "Submitted" } },
        ],
        "trajectory_format": "mini-swe-agent-1.1",
    });
    let bare = json!([
        { "role": "user", "content": "Fix it" },
        { "role": "assistant", "content": "Look.\n```bash\nls\n```\n" },
        { "role": "user", "content": "out" },
    ]);
    Sample {
        agent: Agent::MiniSweAgent,
        files: vec![
            ("demo__demo-1.traj.json", document.to_string().into_bytes()),
            ("old.traj.json", bare.to_string().into_bytes()),
        ],
    }
}

#[test]
fn mini_swe_agent_in_both_modes() {
    let (_folder, sessions) = sessions(&mini_swe_agent());
    let [new, old] = sessions.as_slice() else { panic!("{}", sessions.len()) };
    assert_eq!(figures(new), [1, 2, 2, 2, 1]);
    assert_eq!(tokens(new), [30, 5, 20]);
    assert_eq!(new.benchmark.as_ref().unwrap().instance.as_deref(), Some("demo__demo-1"));
    assert!(new.started.is_some() && new.cwds[0].as_ref() == "/m");
    assert_eq!(figures(old), [1, 1, 1, 1, 0]);
}

fn swe_smith() -> Sample {
    let row = |id: &str, messages: Value| {
        json!({ "messages": messages, "instance_id": "demo__demo", "resolved": id == "xml",
            "model": "claude-x", "traj_id": id, "patch": "diff" })
    };
    let prompt = json!({ "role": "user", "content": "Fix it" });
    let xml = "Edit.\n<function=str_replace_editor>\n<parameter=command>create</parameter>\n<parameter=path>/t/b.py</parameter>\n<parameter=file_text>\nx = 1\n</parameter>\n</function>";
    let messages = [
        (
            "xml",
            json!([prompt, { "role": "assistant", "content": xml },
            { "role": "user", "content": "OBSERVATION:\nFile created successfully at: /t/b.py" }]),
        ),
        (
            "ticks",
            json!([prompt, { "role": "assistant", "content": "Look.\n```\nls\n```" },
            { "role": "user", "content": "OBSERVATION:\nb.py" }]),
        ),
        (
            "tool",
            Value::String(
                json!([prompt, { "role": "assistant", "content": "Look.", "tool_calls": [
            { "id": "c", "function": { "name": "bash", "arguments": "{\"command\": \"ls\"}" } }] },
            { "role": "tool", "content": "b.py", "tool_call_ids": ["c"] }])
                .to_string(),
            ),
        ),
    ];
    let rows: Vec<Value> = messages.into_iter().map(|(id, messages)| row(id, messages)).collect();
    Sample {
        agent: Agent::SweSmith,
        files: vec![
            ("rows.jsonl", lines(&rows)),
            ("rows.json", Value::Array(rows).to_string().into_bytes()),
        ],
    }
}

#[test]
fn swe_smith_rows_of_three_dialects() {
    let (_folder, sessions) = sessions(&swe_smith());
    assert_eq!(sessions.len(), 6);
    for session in &sessions {
        assert_eq!(figures(session), [1, 1, 1, 1, 0], "{}", session.id);
        let resolved = session.benchmark.as_ref().unwrap().resolved;
        assert_eq!(resolved, Some(session.id == "xml"));
        let expected =
            if session.id == "xml" { vec![("/t/b.py".to_owned(), "create")] } else { vec![] };
        assert_eq!(edits(session), expected);
    }
}

fn aider() -> Sample {
    let history = "\n# aider chat started at 2026-01-31 09:30:00\n\n> Aider v0.86.0  \n> Model: model-z with diff edit format  \n> Git repo: .git with 3 files  \n\n#### Please change it  \n#### and say so  \n\nSure:\n\na.py\n```python\n# not a heading\n> not the program\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n\n> Tokens: 1.2k sent, 60 received. Cost: $0.02 message, $0.02 session.  \n> Applied edit to a.py  \n> Commit abc1234 Change it  \n\n# aider chat started at 2026-01-31 10:00:00\n\n#### /exit  \n";
    Sample {
        agent: Agent::Aider,
        files: vec![("project/.aider.chat.history.md", history.as_bytes().to_vec())],
    }
}

#[test]
fn aider_with_its_losses() {
    let (_folder, sessions) = sessions(&aider());
    let [first, second] = sessions.as_slice() else { panic!("{}", sessions.len()) };
    assert_eq!(figures(first), [1, 1, 1, 1, 0]);
    assert_eq!(tokens(first), [1200, 60, 0]);
    assert_eq!(first.reported_cost, Some(0.02));
    assert_eq!(first.versions[0].as_ref(), "0.86.0");
    assert_eq!(first.models[0].as_ref(), "model-z");
    assert_eq!(first.id, "aider-project-2026-01-31T09:30:00");
    let told = texts(first);
    assert_eq!(told[0], "user: Please change it\nand say so");
    assert!(told[1].contains("> not the program"), "a fence hides what looks like a mark");
    assert_eq!(second.counts.steps, 0);
}

/// What the program says may take several lines, of which only the first is marked.
#[test]
fn aider_when_the_program_says_more() {
    let history = "\n# aider chat started at 2026-01-31 09:30:00\n\n> Aider v0.86.2  \n\n#### Change it  \n\nSure:\n\na.py\n```\n<<<<<<< SEARCH\nz\n=======\ny\n>>>>>>> REPLACE\n```\n\n> Tokens: 10 sent, 2 received.  \n> # 1 SEARCH/REPLACE block failed to match!\n\n## No match in a.py\n<<<<<<< SEARCH\nz\n=======\ny\n>>>>>>> REPLACE\n\nThe SEARCH section must exactly match  \n\nAs they say:\n\n> measure twice\n\na.py\n<source>\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n</source>\n\n> Tokens: 20 sent, 3 received.  \n> Applied edit to a.py  \n> Commit abc1234 Change it\n\nBecause.  \n";
    let read = |history: &str| {
        let files = vec![("project/.aider.chat.history.md", history.as_bytes().to_vec())];
        let (folder, mut sessions) = sessions(&Sample { agent: Agent::Aider, files });
        (folder, sessions.remove(0))
    };
    let (_folder, session) = read(history);
    assert_eq!(figures(&session), [1, 2, 1, 1, 0], "an error of the program is no answer");
    assert_eq!(tokens(&session), [30, 5, 0]);
    let told = texts(&session);
    assert!(told[2].contains("> measure twice") && told[2].contains("</source>"), "{told:?}");
    assert_eq!(session.turns[0].events.len(), 1, "the commit with all of its message");
    // Without spaces at the ends of lines every mark counts for its line.
    let (_folder, bare) = read(&history.replace("  \n", "\n"));
    assert_eq!(bare.versions[0].as_ref(), "0.86.2");
    assert_eq!(tokens(&bare), [30, 5, 0]);
}

fn cline() -> Sample {
    let metrics = json!({ "inputTokens": 100, "outputTokens": 9, "cacheReadTokens": 40,
        "cacheWriteTokens": 0, "cost": 0.05 });
    let sdk = json!({ "version": 1, "sessionId": "s1", "system_prompt": "You are Cline.", "messages": [
        { "id": "m1", "role": "user", "content": [{ "type": "text",
            "text": "<user_input mode=\"act\">Fix it</user_input>" }], "ts": 1769851800000u64 },
        { "id": "m2", "role": "assistant", "content": [{ "type": "thinking", "thinking": "Hm." },
            { "type": "tool_use", "id": "c1", "name": "editor",
              "input": { "path": "/w/a.py", "old_text": "x", "new_text": "y" } }],
          "ts": 1769851801000u64, "modelInfo": { "id": "claude-x" }, "metrics": metrics },
        { "id": "m3", "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1",
            "content": [{ "query": "edit", "result": "Edited", "success": true }] }] },
        { "id": "m4", "role": "assistant", "content": [{ "type": "text", "text": "Done." },
            { "type": "tool_use", "id": "c2", "name": "editor", "input": { "path": "/w/b.py", "new_text": "z" } },
            { "type": "tool_use", "id": "c3", "name": "editor", "input": { "path": "/w/c.py", "new_text": "z" } }] },
        { "id": "m5", "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "c2",
              "content": "{\"result\":\"File created successfully at: /w/b.py\",\"success\":true}" },
            { "type": "tool_result", "tool_use_id": "c3", "content": "{\"result\":\"Edited\",\"success\":true}" }] },
    ] });
    let record = json!({ "session_id": "s1", "cwd": "/w", "source": "cli",
        "metadata": { "title": "A title", "fork": { "forkedFromSessionId": "s0" } } });
    let classic = json!([
        { "role": "user", "content": [{ "type": "text", "text": "<task>\nFix it\n</task>" },
            { "type": "text", "text": "<environment_details>\n…\n</environment_details>" }] },
        { "role": "assistant", "content": [{ "type": "text",
            "text": "Write.\n<write_to_file>\n<path>a.py</path>\n<content>\nx = 1\n</content>\n</write_to_file>" }] },
        { "role": "user", "content": [{ "type": "text", "text": "[write_to_file for 'a.py'] Result:" },
            { "type": "text", "text": "<environment_details>\n…\n</environment_details>" }] },
        { "role": "assistant", "content": [{ "type": "text",
            "text": "<attempt_completion>\n<result>Done.</result>\n</attempt_completion>" }] },
    ]);
    let request = |input: u64| {
        let text = json!({ "tokensIn": input, "tokensOut": 3, "cacheReads": 5, "cost": 0.01 });
        json!({ "ts": 1769851800000u64, "type": "say", "say": "api_req_started", "text": text.to_string() })
    };
    let screen = json!([request(10), request(20)]);
    Sample {
        agent: Agent::Cline,
        files: vec![
            ("sessions/s1/s1.messages.json", sdk.to_string().into_bytes()),
            ("sessions/s1/s1.json", record.to_string().into_bytes()),
            ("tasks/1769851800000/api_conversation_history.json", classic.to_string().into_bytes()),
            ("tasks/1769851800000/ui_messages.json", screen.to_string().into_bytes()),
        ],
    }
}

#[test]
fn cline_new_and_classic() {
    let (_folder, sessions) = sessions(&cline());
    let [new, classic] = sessions.as_slice() else { panic!("{}", sessions.len()) };
    assert_eq!(figures(new), [1, 2, 3, 3, 0]);
    assert_eq!(tokens(new), [60, 9, 40]);
    let known = [("/w/a.py", "replace"), ("/w/b.py", "create"), ("/w/c.py", "write")];
    assert_eq!(edits(new), known.map(|(path, what)| (path.to_owned(), what)));
    assert_eq!(texts(new)[0], "user: Fix it", "the mode it was typed in is no part of it");
    assert_eq!(new.title.as_ref().unwrap().text, "A title");
    assert_eq!(new.forked_from.as_ref().unwrap().session.as_ref(), "s0");
    assert_eq!((new.reported_cost, new.cwds[0].as_ref()), (Some(0.05), "/w"));
    assert_eq!(classic.id, "1769851800000");
    assert_eq!(figures(classic), [1, 2, 2, 1, 0]);
    assert_eq!(tokens(classic), [30, 6, 10]);
    assert_eq!(edits(classic), [("a.py".to_owned(), "write")]);
    assert_eq!(classic.title.as_ref().unwrap().text, "Fix it");
}

/// Lines are followed from a patch to the file as it is now.
#[test]
fn a_patch_is_blamed() {
    let (folder, _) = sessions(&codex());
    let found = discover(&[Root { path: folder.path().to_path_buf() }]);
    let wanted = |path: &str| path == "/w/demo/a.py";
    let collected = history::collect(&found, Limits::default(), &wanted, None, &|_| {});
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

/// No damage makes a reader fail: bytes are changed, cut out and doubled.
#[test]
fn damaged_samples_are_read() {
    let samples =
        [codex(), openhands(), swe_agent(), mini_swe_agent(), swe_smith(), aider(), cline()];
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for sample in &samples {
        for _ in 0..60 {
            let mut files = sample.files.clone();
            for (_, content) in &mut files {
                for _ in 0..=next(4) {
                    let at = next(content.len());
                    match next(4) {
                        0 => content[at] = b"{}[]\",:\\\n\x00\xFF0n"[next(13)],
                        1 => content.truncate(at.max(1)),
                        2 => drop(content.drain(at..(at + next(40)).min(content.len()))),
                        _ => {
                            let part = content[at..(at + next(60)).min(content.len())].to_vec();
                            content.splice(at..at, part);
                        }
                    }
                    if content.is_empty() {
                        content.push(b'{');
                    }
                }
            }
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &Sample { agent: sample.agent, files });
            for session in read_all(folder.path().to_path_buf()) {
                texts(&session);
                assert_eq!(
                    session.counts.calls,
                    session.counts.results + session.counts.orphan_calls,
                    "{}",
                    session.id
                );
            }
        }
    }
}

/// Every seed of the fuzzer is recognised as a trace and keeps the laws, whole, cut and damaged.
#[test]
fn seeds_keep_the_laws() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/agents");
    let mut kinds = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let data = std::fs::read(&path).unwrap();
        assert_eq!(laws::agents(&data), 1, "{}", path.display());
        kinds.insert(data[0]);
        let step = data.len() / 16 + 1;
        for at in (1..data.len()).step_by(step) {
            laws::agents(&data[..at]);
            let mut damaged = data.clone();
            damaged[at] = b'"';
            laws::agents(&damaged);
        }
    }
    assert_eq!(kinds.len(), laws::NAMES.len(), "one seed for each sort of file");
}
