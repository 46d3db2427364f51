//! `backstory replay`: budgets, gates, tiers, stops, and what is refused.

use crate::replaying::{ReplayFixture, script, states};
use crate::support::Machine;
use backstory_teacher::{Faults, Reply, Script};
use backstory_testkit::write_file;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn dollars(fixture: &ReplayFixture) -> f64 {
    fixture.server.books().total() as f64 / 1e12
}

#[test]
fn a_budget_is_never_exceeded() {
    let more = "concurrency = 6\n";
    for (budget, faults) in [(0.02, 0), (0.03, 60), (0.05, 0)] {
        let faults = Faults { torn: faults, ..Faults::default() };
        let more = format!("{more}backoff = 0.01\nidempotent = true\n");
        let fixture = ReplayFixture::new(Script { faults, ..script() }, &more, &states(20, 12));
        let text = budget.to_string();
        let arguments = ["states.jsonl", "--send", "--spend-all", "--budget", &text];
        let (code, said) = fixture.ran(&arguments);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("did not fit into --budget"), "{said}");
        let spent = dollars(&fixture);
        assert!(spent <= budget && spent > budget * 0.4, "{spent} of {budget}");
        // What was spent stays spent: another start does not begin anew.
        let (_, said) = fixture.ran(&arguments);
        assert!(dollars(&fixture) <= budget, "{said}");
    }
}

