//! Codex: rollouts of every generation, threads that go on from others.

use crate::support::{figures, tokens};
use backstory_testkit::codex::{
    ROLLOUT, codex, codex_line, codex_records, counted, exact, lineage,
};
use backstory_testkit::{Sample, agent, edits, lines, sessions, texts};
use serde_json::{Value, json};

#[test]
fn codex_reads_each_item_once() {
    for usage in [exact as fn(u64, u64) -> Value, counted] {
        let records = codex_records(usage);
        let sample = Sample { agent: agent("codex"), files: vec![(ROLLOUT, lines(&records))] };
        let (_folder, sessions) = sample.sessions();
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
    let sample = Sample { agent: agent("codex"), files: vec![(ROLLOUT, lines(&records))] };
    let (_folder, sessions) = sample.sessions();
    assert_eq!(figures(&sessions[0])[1], 3);
    assert_eq!(sessions[0].usage.output, 30, "a repeated count is no second message");
}

#[test]
fn codex_thread_rolled_back_and_continued() {
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
        agent: agent("codex"),
        files: vec![(ROLLOUT, lines(&first)), (other, lines(&second))],
    };
    let (_folder, sessions) = sample.sessions();
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
    let (_other, expected) = codex().sessions();
    let (first, second) = plain.split_at(plain.len() / 2);
    // Of the second one, a frame in the middle is there to be skipped.
    let skipped = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let frames = [pack(first), skipped, pack(second)].concat();
    for packed in [pack(&plain), frames] {
        let (_folder, packed) =
            Sample { agent: agent("codex"), files: vec![(name, packed)] }.sessions();
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
            Sample { agent: agent("codex"), files: vec![(name, content)] }.sessions();
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
    let (_folder, sessions) = Sample { agent: agent("codex"), files }.sessions();
    assert_eq!(figures(&sessions[0]), [1, 2, 2, 2, 0], "calls of one answer are one message");
    assert_eq!(edits(&sessions[0]), [("a.py".to_owned(), "create")]);
}

#[test]
fn codex_thread_continues_a_continued_thread() {
    let (_folder, sessions) = lineage().sessions();
    let third = sessions.iter().find(|session| session.id.starts_with("3333")).unwrap();
    let asked = |text: &String| text.strip_prefix("user: ").map(str::to_owned);
    let asked: Vec<String> = texts(third).iter().filter_map(asked).collect();
    assert_eq!(asked, ["Write a.py", "And then?", "And now?"]);
    assert_eq!(third.continues.len(), 2);
    assert_eq!(third.inherited.turns, 2);
    let mut ids: Vec<_> = third.turns.iter().filter_map(|turn| turn.uuid.clone()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 3, "no id stands for two turns");
}

#[test]
fn codex_thread_with_an_unreadable_parent() {
    let folder = tempfile::tempdir().unwrap();
    let mut sample = lineage();
    let broken = b"\x28\xB5\x2F\xFDnot really".to_vec();
    sample.files[0].1 = broken;
    sample.write(folder.path());
    let sessions = sessions(folder.path());
    let second = sessions.iter().find(|session| session.id.starts_with("2222")).unwrap();
    assert_eq!(second.turns.len(), 2, "what is its own is there");
    let is_reported =
        second.problems.listed().iter().any(|problem| problem.id.name() == "unread-file");
    assert!(is_reported, "{:?}", second.problems);
}
