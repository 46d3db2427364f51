//! `backstory export`

use crate::desk::{Desk, SESSION, ran, wrote};
use crate::support::{Machine, assert_documented, write};
use serde_json::{Value, json};

const SAMPLE: [&str; 5] = ["export", "--to", "opentraces", "--no-git", "--quiet"];

#[test]
fn one_line_for_each_session_and_the_same_bytes_again() {
    let machine = Machine::with_sample();
    let records = machine.json(&SAMPLE);
    assert_eq!(records.len(), 6);
    for record in &records {
        assert_eq!(record["schema_version"], "0.9.0");
        assert_eq!(record["security"]["scanned"], true);
        assert!(record["task"]["description"].is_string());
        assert!(record["agent"]["model"].as_str().unwrap().starts_with("anthropic/claude-"));
    }
    assert_eq!(machine.out(&SAMPLE), machine.out(&SAMPLE));
    let older = machine.json(&["export", "--to", "opentraces", "--schema", "0.3.0", "-q"]);
    assert!(older.iter().all(|record| record.get("patches").is_none()));
    let ids = |records: &[Value]| -> Vec<Value> {
        records.iter().map(|record| record["trace_id"].clone()).collect()
    };
    assert_eq!(ids(&records), ids(&older), "the id is the session's, not the format's");
    let next = machine.json(&[&SAMPLE[..], &["--generation", "1"]].concat());
    assert_ne!(ids(&records), ids(&next));
}

#[test]
fn raw_must_be_asked_for_and_warns() {
    let machine = Machine::with_sample();
    let ran = machine.run(&[&SAMPLE[..], &["--raw"]].concat());
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.starts_with("warning: --raw: nothing is taken out"), "{}", ran.stderr);
    let record: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(record["security"]["scanned"], false);
    assert_eq!(machine.run(&[&SAMPLE[..], &["--raw", "--redact", "paths"]].concat()).code, Some(2));
}

#[test]
fn files_and_folders() {
    let machine = Machine::with_sample();
    machine.out(&["export", "--to", "atif", "--out", "all.jsonl", "-q"]);
    let all = std::fs::read_to_string(machine.home().join("all.jsonl")).unwrap();
    assert_eq!(all.lines().count(), 6);
    machine.out(&["export", "--to", "atif", "--out", "each/", "-q"]);
    let mut each: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(machine.home().join("each")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "json") && !path.ends_with(".backstory.json") {
            each.push(std::fs::read_to_string(path).unwrap());
        }
    }
    let mut lines: Vec<String> = all.lines().map(|line| format!("{line}\n")).collect();
    each.sort();
    lines.sort();
    // Placeholders depend on what is exported together, and that is the same here.
    assert_eq!(each, lines);
    let ran = machine.run(&["export", "--to", "atif", "--out", ".claude/x.jsonl"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("where sessions are kept"), "{}", ran.stderr);
}

