//! Tasks and sessions of Cline.

use crate::support::{events, figures, tokens};
use backstory_model::{Block, Content};
use backstory_testkit::{Sample, agent, edits, one_session, texts};
use serde_json::json;

pub(crate) fn cline() -> Sample {
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
        agent: agent("cline"),
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
    let (_folder, sessions) = cline().sessions();
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

fn task(messages: serde_json::Value) -> (tempfile::TempDir, backstory_model::Session) {
    let name = "tasks/1769851800000/api_conversation_history.json";
    one_session(agent("cline"), vec![(name, messages.to_string().into_bytes())])
}

#[test]
fn markup_in_the_text_of_a_native_answer() {
    let text = "As in <write_to_file>\n<path>a</path>\n<content>x</content>\n</write_to_file>";
    let (_folder, session) = task(json!([
        { "role": "user", "content": "Go" },
        { "role": "assistant", "content": [{ "type": "text", "text": text },
            { "type": "tool_use", "id": "c1", "name": "read_file", "input": { "path": "b" } }] },
    ]));
    assert_eq!((session.counts.calls, edits(&session).len()), (1, 0));
}

#[test]
fn pictures_of_results_and_messages_of_context_only() {
    let details = "<environment_details>\nfiles\n</environment_details>";
    let source = json!({ "type": "base64", "media_type": "image/png", "data": "AAAA" });
    let (_folder, session) = task(json!([
        { "role": "user", "content": "Go" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "c1", "name": "browser", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": [
            { "type": "text", "text": "shot" }, { "type": "image", "source": source }] }] },
        { "role": "user", "content": [{ "type": "text", "text": details }] },
    ]));
    let result = session.turns[0].calls().next().unwrap().result.as_ref().unwrap();
    assert_eq!((result.text.len(), result.blocks.len()), (1, 1));
    assert!(matches!(result.blocks[0], Block::Image { data: Some(_), .. }));
    assert_eq!(events(&session), [format!("context: {details}")]);
}

#[test]
fn tags_that_nothing_closes() {
    let open: String = (0..50_000).map(|number| format!("<a{number}>")).collect();
    let text = format!("<execute_command>\n{open}<command>ls</command>\n</execute_command>");
    let (_folder, session) = task(json!([
        { "role": "user", "content": "Go" },
        { "role": "assistant", "content": [{ "type": "text", "text": text }] },
    ]));
    let call = session.turns[0].calls().next().unwrap();
    assert_eq!(call.input, Some(Content::Owned("{\"command\":\"ls\"}".into())));
}
