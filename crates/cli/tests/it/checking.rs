//! `backstory check`

use crate::support::{Machine, assert_documented, assert_valid};
use backstory_claude::check::Id;
use backstory_testkit::{document, testdata, write_file};

fn fixture(name: &str) -> String {
    testdata("check").join(name).to_string_lossy().into_owned()
}

/// Standard output with the folder of the fixtures taken out, and the exit code.
fn check(arguments: &[&str]) -> (String, Option<i32>) {
    let ran = Machine::empty().run(arguments);
    assert_eq!(ran.stderr, "");
    let folder = testdata("check").to_string_lossy().into_owned();
    (ran.stdout.replace(&folder, "[CHECK]"), ran.code)
}

#[test]
fn the_sample_is_clean() {
    let machine = Machine::with_sample();
    insta::assert_snapshot!(machine.out(&["check"]), @"6 sessions: 6 clean");
    insta::assert_snapshot!(machine.out(&["check", "latest", "--severity", "info"]), @"1 session: 1 clean");
    assert_eq!(machine.out(&["check", "--quiet"]), "");
}

#[test]
fn a_session_that_would_not_resume() {
    let (out, code) = check(&["check", &fixture("10-call-shape-broken.jsonl")]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(out, @r"
    [CHECK]/10-call-shape-broken.jsonl
      would not resume: call-shape in line 2
      error call-shape: A tool call has no name, or its input is missing or no object.
        [CHECK]/10-call-shape-broken.jsonl:2  block 1

    1 session: 1 would not resume
    ");
}

#[test]
fn a_session_that_would_resume_with_loss() {
    let (out, code) = check(&["check", &fixture("02-call-without-result-broken.jsonl")]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(out, @r"
    [CHECK]/02-call-without-result-broken.jsonl
      would resume with loss: call-without-result in line 2
      warning result-without-call: A tool result stands where the message before it made no such call.
        [CHECK]/02-call-without-result-broken.jsonl:6  toolu_02b
      warning call-without-result: A tool call is not answered right after the message that made it.
        [CHECK]/02-call-without-result-broken.jsonl:2  toolu_02b: its result stands elsewhere

    1 session: 1 would resume with loss
    ");
}

#[test]
fn severity_decides_what_is_shown_and_counted() {
    let path = fixture("08-no-final-newline-broken.jsonl");
    let (out, code) = check(&["check", &path]);
    assert_eq!((out.as_str(), code), ("1 session: 1 clean\n", Some(0)));
    let (out, code) = check(&["check", &path, "--severity", "info"]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(out, @r"
    [CHECK]/08-no-final-newline-broken.jsonl
      would resume
      info no-final-newline: The last line is whole but not terminated.
        [CHECK]/08-no-final-newline-broken.jsonl:2

    1 session: 1 with notes or warnings
    ");
    let (out, code) =
        check(&["check", &fixture("10-long-tool-name-broken.jsonl"), "--severity", "error"]);
    assert_eq!((out.as_str(), code), ("1 session: 1 clean\n", Some(0)));
}

#[test]
fn a_folder_is_summed_up() {
    let (out, code) = check(&["check", &fixture("")]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(out.lines().last().unwrap(), @"75 sessions: 49 clean, 9 with warnings, 1 with errors, 9 would resume with loss, 7 would not resume");
    let quiet = Machine::empty().run(&["check", &fixture(""), "--quiet"]);
    assert!(!quiet.stdout.contains("sessions:"));
    assert_eq!(quiet.code, Some(1));
}

#[test]
fn output_is_bounded_and_escaped() {
    let machine = Machine::empty();
    let call = r#"{"type":"tool_use","id":"ID\u001b[31mb","name":"Bash","input":{}}"#;
    let record = |number: u32, kind: &str, message: String| {
        let parent = if number == 0 { "null".into() } else { format!("\"u{}\"", number - 1) };
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"u{number}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"timestamp\":\"2026-01-31T12:00:00.000Z\",\"message\":{message}}}\n"
        )
    };
    let mut text = String::new();
    for number in 0..20 {
        text += &if number % 2 == 0 {
            record(number, "user", r#"{"role":"user","content":"go on"}"#.into())
        } else {
            let id = format!("m{number}");
            let call = call.replace("ID", &format!("c{number}"));
            record(
                number,
                "assistant",
                format!(
                    r#"{{"role":"assistant","id":"{id}","usage":{{"output_tokens":1}},"content":[{call}]}}"#
                ),
            )
        };
    }
    write_file(&machine.home().join("s.jsonl"), text.as_bytes());
    let ran = machine.run(&["check", "s.jsonl", "--severity", "info"]);
    insta::assert_snapshot!(ran.stdout, @r"
    s.jsonl
      would resume
      warning call-without-result (9×): A tool call is not answered right after the message that made it.
        s.jsonl:2  c1␛[31mb: it has no result
        s.jsonl:4  c3␛[31mb: it has no result
        s.jsonl:6  c5␛[31mb: it has no result
        and 6 more
      info call-cut-off: The session ended while a tool ran; the client closes the call when it resumes.
        s.jsonl:20  c19␛[31mb

    1 session: 1 with notes or warnings
    ");
}

#[test]
fn check_explains_every_finding() {
    let machine = Machine::empty();
    let list = machine.out(&["check", "--explain"]);
    for id in Id::all() {
        assert!(list.contains(id.name()), "{id} is not listed");
        let text = machine.out(&["check", "--explain", id.name()]);
        assert!(text.starts_with(id.name()) && text.contains("What to do"), "{text}");
    }
    insta::assert_snapshot!(machine.out(&["check", "--explain", "stale-branch"]), @r"
    stale-branch (warning)
    resume invariant 7 of 15

    A record beside the conversation ends a branch in place of its newest message.

    Why it matters
      A resume starts from the record written last, in older clients from the newest end of a branch.
      Where that hangs from an older message, everything since is lost.

    Evidence
      A late record of a hook or of the client under an older message misleads 2.1.143 to 2.1.326, a
      subagent's record under the newest one 1.0.100 to 2.1.98, a late progress record 2.1.50 and
      2.1.70.

    What to do
      Resume with the newest client; where a late record misleads that as well, remove the record.
    ");
}

#[test]
fn an_unknown_id_gets_candidates() {
    let ran = Machine::empty().run(&["check", "--explain", "torn-tial"]);
    assert_eq!(ran.code, Some(2));
    insta::assert_snapshot!(ran.stderr, @r"
    error: no finding is called `torn-tial`
    hint: did you mean torn-tail, torn-line?
    ");
    let ran = Machine::empty().run(&["check", "--explain", "zzzzzz"]);
    insta::assert_snapshot!(ran.stderr, @r"
    error: no finding is called `zzzzzz`
    hint: backstory check --explain lists all
    ");
}

#[test]
fn check_exits_with_two_if_it_cannot_check() {
    let machine = Machine::empty();
    let ran = machine.run(&["check"]);
    assert_eq!(ran.code, Some(2));
    insta::assert_snapshot!(ran.stderr, @r"
    error: no sessions in `[HOME]/.claude`
    hint: name another place with --root DIR, or give the path of a session file
    ");
    let ran = machine.run(&["check", "no/such.jsonl"]);
    assert_eq!(ran.code, Some(2));
    insta::assert_snapshot!(ran.stderr, @r"
    error: `no/such.jsonl`: no such file or folder
    hint: give a session file, a folder that holds some, or an id from `backstory ls`
    ");
}

#[test]
fn check_takes_a_project_folder() {
    let machine = Machine::empty();
    let project = machine.home().join("kiln");
    std::fs::DirBuilder::new().create(&project).unwrap();
    let key: String = project
        .canonicalize()
        .unwrap()
        .to_string_lossy()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect();
    let elsewhere = std::fs::read_to_string(fixture("14-no-answer-repaired.jsonl")).unwrap();
    let here =
        elsewhere.replace("/home/dev/kiln", &project.canonicalize().unwrap().to_string_lossy());
    assert_ne!(here, elsewhere);
    let name = "8c0d0d6e-0b5c-4a7e-9d3c-1d9b1c1f7a10.jsonl";
    write_file(&machine.home().join(".claude/projects").join(key).join(name), here.as_bytes());
    write_file(&machine.home().join(".claude/projects/-other").join(name), elsewhere.as_bytes());
    assert!(machine.run(&["check", "kiln"]).stdout.ends_with("1 session: 1 clean\n"));
    assert!(machine.run(&["check"]).stdout.contains("\n2 sessions: "));
}

#[test]
fn documented_json() {
    let machine = Machine::empty();
    let ran = machine.run(&["check", &fixture("10-call-shape-broken.jsonl"), "--json"]);
    assert_eq!(ran.code, Some(1));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["schema"], "backstory.check/1");
    assert_eq!(report["resume"]["verdict"], "no");
    assert_eq!(report["resume"]["because"]["line"], 2);
    assert_eq!(report["files"][0]["findings"][0]["id"], "call-shape");
    assert_eq!(report["files"][0]["findings"][0]["invariant"], 10);
}

#[test]
fn every_key_is_documented() {
    let documented = document("docs/check-json.md");
    let ran = Machine::empty().run(&["check", "--json", "--severity", "info", &fixture("")]);
    assert!(ran.stdout.lines().count() > 60);
    let reports: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_valid("check", &reports);
    assert_documented("check-json.md", reports, |_| false);
    for id in Id::all() {
        let row = format!("| `{}` | {} |", id.name(), id.severity().name());
        assert!(documented.contains(&row), "no row for {id}: {row}");
    }
}

#[test]
fn a_check_changes_nothing() {
    let machine = Machine::with_sample();
    let state = || {
        let mut files = Vec::new();
        let mut folders = vec![machine.home().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let data = entry.metadata().unwrap();
                if data.is_dir() {
                    folders.push(entry.path());
                }
                files.push((entry.path(), data.len(), data.modified().unwrap()));
            }
        }
        files.sort();
        files
    };
    let before = state();
    machine.out(&["check", "--severity", "info"]);
    assert_eq!(state(), before);
}
