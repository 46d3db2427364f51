//! `backstory replay`: what a teacher receives of sessions that are full of secrets, and the
//! walk-through of the documentation.

use crate::replaying::{ReplayFixture, script};
use crate::support::Machine;
use backstory_teacher::{Reply, Script, Server};
use backstory_testkit::planted::{FORMS, PLACES, form, write_session};
use backstory_testkit::{document, write_file};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A token of GitHub's form, a different one for each place.
fn secret(number: usize) -> String {
    const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    let mut text = "ghp_Q7z".to_owned();
    for at in 0..33 {
        let mut hasher = DefaultHasher::new();
        (number, at, "secret").hash(&mut hasher);
        text.push(LETTERS[hasher.finish() as usize % LETTERS.len()] as char);
    }
    text
}

/// Everything that left, and everything that was written.
fn log(fixture: &ReplayFixture) -> String {
    let mut all = String::new();
    for receipt in fixture.server.books().receipts {
        all += &receipt.body;
        all += &format!("{:?}", receipt.headers);
    }
    for name in ["replay.jsonl", "replay.states.jsonl"] {
        all += &std::fs::read_to_string(fixture.path(name)).unwrap();
    }
    all
}

#[test]
fn replay_sends_only_redacted_text() {
    for round in 0..3 {
        let fixture = ReplayFixture::new(Script { keeps_bodies: true, ..script() }, "", "");
        let sessions = fixture.path("sessions");
        let planted = |place: &str| {
            let at = PLACES.iter().position(|known| *known == place)?;
            // Its own in the open, and that of another place in another form.
            let shape = FORMS[(at + round * 4) % FORMS.len()];
            let other = form(&secret((at + 5 + round * 7) % PLACES.len()), shape);
            Some(format!("see {} there and {other} here", secret(at)))
        };
        let files = write_session(&sessions, &planted);
        let (code, said) = fixture.ran(&[&files.path.to_string_lossy(), "--send"]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(fixture.server.requests(), 9, "three states, three teachers");
        let log = log(&fixture);
        assert!(log.contains("[redacted:github-token:"), "{}", &log[..3_000]);
        for (at, place) in PLACES.iter().enumerate() {
            for shape in FORMS {
                let trace = form(&secret(at), shape);
                assert!(!log.contains(&trace), "{round}: {place} as {shape}");
            }
        }
    }
}

#[test]
fn files_of_states_are_redacted_too() {
    for layout in [&["--compact"][..], &[]] {
        let fixture = ReplayFixture::new(Script { keeps_bodies: true, ..script() }, "", "");
        let planted = |place: &str| {
            let at = PLACES.iter().position(|known| *known == place)?;
            Some(format!("see {} there, C:\\new\n\"quoted\"", secret(at)))
        };
        let files = write_session(&fixture.path("sessions"), &planted);
        let path = files.path.to_string_lossy();
        let mut arguments =
            vec!["export", &path, "--to", "trace-state", "--raw", "--out", "raw.jsonl"];
        arguments.extend(layout);
        fixture.machine.out(&arguments);
        let raw = std::fs::read_to_string(fixture.path("raw.jsonl")).unwrap();
        let there = (0..PLACES.len()).filter(|at| raw.contains(&secret(*at))).count();
        assert!(there > 10, "{there} secrets stand in the file");
        let (code, said) = fixture.ran(&["raw.jsonl", "--send"]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(fixture.server.requests(), 9, "three states, three teachers");
        let log = log(&fixture);
        for (at, place) in PLACES.iter().enumerate() {
            assert!(!log.contains(&secret(at)), "{place}");
        }
        // What was sent is what the states file holds: clearing twice changes nothing.
        let states = std::fs::read_to_string(fixture.path("replay.states.jsonl")).unwrap();
        write_file(&fixture.path("again.jsonl"), states.as_bytes());
        let (_, said) = fixture.ran(&["again.jsonl", "--send"]);
        assert_eq!(fixture.server.requests(), 9, "asked again: {said}");
    }
}

/// `$ command` lines of the documentation, against a teacher on this machine; `…` stands for any
/// number of lines.
#[test]
fn the_walk_through_does_what_it_says() {
    let machine = Machine::with_sample();
    let text = document("docs/replay.md");
    let block = |kind: &str| {
        text.split(&format!("```{kind}\n")).nth(1).unwrap().split("```").next().unwrap()
    };
    // All teachers would look at the state of the repository first.
    let reply = |_: &str, _: &Value| Reply::Call {
        words: String::new(),
        name: "Bash".to_owned(),
        input: json!({"command": "git status"}),
    };
    let reply: Option<backstory_teacher::ReplyFn> = Some(Arc::new(reply));
    let server = Server::start(Script { key: None, reply, ..script() }).unwrap();
    let mut settings = String::new();
    for line in block("toml").lines() {
        if line.starts_with("base_url") {
            settings += &format!("base_url = \"{}\"\n", server.url());
        } else {
            settings += &format!("{line}\n");
        }
    }
    write_file(&machine.home().join(".backstory.toml"), settings.as_bytes());
    let mut ran = 0;
    for example in block("console").split("$ ").skip(1) {
        let (command, expected) = example.split_once('\n').unwrap();
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        let mut command = machine.command(&arguments);
        command.env("ANTHROPIC_API_KEY", "sk-none").env("OPENROUTER_API_KEY", "sk-none");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (printed, mut at) = (words(&printed), 0);
        for line in expected.lines().filter(|line| *line != "…") {
            let line = words(line);
            let found = printed[at..].find(&line);
            at += found.unwrap_or_else(|| panic!("{arguments:?} prints\n{printed}\nnot\n{line}"));
        }
        ran += 1;
    }
    assert!(ran >= 5 && server.requests() > 0);
    let pairs = std::fs::read_to_string(machine.home().join("pairs.jsonl")).unwrap();
    let pair: Value = serde_json::from_str(pairs.lines().next().unwrap()).unwrap();
    assert_eq!(pair["n_teachers_agreeing"], 3, "{pair}");
}
