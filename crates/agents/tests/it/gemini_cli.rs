//! Gemini CLI's sessions: records that repeat, history that is rewritten or taken back.

use crate::support::{figures, tokens};
use backstory_agents::{FolderKind, recognise_folder};
use backstory_model::{CallOutcome, SessionKind};
use backstory_testkit::{agent, agent_form, discover_at, lines, one_session, sessions, texts};
use serde_json::{Value, json};

const CHAT: &str = "tmp/mill/chats/session-2026-01-31T09-30-11111111.jsonl";
const ID: &str = "11111111-aaaa-4bbb-8ccc-000000000001";

fn header() -> Value {
    json!({ "sessionId": ID, "projectHash": "5f", "startTime": "2026-01-31T09:30:00Z", "kind": "main" })
}

fn user(id: &str, text: &str) -> Value {
    json!({ "id": id, "timestamp": "2026-01-31T09:30:01Z", "type": "user", "content": [{ "text": text }] })
}

fn answer(id: &str, text: &str) -> Value {
    json!({ "id": id, "timestamp": "2026-01-31T09:30:02Z", "type": "gemini", "content": text,
        "thoughts": [], "model": "gemini-2.5-pro",
        "tokens": { "input": 10, "output": 2, "cached": 4, "thoughts": 1, "tool": 0, "total": 13 } })
}

fn with_calls(mut answer: Value, calls: Value) -> Value {
    answer["toolCalls"] = calls;
    answer
}

fn shell(id: &str, status: &str, output: Value) -> Value {
    json!({ "id": id, "name": "run_shell_command", "args": { "command": "ls" }, "status": status,
        "result": [{ "functionResponse": { "id": id, "name": "run_shell_command", "response": output } }] })
}

#[test]
fn a_message_counts_once_by_its_fullest_record() {
    let full = with_calls(
        answer("g1", "Look."),
        json!([shell("c1", "success", json!({ "output": "Output: a\nProcess Group PGID: 1" }))]),
    );
    // A resume writes the message again, without calls and counts.
    let copy = json!({ "id": "g1", "type": "gemini", "content": [{ "text": "Look." }] });
    let response = json!({ "id": "g1_response", "type": "user", "content": [{ "text": "a" }] });
    let records = [
        header(),
        user("u1", "Do it"),
        answer("g1", "Look."),
        full,
        header(),
        json!({ "$set": { "messages": [user("u1", "Do it"), copy, response] } }),
        user("u2", "Again"),
        answer("g2", "Done."),
    ];
    let (_folder, session) = one_session(agent("gemini-cli"), vec![(CHAT, lines(&records))]);
    assert_eq!(session.id, ID);
    assert_eq!(figures(&session), [2, 2, 1, 1, 0]);
    assert_eq!(tokens(&session), [12, 6, 8]);
    assert_eq!(
        texts(&session),
        ["user: Do it", "Look.", "run_shell_command ok", "user: Again", "Done."]
    );
}

#[test]
fn outcomes_of_calls() {
    let calls = json!([
        shell("ok", "success", json!({ "output": "Output: a" })),
        shell(
            "code",
            "success",
            json!({ "output": "Output: no\nExit Code: 2\nProcess Group PGID: 1" })
        ),
        shell("error", "error", json!({ "error": "not allowed" })),
        shell("stop", "cancelled", json!({ "error": "[Operation Cancelled]" })),
        json!({ "id": "lost", "name": "run_shell_command", "args": { "command": "ls" } }),
    ]);
    let records = [header(), user("u1", "Do it"), with_calls(answer("g1", ""), calls)];
    let (_folder, session) = one_session(agent("gemini-cli"), vec![(CHAT, lines(&records))]);
    let outcomes: Vec<_> = session.turns[0]
        .calls()
        .map(|call| call.result.as_ref().map(|result| result.outcome))
        .collect();
    assert_eq!(
        outcomes,
        [
            Some(CallOutcome::Ok),
            Some(CallOutcome::Error),
            Some(CallOutcome::Error),
            Some(CallOutcome::Interrupted),
            None
        ]
    );
}

#[test]
fn gemini_messages_taken_back_are_a_branch() {
    let records = [
        header(),
        user("u1", "One"),
        answer("g1", "First."),
        user("u2", "Two"),
        answer("g2", "Second."),
        json!({ "$rewindTo": "u2" }),
        user("u3", "Three"),
        answer("g3", "Third."),
    ];
    let (_folder, session) = one_session(agent("gemini-cli"), vec![(CHAT, lines(&records))]);
    assert_eq!(texts(&session), ["user: One", "First.", "user: Three", "Third."]);
    assert_eq!((session.abandoned.len(), session.abandoned[0].turns.len()), (1, 1));
    assert_eq!(tokens(&session), [18, 9, 12], "what was taken back was paid for");
}

#[test]
fn a_document_that_is_continued_in_lines_is_one_session() {
    let document = json!({ "sessionId": ID, "projectHash": "5f", "startTime": "2026-01-31T09:30:00Z",
        "messages": [user("u1", "One")] });
    let files = vec![
        (CHAT, lines(&[header(), user("u1", "One"), answer("g1", "First.")])),
        (
            "tmp/mill/chats/session-2026-01-31T09-30-11111111.json",
            document.to_string().into_bytes(),
        ),
        ("projects.json", br#"{"projects":{"/w/mill":"mill"}}"#.to_vec()),
    ];
    let document = files[1].0;
    let (folder, session) = one_session(agent("gemini-cli"), files);
    assert_eq!(texts(&session), ["user: One", "First."]);
    assert_eq!(session.cwds, ["/w/mill".into()]);
    let named = discover_at(folder.path().join(document));
    assert_eq!((named.sessions.len(), named.notices.len()), (0, 1));
}

#[test]
fn subagents_belong_to_their_session() {
    let form = agent_form("gemini-cli/lines");
    let [session] = &sessions(&form.folder)[..] else { panic!("several sessions") };
    let [child] = &session.subagents[..] else { panic!("no subagent") };
    assert_eq!((child.kind, child.turns.len()), (SessionKind::Task, 1));
    let parent = child.parent.as_ref().unwrap();
    assert_eq!(parent.call.as_deref(), Some("invoke_agent__c5"));
    assert!(!child.source.path().ends_with(session.source.path()));
    let folder = child.source.path().parent().unwrap();
    assert!(recognise_folder(folder).is_some_and(|(_, kind)| kind == FolderKind::PartOfSession));
    // By itself it is read as what it is.
    let alone = discover_at(child.source.path());
    assert_eq!(alone.sessions[0].agent, agent("gemini-cli"));
}
