//! Events and conversations of OpenHands.

use crate::support::{figures, tokens};
use backstory_model::{Outcome, Session};
use backstory_testkit::{Sample, agent, discover_at, edits, lines, one_session, texts};
use serde_json::{Value, json};

pub(crate) fn openhands_events() -> Vec<Value> {
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

#[test]
pub(crate) fn openhands_events_in_four_places() {
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
    let (_folder, sessions) = Sample { agent: agent("openhands"), files }.sessions();
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
    let mut changed = state;
    changed["id"] = json!("44444444");
    changed["stats"] = json!({ "usage_to_metrics": { "default": { "accumulated_cost": 0.5,
        "token_usages": [usage("r1", 100, 10), usage("r2", 200, 20), usage("other", 7, 7)] } } });
    files.push(("d/base_state.json", changed.to_string().into_bytes()));
    changed["id"] = json!("55555555");
    files.push(("e/base_state.json", changed.to_string().into_bytes()));
    for (number, event) in events.iter().enumerate() {
        let name = format!("event-{number:05}-{}.json", event["id"].as_str().unwrap());
        files.push((format!("d/events/{name}").leak(), event.to_string().into_bytes()));
        if event["key"] != "stats" {
            files.push((format!("e/events/{name}").leak(), event.to_string().into_bytes()));
        }
    }
    let (_folder, sessions) = Sample { agent: agent("openhands"), files }.sessions();
    assert_eq!(sessions.len(), 4);
    for session in &sessions {
        assert_eq!(figures(session), [1, 2, 3, 3, 2], "calls of one response are one message");
        assert_eq!(tokens(session), [300, 30, 0], "running totals are not added up");
        assert_eq!(edits(session), [("/w/a.py".to_owned(), "replace")]);
        assert_eq!(session.reported_cost, Some(0.5));
    }
}

/// Events of a conversation that name their parents.
fn chain(texts: &[&str]) -> Vec<Value> {
    let event = |(number, text): (usize, &&str)| {
        let parent = number.checked_sub(1).map(|parent| format!("e{parent}"));
        json!({ "id": format!("e{number}"), "kind": "MessageEvent", "parent_id": parent,
            "source": if number % 2 == 0 { "user" } else { "agent" },
            "llm_message": { "role": "user", "content": [{ "type": "text", "text": text }] } })
    };
    texts.iter().enumerate().map(event).collect()
}

fn conversation(events: &[Value], state: &str, broken: usize) -> (tempfile::TempDir, Session) {
    let mut files: Vec<(&'static str, Vec<u8>)> =
        vec![("c/base_state.json", state.as_bytes().to_vec())];
    for (number, event) in events.iter().enumerate() {
        let name = format!("c/events/event-{number:05}-x.json");
        let content = event.to_string();
        let length = if number == broken { content.len() / 2 } else { content.len() };
        files.push((name.leak(), content.as_bytes()[..length].to_vec()));
    }
    one_session(agent("openhands"), files)
}

#[test]
fn a_broken_event_leaves_the_others_where_they_are() {
    let events = chain(&["One", "Two", "Three", "Four"]);
    let (_folder, session) = conversation(&events, "{}", 1);
    assert_eq!(texts(&session), ["user: One", "user: Three", "Four"]);
    assert!(session.abandoned.is_empty());
    assert_eq!(session.turns[1].line, Some(3), "events keep their numbers");
    assert_eq!(session.file.bad_lines, 1);
}

#[test]
fn a_state_that_is_broken_or_newer_than_the_events() {
    let (_folder, session) = conversation(&chain(&["One"]), "{\"id\": ", usize::MAX);
    assert_eq!(session.problems.listed()[0].id.name(), "torn-tail");
    let stats =
        |cost: f64| json!({ "usage_to_metrics": { "default": { "accumulated_cost": cost } } });
    let mut events = chain(&["One", "Two"]);
    for cost in [0.1, 0.0] {
        events.push(
            json!({ "id": "s", "kind": "ConversationStateUpdateEvent", "source": "environment",
            "key": "stats", "value": stats(cost) }),
        );
    }
    let state = json!({ "id": "1", "stats": stats(0.5) }).to_string();
    let (_folder, session) = conversation(&events, &state, usize::MAX);
    assert_eq!(session.reported_cost, Some(0.5), "the state is written last");
    let (_folder, session) = conversation(&events, "{}", usize::MAX);
    assert_eq!(session.reported_cost, Some(0.1), "a total of nothing takes nothing away");
}

#[test]
fn pictures_in_messages_of_the_sdk() {
    let mut events = chain(&["One", "Two"]);
    let picture = json!({ "type": "image", "image_urls": ["data:image/png;base64,AA"] });
    for event in &mut events {
        event["llm_message"]["content"].as_array_mut().unwrap().push(picture.clone());
    }
    let (_folder, session) = conversation(&events, "{}", usize::MAX);
    assert_eq!(session.turns[0].prompt.blocks.len(), 2);
    assert_eq!(session.turns[0].steps[0].blocks.len(), 2);
}

#[test]
fn size_and_time_of_a_conversation_are_those_of_its_files() {
    let events = chain(&["One", "Two"]);
    let (folder, _) = conversation(&events, "{}", usize::MAX);
    let bytes: usize = events.iter().map(|event| event.to_string().len()).sum();
    let found = discover_at(folder.path());
    assert_eq!(found.sessions[0].bytes, bytes as u64 + 2);
}

/// Totals are told before and after tools run; a message is one message all the same.
#[test]
fn openhands_totals_repeated_before_a_message() {
    let stats = |prompt: u64| {
        json!({ "id": "s", "kind": "ConversationStateUpdateEvent", "source": "environment", "key": "stats",
            "value": { "usage_to_metrics": { "default": { "accumulated_token_usage": {
                "prompt_tokens": prompt, "completion_tokens": 1 } } } } })
    };
    let said = |id: &str, source: &str| {
        json!({ "id": id, "kind": "MessageEvent", "source": source,
            "llm_message": { "role": source, "content": [{ "type": "text", "text": id }] } })
    };
    let events = [
        said("u", "user"),
        stats(10),
        stats(20),
        said("a", "agent"),
        stats(30),
        stats(45),
        said("b", "agent"),
    ];
    let (_folder, session) =
        one_session(agent("openhands"), vec![("events.jsonl", lines(&events))]);
    assert_eq!((session.usage.messages, session.usage.input), (2, 45));
    assert_eq!(session.counts.steps, 2);
}
