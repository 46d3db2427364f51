//! What clients run for themselves.

use backstory_model::SessionKind;
use backstory_store::ReadContext;
use backstory_testkit::discover_at;
use backstory_testkit::own_runs::{OWNER, Runs, run_file, run_samples};
use serde_json::{Value, json};

#[test]
fn reader_separates_kinds_of_client_runs() {
    for (name, text, kind) in run_samples() {
        let read = Runs::new(&[(name, text)]).read();
        assert_eq!(read.iter().map(|one| one.kind).collect::<Vec<_>>(), [kind], "{name}");
    }
}

/// Around 2.0.22 the warm-up of a subagent is in the session's own file.
#[test]
fn reader_separates_a_warm_up_from_a_task() {
    let folder = tempfile::tempdir().unwrap();
    let own = run_file(&["Fire the kiln"], Value::Null, &json!({})).replace(":true", ":false");
    let inside = |prompt: &str, digit: &str| {
        let text = run_file(&[prompt], Value::Null, &json!({})).replace("\"agentId\":\"a1\",", "");
        text.replace("-0000-4000-8000-", &format!("-{digit}000-4000-8000-"))
    };
    let text =
        own.replace("\"agentId\":\"a1\",", "") + &inside("Warmup", "1") + &inside("Count", "2");
    let path = folder.path().join(format!("{OWNER}.jsonl"));
    std::fs::write(&path, text).unwrap();
    let found = discover_at(path);
    let (session, _) =
        backstory_claude::read(&found.sessions[0], &mut ReadContext::default(), &mut ()).unwrap();
    let kinds: Vec<_> = session.subagents.iter().map(|agent| agent.kind).collect();
    assert_eq!(kinds, [SessionKind::Warmup, SessionKind::Task]);
}
