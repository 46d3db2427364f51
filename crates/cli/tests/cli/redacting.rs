//! `redact`, `show --share`: what leaves the machine.

use crate::support::{Machine, testdata, write};
use serde_json::json;

const TOKEN: &str = "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";
const PASSWORD: &str = "Zx81kQpLm20s";
const ID: &str = "aaaaaaaa-1111-4222-8333-444444444444";

/// A session with secrets in prompt, answer, thinking, input, key and result.
fn planted() -> Machine {
    let machine = Machine::empty();
    let record = |kind: &str, uuid: &str, parent: Option<&str>, message: serde_json::Value| {
        json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": ID, "version": "2.1.325",
            "cwd": "/Users/jane8/app", "timestamp": "2026-10-01T10:00:00.000Z", "message": message,
        })
    };
    let half = TOKEN.len() / 2;
    let lines = [
        record(
            "user",
            "u1",
            None,
            json!({ "role": "user", "content": format!("use {TOKEN} in /Users/jane8/app") }),
        ),
        record(
            "assistant",
            "u2",
            Some("u1"),
            json!({
                "role": "assistant", "id": "msg_1", "model": "claude-opus-4-6", "stop_reason": "tool_use",
                "usage": { "input_tokens": 1, "output_tokens": 1 },
                "content": [
                    { "type": "thinking", "thinking": format!("{}\n  {}", &TOKEN[..half], &TOKEN[half..]), "signature": "c2ln" },
                    { "type": "text", "text": format!("curl -u me:{PASSWORD} https://x/?t={TOKEN}") },
                    { "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": { "command": "env", "env": { "DB_PASSWORD": PASSWORD, TOKEN: 1 } } },
                ],
            }),
        ),
        record(
            "user",
            "u3",
            Some("u2"),
            json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "toolu_1", "content": format!("DB_PASSWORD={PASSWORD}\n{TOKEN}\n{}", "filler\n".repeat(2000)) },
        ] }),
        ),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    write(
        &machine.home().join(format!(".claude/projects/-Users-jane8-app/{ID}.jsonl")),
        text.as_bytes(),
    );
    machine
}

fn holds_none(text: &str, what: &str) {
    let half = TOKEN.len() / 2;
    for secret in [TOKEN, PASSWORD, &TOKEN[half..]] {
        assert!(!text.contains(secret), "{what} holds {secret}:\n{text}");
    }
}

#[test]
fn no_output_holds_a_secret() {
    let machine = planted();
    let outputs: [&[&str]; 12] = [
        &["redact", ID],
        &["redact", "--scan"],
        &["redact", "--scan", "--json"],
        &["show", ID, "--share", "--format", "md"],
        &["show", ID, "--share", "--format", "html", "--full"],
        &["show", ID, "--share", "--format", "json"],
        &["show", ID, "--share", "--format", "text", "--full"],
        &["show", ID, "--share", "--format", "terminal", "--no-pager"],
        &["show", ID, "--redact", "--format", "md"],
        &["export", ID, "--to", "opentraces"],
        &["export", ID, "--to", "atif"],
        &["export", ID, "--to", "agent-trace"],
    ];
    for arguments in outputs {
        let ran = machine.run(arguments);
        assert!(matches!(ran.code, Some(0 | 1)), "{arguments:?}: {}", ran.stderr);
        holds_none(&ran.stdout, &arguments.join(" "));
        holds_none(&ran.stderr, &arguments.join(" "));
    }
    let shared = machine.out(&["show", ID, "--share", "--format", "json"]);
    assert!(!shared.contains("jane8") && shared.contains("~/app"), "{shared}");
    assert!(shared.contains("[redacted:github-token:"));
}

#[test]
fn a_copy_is_a_session_and_stays_as_it_is() {
    let machine = planted();
    let copy = machine.out(&["redact", ID]);
    let original = std::fs::read_to_string(
        machine.home().join(format!(".claude/projects/-Users-jane8-app/{ID}.jsonl")),
    )
    .unwrap();
    assert_eq!(copy.lines().count(), original.lines().count());
    for (line, before) in copy.lines().zip(original.lines()) {
        let (line, before): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(line).unwrap(), serde_json::from_str(before).unwrap());
        assert_eq!((&line["uuid"], &line["parentUuid"]), (&before["uuid"], &before["parentUuid"]));
    }
    machine.out(&["redact", ID, "--out", "clean/one.jsonl"]);
    let written = std::fs::read_to_string(machine.home().join("clean/one.jsonl")).unwrap();
    assert_eq!(written, copy, "the same input gives the same bytes");
    machine.out(&["redact", "clean/one.jsonl", "--out", "clean/two.jsonl"]);
    assert_eq!(std::fs::read_to_string(machine.home().join("clean/two.jsonl")).unwrap(), copy);
}

#[test]
fn scanning_counts_and_says_how_careful_to_be() {
    let machine = planted();
    let ran = machine.run(&["redact", "--scan", "--json"]);
    assert_eq!(ran.code, Some(1));
    let found: serde_json::Value = serde_json::from_str(ran.stdout.trim()).unwrap();
    assert_eq!(
        (found["schema"].as_str(), found["sensitivity"].as_str()),
        (Some("backstory.redact/1"), Some("high"))
    );
    let documented = std::fs::read_to_string(testdata("../docs/redaction.md")).unwrap();
    let finding = found["findings"][0].as_object().unwrap();
    for key in found.as_object().unwrap().keys().chain(finding.keys()) {
        assert!(documented.contains(&format!("`{key}`")), "{key} is not documented");
    }
    assert_eq!(Machine::with_sample().run(&["redact", "--scan"]).code, Some(0));
}

#[test]
fn spans_are_counted_in_characters() {
    let machine = Machine::empty();
    let line = json!({ "text": format!("é token {TOKEN}") }).to_string();
    write(
        &machine.home().join("lines.jsonl"),
        format!("{line}\n{{\"text\":\"nothing\"}}\n").as_bytes(),
    );
    let printed = machine.out(&["redact", "--spans", "lines.jsonl", "--field", "text"]);
    assert_eq!(printed, format!("{{\"spans\":[[8,{}]]}}\n{{\"spans\":[]}}\n", 8 + TOKEN.len()));
    assert_eq!(machine.run(&["redact", "--spans", "lines.jsonl", "--field", "x"]).code, Some(2));
}

#[test]
fn raw_is_said_aloud_and_wrong_use_explained() {
    let machine = planted();
    let ran = machine.run(&["show", ID, "--share", "--raw", "--format", "md"]);
    assert!(ran.stdout.contains(TOKEN) && ran.stderr.contains("--raw"), "{}", ran.stderr);
    let ran = machine.run(&["show", ID, "--redact=everything"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("secrets, paths, people"), "{}", ran.stderr);
    write(&machine.home().join(".backstory.toml"), b"[redact]\nallow = ['(']\n");
    let ran = machine.run(&["redact", ID]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
}
