//! The active chain is what the newest client resumes: where it ends, and the way back.

use backstory_model::Session;
use backstory_store::ReadContext;
use backstory_testkit::discover_at;
use serde_json::{Value, json};

fn record(kind: &str, uuid: &str, parent: &str, second: u32) -> Value {
    let parent = if parent.is_empty() { Value::Null } else { json!(parent) };
    json!({
        "type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": false,
        "sessionId": "11111111-1111-4111-8111-111111111111", "cwd": "/home/dev/kiln",
        "timestamp": format!("2026-05-05T13:{:02}:{:02}.000Z", second / 60, second % 60),
    })
}

fn prompt(uuid: &str, parent: &str, second: u32) -> Value {
    let mut record = record("user", uuid, parent, second);
    record["message"] = json!({ "role": "user", "content": format!("prompt {uuid}") });
    record
}

fn meta(uuid: &str, parent: &str, second: u32) -> Value {
    let mut record = prompt(uuid, parent, second);
    record["isMeta"] = json!(true);
    record
}

fn answer(uuid: &str, parent: &str, second: u32) -> Value {
    message(
        uuid,
        parent,
        second,
        uuid,
        &json!({ "type": "text", "text": format!("answer {uuid}") }),
    )
}

fn message(uuid: &str, parent: &str, second: u32, id: &str, block: &Value) -> Value {
    let mut record = record("assistant", uuid, parent, second);
    record["message"] = json!({ "role": "assistant", "model": "x", "id": id, "content": [block] });
    record
}

fn call(uuid: &str, parent: &str, second: u32, id: &str) -> Value {
    let block =
        json!({ "type": "tool_use", "id": format!("t-{uuid}"), "name": "Bash", "input": {} });
    message(uuid, parent, second, id, &block)
}

fn result(uuid: &str, call: &str, second: u32) -> Value {
    let mut record = record("user", uuid, call, second);
    let block =
        json!({ "type": "tool_result", "tool_use_id": format!("t-{call}"), "content": "x" });
    record["message"] = json!({ "role": "user", "content": [block] });
    record
}

fn hook(uuid: &str, parent: &str, second: u32) -> Value {
    let mut record = record("attachment", uuid, parent, second);
    record["attachment"] = json!({ "type": "hook_success", "hookEvent": "PreToolUse" });
    record
}

fn notice(uuid: &str, parent: &str, second: u32, subtype: &str) -> Value {
    let mut record = record("system", uuid, parent, second);
    record["subtype"] = json!(subtype);
    record
}

fn noted(leaf: Value, explicit: bool) -> Value {
    json!({ "type": "last-prompt", "lastPrompt": "p", "leafUuid": leaf, "explicit": explicit })
}

fn read(records: &[Value]) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("11111111-1111-4111-8111-111111111111.jsonl");
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&path, text).unwrap();
    let found = discover_at(path);
    backstory_claude::read(&found.sessions[0], &mut ReadContext::default(), &mut ()).unwrap().0
}

/// The uuids of the chain, in order.
fn chain(records: &[Value]) -> String {
    let session = read(records);
    let uuids: Vec<&str> = session.chain.iter().map(|link| &*link.uuid).collect();
    uuids.join(" ")
}

#[test]
fn a_branch_that_ends_in_an_injected_record_is_resumed() {
    let records = [
        prompt("a", "", 1),
        call("b", "a", 2, "m"),
        hook("h", "b", 3),
        result("c", "b", 4),
        answer("d", "c", 5),
        prompt("e", "d", 60),
        answer("f", "e", 61),
        notice("g", "f", 70, "local_command"),
        meta("i", "g", 71),
    ];
    assert_eq!(chain(&records), "a b h c d e f g i");
    assert_eq!(chain(&records[..8]), "a b h c d e f g");
    let session = read(&records);
    assert_eq!((session.counts.turns, session.abandoned.len()), (2, 0));
}

