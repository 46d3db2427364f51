//! `backstory replay` against a scripted teacher on this machine.

use crate::support::Machine;
use backstory_teacher::{Faults, Idempotency, Reply, Script, Server};
use backstory_testkit::{or_slow, write_file};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Dollars for a million tokens of the models in these tests: read, written, cached, cache written.
pub(crate) const PRICES: [(&str, [f64; 4]); 3] = [
    ("small", [0.4, 1.6, 0.1, 0.4]),
    ("large", [3.0, 15.0, 0.3, 3.75]),
    ("claude", [5.0, 25.0, 0.5, 6.25]),
];

pub(crate) fn script() -> Script {
    let prices = PRICES.iter().map(|(model, dollars)| {
        ((*model).to_owned(), dollars.map(|dollars| (dollars * 1e6).round() as u64))
    });
    Script { prices: prices.collect(), key: Some(KEY.to_owned()), ..Script::default() }
}

const KEY: &str = "sk-teacher-0123456789abcdefghij";

/// Teachers of all models at one server.
pub(crate) fn teachers(server: &Server, more: &str) -> String {
    let mut text = String::new();
    for (model, [input, output, read, written]) in PRICES {
        let kind = if model == "claude" { "anthropic" } else { "openai" };
        let _ = write!(
            text,
            "[[teacher]]\nid = \"{model}\"\nkind = \"{kind}\"\nmodel = \"{model}\"\n\
             base_url = \"{}\"\napi_key_env = \"TEACHER_KEY\"\nmax_tokens = 100\n\
             price = {{ input = {input}, output = {output}, cache_read = {read}, cache_write = {written} }}\n{more}\n",
            server.url()
        );
    }
    text
}

/// Conversations of so many states each, in the full form.
pub(crate) fn states(conversations: usize, each: usize) -> String {
    let mut text = String::new();
    for conversation in 0..conversations {
        let mut messages = vec![json!({"role": "system", "content": "You write code."})];
        for state in 0..each {
            let words = format!("session {conversation} state {state}: please go on.");
            messages.push(json!({"role": "user", "content": words}));
            let action = json!([{"input": {"path": format!("{state}.rs")}, "name": "Read",
                "type": "tool_use"}]);
            let line = json!({"state_id": format!("s{conversation}:{state}"), "messages": messages,
                "student_action": action.to_string(), "meta": {"session_id": format!("s{conversation}"),
                "signals": if state % 4 == 1 { vec!["result_error"] } else { vec![] }}});
            let _ = writeln!(text, "{line}");
            let id = format!("toolu_{conversation}_{state}");
            messages.push(json!({"role": "assistant", "content": "", "tool_calls": [{"id": id,
                "type": "function", "function": {"name": "Read", "arguments":
                {"path": format!("{state}.rs")}}}]}));
            messages.push(json!({"role": "tool", "tool_call_id": id, "name": "Read",
                "content": format!("line of {state}")}));
        }
    }
    text
}

pub(crate) struct ReplayFixture {
    pub(crate) machine: Machine,
    pub(crate) server: Server,
}

impl ReplayFixture {
    pub(crate) fn new(script: Script, more: &str, states: &str) -> ReplayFixture {
        let (machine, server) = (Machine::empty(), Server::start(script).unwrap());
        write_file(&machine.home().join(".backstory.toml"), teachers(&server, more).as_bytes());
        write_file(&machine.home().join("states.jsonl"), states.as_bytes());
        ReplayFixture { machine, server }
    }

    pub(crate) fn replay(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = self.machine.command(&["replay"]);
        command.args(arguments).env("TEACHER_KEY", KEY);
        command
    }

    /// Code and what was printed, errors after it.
    pub(crate) fn ran(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.replay(arguments).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text + &String::from_utf8(output.stderr).unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.machine.home().join(name)
    }

    /// Lines of the journal of one kind.
    pub(crate) fn journal(&self, kind: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("replay.jsonl")).unwrap();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["kind"] == kind).collect()
    }
}

/// What the journal says was spent, in billionths of a dollar, and what may have been.
fn spent(calls: &[Value]) -> (u128, u128) {
    let sum = |name: &str| -> u128 {
        calls.iter().map(|call| (call[name].as_f64().unwrap_or(0.0) * 1e9).round() as u128).sum()
    };
    (sum("cost_usd"), sum("unsure_usd"))
}

fn assert_one_line_for_each_call(calls: &[Value], states: usize) {
    let keys: BTreeSet<String> = calls
        .iter()
        .map(|call| format!("{} {} {}", call["state_id"], call["teacher_id"], call["prompt_hash"]))
        .collect();
    assert_eq!(keys.len(), calls.len(), "a call has two lines");
    let asked: BTreeSet<String> =
        calls.iter().map(|call| format!("{} {}", call["state_id"], call["teacher_id"])).collect();
    assert_eq!((asked.len(), calls.len()), (states * PRICES.len(), states * PRICES.len()));
}

