//! `backstory export`

use crate::support::{Machine, assert_documented, write};
use serde_json::Value;

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
