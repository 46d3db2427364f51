//! Nothing leaks and nothing gets lost: each test has a file that once did.

use crate::codex::{ROLLOUT, codex_line, codex_records, exact};
use crate::support::{Sample, lines, one, sessions, texts, write};
use backstory_agents as agents;
use backstory_agents::structural_paths;
use backstory_format::Limits;
use backstory_model::Agent;
use backstory_model::SessionFiles;
use backstory_redact::{Config, Redactor};
use backstory_session::clear::ClearedCopy;
use backstory_session::discover::{Root, discover};
use backstory_session::history;
use backstory_session::stats::{self, Dimension};
use serde_json::{Value, json};
use std::path::Path;

fn found(folder: &Path) -> Vec<SessionFiles> {
    discover(&[Root { path: folder.to_path_buf() }]).sessions
}

/// Everything in the cleared copy of a session's files.
fn cleared(files: &SessionFiles) -> (ClearedCopy, String) {
    let config = Config { salt: b"salt".to_vec(), ..Config::default() };
    let redactor = Redactor::new(&config).unwrap();
    let copy = ClearedCopy::of(files, &redactor, &structural_paths(files.agent)).unwrap();
    let all = copy.files().into_inner();
    let text = all.iter().map(|(path, _)| std::fs::read_to_string(path).unwrap()).collect();
    (copy, text)
}

fn read(files: &SessionFiles) -> backstory_model::Session {
    agents::read(files, Limits::default(), &mut Vec::new()).unwrap().0
}

/// Input and output of all sessions of a folder.
fn spent(folder: &Path) -> (u64, u64, usize) {
    let sessions = found(folder);
    let ledger = stats::gather(&sessions, &[], Dimension::Session, Limits::default(), |_| {});
    let tokens = ledger.messages.iter().filter_map(|message| message.spent);
    let sum = tokens.fold((0, 0), |(input, output), spent| {
        (input + spent.tokens.input, output + spent.tokens.output)
    });
    (sum.0, sum.1, ledger.messages.len())
}

#[test]
fn a_key_over_several_lines_of_a_chat_history() {
    let body = ["MIIEpAIBAAKCAQEAx7Qm1Z", "p0Tz4Yc8vXr2LwK9dQeJ3s", "Ua6NfHbG5oRi1MyCtSxWkE"];
    let history = format!(
        "\n# aider chat started at 2026-01-31 09:30:00\n\n#### Use this  \n\nIt is:\n\n-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n",
        body.join("\n")
    );
    let files = vec![("p/.aider.chat.history.md", history.into_bytes())];
    let (folder, _) = one(Agent::Aider, files);
    let (_copy, text) = cleared(&found(folder.path())[0]);
    assert!(text.contains("[redacted:"), "{text}");
    assert!(body.iter().all(|line| !text.contains(line)), "{text}");
}

#[test]
fn the_name_of_an_id_inside_a_tools_input() {
    let value = "q8Zr1TnV0pLk93sWx4";
    let document = json!({ "version": 1, "sessionId": "s1", "messages": [
        { "id": "m1", "role": "user", "content": [{ "type": "text", "text": "Go" }] },
        { "id": "m2", "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "call",
            "input": { "sessionId": format!("api_key={value}"), "call_id": "x" } }] },
        { "id": format!("m3-{value}"), "role": "user",
            "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "fine" }] } ] });
    let files = vec![("s1/s1.messages.json", document.to_string().into_bytes())];
    let (folder, _) = one(Agent::Cline, files);
    let (copy, text) = cleared(&found(folder.path())[0]);
    assert!(!text.contains(value), "{text}");
    let session = read(copy.session().unwrap().into_inner());
    assert_eq!((session.counts.calls, session.counts.results), (1, 1), "ids still link");
}

const SECOND: &str =
    "sessions/2026/02/01/rollout-2026-02-01T00-00-00-22222222-aaaa-4bbb-8ccc-000000000002.jsonl";
const THIRD: &str =
    "archived_sessions/rollout-2026-02-02T00-00-00-33333333-aaaa-4bbb-8ccc-000000000003.jsonl";

fn asks(text: &str) -> Value {
    codex_line(
        "response_item",
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] }),
    )
}

fn answers(text: &str) -> Value {
    codex_line(
        "response_item",
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
    )
}

fn meta(number: u64, base: Value) -> Value {
    let id = format!("{0}{0}{0}{0}-aaaa-4bbb-8ccc-00000000000{number}", number * 11);
    codex_line("session_meta", json!({ "id": id, "cwd": "/w/demo", "history_base": base }))
}

/// A thread, one that goes on from it, and one that goes on from that one and was put away.
fn lineage() -> Sample {
    let first = codex_records(exact);
    let cut = lines(&first).len();
    let base = json!({ "thread_id": "11111111-aaaa-4bbb-8ccc-000000000001",
        "end_ordinal_exclusive": first.len(), "end_byte_offset": cut });
    let mut own = first.clone();
    own.push(asks("Never said in the others"));
    // Ordinals go on in the second file.
    let second = [meta(2, base), asks("And then?"), answers("Then."), exact(4, 400), asks("Later")];
    let end = lines(&second[..4]).len();
    let base = json!({ "thread_id": "22222222-aaaa-4bbb-8ccc-000000000002",
        "end_ordinal_exclusive": first.len() + 4, "end_byte_offset": end });
    let third = [meta(3, base), asks("And now?")];
    Sample {
        agent: Agent::Codex,
        files: vec![(ROLLOUT, lines(&own)), (SECOND, lines(&second)), (THIRD, lines(&third))],
    }
}

