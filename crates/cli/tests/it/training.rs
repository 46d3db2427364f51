//! `backstory export --to trace-state` and `--to sft`: places, marks and limits of states.

use crate::support::Machine;
use backstory_testkit::write_file;
use serde_json::{Value, json};

const FOLDER: &str = "/w/mill";
const ID: &str = "77777777-7777-4777-8777-777777777777";

/// Lines of a session, one after the other.
#[derive(Default)]
struct Script {
    lines: Vec<Value>,
}

impl Script {
    fn record(&mut self, kind: &str, message: Value) {
        let number = self.lines.len();
        let uuid = |at: usize| format!("00000000-0000-4000-8000-{at:012}");
        let parent = number.checked_sub(1).map(uuid);
        self.lines.push(json!({
            "type": kind, "uuid": uuid(number), "parentUuid": parent, "sessionId": ID,
            "cwd": FOLDER, "version": "2.1.100", "isSidechain": false, "userType": "external",
            "timestamp": format!("2026-03-01T10:00:{number:02}.000Z"), "message": message,
        }));
    }

    fn says(&mut self, words: &str) {
        self.record("user", json!({ "role": "user", "content": words }));
    }

    fn answers(&mut self, blocks: Value) {
        let id = format!("msg_{}", self.lines.len());
        self.record(
            "assistant",
            json!({
                "id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                "content": blocks, "stop_reason": "end_turn",
                "usage": { "input_tokens": 10, "output_tokens": 5 },
            }),
        );
    }

    fn results(&mut self, of: &[(&str, &str, bool)]) {
        let results: Vec<Value> = of
            .iter()
            .map(|(call, text, failed)| {
                json!({ "type": "tool_result", "tool_use_id": call, "content": text,
                        "is_error": failed })
            })
            .collect();
        self.record("user", json!({ "role": "user", "content": results }));
    }

    fn write(&self, machine: &Machine) -> String {
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        let path = machine.home().join(format!(".claude/projects/-w-mill/{ID}.jsonl"));
        write_file(&path, text.as_bytes());
        path.to_string_lossy().into_owned()
    }
}

fn bash(id: &str, command: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } })
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

#[test]
fn only_the_message_after_a_failure_is_marked() {
    let machine = Machine::empty();
    let mut script = Script::default();
    script.says("Grind it.");
    script.answers(json!([bash("t1", "grind")]));
    script.results(&[("t1", "no such mill", true)]);
    script.answers(json!([text("It failed.")]));
    script.says("And now?");
    script.answers(json!([text("Still not.")]));
    script.write(&machine);
    let states = machine.json(&["export", "--to", "trace-state", "-q"]);
    let marks: Vec<&Value> = states.iter().map(|state| &state["meta"]["tool_error"]).collect();
    assert_eq!(marks, [&Value::Null, &json!("tool_error"), &Value::Null]);
}

#[test]
fn each_call_is_measured_by_itself() {
    let machine = Machine::empty();
    let mut script = Script::default();
    script.says("Look around.");
    let long = "ls -la ".repeat(20);
    script.answers(json!([bash("t1", "ls"), bash("t2", &long)]));
    script.results(&[("t1", "", false), ("t2", "", false)]);
    script.write(&machine);
    let words =
        ["export", "--to", "trace-state", "--granularity", "tool-use", "-q", "--stats", "s.json"];
    assert_eq!(machine.json(&words).len(), 2);
    let states = machine.json(&[&words[..], &["--min-action-chars", "100"]].concat());
    assert_eq!(states.len(), 1);
    assert!(states[0]["state_id"].as_str().unwrap().ends_with(":t2"));
    let stats = std::fs::read_to_string(machine.home().join("s.json")).unwrap();
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["states"]["short_calls"], 1);
    assert_eq!(stats["states"]["states"], 1);
}

#[test]
fn places_are_those_of_the_conversation_itself() {
    let machine = Machine::with_sample();
    let states = |how: &str| {
        let states = machine.json(&["export", "--to", "trace-state", "-q", "--subagents", how]);
        let place = |state: &Value| {
            let meta = &state["meta"];
            (
                state["state_id"].to_string(),
                [&meta["turn_index"], &meta["step_index"]].map(Value::clone),
            )
        };
        let agents = states.iter().filter(|state| !state["meta"]["parent_session_id"].is_null());
        let agents: Vec<Value> = agents.map(|state| state["meta"].clone()).collect();
        let mut places: Vec<_> = states.iter().map(place).collect();
        places.sort_by(|a, b| a.0.cmp(&b.0));
        (places, agents)
    };
    let (separate, agents) = states("separate");
    let (inline, _) = states("inline");
    assert_eq!(separate, inline);
    let (alone, none) = states("skip");
    assert!(none.is_empty() && alone.iter().all(|place| separate.contains(place)));
    let firsts = agents.iter().filter(|meta| meta["turn_index"] == 0 && meta["step_index"] == 0);
    assert_eq!(firsts.count(), 2, "each of the sample's two subagents begins anew");
    assert!(agents.iter().all(|meta| meta["parent_session_id"] != meta["session_id"]));
}

