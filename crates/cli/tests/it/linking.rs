//! `backstory link`, with real repositories.

use crate::repo_fixture::{RepoFixture, SESSION, TIDES, ran, wrote};
use crate::support::{assert_documented, assert_valid};
use backstory_testkit::write_file;
use serde_json::{Value, json};
use std::process::Command;

fn tiers(link: &Value) -> Vec<&str> {
    link["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|proof| proof["tier"].as_str().unwrap())
        .collect()
}

#[test]
fn a_commit_that_the_session_made() {
    let fixture = RepoFixture::new();
    let id = fixture.commits_itself();
    let (links, code) = fixture.links(&[SESSION]);
    assert_eq!((links.len(), code), (1, Some(0)), "{links:?}");
    assert_eq!((&links[0]["commit"]["id"], &links[0]["tier"]), (&json!(id), &json!("printed")));
    assert_eq!(tiers(&links[0]), ["printed", "blob", "lines"]);
    assert_eq!(links[0]["is_committed"], true);
    assert_eq!(links[0]["divergence"], 0.0);
    for arguments in [&["--commit", "HEAD"][..], &["--range", "HEAD~1..HEAD"], &["--range", "main"]]
    {
        let (links, code) = fixture.links(arguments);
        assert_eq!((links.len(), code), (1, Some(0)), "{arguments:?}: {links:?}");
        assert_eq!(links[0]["session"], SESSION);
    }
    assert_eq!(fixture.links(&["--commit", "HEAD~1"]).1, Some(1), "the first commit is nobody's");
    let text = fixture.machine.out(&["link", "--repo", "work", SESSION]);
    assert!(text.contains("printed") && text.contains("Add tides"), "{text}");
}

#[test]
fn link_ignores_an_id_that_was_only_shown() {
    let fixture = RepoFixture::new();
    fixture.put("other.txt", "Written by somebody else, long before the session looked.\n");
    let id = fixture.commit("Somebody's work", "2026-03-01T09:30:00Z");
    let said = format!("[main {}] Somebody's work\n{id} Somebody's work", &id[..7]);
    fixture.record(&[ran("git log --oneline; cat old-commit-output.txt", &said)]);
    assert_eq!(fixture.links(&[SESSION]), (Vec::new(), Some(1)));
}

#[test]
fn link_ignores_unrelated_commits() {
    let fixture = RepoFixture::new();
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    // The only later commits: another file, and the same file with other content, much later.
    fixture.put("docs/guide.md", "How to read a tide table, in five steps.\n");
    fixture.commit("Write a guide", "2026-03-01T10:05:00Z");
    fixture.put("src/tides.rs", "pub struct Harbour { name: String, depth_in_metres: f64 }\n");
    fixture.commit("Harbours", "2027-02-01T10:00:00Z");
    assert_eq!(fixture.links(&[SESSION]), (Vec::new(), Some(1)));
    assert_eq!(fixture.links(&["--range", "main"]), (Vec::new(), Some(1)));
}

#[test]
fn link_ignores_content_that_was_committed_before() {
    let fixture = RepoFixture::new();
    fixture.put("src/tides.rs", TIDES);
    fixture.commit("Add tides", "2026-03-01T09:30:00Z");
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    assert_eq!(fixture.links(&[SESSION]), (Vec::new(), Some(1)));
}

#[test]
fn link_ignores_a_session_of_another_place() {
    let fixture = RepoFixture::new();
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    // The same file, byte for byte, in another repository.
    let other = fixture.machine.home().join("other");
    std::fs::create_dir(&other).unwrap();
    let place = other.to_string_lossy().into_owned();
    fixture.git(&["init", "-q", "-b", "main", &place]);
    write_file(&other.join("src/tides.rs"), TIDES.as_bytes());
    fixture.git_at(&["-C", &place, "add", "-A"], "2026-03-01T11:00:00Z");
    fixture.git_at(&["-C", &place, "commit", "-q", "-m", "Copied"], "2026-03-01T11:00:00Z");
    let ran = fixture.machine.run(&["link", "--repo", "other", "--json", SESSION]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(1)), "{}", ran.stderr);
}

#[test]
fn lines_that_a_formatter_changed_diverge() {
    let fixture = RepoFixture::new();
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    fixture.put("src/tides.rs", &TIDES.replace("    let", "\tlet"));
    fixture.commit("Add tides, with tabs", "2026-03-02T08:00:00Z");
    let (links, _) = fixture.links(&[SESSION]);
    assert_eq!((links.len(), &links[0]["tier"]), (1, &json!("lines")));
    let proof = &links[0]["evidence"][0];
    assert_eq!((&proof["lines_exact"], &proof["lines_reformatted"]), (&json!(2), &json!(1)));
    let divergence = links[0]["divergence"].as_f64().unwrap();
    assert!((divergence - 1.0 / 3.0).abs() < 1e-9, "{divergence}");
}