#[test]
fn a_thread_that_goes_on_from_one_that_goes_on() {
    let (_folder, sessions) = sessions(&lineage());
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
fn a_cleared_copy_of_a_thread_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &lineage());
    let sessions = found(folder.path());
    let third = sessions.iter().find(|files| files.id.starts_with("3333")).unwrap();
    let (copy, text) = cleared(third);
    assert_eq!(copy.files().into_inner().len(), 3);
    assert!(!text.contains("Never said in the others"), "only what belongs to the thread");
    let session = read(copy.session().unwrap().into_inner());
    assert_eq!(texts(&session), texts(&read(third)));
    // Nothing was written over.
    assert_eq!(std::fs::read(folder.path().join(ROLLOUT)).unwrap(), lineage().files[0].1);
}

#[test]
fn a_thread_whose_beginning_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut sample = lineage();
    let broken = b"\x28\xB5\x2F\xFDnot really".to_vec();
    sample.files[0].1 = broken;
    write(folder.path(), &sample);
    let sessions = found(folder.path());
    let second = read(sessions.iter().find(|files| files.id.starts_with("2222")).unwrap());
    assert_eq!(second.turns.len(), 2, "what is its own is there");
    let told = second.problems.listed().iter().any(|problem| problem.id.name() == "unread-file");
    assert!(told, "{:?}", second.problems);
}

#[test]
fn tokens_of_copies_and_of_namesakes() {
    // A thread that goes on from another pays for its own messages only.
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &lineage());
    assert_eq!(spent(folder.path()), (450 + 350, 40, 4));
    // A fork that holds copies of the other's messages pays for them once.
    let mut fork = codex_records(exact);
    fork[0]["payload"]["id"] = json!("22222222-aaaa-4bbb-8ccc-000000000002");
    let folder = tempfile::tempdir().unwrap();
    let files = vec![(ROLLOUT, lines(&codex_records(exact))), (SECOND, lines(&fork))];
    write(folder.path(), &Sample { agent: Agent::Codex, files });
    assert_eq!(spent(folder.path()), (450, 30, 3));
    // Two runs of one task are two runs.
    let run = json!({ "environment": "demo__demo-1", "history": [
            { "role": "user", "content": "Fix it" },
            { "role": "assistant", "content": "Look.", "action": "ls" } ],
        "info": { "model_stats": { "tokens_sent": 100, "tokens_received": 5, "api_calls": 1 } } });
    let run = run.to_string().into_bytes();
    let files = vec![("a/demo.traj", run.clone()), ("b/demo.traj", run)];
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Sample { agent: Agent::SweAgent, files });
    assert_eq!(spent(folder.path()), (200, 10, 2));
}

#[test]
fn the_same_edit_in_two_sessions_without_ids() {
    let call = "Edit.\n<function=str_replace_editor>\n<parameter=command>create</parameter>\n<parameter=path>/t/b.py</parameter>\n<parameter=file_text>\nx = 1\n</parameter>\n</function>";
    let row = |id: &str| {
        json!({ "instance_id": "demo", "traj_id": id, "messages": [
            { "role": "user", "content": "Fix it" }, { "role": "assistant", "content": call },
            { "role": "user", "content": "OBSERVATION:\nFile created successfully at: /t/b.py" } ] })
    };
    let folder = tempfile::tempdir().unwrap();
    let files = vec![("rows.jsonl", lines(&[row("a"), row("b")]))];
    write(folder.path(), &Sample { agent: Agent::SweSmith, files });
    let found = discover(&[Root { path: folder.path().to_path_buf() }]);
    let collected = history::collect(&found, Limits::default(), &|_| true, None, &());
    let chain = collected.gathered.chains.get("/t/b.py").unwrap();
    assert_eq!(chain.edits().count(), 2, "neither is a copy of the other");
}

#[test]
fn a_trace_that_cannot_be_unpacked_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let name = "rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl.zst";
    std::fs::write(folder.path().join(name), b"\x28\xB5\x2F\xFDnot really").unwrap();
    for path in [folder.path().to_path_buf(), folder.path().join(name)] {
        let found = discover(&[Root { path }]);
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
    let (_folder, session) = one(Agent::Codex, files);
    assert_eq!(session.turns.len(), 1, "what lies below is found");
}

#[test]
fn packed_bytes_are_known_by_themselves() {
    let pack = |plain: &[u8]| {
        ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
    };
    // A packed rollout that has the name of a plain one.
    let files = vec![(ROLLOUT, pack(&lines(&codex_records(exact))))];
    let (_folder, session) = one(Agent::Codex, files);
    assert_eq!(texts(&session).last().unwrap(), "Done.");
    // Rows of a packed file, each with its own content.
    let row = |id: u64| {
        json!({ "instance_id": format!("demo-{id}"), "messages": [
            { "role": "user", "content": format!("Fix {id}") },
            { "role": "assistant", "content": format!("Fixed {id}") } ] })
    };
    let rows: Vec<Value> = (0..5).map(row).collect();
    let files = vec![("rows.jsonl.zst", pack(&lines(&rows)))];
    let (_folder, sessions) = sessions(&Sample { agent: Agent::SweSmith, files });
    assert_eq!(sessions.len(), 5);
    for (number, session) in sessions.iter().enumerate() {
        assert_eq!(texts(session), [format!("user: Fix {number}"), format!("Fixed {number}")]);
    }
}
