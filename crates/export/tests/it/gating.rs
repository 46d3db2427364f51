//! The gate finds states at which teachers disagree, on sessions with planted mistakes.
//!
//! The teacher of these sessions does otherwise exactly where a mistake was planted, and at a share of states
//! that nothing in the trace tells from others. Failures that anybody would have had are planted too.

use backstory_export::gate::{GateReport, Score, Signal, Signals, pick};
use backstory_export::{Format, Layout, Options, Repositories, Secrets, StateOptions, export};
use backstory_redact::Raw;
use backstory_session::stats::Prices;
use backstory_testkit::sessions;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// A small generator of numbers, the same everywhere.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Result {
    Fine,
    Error,
    Refused,
}

/// A session being written.
struct File {
    id: String,
    lines: Vec<String>,
    parent: Value,
    count: u64,
    /// Uuids of messages at which the teacher does otherwise.
    otherwise: HashSet<String>,
}

impl File {
    fn record(&mut self, kind: &str, message: Value) -> String {
        self.count += 1;
        let uuid = format!("{}-{:012}", &self.id[..23], self.count);
        let time = self.count;
        let record = json!({
            "type": kind, "uuid": uuid, "parentUuid": self.parent, "sessionId": self.id, "isSidechain": false,
            "cwd": "/w/app", "version": "2.1.0", "message": message,
            "timestamp": format!("2026-01-01T{:02}:{:02}:{:02}.000Z", time / 3600, time / 60 % 60, time % 60),
        });
        self.parent = uuid.clone().into();
        self.lines.push(record.to_string());
        uuid
    }

    fn prompt(&mut self, words: &str) {
        self.record("user", json!({"role": "user", "content": words}));
    }

    fn message(&mut self, content: Value, stop: &str) -> String {
        let id = format!("msg_{}_{}", self.id, self.count);
        self.record("assistant", json!({"role": "assistant", "type": "message", "id": id, "model": "student",
            "content": content, "stop_reason": stop, "usage": {"input_tokens": 1, "output_tokens": 1}}))
    }

    fn says(&mut self, words: &str) -> String {
        self.message(json!([{"type": "text", "text": words}]), "end_turn")
    }

    fn calls(&mut self, tool: &str, input: Value, result: Result) -> String {
        let call = format!("toolu_{}_{}", self.id, self.count);
        let block = json!({"type": "tool_use", "id": call, "name": tool, "input": input});
        let uuid = self.message(json!([block]), "tool_use");
        let said = match result {
            Result::Fine => "line of the result\n".repeat(12),
            Result::Error => "Error: that did not work".to_owned(),
            Result::Refused => "The user doesn't want to proceed with this tool use. The tool use was rejected \
                                (eg. if it was a file edit, the new_string was NOT written to the file). STOP what \
                                you are doing and wait for the user to tell you how to proceed."
                .to_owned(),
        };
        let mut block = json!({"type": "tool_result", "tool_use_id": call, "content": said});
        if result != Result::Fine {
            block["is_error"] = true.into();
        }
        self.record("user", json!({"role": "user", "content": [block]}));
        uuid
    }

    fn mistake(&mut self, uuid: String) {
        self.otherwise.insert(uuid);
    }

    fn edit(&mut self, file: u64, old: &str, new: &str) -> String {
        let input = json!({"file_path": format!("/w/app/src/f{file}.rs"), "old_string": old, "new_string": new});
        self.calls("Edit", input, Result::Fine)
    }
}