#[test]
fn the_record_written_last_decides_whatever_it_is() {
    let records = [
        prompt("a", "", 1),
        answer("b", "a", 2),
        prompt("c", "b", 3),
        answer("d", "c", 4),
        notice("e", "b", 5, "turn_duration"),
    ];
    assert_eq!(chain(&records), "a b e");
    // A subagent's record says nothing about the conversation.
    let mut side = prompt("s", "", 9);
    side["isSidechain"] = json!(true);
    let mut records = records[..4].to_vec();
    records.push(side);
    assert_eq!(chain(&records), "a b c d");
}

#[test]
fn a_last_record_with_others_below_it_leads_to_the_newest_of_them() {
    let records =
        [prompt("a", "", 1), prompt("c", "b", 3), answer("d", "c", 4), answer("b", "a", 2)];
    assert_eq!(chain(&records), "a b c d");
}

#[test]
fn a_lost_parent_is_bridged_by_the_record_before_it_within_five_seconds() {
    let gap = |seconds: u32| {
        [
            prompt("a", "", 1),
            answer("b", "a", 2),
            prompt("c", "lost", 2 + seconds),
            answer("d", "c", 3 + seconds),
        ]
    };
    assert_eq!(chain(&gap(5)), "a b c d");
    assert_eq!(chain(&gap(6)), "c d");
    // What is told goes back over any gap.
    assert_eq!(read(&gap(600)).counts.turns, 2);
    // Of two records of one time it is the earlier, and never one of a subagent.
    let mut side = answer("s", "a", 4);
    side["isSidechain"] = json!(true);
    let records = [
        prompt("a", "", 1),
        answer("b", "a", 3),
        answer("x", "a", 3),
        side,
        prompt("c", "lost", 4),
    ];
    assert_eq!(chain(&records), "a b c");
}

#[test]
fn a_circle_of_parents_is_left_by_the_record_before_it() {
    let records =
        [prompt("a", "", 1), answer("b", "a", 2), prompt("c", "d", 3), answer("d", "c", 4)];
    assert_eq!(chain(&records), "a b c d");
}

#[test]
fn the_place_that_the_client_noted_counts_over_later_records_of_another_branch() {
    let mut records =
        vec![prompt("a", "", 1), answer("b", "a", 2), prompt("c", "b", 3), answer("d", "c", 4)];
    records.push(noted(json!("b"), true));
    assert_eq!(chain(&records), "a b");
    // What came after the note and below it was said since.
    records.extend([prompt("e", "b", 20), answer("f", "e", 21)]);
    assert_eq!(chain(&records), "a b e f");
    // What came after it on another branch was not.
    records.push(notice("g", "d", 30, "turn_duration"));
    records.push(noted(json!("f"), false));
    assert_eq!(chain(&records), "a b e f");
    // A compaction makes the note void.
    let mut boundary = notice("k", "", 40, "compact_boundary");
    boundary["logicalParentUuid"] = json!("f");
    records.extend([boundary, prompt("l", "k", 41)]);
    assert_eq!(chain(&records), "k l");
}

#[test]
fn a_note_at_a_parallel_result_does_not_hide_the_other_results() {
    let records = [
        prompt("a", "", 1),
        call("b", "a", 2, "m"),
        call("c", "b", 3, "m"),
        result("r", "b", 4),
        noted(json!("r"), false),
        result("s", "c", 5),
        answer("d", "s", 6),
    ];
    assert_eq!(chain(&records), "a b c r s d");
}

#[test]
fn chain_holds_notes_of_hooks_below_a_parallel_result() {
    let records = [
        prompt("a", "", 1),
        call("b", "a", 2, "m"),
        call("c", "b", 3, "m"),
        hook("p", "b", 4),
        result("r", "b", 5),
        hook("q", "r", 6),
        result("s", "c", 7),
        answer("d", "s", 8),
        notice("n", "d", 9, "turn_duration"),
        hook("o", "n", 10),
    ];
    let session = read(&records);
    let links: Vec<(&str, Option<_>)> =
        session.chain.iter().map(|link| (&*link.uuid, link.recovered)).collect();
    let uuids: Vec<&str> = links.iter().map(|(uuid, _)| *uuid).collect();
    for uuid in ["p", "q", "r", "n", "o"] {
        assert!(uuids.contains(&uuid), "{uuid} of {uuids:?}");
    }
    assert_eq!(uuids[uuids.len() - 3..], ["d", "n", "o"]);
    // A note is not something that would be missing.
    assert_eq!(session.counts.recovered, 1);
}