#[test]
fn the_same_file_at_the_same_time_is_weak() {
    let fixture = RepoFixture::new();
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    fixture.put("src/tides.rs", "pub struct Harbour { name: String, depth_in_metres: f64 }\n");
    fixture.commit("Harbours", "2026-03-01T10:10:00Z");
    let (links, _) = fixture.links(&[SESSION]);
    assert_eq!((links.len(), &links[0]["tier"]), (1, &json!("overlap")));
    assert_eq!((&links[0]["is_committed"], &links[0]["divergence"]), (&json!(false), &Value::Null));
    let text = fixture.machine.out(&["link", "--repo", "work", SESSION]);
    assert!(text.contains("weak") && text.contains("nothing shows"), "{text}");
}

#[test]
fn a_copied_commit_is_linked_and_a_later_restoration_is_not_by_blob() {
    let fixture = RepoFixture::new();
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    fixture.put("src/tides.rs", TIDES);
    let first = fixture.commit("Add tides", "2026-03-01T10:00:30Z");
    fixture.git(&["checkout", "-q", "-b", "copy", "HEAD~1"]);
    fixture.put("NOTES", "Something before it.\n");
    fixture.commit("Notes", "2026-03-01T11:00:00Z");
    // A pick keeps the author's time and gets a committer's time of its own.
    let mut pick = Command::new("git");
    pick.current_dir(fixture.repo()).args(["cherry-pick", &first]);
    pick.env("GIT_COMMITTER_DATE", "2026-03-01T12:00:00Z").env("HOME", fixture.machine.home());
    pick.env("GIT_COMMITTER_NAME", "Tester").env("GIT_COMMITTER_EMAIL", "tester@example.com");
    assert!(pick.output().unwrap().status.success());
    let copy = fixture.git(&["rev-parse", "HEAD"]);
    fixture.git(&["rm", "-q", "src/tides.rs"]);
    fixture.commit("Remove tides", "2026-03-03T10:00:00Z");
    fixture.put("src/tides.rs", TIDES);
    let again = fixture.commit("Bring tides back", "2026-03-04T10:00:00Z");
    let (links, _) = fixture.links(&[SESSION]);
    let tier = |id: &str| {
        let link = links.iter().find(|link| link["commit"]["id"] == id);
        link.map(|link| link["tier"].as_str().unwrap())
    };
    assert_eq!((tier(&first), tier(&copy)), (Some("blob"), Some("blob")));
    assert_eq!(tier(&again), Some("lines"), "it holds the lines, but the session did not make it");
}

#[test]
fn link_runs_no_hook_or_filter_of_the_repository() {
    let fixture = RepoFixture::new();
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    fixture.put("src/tides.rs", TIDES);
    fixture.put(".gitattributes", "* diff=odd filter=odd\n");
    fixture.commit("Add tides", "2026-03-01T10:00:30Z");
    let marker = fixture.machine.home().join("ran");
    let script = fixture.machine.home().join("evil.sh");
    write_file(&script, format!("#!/bin/sh\necho \"$@\" >> '{}'\n", marker.display()).as_bytes());
    let script = format!("sh '{}'", script.display());
    for key in [
        "diff.odd.textconv",
        "diff.odd.command",
        "diff.external",
        "filter.odd.smudge",
        "filter.odd.clean",
        "filter.odd.process",
        "core.pager",
        "core.fsmonitor",
        "core.sshCommand",
        "core.editor",
        "gpg.program",
        "alias.log",
        "credential.helper",
        "core.askPass",
        "core.alternateRefsCommand",
        "core.gitProxy",
        "gpg.ssh.program",
        "gpg.ssh.defaultKeyCommand",
        "hook.odd.command",
        "interactive.diffFilter",
        "merge.odd.driver",
        "pager.blame",
        "pager.log",
        "remote.origin.uploadpack",
        "sequence.editor",
        "trailer.odd.command",
        "uploadpack.packObjectsHook",
    ] {
        fixture.git(&["config", key, &script]);
    }
    fixture.git(&["config", "log.showSignature", "true"]);
    fixture.git(&["config", "core.hooksPath", &fixture.machine.home().to_string_lossy()]);
    write_file(&fixture.machine.home().join("post-index-change"), b"#!/bin/sh\nexit 1\n");
    let run = |words: &[&str]| {
        let all = [&["link", "--repo", "work"], words].concat();
        assert_eq!(fixture.machine.run(&all).code, Some(0), "{words:?}");
    };
    run(&[SESSION]);
    run(&["--commit", "HEAD", "--note"]);
    run(&["--range", "main", "--json"]);
    assert!(!marker.exists(), "{}", std::fs::read_to_string(&marker).unwrap_or_default());
    // That the traps work at all: git itself falls into them.
    let mut plain = Command::new("git");
    plain.current_dir(fixture.repo()).args(["show", "--ext-diff", "--textconv", "HEAD"]);
    assert!(plain.env("HOME", fixture.machine.home()).output().is_ok());
    assert!(marker.exists(), "the traps are set wrongly");
}