/// Ordinary work, a mistake now and then.
fn write(id: String, steps: u64, chance: &mut Chance) -> File {
    let mut file =
        File { id, lines: Vec::new(), parent: Value::Null, count: 0, otherwise: HashSet::new() };
    file.prompt("Please work on the files of this folder.");
    for step in 0..steps {
        let name = format!("/w/app/src/f{step}.rs");
        match chance.below(100) {
            0..4 => {
                let uuid = file.calls(
                    "Read",
                    json!({"file_path": format!("/w/ap/src/f{step}.rs")}),
                    Result::Error,
                );
                file.mistake(uuid);
                file.calls("Read", json!({"file_path": name}), Result::Fine);
            }
            4..6 => {
                for _ in 0..2 {
                    let uuid = file.calls(
                        "Bash",
                        json!({"command": format!("make part{step}")}),
                        Result::Error,
                    );
                    file.mistake(uuid);
                }
                file.calls("Bash", json!({"command": "cat Makefile"}), Result::Fine);
            }
            6..8 => {
                let input = json!({"file_path": name, "content": "everything anew"});
                let uuid = file.calls("Write", input, Result::Refused);
                file.mistake(uuid);
                file.prompt("Please only change what is needed.");
            }
            8..10 => {
                let (old, new) = (format!("let a{step} = 1;"), format!("let a{step} = wrong();"));
                let uuid = file.edit(step, &old, &new);
                file.mistake(uuid);
                file.calls("Bash", json!({"command": "cargo test"}), Result::Fine);
                file.edit(step, &new, &old);
            }
            10..12 => {
                let uuid = file.edit(step, &format!("fn one{step}"), &format!("fn two{step}"));
                file.mistake(uuid);
                file.says("I changed it.");
                file.prompt("No, I meant the other function.");
            }
            // What any model would have done, though it fails.
            12..17 => {
                file.calls(
                    "Bash",
                    json!({"command": format!("cargo test part{step}")}),
                    Result::Error,
                );
            }
            // What nothing in the trace tells.
            17 => {
                let uuid = file.calls(
                    "Read",
                    json!({"file_path": format!("/w/app/doc/d{step}.md")}),
                    Result::Fine,
                );
                file.mistake(uuid);
            }
            18..40 => {
                file.edit(step, &format!("let b{step}"), &format!("let c{step}"));
            }
            40..60 => {
                file.calls(
                    "Bash",
                    json!({"command": format!("cargo check -p part{step}")}),
                    Result::Fine,
                );
            }
            60..65 => {
                file.says("Done so far.");
                file.prompt("Now go on with the next one.");
            }
            65..80 => {
                file.calls("Grep", json!({"pattern": format!("fn f{step}")}), Result::Fine);
            }
            _ => {
                file.calls("Read", json!({"file_path": name}), Result::Fine);
            }
        }
    }
    file.says("All done.");
    file
}

/// States of the sessions below a folder.
fn states(folder: &Path) -> Vec<Value> {
    let prices = Prices::bundled().unwrap();
    let states = StateOptions { layout: Layout::Compact, ..StateOptions::default() };
    let options = Options {
        format: Format::TraceState(states),
        generation: 0,
        max_observation: None,
        repositories: Repositories::Leave,
        prices: &prices,
    };
    let mut all = Vec::new();
    for session in sessions(folder) {
        let secrets = Secrets::Kept(Raw::requested_by_user());
        let mut out = Vec::new();
        export(&session, &options, secrets).unwrap().copy_to(&mut out).unwrap();
        for line in String::from_utf8(out).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            all.extend(line["states"].as_array().unwrap().iter().cloned());
        }
    }
    all
}

fn signals(state: &Value) -> Signals {
    let names = state["meta"]["signals"].as_array().unwrap();
    Signals::named(names.iter().map(|name| name.as_str().unwrap()))
}

/// Writes sessions, and returns their states with what the teacher does at each.
fn planted(seed: u64) -> Vec<(Value, bool)> {
    let mut chance = Chance(seed);
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("projects/-w-app");
    std::fs::create_dir_all(&project).unwrap();
    let mut otherwise = HashSet::new();
    for session in 0..12 {
        let id = format!("00000000-0000-4000-8000-{session:012}");
        let id = id.replacen("00000000", &format!("{session:08x}"), 1);
        let file = write(id, 40 + 10 * (session % 5), &mut chance);
        let text: String = file.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(project.join(format!("{}.jsonl", file.id)), text).unwrap();
        otherwise.extend(file.otherwise);
    }
    let found = states(folder.path());
    let uuids: HashSet<&str> =
        found.iter().map(|state| state["meta"]["uuid"].as_str().unwrap()).collect();
    assert_eq!(uuids.len(), found.len());
    assert!(otherwise.iter().all(|uuid| uuids.contains(uuid.as_str())), "each mistake is a state");
    found
        .into_iter()
        .map(|state| {
            let differs = otherwise.contains(state["meta"]["uuid"].as_str().unwrap());
            (state, differs)
        })
        .collect()
}

