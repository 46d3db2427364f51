//! `backstory search`, `show --at` and `show --find`

use crate::support::{Machine, assert_documented, assert_valid};
use backstory_testkit::{agent_forms, document};

#[test]
fn hits_are_grouped_by_session() {
    let machine = Machine::with_sample();
    insta::assert_snapshot!(machine.out(&["search", "lose notes OR hysteresis"]), @r"
    59aba946  Calm the humidity alert with hysteresis  greenhouse, 2026-02-20
      title
        Calm the humidity alert with hysteresis
        backstory show 59aba946
      turn 2 · prompt
        The humidity alert flapped at 70 %. alert() got two points of hysteresis. A replay of last night went from 131 alerts to 3.
        backstory show 59aba946 --turns 2 --at 4bfba749-998e-471a-aaba-ab00b6abf5fa
      turn 1 · TodoWrite
        Adding hysteresis
        backstory show 59aba946 --turns 1 --at toolu_01qMm9HQeuba
      1 more hit in this session

    5931ab08  Make saving notes atomic  field-notes, 2026-10-21
      turn 1 · answer
        Two mistakes can lose notes:
        1. `Save` truncates the old note before the new one is written. A crash or a full disk in between loses both.
        2. The file is never closed, so a late write error goes unseen.
        backstory show 5931ab08 --turns 1 --at c2d6cc34-d80d-4344-ad45-e052119bc871
      turn 2 · Edit path
        /home/dev/field-notes/store.go
        backstory show 5931ab08 --turns 2 --at toolu_01yRw9uXFL34
    ");
}

#[test]
fn the_page_on_search_shows_what_is_printed() {
    let machine = Machine::with_sample();
    let page = document("docs/search.md");
    let example = page.split("```console\n$ backstory ").nth(1).unwrap();
    let (command, expected) = example.split_once('\n').unwrap();
    let arguments: Vec<&str> = command.split(' ').collect();
    assert_eq!(machine.out(&arguments), expected.split("```").next().unwrap());
}

#[test]
fn queries_of_the_page_are_understood() {
    let machine = Machine::with_sample();
    let page = document("docs/search.md");
    let rows = page.split("| query | finds |").nth(1).unwrap().split("\n\n").next().unwrap();
    let queries: Vec<&str> =
        rows.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert!(queries.len() >= 7);
    for query in queries {
        let ran = machine.run(&["search", "--count", query]);
        assert!(
            matches!(ran.code, Some(0 | 1)) && ran.stderr.is_empty(),
            "{query}: {}",
            ran.stderr
        );
    }
}

#[test]
fn nothing_found_says_what_was_searched() {
    let ran = Machine::with_sample().run(&["search", "zzzq"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    insta::assert_snapshot!(ran.stderr, @r"
    error: `zzzq`: not found in 6 sessions (prompt, answer, call, title, path)
    hint: use fewer words or parts of words; `OR` between words finds messages with one of them
    hint: not searched: thinking, result; add in:prompt,answer,thinking,call,result,title,path
    ");
    let all = "in:prompt,answer,thinking,call,result,title,path zzzq";
    let ran = Machine::with_sample().run(&["search", all]);
    assert!(ran.code == Some(1) && ran.stderr.contains("fewer words"), "{}", ran.stderr);
    let ran = Machine::with_sample().run(&["search", "zzzq", "--count"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "0\n"));
    let ran = Machine::empty().run(&["search", "zzzq"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("no sessions"), "{}", ran.stderr);
}

#[test]
fn a_wrong_query_is_shown_with_the_place() {
    let ran = Machine::with_sample().run(&["search", "größe is:broken x"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!(ran.stderr, @r"
    error: query: `is:broken`: no such property
      größe is:broken x
               ^^^^^^
    hint: the properties are error, subagent, edit, compaction
    ");
    let long = "x ".repeat(60_000);
    let ran = Machine::with_sample().run(&["search", &long]);
    assert!(ran.code == Some(2) && ran.stderr.len() < 500, "{}", ran.stderr.len());
}

#[test]
fn json_is_documented_and_has_the_shape_of_its_schema() {
    let machine = Machine::with_sample();
    let every = "in:prompt,answer,thinking,call,result,title,path /\\w/";
    let mut values = machine.json(&["search", "--json", every]);
    for form in agent_forms() {
        values.extend(machine.json(&[
            "search",
            "--json",
            "--root",
            form.folder.to_str().unwrap(),
            every,
        ]));
    }
    assert!(values.len() > 100, "{}", values.len());
    assert_valid("search", &values);
    assert!(assert_documented("search.md", values, |_| false) > 1_000);
}

#[test]
fn options_select_what_is_printed() {
    let machine = Machine::with_sample();
    let lines =
        |arguments: &[&str]| machine.out(&[&["search"], arguments].concat()).lines().count();
    let count = |query: &str| {
        machine.out(&["search", "--count", "--", query]).trim().parse::<usize>().unwrap()
    };
    let everything = count("/./");
    assert!(everything > 20);
    assert_eq!(count("tool:Edit") + count("-tool:Edit"), everything);
    assert_eq!(lines(&["-l", "/./"]), 6);
    assert_eq!(lines(&["--paths", "/./"]), 6);
    assert_eq!(lines(&["--json", "--limit", "5", "/./"]), 5);
    assert_eq!(lines(&["--json", "--sort", "time", "--limit", "5", "/./"]), 5);
    assert_eq!(lines(&["--json", "--sort", "time", "/./"]), everything);
    let inside = machine.run(&["search", "--count", "/./", "--project", "/home/dev/tidewatch"]);
    let inside: usize = inside.stdout.trim().parse().unwrap();
    assert_eq!(inside, count("project:tidewatch /./"));
    assert!(0 < inside && inside < everything);
}

#[test]
fn every_hit_can_be_shown() {
    let machine = Machine::with_sample();
    for hit in machine.json(&["search", "--json", "/\\w/ in:prompt,answer,call,thinking,result"]) {
        let command = hit["open"].as_str().unwrap();
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(arguments[0], "show");
        let ran = machine.run(&arguments);
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
        assert!(ran.stdout.contains("── turn"), "{command}");
    }
}

#[test]
fn show_begins_at_a_message() {
    let machine = Machine::with_sample();
    let hit = &machine.json(&["search", "--json", "\"atomic now\""])[0];
    let at = hit["uuid"].as_str().unwrap();
    let whole = machine.out(&["show", "5931ab08"]);
    let from = machine.out(&["show", "5931ab08", "--at", at]);
    assert!(whole.contains("lose notes") && !from.contains("lose notes"));
    assert!(whole.contains("CreateTemp") && !from.contains("CreateTemp"));
    assert!(from.contains("atomic now"));
    let cost = |text: &str| text.lines().find(|line| line.starts_with("  cost")).map(str::to_owned);
    assert_eq!(cost(&whole), cost(&from), "figures are those of the session");
    let second = machine.out(&["show", "5931ab08", "--at", "2"]);
    assert!(!second.contains("lose notes") && second.contains("CreateTemp"));
    let found = machine.out(&["show", "5931ab08", "--find", "\"atomic now\""]);
    assert_eq!(found, from);
    for wrong in [["--at", "nope"], ["--find", "zzzq"]] {
        let ran = machine.run(&["show", "5931ab08", wrong[0], wrong[1]]);
        assert!(ran.code == Some(1) && ran.stderr.contains("hint: "), "{}", ran.stderr);
    }
    assert_eq!(machine.run(&["show", "5931ab08", "--at", "2", "--format", "json"]).code, Some(2));
}

#[test]
fn redacted_hits_hold_no_secret() {
    let machine = Machine::empty();
    let key = ["AKIA", "Q7ZK4MDHX2TNWVPB"].concat();
    let record = serde_json::json!({"type": "user", "uuid": "u1", "parentUuid": null,
        "sessionId": "00000001-0000-4000-8000-000000000000", "timestamp": "2026-03-01T10:00:00Z",
        "cwd": "/w/app", "version": "2.1.0", "isSidechain": false, "userType": "external",
        "message": {"role": "user", "content": format!("the key AWS_ACCESS_KEY_ID={key} leaks")}});
    let path =
        machine.home().join(".claude/projects/-w-app/00000001-0000-4000-8000-000000000000.jsonl");
    backstory_testkit::write_file(&path, format!("{record}\n").as_bytes());
    assert!(machine.out(&["search", "leaks"]).contains(&key));
    for format in [&["--json"][..], &[], &["--sort", "time"]] {
        let redacted = machine.out(&[&["search", "leaks", "--redact"], format].concat());
        assert!(!redacted.contains(&key) && redacted.contains("redacted"), "{redacted}");
    }
}