#[test]
fn a_given_system_prompt_is_cleared_too() {
    let machine = Machine::with_sample();
    let token = ["ghp_", "a8Kd93jfLs02mNqP4xVbT6yRzW1cEuH5oIgM"].concat();
    let prompt = format!("Use {token} in /home/miller/src.");
    write_file(&machine.home().join("prompt.txt"), prompt.as_bytes());
    for given in [prompt.as_str(), "@prompt.txt"] {
        for format in [
            &["--to", "trace-state"][..],
            &["--to", "trace-state", "--compact"],
            &["--to", "trace-state", "--messages", "anthropic"],
            &["--to", "sft"],
            &["--to", "sft", "--per", "step"],
            &["--to", "sft", "--format", "llamafactory"],
        ] {
            let words = [&["export", "-q", "--system-prompt", given][..], format].concat();
            let rows = machine.out(&words);
            assert!(rows.contains("Use ") && !rows.contains(&token), "{words:?}");
            assert!(!rows.contains("miller"), "{words:?}");
            let raw = machine.run(&[&words[..], &["--raw"]].concat());
            assert!(raw.stdout.contains(&token), "{words:?}");
        }
    }
}

#[test]
fn export_never_writes_over_its_input() {
    let machine = Machine::empty();
    let mut script = Script::default();
    script.says("Hello.");
    script.answers(json!([text("Hello yourself.")]));
    let kept = script.write(&machine);
    let place = machine.home().join("s.jsonl");
    let bytes = std::fs::read(&kept).unwrap();
    write_file(&place, &bytes);
    let refused = |words: &[&str], why: &str| {
        let ran = machine.run(words);
        assert_eq!(ran.code, Some(2), "{words:?}");
        assert!(ran.stderr.contains(why), "{words:?}: {}", ran.stderr);
        assert_eq!(std::fs::read(&place).unwrap(), bytes, "{words:?}");
    };
    let itself = "that is read, not written";
    refused(&["redact", "s.jsonl", "--out", "new/../s.jsonl"], itself);
    refused(&["export", "s.jsonl", "--to", "sft", "--out", "new/../s.jsonl"], itself);
    let stats = ["export", "s.jsonl", "--to", "sft", "--out", "o.jsonl", "--stats"];
    refused(&[&stats[..], &["s.jsonl"]].concat(), itself);
    refused(&[&stats[..], &["./o.jsonl"]].concat(), "named for two outputs");
    refused(&["show", "s.jsonl", "--share", "--out", "s.jsonl"], "that is read, not written");
    let inside = "new/../.claude/projects/-w-mill/x.jsonl";
    refused(&["redact", "s.jsonl", "--out", inside], "where sessions are kept");
}

#[test]
fn export_writes_nothing_for_a_refused_version() {
    let machine = Machine::with_sample();
    let words =
        ["export", "--to", "trace-state", "--versions", ">=2.1.200", "--on-unknown", "fail"];
    let ran = machine.run(&[&words[..], &["--out", "each/"]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let left = std::fs::read_dir(machine.home().join("each")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn export_limits_results_in_every_place() {
    let machine = Machine::with_sample();
    let words = ["export", "--to", "opentraces", "--no-git", "-q", "--max-observation", "3"];
    let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    let (mut results, mut read) = (0, 0);
    for record in machine.json(&words) {
        for step in record["steps"].as_array().unwrap() {
            for result in step["observations"].as_array().unwrap() {
                results += 1;
                assert!(length(&result["content"]) <= 3, "{result}");
                assert!(length(&result["output_summary"]) <= 3, "{result}");
            }
            let reads = step["tool_calls"].as_array().unwrap().iter();
            if reads.clone().count() > 0 && reads.clone().all(|call| call["tool_name"] == "Read") {
                for snippet in step["snippets"].as_array().unwrap() {
                    read += 1;
                    assert!(length(&snippet["text"]) <= 3, "{snippet}");
                }
            }
        }
    }
    assert!(results > 10 && read > 0);
}