#[test]
fn signals_are_where_mistakes_were_planted_and_hardly_elsewhere() {
    let states = planted(7);
    let mut counts: BTreeMap<(&str, bool), u64> = BTreeMap::new();
    let strong = |signal: &Signal| signal.weight() >= 2.0;
    let (mut silent, mut mistakes, mut false_alarms) = (0, 0, 0);
    for (state, differs) in &states {
        let found = signals(state);
        found.iter().for_each(|signal| *counts.entry((signal.name(), *differs)).or_default() += 1);
        let any = found.iter().any(|signal| strong(&signal));
        mistakes += u64::from(*differs);
        silent += u64::from(*differs && !any);
        false_alarms += u64::from(!*differs && any);
    }
    for name in ["result_error", "rejected", "corrected", "repeated", "edit_undone"] {
        assert!(counts.get(&(name, true)).copied().unwrap_or(0) > 3, "{name}: {counts:?}");
    }
    assert_eq!(counts.get(&("repeated", false)), None, "{counts:?}");
    assert_eq!(counts.get(&("rejected", false)), None, "{counts:?}");
    assert_eq!(counts.get(&("edit_undone", false)), None, "{counts:?}");
    // Those that nothing tells are there, and there are few.
    assert!(0 < silent && 10 * silent < mistakes, "{silent} of {mistakes}");
    assert!(false_alarms > 10 && false_alarms < 2 * mistakes, "{false_alarms} of {mistakes}");
}

#[test]
fn gate_at_thirty_percent_keeps_nine_tenths_of_the_disagreements() {
    for seed in [1, 2, 3, 4, 5] {
        let states = planted(seed);
        let cost = |state: &Value| state["meta"]["n_tokens_est"].as_u64().unwrap() as f64;
        let scores: Vec<Score> =
            states.iter().map(|(state, _)| Score::of(signals(state), cost(state))).collect();
        let total: f64 = scores.iter().map(|score| score.cost).sum();
        let all = states.iter().filter(|(_, differs)| *differs).count() as f64;
        let kept =
            |places: &[usize]| places.iter().filter(|at| states[**at].1).count() as f64 / all;
        let mut chance = Chance(seed);
        for percent in [5, 10, 20, 30, 40, 50, 60, 70, 80, 90] {
            let budget = total * f64::from(percent) / 100.0;
            let ours = kept(&pick(&scores, budget).places);
            // Chance: in any order, as long as it fits.
            let rounds = 40;
            let by_chance: f64 = (0..rounds)
                .map(|_| {
                    let mut order: Vec<(u64, usize)> =
                        (0..scores.len()).map(|at| (chance.below(u64::MAX >> 33), at)).collect();
                    order.sort_unstable();
                    let mut spent = 0.0;
                    let fits = |(_, at): &&(u64, usize)| {
                        let fits = spent + scores[*at].cost <= budget;
                        spent += if fits { scores[*at].cost } else { 0.0 };
                        fits
                    };
                    let places: Vec<usize> = order.iter().filter(fits).map(|(_, at)| *at).collect();
                    kept(&places)
                })
                .sum::<f64>()
                / f64::from(rounds);
            assert!(
                ours > by_chance,
                "seed {seed}, {percent} %: {ours:.2} and {by_chance:.2} by chance"
            );
            if percent == 30 {
                assert!(ours >= 0.9, "seed {seed}: {ours:.3} of {all}");
                // Without the signals the law does not hold.
                let blind: Vec<Score> =
                    scores.iter().map(|score| Score::of(Signals::default(), score.cost)).collect();
                assert!(kept(&pick(&blind, budget).places) < 0.9, "seed {seed}");
            }
        }
        let report = GateReport::of(&scores, None);
        assert_eq!(report.states, states.len() as u64);
        // What is expected is of the right size.
        assert!((0.5..2.0).contains(&(report.expected / all)), "{} of {all}", report.expected);
    }
}

#[test]
fn signals_do_not_depend_on_the_form_of_states() {
    let states = planted(9);
    let by_id: HashMap<&str, &Value> =
        states.iter().map(|(state, _)| (state["state_id"].as_str().unwrap(), state)).collect();
    assert_eq!(by_id.len(), states.len());
    let again = planted(9);
    assert!(again.iter().all(|(state, _)| by_id[state["state_id"].as_str().unwrap()] == state));
}