#[test]
fn link_hook_records_notes_next_to_another_hook() {
    let fixture = RepoFixture::new();
    let hook = fixture.repo().join(".git/hooks/post-commit");
    let own = "#!/bin/sh\ntouch hook-ran\nexit 0\n";
    write_file(&hook, own.as_bytes());
    assert!(Command::new("chmod").arg("+x").arg(&hook).status().unwrap().success());
    let run = |words: &[&str]| {
        let all = [&["link"], words, &["--repo", "work"]].concat();
        fixture.machine.run(&all)
    };
    assert_eq!(run(&["status"]).code, Some(1));
    assert_eq!(run(&["install"]).code, Some(2), "nobody said yes");
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), own);
    let shown = run(&["install", "--yes"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("link --commit HEAD --note"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("--root"), "{}", shown.stdout);
    assert_eq!(run(&["install", "--yes"]).code, Some(0));
    assert_eq!(run(&["status"]).code, Some(0));
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    fixture.put("src/tides.rs", TIDES);
    fixture.commit("Add tides", "2026-03-01T10:00:30Z");
    assert!(fixture.repo().join("hook-ran").exists(), "the other hook still runs");
    let note = fixture.git(&["notes", "--ref", "backstory", "show", "HEAD"]);
    let note: Value = serde_json::from_str(&note).unwrap();
    assert_eq!(note["schema"], "backstory.link-note/1");
    assert_eq!(
        (&note["sessions"][0]["session"], &note["sessions"][0]["tier"]),
        (&json!(SESSION), &json!("blob"))
    );
    assert!(!note.to_string().contains(&*fixture.machine.home().to_string_lossy()), "{note}");
    assert_eq!(
        fixture.git(&["status", "--porcelain"]),
        "?? hook-ran",
        "nothing of ours in the tree"
    );
    assert_eq!(run(&["uninstall", "--yes"]).code, Some(0));
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), own);
    assert_eq!(run(&["uninstall", "--yes"]).code, Some(1));
}

#[test]
fn configured_hook_folders_are_respected() {
    let fixture = RepoFixture::new();
    let run = |words: &[&str]| {
        let all = [&["link"], words, &["--repo", "work", "--yes"]].concat();
        fixture.machine.run(&all)
    };
    fixture.git(&["config", "core.hooksPath", ".husky"]);
    let refused = run(&["install"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("hint: add this line"), "{}", refused.stderr);
    assert!(!fixture.repo().join(".husky").exists());
    let shared = fixture.machine.home().join("hooks");
    fixture.git(&["config", "core.hooksPath", &shared.to_string_lossy()]);
    let there = run(&["install"]);
    assert_eq!(there.code, Some(0));
    assert!(there.stderr.contains("other repositories"), "{}", there.stderr);
    assert!(shared.join("post-commit").is_file());
    let rooted = run(&["install", "--root", "other place"]);
    assert!(rooted.stdout.contains(" --root '[HOME]/other place' link"), "{}", rooted.stdout);
    assert_eq!(run(&["uninstall"]).code, Some(0));
    assert!(!shared.join("post-commit").exists(), "a file that held only our lines goes");
    fixture.git(&["config", "--unset", "core.hooksPath"]);
    write_file(
        &fixture.repo().join(".git/hooks/post-commit"),
        b"#!/usr/bin/env python3\nprint()\n",
    );
    let refused = run(&["install"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("no shell script"), "{}", refused.stderr);
}

#[test]
fn wrong_use_gets_a_hint() {
    let fixture = RepoFixture::new();
    for (arguments, code, wanted) in [
        (&["link"][..], 2, "no git repository"),
        (&["link", "--repo", "work"], 2, "nothing is named"),
        (&["link", "--repo", "work", "--commit", "nowhere"], 2, "no such commit"),
        (&["link", "--repo", "work", "--range", "--output=x"], 2, ""),
        (&["link", "--repo", "work", "--range=--output=x"], 2, "no such commit"),
        (&["link", "--repo", "work", "--commit=--output=x"], 2, "no such commit"),
    ] {
        let ran = fixture.machine.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(wanted), "{arguments:?}: {}", ran.stderr);
    }
    assert!(!fixture.repo().join("x").exists());
}

#[test]
fn every_key_is_documented() {
    let fixture = RepoFixture::new();
    fixture.put("src/tides.rs", TIDES);
    let id = fixture.commit("Add tides", "2026-03-01T10:00:30Z");
    let said = format!("[main {}] Add tides", &id[..7]);
    fixture.record(&[wrote("src/tides.rs", TIDES), ran("git commit -m 'Add tides'", &said)]);
    let (mut values, _) = fixture.links(&["--commit", "HEAD", "--note"]);
    assert_valid("link", &values);
    let note = fixture.git(&["notes", "--ref", "backstory", "show", "HEAD"]);
    let note: serde_json::Value = serde_json::from_str(&note).unwrap();
    assert_valid("link-note", std::slice::from_ref(&note));
    values.push(note);
    assert!(assert_documented("link-json.md", values, |_| false) > 20);
}
