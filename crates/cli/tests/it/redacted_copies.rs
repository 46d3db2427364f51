//! Cleared copies of other agents' sessions: each is read again as what it was.

use crate::support::Machine;
use backstory_testkit::{agent_forms, write_file};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const KEY: &str = "sk-proj-q8Zr4LmW2xVb7TnY5cKd9HfJ3sGaPe6UuQiOoRtM1NwBzXvCyEkLhAjF";

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// A row of SWE-smith in the order of the data set, long if told to.
fn row(id: &str, words: &str) -> String {
    let messages = json!([{ "role": "user", "content": format!("Use {KEY} {words}") },
        { "role": "assistant", "content": "```\nls\n```" }, { "role": "user", "content": "a" }]);
    format!("{{\"messages\": {messages}, \"instance_id\": \"demo__demo\", \"traj_id\": \"{id}\"}}")
}

/// Files of every agent and form, by the folder that is read.
fn samples() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let long = "word ".repeat(30_000);
    let record = |kind: &str, payload: Value| json!({ "timestamp": "2026-01-31T09:30:00Z", "type": kind, "payload": payload });
    let said = |role: &str, text: &str| {
        let part = json!([{ "type": "text", "text": text }]);
        json!({ "type": "message", "role": role, "content": part })
    };
    let secret = format!("Use {KEY}");
    let talk = [said("user", &secret), said("assistant", "Done.")];
    let rollout = |id: &str| {
        let items = talk.iter().map(|item| record("response_item", item.clone()));
        let meta = record("session_meta", json!({ "id": id, "cwd": "/w" }));
        lines(&std::iter::once(meta).chain(items).collect::<Vec<_>>())
    };
    let old = json!({ "session": { "id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": "" },
        "items": talk });
    let events = json!([
        { "id": 0, "source": "agent", "action": "system", "args": { "content": "You act." } },
        { "id": 1, "source": "user", "action": "message", "args": { "content": secret } },
        { "id": 2, "source": "agent", "action": "message", "args": { "content": "Done." } },
    ]);
    let mut history = events.clone();
    history[0]["args"]["content"] = json!(long);
    let message = |id: &str, source: &str, text: &str| {
        json!({ "id": id, "kind": "MessageEvent", "source": source,
            "llm_message": { "role": source, "content": [{ "type": "text", "text": text }] } })
    };
    let sdk = [message("u", "user", &secret), message("a", "agent", "Done.")];
    let state =
        json!({ "id": "0a1b2c3d-0000-4000-8000-000000000007", "agent": {}, "workspace": {} });
    let chat =
        json!([{ "role": "user", "content": secret }, { "role": "assistant", "content": "Done." }]);
    let task = json!([{ "role": "user", "content": [{ "type": "text", "text": secret }] },
        { "role": "assistant", "content": [{ "type": "text", "text": "Done." }] }]);
    let cline = json!({ "version": 1, "sessionId": "s-id", "messages": task });
    let aider = format!(
        "left over.\n\n#### Use {KEY}  \n\nDone.\n\n# aider chat started at 2026-01-31 09:30:00\n\n#### Go  \n\nDone.\n\n# aider chat started at 2026-01-31 09:30:00\n\n#### Use {KEY}  \n\nDone.\n"
    );
    vec![
        (
            "codex",
            vec![
                (
                    "rollout-2026-01-31T09-30-00-11111111-aaaa-4bbb-8ccc-000000000001.jsonl",
                    rollout("11111111-aaaa-4bbb-8ccc-000000000001"),
                ),
                ("renamed.jsonl", rollout("its-own-id")),
                ("rollout-2025-05-01-old.json", old.to_string()),
            ],
        ),
        (
            "openhands",
            vec![
                ("trajectory.json", events.to_string()),
                (
                    "output.jsonl",
                    format!(
                        "{{\"history\": {history}, \"instance_id\": \"demo__demo-1\"}}\n{}\n",
                        json!({ "git_patch": "", "history": events })
                    ),
                ),
                ("sdk.jsonl", lines(&sdk)),
                ("talk/base_state.json", state.to_string()),
                ("talk/events/event-00000-u.json", sdk[0].to_string()),
                ("first/events/0.json", events[1].to_string()),
            ],
        ),
        (
            "swe-agent",
            vec![("demo.1.traj", json!({ "trajectory": [], "history": chat }).to_string())],
        ),
        (
            "mini-swe-agent",
            vec![
                (
                    "demo__demo-1.traj.json",
                    json!({ "info": { "mini_version": "2" }, "messages": chat }).to_string(),
                ),
                ("bare.traj.json", chat.to_string()),
            ],
        ),
        (
            "swe-smith",
            vec![
                ("rows.json", format!("[{},\n{}]", row("r", ""), row("b", &long))),
                (
                    "lines.jsonl",
                    format!("{}\n{}\n{}\n", row("c", &long), row("same", ""), row("same", &long)),
                ),
                ("one.json", row("rows", "")),
            ],
        ),
        (
            "aider",
            vec![
                ("other/chat.md", aider.replace("left over", "more").replace("01-31", "02-01")),
                ("project/.aider.chat.history.md", aider),
            ],
        ),
        (
            "cline",
            vec![
                ("1700000000001/api_conversation_history.json", task.to_string()),
                ("1700000000002/api_conversation_history.json", task.to_string()),
                ("1700000000002/ui_messages.json", "[]".to_owned()),
                ("s.messages.json", cline.to_string()),
                ("t/u.messages.json", cline.to_string().replace("s-id", "u-id")),
                ("t/u.json", json!({ "cwd": "/w" }).to_string()),
            ],
        ),
    ]
}