#[test]
fn replay_projects_the_cost_from_the_first_states() {
    let fixture = ReplayFixture::new(script(), "", &states(12, 10));
    let (code, said) = fixture.ran(&["states.jsonl", "--send", "--budget", "0.02"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("by the first 5 states, all 120 would cost $"), "{said}");
    assert!(said.contains("--gate voi") && said.contains("--spend-all"), "{said}");
    assert_eq!(fixture.server.books().count(), 15, "five states, three teachers");
    let said = said.split("would cost $").nth(1).unwrap();
    let projected: f64 = said.split_whitespace().next().unwrap().parse().unwrap();
    let (code, said) = fixture.ran(&["states.jsonl", "--send", "--budget", "5"]);
    assert_eq!(code, Some(0), "{said}");
    let real = dollars(&fixture);
    assert!((projected / real - 1.0).abs() < 0.35, "projected {projected}, real {real}");
}

#[test]
fn limits_and_gates_choose_states() {
    let fixture = ReplayFixture::new(script(), "", &states(5, 8));
    let (code, said) = fixture.ran(&["states.jsonl", "--send", "--limit", "10"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fixture.journal("call").len(), 30);
    let (code, said) = fixture.ran(&["states.jsonl", "--gate", "voi", "--explain"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(
        said.matches("\nask ").count() + usize::from(said.starts_with("ask ")),
        10,
        "{said}"
    );
    assert!(said.contains("result_error +"), "{said}");
    let (code, said) = fixture.ran(&["states.jsonl", "--gate-report", "--budget", "0.001"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("by chance") && said.contains("result_error"), "{said}");
    let arguments = ["states.jsonl", "--gate", "voi", "--send", "--journal", "gated.jsonl"];
    let (code, said) = fixture.ran(&arguments);
    assert_eq!(code, Some(0), "{said}");
    let text = std::fs::read_to_string(fixture.path("gated.jsonl")).unwrap();
    assert_eq!(text.matches("\"kind\":\"call\"").count(), 30);
    assert_eq!(text.matches("\"why\":\"gate\"").count(), 30);
    fixture.ran(&arguments);
    let text = std::fs::read_to_string(fixture.path("gated.jsonl")).unwrap();
    assert_eq!(text.matches("\"why\":\"gate\"").count(), 30, "said once");
}

#[test]
fn replay_asks_expensive_teachers_if_the_cheap_one_disagrees() {
    let reply = |_: &str, body: &Value| {
        let words = body["messages"].to_string();
        // Does what the student did in the states of even sessions.
        let state = words.matches("please go on").count() - 1;
        let name = if words.contains("session 0") || words.contains("session 2") {
            "Read"
        } else {
            "Bash"
        };
        Reply::Call {
            words: String::new(),
            name: name.to_owned(),
            input: json!({"path": format!("{state}.rs")}),
        }
    };
    let fixture =
        ReplayFixture::new(Script { reply: Some(Arc::new(reply)), ..script() }, "", &states(4, 5));
    let arguments = ["states.jsonl", "--send", "--tiers"];
    let (code, said) = fixture.ran(&arguments);
    assert_eq!(code, Some(0), "{said}");
    let calls = fixture.journal("call");
    let of = |teacher: &str| calls.iter().filter(|call| call["teacher_id"] == teacher).count();
    assert_eq!((of("small"), of("large"), of("claude")), (20, 10, 10));
    let skips = fixture.journal("skip");
    assert!(skips.len() == 10 && skips.iter().all(|skip| skip["why"] == "tier"), "{skips:?}");
    let (code, _) = fixture.ran(&arguments);
    assert_eq!((code, fixture.server.requests(), fixture.journal("skip").len()), (Some(0), 40, 10));
}

#[cfg(unix)]
#[test]
fn an_interrupt_finishes_calls_in_flight() {
    let script = Script { latency: Duration::from_millis(300), ..script() };
    let fixture = ReplayFixture::new(script, "concurrency = 4\n", &states(8, 8));
    let mut child = fixture
        .replay(&["states.jsonl", "--send"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while fixture.server.requests() < 12 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let (calls, sent) = (fixture.journal("call").len(), fixture.journal("sent").len());
    assert_eq!((calls, sent), (fixture.server.requests(), calls), "all that was sent was heard");
    assert!((12..=24).contains(&calls), "{calls}");
}

#[test]
fn slow_drips_and_retry_after() {
    let faults = Faults { drip: 1_000, ..Faults::default() };
    let more = "timeout = 0.4\nbackoff = 0.01\n";
    let fixture = ReplayFixture::new(Script { faults, ..script() }, more, &states(1, 1));
    let begin = Instant::now();
    let (code, said) =
        fixture.ran(&["states.jsonl", "--send", "--retries", "1", "--teacher", "small"]);
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert_eq!(code, Some(1), "{said}");
    let call = &fixture.journal("call")[0];
    assert_eq!((&call["error"]["what"], &call["attempts"]), (&json!("timeout"), &json!(2)));
    assert!(call["unsure_usd"].as_f64().unwrap() > 0.0 && call["action"].is_null());
    // Failed is failed, until somebody wants it asked again.
    fixture.ran(&["states.jsonl", "--send", "--retries", "0", "--teacher", "small"]);
    assert_eq!(fixture.journal("call").len(), 1);
    fixture.ran(&[
        "states.jsonl",
        "--send",
        "--retries",
        "0",
        "--teacher",
        "small",
        "--retry-failed",
    ]);
    assert_eq!(fixture.journal("call").len(), 2);
}

#[test]
fn replay_reports_faults_with_a_hint() {
    let fixture = ReplayFixture::new(script(), "", &states(1, 2));
    let fails = |arguments: &[&str], cause: &str| {
        let (code, said) = fixture.ran(arguments);
        assert!(code == Some(2) && said.contains(cause) && said.contains("hint: "), "{said}");
    };
    fails(&["states.jsonl", "--teacher", "nobody"], "--teacher `nobody`");
    fails(&["states.jsonl", "--teachers-from", "nowhere"], "`nowhere`");
    fails(&["states.jsonl", "--send", "--journal", "states.jsonl"], "that is read, not written");
    fails(&["states.jsonl", "--send", "--journal", ".claude/x.jsonl"], "nothing was sent");
    let toml = "[[teacher]]\nid='x'\nmodel='nobody-knows'\nbase_url='http://127.0.0.1:9'\n";
    write_file(&fixture.path("x.toml"), toml.as_bytes());
    fails(&["states.jsonl", "--teachers-from", "x.toml", "--budget", "1"], "no price is known");
    let (code, said) = fixture.ran(&["states.jsonl", "--teachers-from", "x.toml"]);
    assert!(code == Some(0) && said.contains("unknown"), "{said}");
    // Nobody listens there.
    let arguments = ["states.jsonl", "--teachers-from", "x.toml", "--send", "--retries", "0"];
    let (code, said) = fixture.ran(&arguments);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(fixture.journal("call")[0]["error"]["what"], "connection");
    assert_eq!(fixture.server.requests(), 0);
    let nobody = Machine::empty().run(&["replay", "latest"]);
    assert!(nobody.code == Some(2) && nobody.stderr.contains("[[teacher]]"), "{}", nobody.stderr);
    // Lines that are no states are counted, the others asked.
    let text = states(1, 2) + "{\"messages\": 3}\nnonsense\n";
    write_file(&fixture.path("odd.jsonl"), text.as_bytes());
    let (code, said) = fixture.ran(&["odd.jsonl"]);
    assert!(code == Some(2) && said.contains("line 4: ") && said.contains("2 states of"), "{said}");
}

#[test]
fn two_runs_do_not_share_a_journal() {
    let script = Script { latency: Duration::from_millis(200), ..script() };
    let fixture = ReplayFixture::new(script, "", &states(2, 5));
    let mut child = fixture
        .replay(&["states.jsonl", "--send"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while fixture.server.requests() == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let (code, said) = fixture.ran(&["states.jsonl", "--send"]);
    assert!(code == Some(2) && said.contains("another run is writing to it"), "{said}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn replay_skips_a_torn_journal_line() {
    let fixture = ReplayFixture::new(script(), "", &states(1, 3));
    fixture.ran(&["states.jsonl", "--send"]);
    let path = fixture.path("replay.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let last = text.lines().rev().find(|line| line.contains("\"kind\":\"call\"")).unwrap();
    let at = text.find(last).unwrap() + last.len() / 2;
    write_file(&path, &text.as_bytes()[..at]);
    let (code, said) = fixture.ran(&["states.jsonl", "--send"]);
    assert!(code == Some(0) && said.contains("cannot be read"), "{said}");
    assert_eq!(fixture.journal("call").len(), 9);
    assert_eq!(fixture.server.books().count(), 9, "the lost answer was given again for nothing");
}
