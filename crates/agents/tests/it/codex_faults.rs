//! What was once read wrong in rollouts of Codex.

use crate::support::{events, figures};
use backstory_model::Session;
use backstory_testkit::codex::{ROLLOUT, codex_line, codex_records, exact};
use backstory_testkit::{agent, edits, lines, one_session, texts};
use serde_json::{Value, json};

fn item(payload: Value) -> Value {
    codex_line("response_item", payload)
}

fn said(role: &str, texts: &[&str]) -> Value {
    let part = |text: &&str| json!({ "type": "input_text", "text": text });
    let parts: Vec<Value> = texts.iter().map(part).collect();
    item(json!({ "type": "message", "role": role, "content": parts }))
}

fn event(payload: Value) -> Value {
    codex_line("event_msg", payload)
}

fn session(records: &[Value]) -> (tempfile::TempDir, Session) {
    let facts = codex_line("session_meta", json!({ "id": "t", "cwd": "/w" }));
    one_session(agent("codex"), vec![(ROLLOUT, lines(&[&[facts], records].concat()))])
}

#[test]
fn codex_first_line_longer_than_the_file_head() {
    let records = codex_records(exact);
    // In the order in which the client writes: what is long comes last.
    let instructions = json!({ "text": "word ".repeat(20_000) });
    let first = format!(
        "{{\"timestamp\":\"2026-01-31T09:30:00Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"t\",\"base_instructions\":{instructions}}}}}\n"
    );
    let content = [first.into_bytes(), lines(&records[1..])].concat();
    let (_folder, session) =
        one_session(agent("codex"), vec![("rollout-2026-01-31T09-30-00-long.jsonl", content)]);
    assert_eq!(figures(&session), [1, 3, 3, 3, 1]);
}

#[test]
fn a_prompt_of_several_parts_is_one_prompt() {
    for shown in [vec!["First", "Second"], vec!["FirstSecond"], vec!["First\nSecond"]] {
        let mut records = vec![said("user", &["First", "Second"])];
        records.extend(
            shown.iter().map(|text| event(json!({ "type": "user_message", "message": text }))),
        );
        records.push(said("assistant", &["Done."]));
        let (_folder, session) = session(&records);
        assert_eq!(texts(&session), ["user: First", "user: Second", "Done."], "{shown:?}");
        assert_eq!(session.turns.len(), 1);
    }
}

#[test]
fn codex_reader_keeps_instructions_after_the_prompt() {
    let records = [said("user", &["Go"]), said("developer", &["Be brief."])];
    let (_folder, session) = session(&records);
    assert_eq!(events(&session), ["instructions: Be brief."]);
}

#[test]
fn a_turn_that_was_taken_back_keeps_its_id() {
    let records = [
        said("user", &["One"]),
        said("user", &["Two"]),
        event(json!({ "type": "thread_rolled_back", "num_turns": 1 })),
        said("user", &["Three"]),
    ];
    let (_folder, session) = session(&records);
    let ids: Vec<&str> = session.turns.iter().filter_map(|turn| turn.uuid.as_deref()).collect();
    assert_eq!(ids, ["turn-1", "turn-3"]);
    assert_eq!(session.abandoned[0].leaf.as_ref(), "turn-2");
}

#[test]
fn pictures_and_unknown_parts_of_a_prompt() {
    let parts = json!([{ "type": "input_text", "text": "Look" },
        { "type": "input_image", "image_url": "data:image/png;base64,AAAA" },
        { "type": "input_audio", "data": "x" }]);
    let records = [item(json!({ "type": "message", "role": "user", "content": parts }))];
    let (_folder, session) = session(&records);
    assert_eq!(session.turns[0].prompt.blocks.len(), 3);
}

#[test]
fn a_patch_counts_where_it_is_applied() {
    let patch = "*** Begin Patch\n*** Add File: a.py\n+x = 1\n*** End Patch\n";
    let call = |id: &str, arguments: Value| {
        item(json!({ "type": "function_call", "name": "exec_command", "call_id": id,
            "arguments": arguments.to_string() }))
    };
    let written = format!("cat > p.diff <<EOF\n{patch}EOF");
    let applied = format!("apply_patch <<'EOF'\n{patch}EOF");
    let records = [
        said("user", &["Go"]),
        call("c1", json!({ "cmd": written })),
        call("c2", json!({ "cmd": applied, "workdir": "/w/sub" })),
        call("c3", json!({ "cmd": format!("cd lib && {applied}\nls"), "workdir": "/w" })),
    ];
    let (_folder, session) = session(&records);
    let made = |path: &str| (path.to_owned(), "create");
    assert_eq!(edits(&session), [made("/w/sub/a.py"), made("/w/lib/a.py")]);
    let effects: Vec<usize> = session.turns[0].calls().map(|call| call.effects.len()).collect();
    assert_eq!(effects, [1, 1, 2], "`ls` is a command of its own");
}

#[test]
fn a_document_with_a_byte_order_mark() {
    let items = [json!({ "type": "message", "role": "user",
        "content": [{ "type": "input_text", "text": "Go" }] })];
    let facts = json!({ "id": "old", "timestamp": "2025-05-01T00:00:00Z" });
    let document = json!({ "session": facts, "items": items }).to_string();
    let marked = format!("\u{feff}{document}").into_bytes();
    let (_folder, session) =
        one_session(agent("codex"), vec![("rollout-2025-05-01-old.json", marked)]);
    assert_eq!(texts(&session), ["user: Go"]);
    let torn = document.get(..document.len() - 1).unwrap().as_bytes().to_vec();
    let (_folder, session) =
        one_session(agent("codex"), vec![("rollout-2025-05-01-old.json", torn)]);
    assert_eq!(session.problems.listed()[0].id.name(), "torn-tail");
}

/// Thousands of calls, results and echoes that match nothing take no time worth noting.
#[test]
fn many_open_calls_and_echoes() {
    let mut records = vec![said("user", &["Go"])];
    for number in 0..20_000 {
        records.push(item(json!({ "type": "function_call", "name": "f", "call_id": format!("c{number}"), "arguments": "{}" })));
        records.push(event(json!({ "type": "agent_message", "message": format!("m{number}") })));
    }
    for number in (0..20_000).rev() {
        records.push(item(json!({ "type": "function_call_output", "call_id": format!("c{number}"), "output": "ok" })));
        records.push(said("assistant", &[&format!("m{number}")]));
    }
    let (_folder, session) = session(&records);
    assert_eq!((session.counts.calls, session.counts.results), (20_000, 20_000));
    assert_eq!(texts(&session).len(), 40_001, "every message once");
}
