//! `backstory pairs`

use crate::support::{Machine, assert_documented};
use backstory_testkit::write_file;
use serde_json::{Value, json};
use std::fmt::Write as _;

const TEACHERS: [&str; 3] = ["cheap", "dear", "dearest"];

fn call(name: &str, input: Value) -> String {
    json!([{"input": input, "name": name, "type": "tool_use"}]).to_string()
}

/// What the three teachers do at a state, by its number.
fn answers(number: usize, student: &str) -> [Option<String>; 3] {
    let other =
        Some(call("Bash", json!({"command": format!("make part{number}"), "description": "x"})));
    let third = Some(call("Grep", json!({"pattern": format!("word{number}")})));
    let same = Some(student.to_owned());
    match number % 5 {
        0 => [other.clone(), other.clone(), other],
        1 => [same.clone(), None, same],
        2 => [same, other.clone(), other],
        3 => [Some(call("Read", json!({"file_path": "a"}))), other, third],
        _ => [None, None, None],
    }
}

/// A machine with a journal about the states of the sample; how many there are.
fn machine() -> (Machine, usize) {
    let machine = Machine::with_sample();
    let words = ["export", "--to", "trace-state", "--compact", "--out", "run.states.jsonl", "-q"];
    machine.out(&words);
    let states = std::fs::read_to_string(machine.home().join("run.states.jsonl")).unwrap();
    let notes: Vec<Value> = TEACHERS
        .iter()
        .map(|id| json!({"id": id, "model": format!("m-{id}"), "api": "openai"}))
        .collect();
    let at = "2026-01-01T00:00:00Z";
    let run = json!({"kind": "run", "v": 1, "id": "r", "at": at, "program": "0", "states": "run.states.jsonl",
        "teachers": notes});
    let mut journal = format!("{run}\n");
    let mut number = 0;
    for line in states.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for state in line["states"].as_array().unwrap() {
            let student = state["student_action"].as_str().unwrap();
            for (teacher, action) in TEACHERS.iter().zip(answers(number, student)) {
                let error = action.is_none().then(|| json!({"what": "timeout", "message": "late"}));
                let call = json!({"kind": "call", "state_id": state["state_id"], "teacher_id": teacher,
                    "model": format!("m-{teacher}"), "prompt_hash": "0", "action": action, "raw": null,
                    "finish_reason": "stop", "usage": null, "cost_usd": 0.0025, "latency_ms": 3, "attempts": 1,
                    "error": error, "at": at});
                let _ = writeln!(journal, "{call}");
            }
            number += 1;
        }
    }
    write_file(&machine.home().join("run.jsonl"), journal.as_bytes());
    (machine, number)
}

/// How many states have each plan.
fn planned(states: usize) -> [u64; 5] {
    let mut counts = [0; 5];
    (0..states).for_each(|number| counts[number % 5] += 1);
    counts
}

fn stats(machine: &Machine, more: &[&str]) -> Value {
    let words =
        [&["pairs", "run.jsonl", "--dedup", "off", "--stats", "stats.json", "-q"][..], more]
            .concat();
    machine.out(&words);
    serde_json::from_slice(&std::fs::read(machine.home().join("stats.json")).unwrap()).unwrap()
}