#[test]
fn wrong_use_is_told() {
    let machine = Machine::with_sample();
    let said = |arguments: &[&str]| {
        let ran = machine.run(arguments);
        assert_ne!(ran.code, Some(0));
        ran.stderr
    };
    insta::assert_snapshot!(said(&["export", "--to", "opentraces", "--schema", "0.5.0"]), @r"
    error: --schema `0.5.0`: this version is not written
    hint: versions are 0.9.0 and 0.3.0
    ");
    insta::assert_snapshot!(said(&["export", "--to", "atif", "--redact", "names"]), @r"
    error: --redact `names`: no such class
    hint: the classes are secrets, paths, people
    ");
    assert!(said(&["export", "nothing-like-it", "--to", "atif"]).contains("no session"));
    assert!(said(&["export"]).contains("--to"));
}

#[test]
fn what_cannot_be_exported_is_counted() {
    let machine = Machine::with_sample();
    let project = machine.home().join(".claude/projects/-tmp-x");
    write(&project.join("22222222-2222-4222-8222-222222222222.jsonl"), b"");
    write(&project.join("33333333-3333-4333-8333-333333333333.jsonl"), b"not json\n");
    let ran = machine.run(&["export", "--to", "agent-trace", "--stats", "stats.json", "--no-git"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let stats = std::fs::read_to_string(machine.home().join("stats.json")).unwrap();
    let stats: Value = serde_json::from_str(&stats).unwrap();
    let exported = ran.stdout.lines().count() as u64;
    assert_eq!(stats["sessions"], exported);
    let listed = machine.json(&["ls", "--json", "--quiet"]).len() as u64;
    assert!(listed > exported);
    assert_eq!(stats["left_out"]["empty_sessions"], listed - exported);
    assert!(ran.stderr.contains("left out: "), "{}", ran.stderr);
}

#[test]
fn every_key_of_the_report_is_documented() {
    let machine = Machine::with_sample();
    machine.out(&["export", "--to", "opentraces", "--stats", "stats.json", "-q", "--out", "o"]);
    let stats = std::fs::read_to_string(machine.home().join("stats.json")).unwrap();
    let values = vec![serde_json::from_str(&stats).unwrap()];
    assert!(assert_documented("export.md", values, |_| false) > 10);
}

const TIDES: &str = "fn tide_at(hour: u32) -> f64 {\n    let phase = f64::from(hour) / 12.42;\n    (phase * std::f64::consts::TAU).cos()\n}\n";

fn exported(desk: &Desk, schema: &str) -> Value {
    desk.machine
        .json(&["export", SESSION, "--to", "opentraces", "--schema", schema, "-q"])
        .remove(0)
}

#[test]
fn a_repository_fills_what_it_proves() {
    let desk = Desk::new();
    let base = desk.git(&["rev-parse", "HEAD"]);
    desk.git(&["remote", "add", "origin", "https://me:q9V7nB2K4xL8@example.com/owner/tides.git"]);
    desk.put("src/tides.rs", TIDES);
    let id = desk.commit("Add tides", "2026-03-01T10:00:30Z");
    let blob = desk.git(&["rev-parse", "HEAD:src/tides.rs"]);
    let said = format!("[main {}] Add tides\n 1 file changed", &id[..7]);
    desk.record(&[
        wrote("src/tides.rs", TIDES),
        ran("git add -A && git commit -m 'Add tides'", &said),
    ]);
    for schema in ["0.9.0", "0.3.0"] {
        let record = exported(&desk, schema);
        assert_eq!(record["task"]["base_commit"], base);
        assert_eq!(record["environment"]["vcs"]["base_commit"], base);
        assert_eq!(record["task"]["repository"], "owner/tides");
        assert_eq!(record["task"]["repository_url"], "https://example.com/owner/tides");
        assert_eq!(
            (&record["outcome"]["committed"], &record["outcome"]["commit_sha"]),
            (&true.into(), &id.clone().into())
        );
        assert_eq!(record["outcome"]["success"], Value::Null, "nobody says that it is good");
        assert_eq!(record["lifecycle"], "final");
        assert_eq!(record["git_links"][0]["revision"], id);
        assert_eq!(record["git_links"][0]["tier"], "tool_emitted");
        assert_eq!(record["attribution"]["revision"]["revision"], id);
        assert_eq!(record["attribution"]["files"][0]["path"], "src/tides.rs");
        let range = &record["attribution"]["files"][0]["conversations"][0]["ranges"][0];
        assert_eq!((&range["start_line"], &range["end_line"]), (&1.into(), &4.into()));
    }
    let anchor = &exported(&desk, "0.9.0")["patches"][0]["anchor"];
    assert_eq!(anchor["commit_sha"], id);
    assert_eq!(anchor["blob_sha"], blob);
    assert_eq!(anchor["evidence_tier"], "exact_blob_hash");
    // Left alone, the repository says nothing.
    let alone = ["export", SESSION, "--to", "opentraces", "--no-git", "-q"];
    let alone = desk.machine.json(&alone).remove(0);
    assert_eq!(alone["task"]["base_commit"], Value::Null);
    assert_eq!(alone["outcome"]["committed"], false);
}

#[test]
fn what_came_between_leaves_the_base_unknown() {
    let desk = Desk::new();
    // Somebody commits after the session began and before it commits itself.
    desk.put("other.txt", "Written by somebody else while the session was at work.\n");
    desk.commit("Meanwhile", "2026-03-01T10:00:10Z");
    desk.put("src/tides.rs", TIDES);
    let id = desk.commit("Add tides", "2026-03-01T10:00:30Z");
    let said = format!("[main {}] Add tides\n 1 file changed", &id[..7]);
    desk.record(&[
        wrote("src/tides.rs", TIDES),
        ran("git add -A && git commit -m 'Add tides'", &said),
    ]);
    let record = exported(&desk, "0.9.0");
    assert_eq!(record["outcome"]["commit_sha"], id);
    assert_eq!(record["task"]["base_commit"], Value::Null);
}

#[test]
fn a_later_commit_of_others_is_not_the_outcome() {
    let desk = Desk::new();
    desk.record(&[wrote("src/tides.rs", TIDES)]);
    desk.put("src/moon.rs", "pub fn phase_of_the_moon(day: u32) -> u32 {\n    day % 29\n}\n");
    desk.commit("Months later", "2026-09-01T10:00:00Z");
    let record = exported(&desk, "0.9.0");
    assert_eq!(record["outcome"]["committed"], false);
    assert_eq!(record["outcome"]["commit_sha"], Value::Null);
    assert_eq!((&record["git_links"], &record["lifecycle"]), (&json!([]), &json!("provisional")));
}
