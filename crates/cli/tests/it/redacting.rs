//! `redact`, `show --share`: what leaves the machine.

use crate::support::Machine;
use backstory_testkit::{document, write_file};
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
    write_file(
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
fn show_share_says_what_was_taken_out() {
    let machine = planted();
    for format in ["md", "html", "text"] {
        let ran = machine.run(&["show", ID, "--share", "--format", format]);
        assert!(ran.stderr.contains("taken out: secrets "), "{}", ran.stderr);
        assert!(ran.stderr.contains(", paths "), "{}", ran.stderr);
        let shown = ran.stdout.replace("Taken out", "taken out");
        let head = shown.find("taken out").and_then(|at| shown.get(at..at + 80));
        assert!(head.is_some_and(|head| head.contains("secrets ")), "{head:?}");
    }
    let ran = machine.run(&["show", ID, "--format", "md"]);
    assert!(!ran.stderr.contains("taken out") && !ran.stdout.contains("Taken out"));
    let ran = machine.run(&["show", "--all", "--share", "--out", "pages/"]);
    assert!(ran.stderr.contains("taken out: secrets "), "{}", ran.stderr);
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
    let documented = document("docs/redaction.md");
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
    write_file(
        &machine.home().join("lines.jsonl"),
        format!("{line}\n{{\"text\":\"nothing\"}}\n").as_bytes(),
    );
    let printed = machine.out(&["redact", "--spans", "lines.jsonl", "--field", "text"]);
    assert_eq!(printed, format!("{{\"spans\":[[8,{}]]}}\n{{\"spans\":[]}}\n", 8 + TOKEN.len()));
    assert_eq!(machine.run(&["redact", "--spans", "lines.jsonl", "--field", "x"]).code, Some(2));
}

#[test]
fn show_raw_warns_and_wrong_use_gets_a_hint() {
    let machine = planted();
    let ran = machine.run(&["show", ID, "--share", "--raw", "--format", "md"]);
    assert!(ran.stdout.contains(TOKEN) && ran.stderr.contains("--raw"), "{}", ran.stderr);
    let ran = machine.run(&["show", ID, "--redact=everything"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("secrets, paths, people"), "{}", ran.stderr);
    write_file(&machine.home().join(".backstory.toml"), b"[redact]\nallow = ['(']\n");
    let ran = machine.run(&["redact", ID]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
}

/// Two runs of one task, which have the same name.
fn two_runs(machine: &Machine) {
    for (run, text) in [("run1", "first"), ("run2", "second")] {
        let trajectory = json!({
            "environment": "swe_main",
            "trajectory": [{ "action": "ls", "observation": "a.py\n", "response": text, "thought": text }],
            "history": [
                { "role": "system", "content": "You help.", "agent": "main" },
                { "role": "user", "content": format!("do the {text}"), "agent": "main" },
                { "role": "assistant", "content": text, "thought": text, "action": "ls", "agent": "main" },
                { "role": "user", "content": "a.py\n", "agent": "main" },
            ],
            "info": { "exit_status": "submitted", "submission": null },
        });
        write_file(
            &machine.home().join(format!("runs/{run}/a__b-1.traj")),
            trajectory.to_string().as_bytes(),
        );
    }
}

#[test]
fn redact_does_not_replace_a_session_of_the_same_name() {
    let machine = Machine::empty();
    two_runs(&machine);
    machine.out(&["redact", "runs", "--out", "clean/"]);
    let files = std::fs::read_dir(machine.home().join("clean")).unwrap();
    let texts: Vec<String> = files
        .filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok())
        .filter(|text| text.contains("trajectory"))
        .collect();
    assert_eq!(texts.len(), 2);
    assert!(texts.iter().any(|text| text.contains("do the first")));
    assert!(texts.iter().any(|text| text.contains("do the second")));
}

#[test]
fn redact_copy_replaces_only_its_own_files() {
    let machine = planted();
    let own = machine.home().join(format!("work/{ID}.jsonl"));
    let source = machine.home().join(format!(".claude/projects/-Users-jane8-app/{ID}.jsonl"));
    let before = std::fs::read(&source).unwrap();
    write_file(&own, &before);
    let ran = machine.run(&["redact", &format!("work/{ID}.jsonl"), "--out", "work/"]);
    assert!(ran.stderr.contains("not written by backstory"), "{}", ran.stderr);
    assert_eq!(ran.code, Some(2));
    assert_eq!(std::fs::read(&own).unwrap(), before);
    // Nothing was claimed by the attempt that failed; a folder of ours is brought up to date.
    machine.out(&["redact", ID, "--out", "clean/"]);
    machine.out(&["redact", ID, "--out", "clean/"]);
    let ran = machine.run(&["redact", ID, "--out", "work/"]);
    assert!(ran.stderr.contains("not written by backstory"), "{}", ran.stderr);
}

#[test]
fn redact_writes_nothing_into_an_agents_folder() {
    let machine = planted();
    let copy = machine.home().join("elsewhere").join(format!("{ID}.jsonl"));
    let source = machine.home().join(format!(".claude/projects/-Users-jane8-app/{ID}.jsonl"));
    write_file(&copy, &std::fs::read(&source).unwrap());
    write_file(&machine.home().join(".codex/config.toml"), b"");
    let named = copy.to_string_lossy().into_owned();
    for place in [".claude/projects/a.json", ".codex/a.json", ".codex/sessions/a/"] {
        for command in [
            &["export", &named, "--to", "atif", "--out", place][..],
            &["export", &named, "--to", "atif", "--out", "fine.json", "--stats", place],
            &["redact", &named, "--out", place],
            &["show", &named, "--format", "md", "--out", place],
        ] {
            let ran = machine.run(command);
            assert!(ran.stderr.contains("where sessions are kept"), "{command:?} {}", ran.stderr);
            assert_eq!(ran.code, Some(2));
        }
        assert!(!machine.home().join(place).exists());
    }
}

#[test]
fn a_project_is_where_sessions_worked() {
    let machine = Machine::empty();
    let session = |id: &str, cwd: &str| {
        json!({
            "type": "user", "uuid": format!("u-{id}"), "parentUuid": null, "sessionId": id,
            "version": "2.1.325", "cwd": cwd, "timestamp": "2026-10-01T10:00:00.000Z",
            "message": { "role": "user", "content": "hello" },
        })
    };
    let home = machine.home().canonicalize().unwrap();
    let project = home.join("my/app");
    write_file(&project.join("deep/notes.txt"), b"");
    let key = |path: &std::path::Path| {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        path.to_string_lossy().chars().map(plain).collect::<String>()
    };
    // One in the project, one deeper, and one in another project whose folder has the same name.
    let twin = home.join("my-app");
    for (id, cwd) in [
        ("11111111-1111-4111-8111-111111111111", project.clone()),
        ("22222222-2222-4222-8222-222222222222", project.join("deep")),
        ("33333333-3333-4333-8333-333333333333", twin),
    ] {
        write_file(
            &machine.home().join(format!(".claude/projects/{}/{id}.jsonl", key(&cwd))),
            format!("{}\n", session(id, &cwd.to_string_lossy())).as_bytes(),
        );
    }
    let there = project.to_string_lossy().into_owned();
    machine.out(&["redact", &there, "--out", "clean/"]);
    let files = std::fs::read_dir(machine.home().join("clean")).unwrap();
    let mut names: Vec<String> =
        files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let first: Vec<&str> = names.iter().map(|name| name.get(..4).unwrap()).collect();
    assert_eq!(first, [".bac", "1111", "2222"]);
}