#[test]
fn every_state_has_a_fate_and_the_report_is_documented() {
    let (machine, states) = machine();
    assert!(states > 20, "{states}");
    let counts = planned(states);
    let report = stats(&machine, &[]);
    assert_eq!(report["states"], states);
    assert_eq!(report["pairs"], counts[0] + counts[2]);
    assert_eq!(report["no_pair"]["agree_with_student"], counts[1]);
    assert_eq!(report["no_pair"]["no_consensus"], counts[3]);
    assert_eq!(report["no_pair"]["all_errors"], counts[4]);
    let reasons =
        report["no_pair"].as_object().unwrap().values().map(|count| count.as_u64().unwrap());
    assert_eq!(reasons.sum::<u64>() + counts[0] + counts[2], states as u64);
    let dear = &report["teachers"][1];
    assert_eq!(dear["id"], "dear");
    assert_eq!(dear["errors"], counts[1] + counts[4]);
    assert_eq!(dear["same_as_student"]["exact"], 0);
    assert_eq!(report["teachers"][0]["same_as_student"]["exact"], counts[1] + counts[2]);
    assert_eq!(report["journal"]["cost_usd"], 0.0025 * 3.0 * states as f64);
    let by_level: Vec<&str> = report["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| level["level"].as_str().unwrap())
        .collect();
    assert_eq!(by_level, ["exact", "fuzzy:0.8", "name+target", "name"]);
    let levels = ["exact", "fuzzy", "name+target", "name"];
    assert!(assert_documented("pairs.md", vec![report], |key| levels.contains(&key)) > 100);
    // Where more must agree, fewer do.
    let strict = stats(&machine, &["--min-agree", "3"]);
    assert_eq!(strict["pairs"], counts[0]);
    assert_eq!(strict["no_pair"]["too_few_answers"], counts[1]);
}

#[test]
fn rows_of_every_format_and_the_same_from_a_table() {
    let (machine, states) = machine();
    let counts = planned(states);
    let pairs = counts[0] + counts[2];
    for (format, rows) in [
        ("native", pairs),
        ("trl", pairs),
        ("llamafactory", pairs),
        ("axolotl", pairs),
        ("openai", pairs),
        ("kto", 2 * pairs + counts[1]),
        ("sft", counts[1]),
    ] {
        let words = ["pairs", "run.jsonl", "--format", format, "--dedup", "off", "-q"];
        let read = machine.json(&words);
        assert_eq!(read.len() as u64, rows, "{format}");
        assert!(
            assert_documented("pairs.md", read.iter().map(outside).collect(), |_| false) > 10,
            "{format}"
        );
        assert_eq!(machine.json(&words), read, "the same again");
        let ran = machine.run(&[&words[..], &["--out", "rows.parquet"]].concat());
        if format == "openai" {
            assert_eq!(ran.code, Some(2));
            assert!(ran.stderr.contains("JSON only"), "{}", ran.stderr);
            continue;
        }
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let path = machine.home().join("rows.parquet");
        let table = backstory_table::rows_as_json(&path).unwrap();
        let table: Vec<Value> =
            table.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        assert_eq!(table.len(), read.len(), "{format}");
        for (row, line) in table.iter().zip(&read) {
            assert_eq!(&as_values(row, line), line, "{format}");
        }
    }
}

/// A row of a table with JSON in texts as values, where the line has values.
fn as_values(row: &Value, line: &Value) -> Value {
    match (row, line) {
        (Value::String(text), line) if !line.is_string() => serde_json::from_str(text).unwrap(),
        (Value::Array(items), Value::Array(lines)) => {
            items.iter().zip(lines).map(|(item, line)| as_values(item, line)).collect()
        }
        (Value::Object(fields), Value::Object(lines)) => fields
            .iter()
            .map(|(name, value)| (name.clone(), as_values(value, &lines[name])))
            .collect(),
        (row, _) => row.clone(),
    }
}

/// A row without what is the session's own.
fn outside(row: &Value) -> Value {
    let mut row = row.clone();
    let inner = [
        "prompt",
        "state_messages",
        "messages",
        "conversations",
        "chosen",
        "rejected",
        "completion",
        "tools",
        "preferred_output",
        "non_preferred_output",
    ];
    for name in inner {
        if let Some(slot) = row.get_mut(name) {
            *slot = Value::Null;
        }
    }
    if let Some(input) = row.get_mut("input") {
        *input = Value::Null;
    }
    row
}

#[test]
fn teachers_who_count_first_speak_for_the_others() {
    let (machine, _) = machine();
    let by = |more: &[&str]| {
        let rows =
            machine.json(&[&["pairs", "run.jsonl", "--dedup", "off", "-q"][..], more].concat());
        rows[0]["meta"]["chosen_by"].clone()
    };
    assert_eq!(by(&[]), "cheap");
    assert_eq!(by(&["--priority", "dearest,cheap"]), "dearest");
}

#[test]
fn pairs_read_a_repeated_journal_once() {
    let (machine, states) = machine();
    let journal = std::fs::read_to_string(machine.home().join("run.jsonl")).unwrap();
    let ran = machine.run(&["pairs", "run.jsonl"]);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stderr.contains(&format!("of {states} states, level name+target")),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("cheap: "), "{}", ran.stderr);
    // The journal twice says nothing new.
    write_file(&machine.home().join("twice.jsonl"), format!("{journal}{journal}").as_bytes());
    let twice = machine.run(&["pairs", "twice.jsonl"]);
    assert_eq!(twice.stdout, ran.stdout);
}

#[test]
fn wrong_use_is_reported() {
    let (machine, _) = machine();
    let said = |arguments: &[&str]| {
        let ran = machine.run(arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        ran.stderr
    };
    insta::assert_snapshot!(said(&["pairs", "nothing.jsonl"]), @r"
    error: `nothing.jsonl`: No such file or directory (os error 2)
    hint: a journal is what `backstory replay --send` writes
    ");
    insta::assert_snapshot!(said(&["pairs", "run.jsonl", "--parquet", "--out", "-"]), @r"
    error: Parquet: a table is written to a file
    hint: name it with --out FILE.parquet
    ");
    insta::assert_snapshot!(said(&["pairs", "run.states.jsonl"]), @r"
    error: `run.states.jsonl`: no line of it is a journal's
    hint: a journal is what `backstory replay --send` writes
    ");
    insta::assert_snapshot!(said(&["pairs", "run.jsonl", "--priority", "nobody"]), @r"
    error: --priority `nobody`: the journal has no such teacher
    hint: --stats FILE lists the teachers of a journal
    ");
    insta::assert_snapshot!(said(&["pairs", "run.jsonl", "--out", "run.jsonl"]), @r"
    error: `run.jsonl`: that is read, not written
    hint: name another file
    ");
    assert!(said(&["pairs", "run.jsonl", "--level", "vague"]).contains("levels are exact"));
    assert!(
        said(&["pairs", "run.jsonl", "--out", ".claude/x.jsonl"])
            .contains("where sessions are kept")
    );
    write_file(&machine.home().join("empty.jsonl"), b"");
    said(&["pairs", "empty.jsonl"]);
    // A damaged line of states is read and does not stop the others.
    let states = machine.home().join("run.states.jsonl");
    let text = std::fs::read_to_string(&states).unwrap();
    write_file(&states, format!("{{\"torn\n{text}").as_bytes());
    let ran = machine.run(&["pairs", "run.jsonl"]);
    assert_eq!(ran.code, Some(2));
    assert!(!ran.stdout.is_empty());
    assert!(ran.stderr.contains("1 unreadable line of the states"), "{}", ran.stderr);
}
