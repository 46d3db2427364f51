//! `backstory export`

use crate::repo_fixture::{RepoFixture, SESSION, TIDES, ran, wrote};
use crate::support::{Machine, assert_documented};
use backstory_testkit::write_file;
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
fn export_writes_a_dash_to_standard_output() {
    let machine = Machine::with_sample();
    let session = machine.json(&["ls", "--json"]).swap_remove(0);
    let id = session["id"].as_str().unwrap();
    for words in [
        &SAMPLE[..],
        &["show", id, "--format", "md"],
        &["spec", "--format", "json"],
        &["redact", id],
    ] {
        let printed = machine.out(words);
        assert_eq!(machine.out(&[words, &["--out", "-"]].concat()), printed, "{words:?}");
    }
    for words in [
        &["export", "--to", "sft", "--parquet", "--out", "-"][..],
        &["show", "--all", "--out", "-"],
    ] {
        let ran = machine.run(words);
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stdout);
        assert!(ran.stderr.contains("name it with --out"), "{}", ran.stderr);
    }
    assert!(!machine.home().join("-").exists());
}

#[test]
fn wrong_use_is_reported() {
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
fn export_counts_sessions_it_cannot_export() {
    let machine = Machine::with_sample();
    let project = machine.home().join(".claude/projects/-tmp-x");
    write_file(&project.join("22222222-2222-4222-8222-222222222222.jsonl"), b"");
    write_file(&project.join("33333333-3333-4333-8333-333333333333.jsonl"), b"not json\n");
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
    machine.out(&["export", "--to", "trace-state", "--stats", "stats.json", "-q", "--out", "o"]);
    let stats = std::fs::read_to_string(machine.home().join("stats.json")).unwrap();
    let mut stats: Value = serde_json::from_str(&stats).unwrap();
    for (part, name) in [
        ("states", "versions"),
        ("states", "models"),
        ("states", "outside_versions"),
        ("input", "records_by_type"),
        ("input", "unknown_types"),
    ] {
        // Their keys are words of the sessions.
        assert!(stats[part][name].take().is_object(), "{name}");
    }
    assert!(assert_documented("export.md", vec![stats], |_| false) > 60);
}

#[test]
fn rows_for_training_add_up_and_are_tables_too() {
    let machine = Machine::with_sample();
    let rows = ["export", "--to", "sft", "--out", "rows.jsonl", "--stats", "stats.json"];
    let ran = machine.run(&rows);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("none for 4 off the chain, 5 of subagents"), "{}", ran.stderr);
    assert!(ran.stderr.contains("records: 128 on 128 lines"), "{}", ran.stderr);
    let read = |name: &str| std::fs::read_to_string(machine.home().join(name)).unwrap();
    let stats: Value = serde_json::from_str(&read("stats.json")).unwrap();
    let input = &stats["input"];
    let sum = |value: &Value| -> u64 {
        value.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
    };
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!(number(&input["records"]), 128);
    let fates = number(&input["answers"]) + number(&input["history"]) + sum(&input["skipped"]);
    assert_eq!(fates, 128);
    assert_eq!(sum(&input["records_by_type"]), 128);
    let states = &stats["states"];
    let skips = ["off_chain", "synthetic", "subagent", "empty_action", "no_prompt", "version"];
    let skipped: u64 = skips.iter().map(|name| number(&states[*name])).sum();
    assert_eq!(number(&states["messages"]), number(&states["states"]) + skipped);
    assert_eq!(number(&states["rows"]), read("rows.jsonl").lines().count() as u64);

    for format in ["trl", "llamafactory", "axolotl", "openai", "verl", "skyrl"] {
        for per in ["session", "step"] {
            let words = ["export", "--to", "sft", "--format", format, "--rows-per", per, "-q"];
            let lines = machine.json(&words);
            machine.out(&[&words[..], &["--out", "rows.parquet"]].concat());
            let path = machine.home().join("rows.parquet");
            let table = backstory_table::rows_as_json(&path).unwrap();
            let rows: Vec<Value> =
                table.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
            assert_eq!(rows.len(), lines.len(), "{format} by {per}");
            if format == "trl" && per == "session" {
                for (row, line) in rows.iter().zip(&lines) {
                    let texts = row["messages"].as_array().unwrap().iter();
                    let messages: Vec<Value> = texts
                        .map(|text| serde_json::from_str(text.as_str().unwrap()).unwrap())
                        .collect();
                    assert_eq!(Value::from(messages), line["messages"]);
                }
            }
        }
    }
    machine.out(&["export", "--to", "trace-state", "--parquet", "--out", "tables/", "-q"]);
    let tables = std::fs::read_dir(machine.home().join("tables")).unwrap();
    let ends = tables.filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "parquet")
    });
    assert_eq!(ends.count(), 6);
}

