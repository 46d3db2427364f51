//! Tokens of other agents' sessions.

use backstory_session::stats::{self, Dimension};
use backstory_store::Store;
use backstory_testkit::codex::{ROLLOUT, SECOND, codex_records, exact, lineage};
use backstory_testkit::{Sample, agent, discover_at, lines};
use serde_json::json;
use std::path::Path;

/// Input and output of all sessions of a folder.
fn spent(folder: &Path) -> (u64, u64, usize) {
    let sessions = discover_at(folder).sessions;
    let ledger = stats::gather(&sessions, &[], Dimension::Session, &Store::default(), |_| {});
    let tokens = ledger.messages.iter().filter_map(|message| message.spent);
    let sum = tokens.fold((0, 0), |(input, output), spent| {
        (input + spent.tokens.input, output + spent.tokens.output)
    });
    (sum.0, sum.1, ledger.messages.len())
}

#[test]
fn tokens_of_copies_and_of_namesakes() {
    // A thread that goes on from another pays for its own messages only.
    let folder = tempfile::tempdir().unwrap();
    lineage().write(folder.path());
    assert_eq!(spent(folder.path()), (450 + 350, 40, 4));
    // A fork that holds copies of the other's messages pays for them once.
    let mut fork = codex_records(exact);
    fork[0]["payload"]["id"] = json!("22222222-aaaa-4bbb-8ccc-000000000002");
    let folder = tempfile::tempdir().unwrap();
    let files = vec![(ROLLOUT, lines(&codex_records(exact))), (SECOND, lines(&fork))];
    Sample { agent: agent("codex"), files }.write(folder.path());
    assert_eq!(spent(folder.path()), (450, 30, 3));
    // Two runs of one task are two runs.
    let run = json!({ "environment": "demo__demo-1", "history": [
            { "role": "user", "content": "Fix it" },
            { "role": "assistant", "content": "Look.", "action": "ls" } ],
        "info": { "model_stats": { "tokens_sent": 100, "tokens_received": 5, "api_calls": 1 } } });
    let run = run.to_string().into_bytes();
    let files = vec![("a/demo.traj", run.clone()), ("b/demo.traj", run)];
    let folder = tempfile::tempdir().unwrap();
    Sample { agent: agent("swe-agent"), files }.write(folder.path());
    assert_eq!(spent(folder.path()), (200, 10, 2));
}