/// Agents, ids and what happened, however often they are listed.
fn listed(machine: &Machine, root: &str) -> BTreeSet<String> {
    let rows = machine.json(&["ls", "--root", root, "--json"]);
    let described = |row: &Value| {
        let counts = ["turns", "calls", "tokens"].map(|name| row[name].to_string());
        format!("{} {} {counts:?}", row["agent"], row["id"])
    };
    let described: BTreeSet<String> = rows.iter().map(described).collect();
    assert_eq!(described.len(), rows.len(), "{root}: {rows:?}");
    described
}

/// A cleared copy of what is in `root` lists the same sessions and holds no key.
fn assert_copied(machine: &Machine, root: &str, agent: &str) {
    let before = listed(machine, root);
    let out = format!("clean-{root}/");
    machine.out(&["redact", root, "--out", &out]);
    assert_eq!(listed(machine, &out), before, "{root}");
    for row in machine.json(&["ls", "--root", &out, "--json"]) {
        assert_eq!(row["agent"], agent, "{root}");
        let shown = machine.out(&["show", row["path"].as_str().unwrap(), "--format", "md"]);
        assert!(!shown.contains(KEY), "{root}: {shown}");
    }
    assert_eq!(machine.run(&["redact", "--scan", &out]).code, Some(0), "{root}");
}

#[test]
fn copies_are_sessions_of_the_same_agent() {
    let machine = Machine::empty();
    for (agent, files) in samples() {
        for (name, content) in &files {
            write_file(&machine.home().join(agent).join(name), content.as_bytes());
        }
        let parts: usize = files.len();
        assert!(listed(&machine, agent).len() >= parts.saturating_sub(3), "{agent}");
        assert_copied(&machine, agent, agent);
    }
}

#[test]
fn every_form_is_copied() {
    for form in agent_forms() {
        let machine = Machine::empty();
        let root = form.path().replace('/', "-");
        let secret = format!("Use {KEY}");
        form.write(&machine.home().join(&root), |text| text.replace("prompt-mark", &secret));
        assert_eq!(listed(&machine, &root).len(), 1, "{root}");
        assert_eq!(machine.run(&["redact", "--scan", &root]).code, Some(1), "{root}");
        assert_copied(&machine, &root, &form.row["agent"]);
    }
}

#[test]
fn stats_name_sessions_by_their_ids() {
    let machine = Machine::empty();
    for (agent, name, id) in
        [("codex", "renamed.jsonl", "its-own-id"), ("cline", "t/u.messages.json", "u-id")]
    {
        let (_, files) = samples().into_iter().find(|(known, _)| *known == agent).unwrap();
        let (_, content) = files.iter().find(|(known, _)| *known == name).unwrap();
        write_file(&machine.home().join(agent).join(name), content.as_bytes());
        let rows = machine.json(&["stats", "--root", agent, "--by", "session", "--json"]);
        assert_eq!(rows[0]["rows"][0]["key"], id, "{}", rows[0]);
    }
}
