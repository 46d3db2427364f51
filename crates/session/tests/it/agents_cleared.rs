//! Cleared copies of other agents' sessions.

use backstory_agents as agents;
use backstory_model::{Session, SessionFiles};
use backstory_redact::{Config, Redactor};
use backstory_session::clear::ClearedCopy;
use backstory_store::{ReadContext, Store};
use backstory_testkit::codex::{ROLLOUT, lineage};
use backstory_testkit::{agent, discover_at, one_session, texts};
use serde_json::json;

/// Everything in the cleared copy of a session's files.
fn cleared(files: &SessionFiles) -> (ClearedCopy, String) {
    let config = Config { salt: b"salt".to_vec(), ..Config::default() };
    let redactor = Redactor::new(&config).unwrap();
    let copy = ClearedCopy::of(files, &redactor, &Store::default()).unwrap();
    let all = copy.files().into_inner();
    let text = all.iter().map(|(path, _)| std::fs::read_to_string(path).unwrap()).collect();
    (copy, text)
}

fn read(files: &SessionFiles) -> Session {
    agents::read(files, &mut ReadContext::default()).unwrap().0
}

#[test]
fn a_key_over_several_lines_of_a_chat_history() {
    let body = ["MIIEpAIBAAKCAQEAx7Qm1Z", "p0Tz4Yc8vXr2LwK9dQeJ3s", "Ua6NfHbG5oRi1MyCtSxWkE"];
    let history = format!(
        "\n# aider chat started at 2026-01-31 09:30:00\n\n#### Use this  \n\nIt is:\n\n-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n",
        body.join("\n")
    );
    let files = vec![("p/.aider.chat.history.md", history.into_bytes())];
    let (folder, _) = one_session(agent("aider"), files);
    let (_copy, text) = cleared(&discover_at(folder.path()).sessions[0]);
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
    let (folder, _) = one_session(agent("cline"), files);
    let (copy, text) = cleared(&discover_at(folder.path()).sessions[0]);
    assert!(!text.contains(value), "{text}");
    let session = read(copy.session().unwrap().into_inner());
    assert_eq!((session.counts.calls, session.counts.results), (1, 1), "ids still link");
}

#[test]
fn cleared_copy_of_a_continued_thread() {
    let folder = tempfile::tempdir().unwrap();
    lineage().write(folder.path());
    let sessions = discover_at(folder.path()).sessions;
    let third = sessions.iter().find(|files| files.id.starts_with("3333")).unwrap();
    let (copy, text) = cleared(third);
    assert_eq!(copy.files().into_inner().len(), 3);
    assert!(!text.contains("Never said in the others"), "only what belongs to the thread");
    let session = read(copy.session().unwrap().into_inner());
    assert_eq!(texts(&session), texts(&read(third)));
    // Nothing was written over.
    assert_eq!(std::fs::read(folder.path().join(ROLLOUT)).unwrap(), lineage().files[0].1);
}
