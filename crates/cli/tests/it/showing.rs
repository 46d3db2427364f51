//! `backstory show`

use crate::support::Machine;
use backstory_testkit::{document, testdata, write_file};

#[test]
fn a_session_by_id_prefix_path_and_age() {
    let machine = Machine::with_sample();
    let rows = machine.json(&["ls", "--json"]);
    let newest = &rows[0];
    let id = newest["id"].as_str().unwrap();
    let path =
        newest["path"].as_str().unwrap().replace("[HOME]", &machine.home().to_string_lossy());
    for wanted in [id, &id[..6], "latest", &path] {
        let session = &machine.json(&["show", wanted, "--format", "json"])[0];
        assert_eq!(
            (session["id"].as_str(), session["schema"].as_str()),
            (Some(id), Some("backstory.session/1")),
            "{wanted}"
        );
    }
    assert_eq!(machine.json(&["show", "latest~2", "--format", "json"])[0]["id"], rows[2]["id"]);
}

#[test]
fn counts_of_the_listing_and_of_the_session_agree() {
    let machine = Machine::with_sample();
    for row in machine.json(&["ls", "--json"]) {
        let session = &machine.json(&["show", row["id"].as_str().unwrap(), "--format", "json"])[0];
        assert_eq!(row["turns"], session["counts"]["turns"]);
        assert_eq!(
            row["turns"].as_u64().unwrap() as usize,
            session["turns"].as_array().unwrap().len()
        );
        assert_eq!(row["calls"], session["counts"]["calls"]);
        assert_eq!(row["title"], session["title"]["text"]);
        assert_eq!(row["tokens"]["output"], session["usage"]["output"]);
    }
}

#[test]
fn a_subagent_by_its_id() {
    let machine = Machine::with_sample();
    let rows = machine.json(&["ls", "--all", "--json"]);
    let agent = rows.iter().find(|row| row["kind"] == "task").unwrap()["id"].as_str().unwrap();
    assert_eq!(machine.json(&["show", agent, "--format", "json"])[0]["id"], agent);
}

#[test]
fn unknown_and_ambiguous_names_give_candidates() {
    let machine = Machine::empty();
    for (number, text) in [("aaaaaaaa", "first"), ("aaaabbbb", "second")] {
        let id = format!("{number}-0000-4000-8000-000000000000");
        let record = serde_json::json!({
            "type": "user", "uuid": id, "sessionId": id, "timestamp": "2026-01-02T03:04:05.000Z",
            "message": { "role": "user", "content": text },
        });
        write_file(
            &machine.home().join(format!(".claude/projects/p/{id}.jsonl")),
            format!("{record}\n").as_bytes(),
        );
    }
    let ran = machine.run(&["show", "aaaa"]);
    assert_eq!(ran.code, Some(1));
    insta::assert_snapshot!(ran.stderr, @r"
    error: `aaaa` matches 2 sessions
    hint: it could be:
          aaaaaaaa-0000-4000-8000-000000000000  2026-01-02 03:04  first
          aaaabbbb-0000-4000-8000-000000000000  2026-01-02 03:04  second
    ");
    let ran = machine.run(&["show", "zzz"]);
    assert_eq!(ran.code, Some(1));
    insta::assert_snapshot!(ran.stderr, @r"
    error: no session `zzz`
    hint: the newest are:
          aaaaaaaa-0000-4000-8000-000000000000  2026-01-02 03:04  first
          aaaabbbb-0000-4000-8000-000000000000  2026-01-02 03:04  second
    ");
    insta::assert_snapshot!(machine.run(&["show", "latest~9"]).stderr, @r"
    error: `latest~9`: there are only 2 sessions
    hint: backstory ls
    ");
    insta::assert_snapshot!(Machine::empty().run(&["show", "x"]).stderr, @r"
    error: no sessions in `[HOME]/.claude`
    hint: name another place with --root DIR, or give the path of a session file
    ");
}

#[test]
fn every_synthetic_session_gives_valid_json_in_its_documented_shape() {
    let machine = Machine::empty();
    let documented = document("docs/session-json.md");
    for entry in std::fs::read_dir(testdata("sessions")).unwrap() {
        let path = entry.unwrap().path();
        // Nothing in it is a session's.
        if path.ends_with("fault-only-newlines.jsonl") {
            continue;
        }
        let session =
            &machine.json(&["show", path.to_str().unwrap(), "--quiet", "--format", "json"])[0];
        for key in session.as_object().unwrap().keys() {
            assert!(documented.contains(&format!("`{key}`")), "{key} is not documented");
        }
    }
}

#[test]
fn show_refuses_a_file_that_is_not_a_session() {
    let machine = Machine::with_sample();
    write_file(
        &machine.home().join("notes.txt"),
        b"Buy \"type\" of paper\n\nThen {\"type\": it}\n",
    );
    write_file(&machine.home().join("rows.jsonl"), b"{\"name\":\"a\"}\n{\"name\":\"b\"}\n");
    for file in ["notes.txt", "rows.jsonl"] {
        let commands =
            ["show", "check", "stats", "export --to atif", "ls", "analyze", "redact", "clone"];
        for command in commands {
            let arguments: Vec<&str> = command.split(' ').chain([file]).collect();
            let ran = machine.run(&arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{command} {file}");
            let expected = format!(
                "error: `{file}`: not a session file\nhint: give a session file, a folder that holds some, or an id from `backstory ls`\n"
            );
            assert_eq!(ran.stderr, expected, "{command} {file}");
        }
    }
}

#[test]
fn show_names_an_empty_file() {
    let machine = Machine::empty();
    write_file(&machine.home().join("empty.jsonl"), b"");
    for command in ["show", "check", "ls", "analyze"] {
        let ran = machine.run(&[command, "empty.jsonl"]);
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
        assert_eq!(ran.stderr, "`empty.jsonl`: the file is empty\n", "{command}");
        assert_eq!(machine.run(&[command, "empty.jsonl", "--quiet"]).stderr, "", "{command}");
    }
}

#[test]
fn show_reads_a_damaged_session() {
    let machine = Machine::empty();
    let torn = r#"{"parentUuid":null,"type":"user","uuid":"u","message":{"role":"user","con"#;
    let zeros = "\0\0\0\0\n";
    let whole = r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"Find the valve"}}"#;
    for text in [torn.to_owned(), format!("{zeros}{torn}"), format!("{zeros}{whole}\n")] {
        write_file(&machine.home().join("left.jsonl"), text.as_bytes());
        assert_eq!(machine.run(&["show", "left.jsonl"]).code, Some(0), "{text:?}");
        assert_eq!(machine.run(&["check", "left.jsonl"]).code, Some(1), "{text:?}");
    }
    // A file that is named like a session is one, whatever became of it.
    let named = "00000000-0000-4000-8000-000000000001.jsonl";
    write_file(&machine.home().join(named), zeros.as_bytes());
    assert_eq!(machine.run(&["check", named]).code, Some(1));
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let machine = Machine::with_sample();
    for arguments in [
        &["show", "latest", "--out", "none/page.html"][..],
        &["export", "latest", "--to", "atif", "--no-git", "--out", "none/page.html"],
    ] {
        let ran = machine.run(arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        let first = ran.stderr.lines().next().unwrap();
        assert_eq!(first, "error: `none/page.html`: No such file or directory (os error 2)");
    }
}
