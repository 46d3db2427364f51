//! Agents that write conversations in the shape of a chat API: SWE-agent, mini-swe-agent, SWE-smith.

use crate::support::{events, figures, tokens};
use backstory_testkit::{Sample, agent, edits, lines, one_session, texts};
use serde_json::{Value, json};

pub(crate) fn swe_agent() -> Sample {
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
        agent: agent("swe-agent"),
        files: vec![
            ("new.traj", document.to_string().into_bytes()),
            ("old.traj", old.to_string().into_bytes()),
        ],
    }
}

#[test]
fn swe_agent_of_two_generations() {
    let (_folder, sessions) = swe_agent().sessions();
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

pub(crate) fn mini_swe_agent() -> Sample {
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
        agent: agent("mini-swe-agent"),
        files: vec![
            ("demo__demo-1.traj.json", document.to_string().into_bytes()),
            ("old.traj.json", bare.to_string().into_bytes()),
        ],
    }
}

#[test]
fn mini_swe_agent_in_both_modes() {
    let (_folder, sessions) = mini_swe_agent().sessions();
    let [new, old] = sessions.as_slice() else { panic!("{}", sessions.len()) };
    assert_eq!(figures(new), [1, 2, 2, 2, 1]);
    assert_eq!(tokens(new), [30, 5, 20]);
    assert_eq!(new.benchmark.as_ref().unwrap().instance.as_deref(), Some("demo__demo-1"));
    assert!(new.started.is_some() && new.cwds[0].as_ref() == "/m");
    assert_eq!(figures(old), [1, 1, 1, 1, 0]);
}

pub(crate) fn swe_smith() -> Sample {
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
        agent: agent("swe-smith"),
        files: vec![
            ("rows.jsonl", lines(&rows)),
            ("rows.json", Value::Array(rows).to_string().into_bytes()),
        ],
    }
}

#[test]
fn swe_smith_rows_of_three_dialects() {
    let (_folder, sessions) = swe_smith().sessions();
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

#[test]
fn demonstrations_and_messages_of_several_parts() {
    let part = |text: &str| json!({ "type": "text", "text": text });
    let picture =
        json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AA" } });
    let document = json!({ "environment": "e", "trajectory": [], "history": [
        { "role": "system", "content": [part("One"), part("Two")] },
        { "role": "user", "content": [part("Shown"), part("to you")], "is_demo": true },
        { "role": "assistant", "content": "As shown", "is_demo": true, "action": "ls" },
        { "role": "user", "content": [part("Fix it"), picture] },
        { "role": "assistant", "content": "Hm." },
        { "role": "user", "content": [part("Badly"), part("formed")] },
    ] });
    let (_folder, session) =
        one_session(agent("swe-agent"), vec![("demo.traj", document.to_string().into_bytes())]);
    assert_eq!(figures(&session), [1, 1, 0, 0, 0], "a demonstration is no work");
    assert_eq!(session.turns[0].prompt.blocks.len(), 2);
    let expected = [
        "demonstration: Shown",
        "demonstration: to you",
        "demonstration: As shown",
        "feedback: Badly",
        "feedback: formed",
    ];
    assert_eq!(events(&session), expected);
}

#[test]
fn an_answer_with_two_commands_runs_none() {
    let answer = "```bash\nrm a\n```\nor\n```bash\nrm b\n```";
    let bare = json!([{ "role": "user", "content": "Go" }, { "role": "assistant", "content": answer },
        { "role": "user", "content": "Please give one action." }]);
    let (_folder, session) =
        one_session(agent("mini-swe-agent"), vec![("x.traj.json", bare.to_string().into_bytes())]);
    assert_eq!(figures(&session), [1, 1, 0, 0, 0]);
    assert_eq!(events(&session), ["feedback: Please give one action."]);
}

#[test]
fn chat_ignores_messages_of_other_kinds() {
    let row = |messages: Value| json!({ "instance_id": "i", "traj_id": "t", "messages": messages });
    for (messages, problem) in [
        (json!("[{\"role\": \"user\""), "invalid-json"),
        (json!("no JSON"), "invalid-json"),
        (json!({ "role": "user" }), "wrong-shape"),
    ] {
        let files = vec![("rows.jsonl", lines(&[row(messages)]))];
        let (_folder, session) = one_session(agent("swe-smith"), files);
        assert_eq!(session.problems.listed()[0].id.name(), problem);
    }
}
