//! `backstory ls`

use crate::support::{Machine, assert_documented};
use backstory_testkit::{testdata, write_file};

#[test]
fn the_table() {
    insta::assert_snapshot!(Machine::with_sample().out(&["ls"]), @r"
    id        title                                                              project      branch             model       turns  calls  tokens   time  last
    5931ab08  Make saving notes atomic                                           field-notes  main               opus-5-5        2      4    105k  1 min  2026-10-21
    bf74c68e  Tides on the wrong day                                             tidewatch    fix/page-boundary  opus-5          2      9    221k  2 min  2026-08-19
    18502db4  Add a --csv switch that prints the readings as CSV. Look first …   tidewatch    main               sonnet-4-6      1      4    100k  1 min  2026-04-02
    59aba946  Calm the humidity alert with hysteresis                            greenhouse   main               opus-4-6        3      5   ≥662k  2 min  2026-02-20
    8ea9873d  Write a simulation of the heater so that I can test the …          greenhouse   heater             sonnet-4-5      2      2  ≥54.2k  1 min  2025-11-27
    bddf24f2  Rename NoteItem to Note                                            field-notes  main               sonnet-4        1      2  ≥32.9k   24 s  2025-08-12
    ");
}

#[test]
fn filters_narrow_and_sorting_orders() {
    let machine = Machine::with_sample();
    let ids = |arguments: &[&str]| {
        let all = [&["ls", "--json"], arguments].concat();
        let rows = machine.json(&all);
        rows.iter().map(|row| row["id"].as_str().unwrap()[..8].to_owned()).collect::<Vec<_>>()
    };
    let newest = ids(&[]);
    assert_eq!(newest.len(), 6);
    let mut oldest = ids(&["--reverse"]);
    oldest.reverse();
    assert_eq!(newest, oldest);
    assert_eq!(ids(&["--limit", "2"]), newest[..2]);
    assert_eq!(ids(&["--since", "2026-01-01"]).len() + ids(&["--until", "2025-12-31"]).len(), 6);
    assert_eq!(ids(&["--model", "OPUS-5-5"]), ["5931ab08"]);
    assert_eq!(ids(&["--grep-title", "ATOMIC"]), ["5931ab08"]);
    assert_eq!(ids(&["--agent", "claude-code"]).len(), 6);
    let tokens: Vec<u64> = machine
        .json(&["ls", "--json", "--sort", "tokens"])
        .iter()
        .map(|row| {
            ["input", "output", "cache_read", "cache_write"]
                .iter()
                .map(|key| row["tokens"][key].as_u64().unwrap())
                .sum()
        })
        .collect();
    assert!(tokens.is_sorted_by(|a, b| a >= b), "{tokens:?}");
}

#[test]
fn a_project_is_chosen_by_where_records_were_made() {
    let machine = Machine::with_sample();
    let all = machine.json(&["ls", "--json"]);
    let project = all[0]["project"].as_str().unwrap();
    let inside = all.iter().filter(|row| row["project"] == project).count();
    assert_eq!(machine.json(&["ls", "--json", "--project", project]).len(), inside);
    assert_eq!(machine.json(&["ls", "--json", project]).len(), inside);
    assert_eq!(machine.json(&["ls", "--json", "--fast", project]).len(), inside);
}

#[test]
fn worktrees_of_the_repository_belong_to_the_project() {
    let machine = Machine::empty();
    let home = machine.home().to_owned();
    write_file(
        &home.join("repo/.git/worktrees/side/gitdir"),
        format!("{}/side/.git\n", home.display()).as_bytes(),
    );
    write_file(
        &home.join("side/.git"),
        format!("gitdir: {}/repo/.git/worktrees/side\n", home.display()).as_bytes(),
    );
    write_file(&home.join("repo/.git/worktrees/side/commondir"), b"../..\n");
    for (number, folder) in [(1, "repo"), (2, "side"), (3, "repo2"), (4, "repo/src")] {
        let id = format!("{number:08}-0000-4000-8000-000000000000");
        let record = serde_json::json!({
            "type": "user", "uuid": id, "sessionId": id, "cwd": home.join(folder),
            "message": { "role": "user", "content": "hi" },
        });
        write_file(
            &home.join(format!(".claude/projects/any/{id}.jsonl")),
            format!("{record}\n").as_bytes(),
        );
    }
    let ids = |path: &str| {
        let mut ids: Vec<String> = machine
            .json(&["ls", "--json", "--project", path])
            .iter()
            .map(|row| row["id"].as_str().unwrap()[7..8].to_owned())
            .collect();
        ids.sort();
        ids.concat()
    };
    assert_eq!(ids("repo"), "124");
    assert_eq!(ids("side"), "124");
    assert_eq!(ids("repo/src"), "4");
    assert_eq!(ids("repo2"), "3");
}

#[test]
fn fast_rows_never_contradict_full_rows() {
    let machine = Machine::empty();
    for root in ["sample", "sessions", "trees"] {
        let root = testdata(root);
        let root = root.to_str().unwrap();
        let fast = machine.json(&["ls", "--json", "--fast", "--quiet", "--root", root]);
        let full = machine.json(&["ls", "--json", "--quiet", "--root", root]);
        assert_eq!(fast.len(), full.len());
        for row in fast {
            let whole = full.iter().find(|whole| whole["path"] == row["path"]).unwrap();
            for (key, value) in row.as_object().unwrap() {
                assert!(
                    value.is_null() || *value == whole[key],
                    "{}: {key}: {value} and {}",
                    row["path"],
                    whole[key]
                );
            }
        }
    }
}

#[test]
fn subagents_are_listed_on_request() {
    let machine = Machine::with_sample();
    let rows = machine.json(&["ls", "--all", "--json"]);
    assert_eq!(rows.len(), 8);
    assert_eq!(rows.iter().filter(|row| row["kind"] == "task").count(), 2);
}

#[test]
fn ls_gives_a_hint_if_it_finds_nothing() {
    let machine = Machine::with_sample();
    let ran = machine.run(&["ls", "--grep-title", "no such thing"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    insta::assert_snapshot!(ran.stderr, @r"
    error: none of 6 sessions matches
    hint: leave out a filter
    ");
    let ran = machine.run(&["ls", "--since", "soon"]);
    assert_eq!(ran.code, Some(2));
    insta::assert_snapshot!(ran.stderr, @r"
    error: --since `soon`: not a time
    hint: give a day (2026-01-31, today, yesterday), a time (2026-01-31T09:30) or an age (3d, 12h, 2w)
    ");
    assert_eq!(Machine::empty().run(&["ls"]).code, Some(1));
}

#[test]
fn hostile_text_stays_text() {
    let machine = Machine::empty();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}x\r\u{8}";
    let record = serde_json::json!({
        "type": "user", "uuid": "u", "sessionId": "s", "cwd": format!("/{evil}"), "gitBranch": evil, "version": evil,
        "message": { "role": "user", "content": evil },
    });
    let answer = serde_json::json!({
        "type": "assistant", "uuid": "v", "parentUuid": "u", "sessionId": "s",
        "message": { "id": "m", "role": "assistant", "model": evil, "content": [{ "type": "text", "text": evil }] },
    });
    let id = "11111111-1111-4111-8111-111111111111";
    write_file(
        &machine.home().join(format!(".claude/projects/p/{id}.jsonl")),
        format!("{record}\n{answer}\n").as_bytes(),
    );
    for arguments in [
        &["ls"][..],
        &["ls", "--json"],
        &[],
        &["--json"],
        &["show", id],
        &["ls", "--fast"],
        &["show", evil],
    ] {
        let ran = machine.run(&[arguments, &["--color", "never"]].concat());
        for text in [&ran.stdout, &ran.stderr] {
            let bad = text.chars().find(|character| {
                *character != '\n' && backstory_text::escape::is_unsafe(*character)
            });
            assert_eq!(bad, None, "{arguments:?}");
        }
    }
}

#[test]
fn sessions_of_one_file_are_always_in_the_same_order() {
    let machine = Machine::empty();
    let row = |id: &str| {
        serde_json::json!({ "instance_id": id, "messages": [{ "role": "user", "content": "Mend it" }] })
            .to_string()
            + "\n"
    };
    let rows: String = ["c", "a", "d", "b"].map(row).concat();
    write_file(&machine.home().join("rows.jsonl"), rows.as_bytes());
    for sort in ["last", "started", "turns", "tokens", "title", "project"] {
        for fast in [&[][..], &["--fast"]] {
            let arguments = [&["ls", "rows.jsonl", "--json", "--sort", sort], fast].concat();
            let listed = machine.json(&arguments);
            let ids: Vec<&str> = listed.iter().map(|row| row["id"].as_str().unwrap()).collect();
            assert_eq!(ids, ["a", "b", "c", "d"], "--sort {sort} {fast:?}");
        }
    }
}

#[test]
fn every_key_is_documented() {
    let machine = Machine::with_sample();
    let mut values = machine.json(&["ls", "--all", "--json"]);
    values.extend(machine.json(&["ls", "--fast", "--json"]));
    assert!(assert_documented("ls-json.md", values, |_| false) > 20 * 14);
    let overview = machine.json(&["--json"]);
    let own = ["projects", "models", "agents", "versions", "problems"];
    let words: Vec<String> = own
        .iter()
        .flat_map(|name| overview[0][name].as_object().unwrap().keys().cloned())
        .collect();
    assert!(
        assert_documented("ls-json.md", overview, |key| words.iter().any(|word| word == key)) > 20
    );
}

/// On a terminal with fewer rows than there are sessions.
#[cfg(target_os = "linux")]
#[test]
fn long_lists_go_through_the_pager_with_its_options() {
    let machine = Machine::with_sample();
    let less = machine.home().join("bin/less");
    write_file(&less, b"#!/bin/sh\necho \"pager $@\"\nexec /bin/cat\n");
    std::fs::set_permissions(&less, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let binary = env!("CARGO_BIN_EXE_backstory");
    let run = |rows: u8, command: &str| {
        let line = format!("stty rows {rows} cols 100; '{binary}' {command}");
        let output = std::process::Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env("HOME", machine.home())
            .env("PAGER", &less)
            .env("LESS", "-i")
            .env_remove("CLAUDE_CONFIG_DIR")
            .current_dir(machine.home())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    for command in ["ls", "stats", "ls --all --sort tokens"] {
        let shown = run(4, command);
        assert!(shown.starts_with("pager -R -S"), "{command}: {shown}");
    }
    let shown = run(50, "ls");
    assert!(!shown.contains("pager") && shown.contains("Make saving notes"), "{shown}");
}
