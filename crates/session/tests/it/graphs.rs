//! Random conversations, however broken: nothing panics, nothing is lost, nothing appears twice.

use backstory_agents as agents;
use backstory_model::{Session, Turn};
use backstory_store::ReadContext;
use backstory_testkit::{discover_at, or_slow};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn name(prefix: &str, number: u8) -> String {
    format!("{prefix}{number}")
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({ "type": "text", "text": "words" })),
        (0u8..6).prop_map(
            |id| json!({ "type": "tool_use", "id": name("t", id), "name": "Bash", "input": {} })
        ),
        Just(json!({ "type": "thinking", "thinking": "", "signature": "s" })),
    ]
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(json!("a prompt")),
        1 => Just(json!("<command-name>/x</command-name>")),
        1 => Just(json!([{ "type": "text", "text": "[Request interrupted by user]" }])),
        1 => Just(json!("<task-notification>done</task-notification>")),
        4 => (0u8..6).prop_map(|id| json!([{ "type": "tool_result", "tool_use_id": name("t", id), "content": "out" }])),
        1 => Just(json!([])),
        1 => Just(json!(7)),
    ]
}

/// A record with a uuid from a small set and any parent, so that branches, cycles, lost parents
/// and repeated ids all occur.
fn record() -> impl Strategy<Value = Value> {
    let links = (0u8..30, prop::option::weighted(0.9, 0u8..32), any::<bool>(), 0u8..50);
    let body = prop_oneof![
        4 => (block(), 0u8..8, any::<bool>()).prop_map(|(block, id, ended)| json!({
            "type": "assistant",
            "message": {
                "id": name("m", id), "role": "assistant", "model": "x", "content": [block],
                "stop_reason": if ended { json!("end_turn") } else { Value::Null },
                "usage": { "input_tokens": 1, "output_tokens": 2 },
            },
        })),
        4 => (content(), any::<bool>(), any::<bool>()).prop_map(|(content, meta, compact)| json!({
            "type": "user", "isMeta": meta && compact, "isCompactSummary": compact && !meta,
            "message": { "role": "user", "content": content },
        })),
        1 => Just(json!({ "type": "system", "subtype": "compact_boundary", "logicalParentUuid": "u3" })),
        1 => Just(json!({ "type": "progress", "data": { "agentId": "a" }, "parentToolUseID": "t1" })),
        1 => Just(json!({ "type": "attachment", "attachment": { "type": "queued_command", "prompt": "and this" } })),
    ];
    (links, body, prop::bool::weighted(0.1)).prop_map(
        |((uuid, parent, _, second), body, sidechain)| {
            let mut record = body;
            record["uuid"] = json!(name("u", uuid));
            record["parentUuid"] = json!(parent.map(|parent| name("u", parent)));
            record["sessionId"] = json!("s");
            record["isSidechain"] = json!(sidechain);
            record["timestamp"] = json!(format!("2026-01-01T00:00:{second:02}.000Z"));
            record
        },
    )
}

fn read(records: &[Value], name: &str) -> Session {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&path, text).unwrap();
    let found = discover_at(path);
    let mut context = ReadContext::default();
    let session = match found.sessions.first() {
        Some(files) => agents::read(files, &mut context).unwrap().0,
        None => agents::read_stray(&found.stray_agents[0], &mut context).unwrap(),
    };
    let mut written = Vec::new();
    serde_json::to_writer(&mut written, &backstory_session::wire::SessionJson(&session)).unwrap();
    session
}

fn count_answers<'a>(turns: impl Iterator<Item = &'a Turn>, times: &mut BTreeMap<String, u32>) {
    for uuid in turns.flat_map(|turn| &turn.steps).flat_map(|step| &step.uuids) {
        *times.entry(uuid.to_string()).or_default() += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(or_slow(100, 400)) })]
    #[test]
    fn reader_gives_every_answer_exactly_once(records in prop::collection::vec(record(), 0..40), agent: bool) {
        let name = if agent { "agent-a123456.jsonl" } else { "11111111-1111-4111-8111-111111111111.jsonl" };
        let session = read(&records, name);
        let mut times = BTreeMap::new();
        count_answers(session.turns.iter(), &mut times);
        count_answers(session.abandoned.iter().flat_map(|branch| &branch.turns), &mut times);
        for agent in &session.subagents {
            count_answers(agent.turns.iter(), &mut times);
        }
        let mut first = BTreeMap::new();
        for record in &records {
            first.entry(record["uuid"].as_str().unwrap().to_owned()).or_insert(record);
        }
        for (uuid, record) in first {
            if record["type"] == "assistant" {
                prop_assert_eq!(times.get(&uuid), Some(&1), "{}", record);
            }
        }
        let counted: usize = session.turns.iter().map(|turn| turn.calls().count()).sum();
        prop_assert_eq!(session.counts.calls as usize, counted);
        prop_assert!(session.counts.results + session.counts.orphan_calls == session.counts.calls);
    }
}