#[test]
fn chain_puts_what_a_compaction_kept_after_its_summary() {
    let mut boundary = notice("k", "", 40, "compact_boundary");
    boundary["compactMetadata"] = json!({
        "trigger": "auto", "preservedMessages": { "anchorUuid": "l", "uuids": ["c", "d"] },
    });
    boundary["logicalParentUuid"] = json!("d");
    let mut summary = prompt("l", "k", 41);
    summary["isCompactSummary"] = json!(true);
    let records = [
        prompt("a", "", 1),
        answer("b", "a", 2),
        prompt("c", "b", 3),
        answer("d", "c", 4),
        boundary,
        summary,
        prompt("e", "l", 50),
        answer("f", "e", 51),
    ];
    assert_eq!(chain(&records), "k l c d e f");
    // It is told where it happened.
    let lines: Vec<u64> = read(&records).turns.iter().filter_map(|turn| turn.line).collect();
    assert!(lines.is_sorted(), "{lines:?}");
}

/// A compaction that kept these records behind `anchor`.
fn compaction(second: u32, anchor: &str, kept: &[&str]) -> Value {
    let mut boundary = notice("k", "", second, "compact_boundary");
    boundary["compactMetadata"] = json!({
        "trigger": "auto", "preservedMessages": { "anchorUuid": anchor, "uuids": kept },
    });
    boundary
}

/// A message without anything that could be sent.
fn empty(uuid: &str, parent: &str, second: u32) -> Value {
    let mut record = record("assistant", uuid, parent, second);
    record["message"] = json!({ "role": "assistant", "id": uuid, "content": "  " });
    record
}

#[test]
fn a_compaction_keeps_nothing_where_it_names_what_the_client_does_not_hold() {
    for unheld in [record("progress", "q", "c", 3), empty("q", "c", 3)] {
        let mut records = vec![
            prompt("a", "", 1),
            answer("b", "a", 2),
            prompt("c", "b", 3),
            unheld,
            answer("d", "q", 4),
            compaction(40, "l", &["c", "q", "d"]),
            prompt("l", "k", 41),
            prompt("e", "l", 50),
        ];
        assert_eq!(chain(&records), "k l e");
        let segment = json!({ "anchorUuid": "l", "headUuid": "c", "tailUuid": "q" });
        records[5]["compactMetadata"] = json!({ "trigger": "auto", "preservedSegment": segment });
        assert_eq!(chain(&records), "k l e");
    }
}

#[test]
fn chain_begins_with_what_a_compaction_kept_if_its_anchor_is_missing() {
    for unheld in [record("progress", "g", "l", 45), empty("g", "l", 45)] {
        let records = [
            prompt("a", "", 1),
            answer("b", "a", 2),
            prompt("c", "b", 3),
            answer("d", "c", 4),
            compaction(40, "g", &["c", "d"]),
            prompt("l", "k", 41),
            unheld,
            prompt("e", "d", 50),
        ];
        assert_eq!(chain(&records), "c d e");
    }
}

#[test]
fn a_message_that_cannot_be_sent_ends_no_conversation() {
    let mut records = vec![prompt("a", "", 1), answer("b", "a", 2), empty("c", "b", 3)];
    assert_eq!(chain(&records), "a b c");
    records.push(prompt("d", "c", 4));
    assert_eq!(chain(&records), "a b c d");
    // It does not say where the conversation stands.
    records.push(empty("e", "a", 3));
    assert_eq!(chain(&records), "a b c d");
    assert_eq!(chain(&[empty("c", "b", 3)]), "c");
}