/// Every model saw the states of each session in order, none before the one before it was answered.
fn assert_order(server: &Server) {
    let mut last: HashMap<(String, String), u64> = HashMap::new();
    let books = server.books();
    for receipt in &books.receipts {
        let words = receipt.last_text.split("session ").nth(1).unwrap();
        let mut numbers = words.split(|letter: char| !letter.is_ascii_digit());
        let session = numbers.next().unwrap().to_owned();
        let state: u64 =
            words.split("state ").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
        let before = last.insert((receipt.model.clone(), session), state).unwrap_or(0);
        assert!(state == before || state == before + 1, "{}: {before} then {state}", receipt.model);
    }
    assert!(last.len() > 2);
}

#[test]
fn replay_sends_nothing_without_send() {
    let fixture = ReplayFixture::new(Script { keeps_bodies: true, ..script() }, "", &states(3, 4));
    let (code, said) = fixture.ran(&["states.jsonl"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("nothing was sent"), "{said}");
    assert!(said.contains("12 states of 3 conversations"), "{said}");
    let (code, _) = fixture.ran(&["states.jsonl", "--preview", "requests.jsonl", "--gate-report"]);
    assert_eq!((code, fixture.server.requests()), (Some(0), 0));
    assert!(
        !fixture.path("replay.jsonl").exists() && !fixture.path("replay.states.jsonl").exists()
    );

    // The preview is what is sent, byte for byte.
    let (code, said) = fixture.ran(&["states.jsonl", "--send"]);
    assert_eq!(code, Some(0), "{said}");
    let preview = std::fs::read_to_string(fixture.path("requests.jsonl")).unwrap();
    let previewed: BTreeSet<String> = preview
        .lines()
        .map(|line| line.split_once("\"body\":").unwrap().1.strip_suffix('}').unwrap().to_owned())
        .collect();
    let sent: BTreeSet<String> =
        fixture.server.books().receipts.into_iter().map(|receipt| receipt.body).collect();
    assert_eq!((previewed.len(), &previewed), (36, &sent));

    // Started again, nothing is asked.
    let (code, said) = fixture.ran(&["states.jsonl", "--send"]);
    assert_eq!((code, fixture.server.requests()), (Some(0), 36), "{said}");
    let (_, said) = fixture.ran(&["states.jsonl"]);
    assert!(said.contains("the journal has 36 calls already"), "{said}");
}

#[test]
fn the_key_is_sent_to_the_teacher_and_written_nowhere() {
    let fixture = ReplayFixture::new(Script { keeps_bodies: true, ..script() }, "", &states(1, 2));
    let output = fixture
        .replay(&["states.jsonl", "--send"])
        .env("TEACHER_KEY", "sk-wrong-12345678")
        .output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    // The server repeats the key it was given; we do not.
    assert!(said.contains("not asked any more") && said.contains("[key]"), "{said}");
    let journal = std::fs::read_to_string(fixture.path("replay.jsonl")).unwrap();
    assert!(!journal.contains("sk-wrong") && !said.contains("sk-wrong"), "{said}{journal}");
    assert!(fixture.journal("call").is_empty(), "a refusal of everything is no answer: {journal}");
    let (code, said) = fixture.ran(&["states.jsonl", "--send"]);
    assert_eq!(code, Some(0), "{said}");
    let journal = std::fs::read_to_string(fixture.path("replay.jsonl")).unwrap();
    assert!(!journal.contains(KEY) && !said.contains(KEY));
    assert_eq!(fixture.journal("call").len(), 6);
    let mut command =
        fixture.machine.command(&["replay", "states.jsonl", "--send", "--journal", "x.jsonl"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("TEACHER_KEY is not set"));
    assert!(!fixture.path("x.jsonl").exists());
}

#[test]
fn answers_are_actions_and_costs_add_up() {
    let reply = |model: &str, _: &Value| match model {
        "small" => Reply::Words("All done.".to_owned()),
        _ => Reply::Call {
            words: String::new(),
            name: "Read".to_owned(),
            input: json!({"path": "0.rs", "a": 1}),
        },
    };
    let fixture =
        ReplayFixture::new(Script { reply: Some(Arc::new(reply)), ..script() }, "", &states(4, 6));
    let (code, said) = fixture.ran(&["states.jsonl", "--send", "--budget", "1"]);
    assert_eq!(code, Some(0), "{said}");
    let calls = fixture.journal("call");
    assert_one_line_for_each_call(&calls, 24);
    for call in &calls {
        let action = call["action"].as_str().unwrap();
        match call["teacher_id"].as_str().unwrap() {
            "small" => assert_eq!(action, "All done."),
            _ => assert_eq!(
                action,
                "[{\"input\": {\"a\": 1, \"path\": \"0.rs\"}, \"name\": \"Read\", \"type\": \"tool_use\"}]"
            ),
        }
        assert!(call["error"].is_null() && call["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
    }
    let (spent, unsure) = spent(&calls);
    assert_eq!((spent, unsure), (fixture.server.books().total() / 1000, 0));
    // The second state of a conversation finds the first in the cache, with either protocol.
    for model in ["small", "claude"] {
        let cached = |state: &str| {
            let call =
                calls.iter().find(|call| call["teacher_id"] == model && call["state_id"] == state);
            call.unwrap()["usage"]["cached_tokens"].as_u64().unwrap()
        };
        assert!(cached("s1:5") > cached("s1:1") && cached("s1:1") > 0, "{model}");
    }
    assert_order(&fixture.server);
    let header = &fixture.journal("run")[0];
    assert_eq!((&header["v"], &header["states"]), (&json!(1), &json!("replay.states.jsonl")));
    assert_eq!(header["teachers"][1]["price"], json!([3, 15, 0.3, 3.75]));
}

/// Calls to three teachers, with faults, killed in between: a thousand calls killed three times, or
/// ten thousand killed ten times.
#[cfg(unix)]
#[test]
fn replay_killed_repeatedly_asks_nothing_twice_and_accounts_for_every_cost() {
    let script = Script {
        latency: Duration::from_millis(1),
        faults: Faults::some(),
        idempotency: Idempotency::Honoured,
        ..script()
    };
    let more = "concurrency = 12\nbackoff = 0.01\ntimeout = 1.5\nidempotent = true\n";
    let (conversations, each) = (or_slow(14, 139), 24);
    let total = conversations * each;
    assert!(total * PRICES.len() > or_slow(1_000, 10_000));
    let fixture = ReplayFixture::new(script, more, &states(conversations, each));
    let arguments = ["states.jsonl", "--send", "--budget", "40", "--quiet", "--retries", "12"];
    // Killed after a number of requests, a different one each time, and not after a time: however fast
    // the machine is, more are left to make.
    let mut requests = 150;
    for kills in 0..or_slow(3, 10) {
        let mut child = fixture
            .replay(&arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let before = fixture.server.requests();
        while fixture.server.requests() < before + requests {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "it was over before it was killed {kills} times: {ended:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        requests = (requests * 7 + 13) % or_slow(90, 700);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (code, said) = fixture.ran(&arguments);
    assert_eq!(code, Some(0), "{said}");
    let calls = fixture.journal("call");
    assert_one_line_for_each_call(&calls, total);
    let failed = calls.iter().filter(|call| !call["error"].is_null()).count();
    assert_eq!(failed, 0, "with so many retries none fails");
    let books = fixture.server.books();
    assert_eq!(books.count(), (total * PRICES.len()) as u64, "an answer was made twice");
    assert!(books.repeated > or_slow(5, 50), "faults on the way back: {}", books.repeated);
    let (spent, unsure) = spent(&calls);
    let theirs = books.total() / 1000;
    // Each line is rounded to a billionth.
    assert!(spent.abs_diff(theirs) <= 10_000_000 / 100, "ours {spent}, theirs {theirs}");
    assert_eq!(unsure, 0);
    assert_order(&fixture.server);
}

/// A server that charges again for what it has answered already: what was spent is between two figures.
#[cfg(unix)]
#[test]
fn lost_calls_are_counted_where_a_server_charges_again() {
    let script = Script {
        latency: Duration::from_millis(2),
        faults: Faults { torn: 40, garbled: 40, closed: 30, ..Faults::default() },
        idempotency: Idempotency::Ignored,
        ..script()
    };
    let more = "concurrency = 8\nbackoff = 0.01\ntimeout = 1.5\n";
    let fixture = ReplayFixture::new(script, more, &states(40, 10));
    let arguments = ["states.jsonl", "--send", "--budget", "5", "--quiet", "--retries", "12"];
    for pause in [100, 250, 60] {
        let mut child =
            fixture.replay(&arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
        let before = fixture.server.requests();
        while fixture.server.requests() < before + 20 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (code, said) = fixture.ran(&arguments);
    assert_eq!(code, Some(0), "{said}");
    let calls = fixture.journal("call");
    assert_one_line_for_each_call(&calls, 400);
    let (spent, unsure) = spent(&calls);
    let theirs = fixture.server.books().total() / 1000;
    assert!(fixture.server.books().count() > 1_200, "some answers were made twice");
    assert!(unsure > 0 && spent < theirs && theirs <= spent + unsure, "{spent} {theirs} {unsure}");
    assert_order(&fixture.server);
}
