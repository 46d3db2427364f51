//! Several roots: their order says nothing, and what is named twice counts once.

use crate::repo_fixture::{RepoFixture, TIDES};
use backstory_testkit::write_file;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A session of `2.0`: its file, and a subagent's next to it. Both write a file of the repository.
fn put_session(fixture: &RepoFixture, folder: &str, number: u64) -> String {
    let id = format!("5c1a7e52-0000-4000-8000-{number:012}");
    let cwd = fixture.repo().canonicalize().unwrap().display().to_string();
    let agent = format!("a{number:07}");
    for (at, name) in [(0, id.clone()), (1, format!("agent-{agent}"))] {
        let record = |parent: Option<u64>, kind: &str, message: Value, structured: Value| {
            let uuid = |uuid: u64| format!("5c1a7e52-{number:04}-4000-900{at}-{uuid:012}");
            let mut record = json!({"type": kind, "uuid": uuid(parent.map_or(0, |at| at + 1)),
                "parentUuid": parent.map(uuid), "sessionId": id, "cwd": cwd, "version": "2.0.14",
                "isSidechain": at == 1, "userType": "external", "message": message,
                "timestamp": format!("2026-03-01T10:{number:02}:0{at}.000Z")});
            if at == 1 {
                record["agentId"] = json!(agent);
            }
            if !structured.is_null() {
                record["toolUseResult"] = structured;
            }
            record.to_string() + "\n"
        };
        let path = format!("{cwd}/src/tides-{number}-{at}.rs");
        let text = TIDES.replace("tide_at", &format!("tide_{number}_{at}_at"));
        let call = json!({"id": format!("msg_{number}_{at}"), "role": "assistant",
            "model": "claude-opus-5", "stop_reason": "tool_use",
            "usage": {"input_tokens": 10, "output_tokens": 10}, "content": [
                {"type": "tool_use", "id": format!("toolu_{number}_{at}"), "name": "Write",
                 "input": {"file_path": path, "content": text}}]});
        let result = json!({"role": "user", "content": [{"type": "tool_result",
            "tool_use_id": format!("toolu_{number}_{at}"), "content": "File created"}]});
        let structured = json!({"type": "create", "filePath": path, "content": text,
            "structuredPatch": [], "originalFile": null});
        let prompt = json!({"role": "user", "content": format!("Write number {number}")});
        let lines = record(None, "user", prompt, Value::Null)
            + &record(Some(0), "assistant", call, Value::Null)
            + &record(Some(1), "user", result, structured);
        write_file(
            &fixture.machine.home().join(folder).join(format!("{name}.jsonl")),
            lines.as_bytes(),
        );
        fixture.put(&format!("src/tides-{number}-{at}.rs"), &text);
    }
    id
}

fn orders<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    match items.split_first() {
        None => vec![Vec::new()],
        Some((first, rest)) => orders(rest)
            .into_iter()
            .flat_map(|order| {
                (0..=order.len()).map(move |at| [&order[..at], &order[at..]].map(<[T]>::to_vec))
            })
            .map(|[before, after]| [before, vec![first.clone()], after].concat())
            .collect(),
    }
}

/// The answers of all commands, in any order.
fn answers(fixture: &RepoFixture, roots: &[&str]) -> Vec<BTreeSet<String>> {
    let commands: [&[&str]; 8] = [
        &["ls", "--json"],
        &["stats", "--json"],
        &["--json"],
        &["blame", "work/src/tides-1-1.rs", "--json"],
        &["log", "--all", "--json"],
        &["link", "--repo", "work", "--range", "main", "--json"],
        &["export", "--to", "atif", "--raw", "--no-git"],
        &["check", "--json"],
    ];
    let named: Vec<&str> = roots.iter().flat_map(|root| ["--root", root]).collect();
    let answer = |command: &&[&str]| {
        let ran = fixture.machine.run(&[command, named.as_slice()].concat());
        assert!(matches!(ran.code, Some(0 | 1)), "{command:?} {roots:?}: {}", ran.stderr);
        // The overview names the roots themselves, as they were given.
        let without_roots = |line: &str| match line.split_once("\"roots\":[") {
            Some((before, after)) => {
                before.to_owned() + after.split_once(']').map_or("", |(_, after)| after)
            }
            None => line.to_owned(),
        };
        ran.stdout.lines().chain(ran.stderr.lines()).map(without_roots).collect()
    };
    commands.iter().map(answer).collect()
}

fn figure(fixture: &RepoFixture, roots: &[&str], key: &str) -> u64 {
    let named: Vec<&str> = roots.iter().flat_map(|root| ["--root", root]).collect();
    let answer = &fixture.machine.json(&[&["--json"], named.as_slice()].concat())[0];
    answer[key].as_u64().unwrap_or_else(|| panic!("{key}: {answer}"))
}

#[test]
fn the_order_of_roots_changes_no_answer() {
    let fixture = RepoFixture::new();
    put_session(&fixture, "a/projects/one", 1);
    put_session(&fixture, "a/projects/one", 2);
    let third = put_session(&fixture, "b", 3);
    put_session(&fixture, "b", 4);
    fixture.commit("Add tides", "2026-03-01T11:00:00Z");
    let file = format!("b/{third}.jsonl");
    for roots in [
        &["a", file.as_str()][..],
        &["a", file.as_str(), "b"],
        &["b/agent-a0000004.jsonl", "a", file.as_str()],
        &["a/projects/one/agent-a0000001.jsonl", "a", file.as_str()],
    ] {
        let first = answers(&fixture, roots);
        for order in orders(roots) {
            for (answer, wanted) in answers(&fixture, &order).iter().zip(&first) {
                let different: Vec<&String> = answer.symmetric_difference(wanted).collect();
                assert!(different.is_empty(), "{order:?}: {different:#?}");
            }
        }
    }
    assert_eq!(figure(&fixture, &["a", &file], "subagents"), 3);
    assert_eq!(figure(&fixture, &[&file, "a"], "subagents"), 3);
}

#[cfg(unix)]
#[test]
fn a_root_that_is_named_twice_counts_once() {
    let fixture = RepoFixture::new();
    let home = fixture.machine.home().canonicalize().unwrap();
    let first = put_session(&fixture, "a/projects/one", 1);
    write_file(&home.join("a/projects/one/00000000-0000-4000-8000-000000000000.jsonl"), b"");
    fixture.commit("Add tides", "2026-03-01T11:00:00Z");
    let file = format!("a/projects/one/{first}.jsonl");
    std::os::unix::fs::symlink(home.join("a"), home.join("link")).unwrap();
    std::os::unix::fs::symlink(home.join(&file), home.join("named.jsonl")).unwrap();
    let absolute = home.join("a").display().to_string();
    for other in
        ["a", "./a", "link", "work/../a", "a/projects/one", &absolute, &file, "named.jsonl"]
    {
        for roots in [["a", other], [other, "a"]] {
            for (key, wanted) in [("sessions", 1), ("subagents", 1), ("empty_files", 1)] {
                assert_eq!(figure(&fixture, &roots, key), wanted, "{key} {roots:?}");
            }
            let named = ["--root", roots[0], "--root", roots[1]];
            let stats = &fixture.machine.json(&[&["stats", "--json"][..], &named].concat())[0];
            assert_eq!(stats["total"]["messages"], 2, "{roots:?}: {stats}");
        }
    }
    // By a link alone, too, a session has its subagents.
    assert_eq!(figure(&fixture, &["named.jsonl"], "subagents"), 1);
    // A session that is found by one name is meant by each.
    let shown = fixture.machine.run(&["show", &file, "--root", &absolute, "--format", "json"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
}