#[test]
fn options_for_training_that_do_not_fit_say_so() {
    let machine = Machine::with_sample();
    let fails = |words: &[&str], said: &str| {
        let ran = machine.run(&[&["export"], words].concat());
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{words:?}");
    };
    fails(&["--to", "sft", "--compact"], "--compact: not for sft");
    fails(&["--to", "atif", "--granularity", "tool-use"], "--granularity: not for atif");
    fails(&["--to", "opentraces", "--history=story"], "--history: not for opentraces");
    fails(&["--to", "trace-state", "--rows-per", "step"], "--rows-per: not for trace-state");
    fails(&["--to", "sft", "--no-git"], "--no-git: not for sft");
    fails(&["--to", "sft", "--format", "openai", "--keep-thinking"], "no place for thinking");
    fails(&["--to", "sft", "--format", "llamafactory", "--arguments", "string"], "wants objects");
    fails(&["--to", "trace-state", "--versions", "new"], "--versions `new`: invalid version range");
    fails(&["--to", "trace-state", "--on-unknown", "skip"], "--versions");
    fails(&["--to", "atif", "--out", "x.parquet"], "JSON only");
    fails(&["--to", "trace-state", "--compact", "--out", "x.parquet"], "JSON only");
    fails(&["--to", "sft", "--parquet"], "--out");
    let gate = ["--to", "trace-state", "--versions", "2.1.x", "--on-unknown"];
    let words = [&gate[..], &["fail", "--out", "states.jsonl"]].concat();
    fails(&words, "versions outside the range: ");
    // A file is whole or not there.
    for name in ["x.parquet", "states.jsonl"] {
        assert!(!machine.home().join(name).exists(), "{name}");
    }
    let ran = machine.run(&[&["export"], &gate[..], &["warn"]].concat());
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains("warning: messages of versions outside"), "{}", ran.stderr);
    let all = ran.stdout.lines().count();
    let skipped = machine.json(&[&["export", "-q"], &gate[..], &["skip"]].concat()).len();
    assert!(skipped > 0 && skipped < all, "{skipped} of {all}");
    for tokenizer in ["estimate", "cl100k", "o200k"] {
        let states = machine.json(&[
            "export",
            "-q",
            "--to",
            "trace-state",
            "--tokenizer",
            tokenizer,
            "--max-history-tokens",
            "400",
        ]);
        let most = states.iter().map(|state| state["meta"]["n_tokens_est"].as_u64().unwrap()).max();
        assert!(most.is_some_and(|most| most > 100 && most <= 400), "{tokenizer}: {most:?}");
    }
}

fn exported(fixture: &RepoFixture, schema: &str) -> Value {
    fixture
        .machine
        .json(&["export", SESSION, "--to", "opentraces", "--schema", schema, "-q"])
        .remove(0)
}

#[test]
fn a_repository_fills_what_it_proves() {
    let fixture = RepoFixture::new();
    let base = fixture.git(&["rev-parse", "HEAD"]);
    fixture.git(&[
        "remote",
        "add",
        "origin",
        "https://me:q9V7nB2K4xL8@example.com/owner/tides.git",
    ]);
    fixture.put("src/tides.rs", TIDES);
    let id = fixture.commit("Add tides", "2026-03-01T10:00:30Z");
    let blob = fixture.git(&["rev-parse", "HEAD:src/tides.rs"]);
    let said = format!("[main {}] Add tides\n 1 file changed", &id[..7]);
    fixture.record(&[
        wrote("src/tides.rs", TIDES),
        ran("git add -A && git commit -m 'Add tides'", &said),
    ]);
    for schema in ["0.9.0", "0.3.0"] {
        let record = exported(&fixture, schema);
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
    let anchor = &exported(&fixture, "0.9.0")["patches"][0]["anchor"];
    assert_eq!(anchor["commit_sha"], id);
    assert_eq!(anchor["blob_sha"], blob);
    assert_eq!(anchor["evidence_tier"], "exact_blob_hash");
    // Left alone, the repository says nothing.
    let alone = ["export", SESSION, "--to", "opentraces", "--no-git", "-q"];
    let alone = fixture.machine.json(&alone).remove(0);
    assert_eq!(alone["task"]["base_commit"], Value::Null);
    assert_eq!(alone["outcome"]["committed"], false);
}

#[test]
fn export_leaves_the_base_commit_unknown_if_others_came_between() {
    let fixture = RepoFixture::new();
    // Somebody commits after the session began and before it commits itself.
    fixture.put("other.txt", "Written by somebody else while the session was at work.\n");
    fixture.commit("Meanwhile", "2026-03-01T10:00:10Z");
    let id = fixture.commits_itself();
    let record = exported(&fixture, "0.9.0");
    assert_eq!(record["outcome"]["commit_sha"], id);
    assert_eq!(record["task"]["base_commit"], Value::Null);
}

#[test]
fn a_later_commit_of_others_is_not_the_outcome() {
    let fixture = RepoFixture::new();
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    fixture.put("src/moon.rs", "pub fn phase_of_the_moon(day: u32) -> u32 {\n    day % 29\n}\n");
    fixture.commit("Months later", "2026-09-01T10:00:00Z");
    let record = exported(&fixture, "0.9.0");
    assert_eq!(record["outcome"]["committed"], false);
    assert_eq!(record["outcome"]["commit_sha"], Value::Null);
    assert_eq!((&record["git_links"], &record["lifecycle"]), (&json!([]), &json!("provisional")));
}

#[test]
fn exports_do_not_take_the_name_of_another_format() {
    let machine = Machine::with_sample();
    for name in ["rows.csv", "rows.PDF"] {
        let ran = machine.run(&["export", "--to", "sft", "--out", name]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("exports are JSON lines or Parquet"), "{}", ran.stderr);
        assert!(!machine.home().join(name).exists());
    }
    let ran = machine.run(&["export", "--to", "sft", "--out", "rows.jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: --subagents"), "{}", ran.stderr);
}
