//! Whose a file is: where its first row is longer than what is looked at first, where it is packed,
//! where it only looks like a trace.

use crate::openhands::openhands_events;
use backstory_testkit::codex::{ROLLOUT, codex_records, exact};
use backstory_testkit::{Sample, agent, discover_at, lines, one_session, texts};
use serde_json::{Value, json};

/// Longer than the first look.
fn long() -> String {
    "word ".repeat(40_000)
}

/// A row in the order in which the data set has its fields.
fn row(id: &str) -> String {
    let messages = json!([{ "role": "user", "content": format!("Fix it {}", long()) },
        { "role": "assistant", "content": "Look.\n```\nls\n```" },
        { "role": "user", "content": "OBSERVATION:\nb.py" }]);
    format!("{{\"messages\": {messages}, \"instance_id\": \"demo__demo\", \"traj_id\": \"{id}\"}}")
}

#[test]
fn rows_that_name_themselves_at_their_end() {
    let list = format!("[\n  {},\n  {}\n]\n", row("c"), row("d"));
    let files: Vec<(&'static str, Vec<u8>)> = vec![
        ("rows.jsonl", format!("{}\n{}\n", row("a"), row("b")).into_bytes()),
        ("rows.json", list.into_bytes()),
        ("one.json", row("e").into_bytes()),
        ("short.json", row("f").replace(&long(), "").into_bytes()),
    ];
    let (folder, sessions) = Sample { agent: agent("swe-smith"), files }.sessions();
    let mut ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["a", "b", "c", "d", "e", "f"]);
    for session in &sessions {
        assert_eq!((session.counts.steps, session.counts.results), (1, 1), "{}", session.id);
    }
    // A file that is named is found like one in a folder.
    let found = discover_at(folder.path().join("one.json"));
    assert_eq!((found.sessions.len(), found.sessions[0].agent), (1, agent("swe-smith")));
}

#[test]
fn rows_of_an_evaluation_with_a_long_history() {
    let mut events = openhands_events();
    events[0]["args"]["content"] = json!(long());
    let history = Value::Array(events);
    let row = format!(
        "{{\"history\": {history}, \"metrics\": {{}}, \"instance_id\": \"demo__demo-1\"}}\n"
    );
    let files: Vec<(&'static str, Vec<u8>)> = vec![
        ("output.jsonl", row.clone().into_bytes()),
        ("row.json", row.into_bytes()),
        ("trajectory.json", history.to_string().into_bytes()),
    ];
    let (_folder, sessions) = Sample { agent: agent("openhands"), files }.sessions();
    let mut ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["demo__demo-1", "demo__demo-1", "trajectory"]);
    assert!(sessions.iter().all(|session| session.counts.steps == 3));
}

#[test]
fn detection_finds_the_kind_after_a_long_prompt() {
    let prompt = json!({ "type": "text", "text": long() });
    let first = format!(
        "{{\"id\":\"s\",\"source\":\"agent\",\"system_prompt\":{prompt},\"kind\":\"SystemPromptEvent\"}}\n"
    );
    let said = json!({ "id": "u", "kind": "MessageEvent", "source": "user",
        "llm_message": { "role": "user", "content": [{ "type": "text", "text": "Do it" }] } });
    let content = [first.into_bytes(), lines(&[said])].concat();
    let files = vec![("events.jsonl", content)];
    let (_folder, sessions) = Sample { agent: agent("openhands"), files }.sessions();
    assert_eq!(texts(&sessions[0]), ["user: Do it"]);
}

#[test]
fn long_lines_of_others_are_not_taken_for_rows() {
    let nested = json!({ "messages": [], "instance_id": "i", "history": [], "text": long() });
    let claude = format!(
        "{{\"parentUuid\":null,\"message\":{{\"role\":\"user\",\"content\":[{nested}]}},\"type\":\"user\",\"uuid\":\"u\"}}\n"
    );
    // A row that is cut names itself nowhere.
    let cut = row("a");
    let cut = &cut[..cut.len() - 200];
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in
        [("renamed.jsonl", claude.as_str()), ("cut.json", cut), ("data.json", &nested.to_string())]
    {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let found = discover_at(folder.path());
    let agents: Vec<_> =
        found.sessions.iter().map(|session| (session.agent, session.id.as_str())).collect();
    // The last one is a row indeed: all its keys are there.
    assert_eq!(agents, [(agent("openhands"), "i"), (agent("claude-code"), "renamed")]);
}

#[test]
fn detection_reports_a_trace_that_cannot_be_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let name = "rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl.zst";
    std::fs::write(folder.path().join(name), b"\x28\xB5\x2F\xFDnot really").unwrap();
    for path in [folder.path().to_path_buf(), folder.path().join(name)] {
        let found = discover_at(path);
        assert_eq!((found.sessions.len(), found.notices.len()), (0, 1), "{:?}", found.notices);
    }
}

#[test]
fn a_folder_that_only_looks_like_a_conversation() {
    let rollout = lines(&codex_records(exact));
    let files = vec![
        ("project/events/0.json", b"{\"name\": \"party\"}".to_vec()),
        ("project/metadata.json", b"{}".to_vec()),
        ("project/base_state.json", b"{\"count\": 0}".to_vec()),
        ("project/rollout-2026-01-31T09-30-00-old.jsonl", rollout),
    ];
    let (_folder, session) = one_session(agent("codex"), files);
    assert_eq!(session.turns.len(), 1, "what lies below is found");
}

#[test]
fn detection_recognizes_packed_bytes() {
    let pack = |plain: &[u8]| {
        ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
    };
    // A packed rollout that has the name of a plain one.
    let files = vec![(ROLLOUT, pack(&lines(&codex_records(exact))))];
    let (_folder, session) = one_session(agent("codex"), files);
    assert_eq!(texts(&session).last().unwrap(), "Done.");
    // Rows of a packed file, each with its own content.
    let row = |id: u64| {
        json!({ "instance_id": format!("demo-{id}"), "messages": [
            { "role": "user", "content": format!("Fix {id}") },
            { "role": "assistant", "content": format!("Fixed {id}") } ] })
    };
    let rows: Vec<Value> = (0..5).map(row).collect();
    let files = vec![("rows.jsonl.zst", pack(&lines(&rows)))];
    let (_folder, sessions) = Sample { agent: agent("swe-smith"), files }.sessions();
    assert_eq!(sessions.len(), 5);
    for (number, session) in sessions.iter().enumerate() {
        assert_eq!(texts(session), [format!("user: Fix {number}"), format!("Fixed {number}")]);
    }
}

#[test]
fn detection_recognizes_a_file_named_by_a_uuid() {
    let name = "11111111-aaaa-4bbb-8ccc-000000000001.jsonl";
    let files = vec![(name, lines(&codex_records(exact)))];
    let (folder, session) = one_session(agent("codex"), files);
    assert_eq!(session.turns.len(), 1);
    assert_eq!(discover_at(folder.path().join(name)).sessions[0].agent, agent("codex"));
}
