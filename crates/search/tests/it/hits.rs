//! What is found, in which order, and how copies are treated.

use crate::support::hits;
use backstory_search::{Field, Who, grouped, ranked};
use backstory_testkit::{discover_at, lines, testdata, write_file};
use serde_json::{Value, json};
use std::path::Path;

fn record(session: &str, at: usize, time: &str, mut record: Value) -> Value {
    let parent = at.checked_sub(1).map(|before| format!("u{before}"));
    record["uuid"] = format!("u{at}").into();
    record["parentUuid"] = json!(parent);
    record["timestamp"] = time.into();
    record["sessionId"] = session.into();
    record["cwd"] = "/w/app".into();
    record["version"] = "2.1.0".into();
    record["isSidechain"] = false.into();
    record["userType"] = "external".into();
    record
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn answer(id: &str, block: Value) -> Value {
    json!({"type": "assistant", "message": {"id": id, "type": "message", "role": "assistant",
        "model": "claude-opus-4-6", "content": [block], "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1}}})
}

fn write(folder: &Path, session: &str, records: &[(&str, Value)]) {
    let records: Vec<Value> = records
        .iter()
        .enumerate()
        .map(|(at, (time, one))| record(session, at, time, one.clone()))
        .collect();
    write_file(&folder.join(format!("projects/-w-app/{session}.jsonl")), &lines(&records));
}

const FIRST: &str = "00000001-0000-4000-8000-000000000000";
const SECOND: &str = "00000002-0000-4000-8000-000000000000";

#[test]
fn a_message_in_several_sessions_is_one_hit() {
    let folder = tempfile::tempdir().unwrap();
    let shared = [
        ("2026-03-01T10:00:00Z", prompt("use redis for the queue")),
        ("2026-03-01T10:00:05Z", answer("msg_1", json!({"type": "text", "text": "redis it is"}))),
    ];
    write(folder.path(), FIRST, &shared);
    let mut copy = shared.to_vec();
    copy.push(("2026-03-02T10:00:00Z", prompt("redis, again")));
    write(folder.path(), SECOND, &copy);
    let hits = ranked(hits(&discover_at(folder.path()), "redis in:prompt,answer"));
    let of = |hit: &backstory_search::Hit| (hit.who, hit.session.id.clone(), hit.also_in.clone());
    let all: Vec<_> = hits.iter().map(of).collect();
    assert_eq!(all.len(), 3, "{all:?}");
    let copies = vec![SECOND.to_owned()];
    assert!(all.contains(&(Who::Prompt, FIRST.into(), copies.clone())));
    assert!(all.contains(&(Who::Answer, FIRST.into(), copies)));
    assert!(all.contains(&(Who::Prompt, SECOND.into(), Vec::new())));
}

#[test]
fn the_order_is_closeness_then_field_then_length_then_time() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("page cache {}", "and so on ".repeat(40));
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "echo page cache"}});
    write(
        folder.path(),
        FIRST,
        &[
            ("2026-03-01T10:00:00Z", prompt("cache of a page")),
            ("2026-03-01T10:00:01Z", answer("msg_1", json!({"type": "text", "text": long}))),
            ("2026-03-01T10:00:02Z", answer("msg_2", call)),
            (
                "2026-03-01T10:00:03Z",
                json!({"type": "user", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "page cache"}]}}),
            ),
            ("2026-03-01T10:00:04Z", prompt("page caches")),
            ("2026-03-01T10:00:05Z", prompt("page cache?")),
            ("2026-03-01T10:00:06Z", prompt("page cache!")),
        ],
    );
    let found = discover_at(folder.path());
    let hits = ranked(hits(&found, "page cache in:prompt,answer,call,result"));
    let texts: Vec<&str> = hits
        .iter()
        .map(|hit| hit.snippet.lines[0].text.get(..11).unwrap_or(&hit.snippet.lines[0].text))
        .collect();
    assert_eq!(
        texts,
        ["page cache!", "page cache?", "page cache ", "echo page c", "page caches", "cache of a "]
    );
    assert_eq!(hits[3].field, Field::Call);
    assert_eq!(hits[3].at(), Some("toolu_1"));
    let groups = grouped(hits, 3);
    assert_eq!((groups.len(), groups[0].hits.len(), groups[0].more), (1, 3, 3));
}

#[test]
fn edits_are_searched_by_changed_lines() {
    let folder = tempfile::tempdir().unwrap();
    let edit = json!({"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": {
        "file_path": "/w/app/src/main.rs",
        "old_string": "fn alpha() {\n    beta();\n}\n",
        "new_string": "fn alpha() {\n    gamma();\n    delta();\n}\n"}});
    write(
        folder.path(),
        FIRST,
        &[("2026-03-01T10:00:00Z", prompt("go")), ("2026-03-01T10:00:01Z", answer("msg_1", edit))],
    );
    let found = discover_at(folder.path());
    let count = |query: &str| hits(&found, query).len();
    assert_eq!(count("beta"), 1);
    assert_eq!(count("\"gamma(); delta();\""), 1);
    assert_eq!(count("alpha"), 0, "the line stayed as it was");
    assert_eq!(count("in:path main.rs"), 1);
    assert_eq!(count("is:edit file:SRC/main tool:edit"), 1);
    assert_eq!(count("tool:Edi"), 0);
    assert_eq!(count("tool:E*"), 1);
}

#[test]
fn a_part_of_a_turn_is_found_where_it_is() {
    let found = discover_at(testdata("sample"));
    for hit in hits(&found, "/\\w+/ in:prompt,answer,call,result,title,path,thinking") {
        assert!(hit.turn.is_some() || hit.abandoned || hit.who == Who::Title, "{hit:?}");
        let text = &hit.snippet.lines[0];
        assert!(!text.marks.is_empty() && text.text.get(text.marks[0].clone()).is_some());
        assert!(hit.at().is_some() || hit.who != Who::Answer);
    }
}
