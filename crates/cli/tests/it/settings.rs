//! Whose settings count: the user's own, a project's, and `backstory trust`.

use crate::support::{Machine, Ran};
use backstory_testkit::write_file;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

/// A password, and a token that no exception covers.
const PASSWORD: &str = "hunter2xQ9";

fn token() -> String {
    format!("{}{}", "ghp_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5")
}

fn machine() -> Machine {
    let machine = Machine::empty();
    let text = format!("password={PASSWORD} and {}", token());
    let record = json!({"type": "user", "uuid": "aaaaaaaa-0000-4000-8000-00000000000a",
        "parentUuid": null, "sessionId": "aaaaaaaa-0000-4000-8000-000000000001", "cwd": "/w",
        "timestamp": "2026-03-01T10:00:00Z", "version": "2.1.0", "isSidechain": false,
        "userType": "external", "message": {"role": "user", "content": text}});
    write_file(&machine.home().join("repo/s.jsonl"), format!("{record}\n").as_bytes());
    write_file(&machine.home().join("repo/.backstory.toml"), b"[redact]\nallow = ['(?s).*']\n");
    machine
}

/// Runs a command in the repository.
fn run(machine: &Machine, words: &[&str]) -> Ran {
    let out = machine.command(words).current_dir(machine.home().join("repo")).output().unwrap();
    Ran {
        code: out.status.code(),
        stdout: String::from_utf8(out.stdout).unwrap(),
        stderr: String::from_utf8(out.stderr).unwrap(),
    }
}

#[test]
fn a_project_cannot_switch_redaction_off() {
    let machine = machine();
    for words in [
        &["redact", "s.jsonl"][..],
        &["show", "s.jsonl", "--share", "--format", "text"],
        &["export", "s.jsonl", "--to", "opentraces"],
        &["export", "s.jsonl", "--to", "trace-state"],
    ] {
        let ran = run(&machine, words);
        assert!(!ran.stdout.contains(PASSWORD), "{words:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("1 exception from redaction not used"), "{}", ran.stderr);
        assert!(ran.stderr.contains("hint: ") && ran.stderr.contains("backstory trust "));
    }
    let scan = run(&machine, &["redact", "--scan", "s.jsonl"]);
    assert_eq!(scan.code, Some(1), "{}", scan.stderr);
}

#[test]
fn a_trusted_file_counts_until_it_changes_and_never_for_tokens() {
    let machine = machine();
    let file = machine.home().join("repo/.backstory.toml");
    let trust = run(&machine, &["trust"]);
    assert_eq!(trust.code, Some(0), "{}", trust.stderr);
    assert!(trust.stdout.contains("(?s).*"), "{}", trust.stdout);
    let list = machine.home().join(".local/state/backstory/trusted.json");
    assert_eq!(std::fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o600);
    let ran = run(&machine, &["redact", "s.jsonl"]);
    assert!(ran.stdout.contains(PASSWORD), "{}", ran.stdout);
    assert!(!ran.stdout.contains(&token()), "{}", ran.stdout);
    assert!(ran.stderr.contains("1 exception from redaction in use"), "{}", ran.stderr);
    assert!(run(&machine, &["trust", "--list"]).stdout.contains("repo/.backstory.toml"));

    write_file(&file, b"[redact]\nallow = ['(?s).*', 'x']\n");
    let ran = run(&machine, &["redact", "s.jsonl"]);
    assert!(!ran.stdout.contains(PASSWORD), "{}", ran.stdout);
    assert!(run(&machine, &["trust", "--list"]).stdout.contains("changed since"));

    assert_eq!(run(&machine, &["trust", "."]).code, Some(0));
    assert!(run(&machine, &["redact", "s.jsonl"]).stdout.contains(PASSWORD));
    assert_eq!(run(&machine, &["trust", "--revoke"]).code, Some(0));
    assert_eq!(run(&machine, &["trust", "--revoke"]).code, Some(1));
    assert!(!run(&machine, &["redact", "s.jsonl"]).stdout.contains(PASSWORD));

    // A list that cannot be read trusts nothing.
    run(&machine, &["trust"]);
    write_file(&list, b"{}");
    assert!(!run(&machine, &["redact", "s.jsonl"]).stdout.contains(PASSWORD));
}

#[test]
fn the_users_own_settings_count_and_never_for_tokens() {
    let own = format!("[redact]\nallow = ['{PASSWORD}', 'ghp_.*']\n");
    for place in [".config/backstory/config.toml", ".backstory.toml"] {
        let machine = machine();
        write_file(&machine.home().join("repo/.backstory.toml"), b"");
        write_file(&machine.home().join(place), own.as_bytes());
        let ran = run(&machine, &["redact", "s.jsonl"]);
        assert!(ran.stdout.contains(PASSWORD), "{place}: {}", ran.stderr);
        assert!(!ran.stdout.contains(&token()), "{place}: {}", ran.stdout);
    }
}

#[test]
fn teachers_of_a_project_are_not_asked() {
    let machine = machine();
    let teacher = "[[teacher]]\nid='t'\nmodel='m'\nbase_url='https://example.com/v1'\n\
                   api_key_env='HOME'\n";
    write_file(&machine.home().join("repo/.backstory.toml"), teacher.as_bytes());
    for trusted in [false, true] {
        if trusted {
            assert_eq!(run(&machine, &["trust"]).code, Some(0));
        }
        let ran = run(&machine, &["replay", "s.jsonl"]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("teachers of a project are not used"), "{}", ran.stderr);
        assert!(ran.stderr.contains(".config/backstory/config.toml"), "{}", ran.stderr);
    }
    let words = ["replay", "s.jsonl", "--teachers-from", ".backstory.toml"];
    assert!(!run(&machine, &words).stderr.contains("teachers"));
    write_file(&machine.home().join(".config/backstory/config.toml"), teacher.as_bytes());
    assert!(!run(&machine, &["replay", "s.jsonl"]).stderr.contains("no teachers"));
}

#[test]
fn settings_of_any_size_or_kind_are_refused() {
    let machine = machine();
    let file = machine.home().join("repo/.backstory.toml");
    write_file(&file, format!("# {}\n", "x".repeat(1 << 20)).as_bytes());
    let ran = run(&machine, &["redact", "s.jsonl"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("longer than"), "{}", ran.stderr);
    for words in [
        &["stats", "--prices", "/dev/zero"][..],
        &["annotate", "--config", "/dev/zero"],
        &["spec", "s.jsonl", "--drift", "--profile", "/dev/zero"],
        &["replay", "s.jsonl", "--teachers-from", "/dev/zero"],
        &["export", "s.jsonl", "--to", "sft", "--system-prompt", "@/dev/zero"],
        &["trust", "/dev/zero"],
    ] {
        let ran = run(&machine, words);
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("not a regular file"), "{words:?}: {}", ran.stderr);
    }
}
