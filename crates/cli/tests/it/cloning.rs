//! `backstory clone`

use crate::support::{Machine, Ran, assert_documented, assert_valid};
use backstory_testkit::{testdata, write_file};
use serde_json::Value;
use std::path::{Path, PathBuf};

const TIDES: &str = "bf74c68e-c847-4cdb-aade-68b60fc0dfa8";
const CSV: &str = "18502db4-a47e-4157-a02f-f65985707de1";

fn project(machine: &Machine, key: &str) -> PathBuf {
    machine.home().join(".claude/projects").join(key)
}

fn made(machine: &Machine, arguments: &[&str]) -> Value {
    let words = [&["clone", "--json"], arguments].concat();
    machine.json(&words).remove(0)
}

/// The path that a report names, with the home folder put back.
fn path_of(machine: &Machine, report: &Value) -> PathBuf {
    let path = report["path"].as_str().unwrap();
    PathBuf::from(path.replace("[HOME]", &machine.home().to_string_lossy()))
}

fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn clone_is_next_to_its_source_and_prints_how_to_resume() {
    let machine = Machine::with_sample();
    let folder = project(&machine, "-home-dev-tidewatch");
    let source = std::fs::read(folder.join(format!("{TIDES}.jsonl"))).unwrap();
    let before = names(&folder);
    let out = machine.out(&["clone", "bf74", "--preset", "extreme"]);
    let new: Vec<String> =
        names(&folder).into_iter().filter(|name| !before.contains(name)).collect();
    assert_eq!(new.len(), 1);
    let id = new[0].strip_suffix(".jsonl").unwrap();
    assert!(out.contains(&format!("cd /home/dev/tidewatch && claude --resume {id}")), "{out}");
    assert!(
        out.contains("Tides on the wrong day (clone)") && out.contains("9 tool calls removed"),
        "{out}"
    );
    assert_eq!(std::fs::read(folder.join(format!("{TIDES}.jsonl"))).unwrap(), source);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(folder.join(&new[0])).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let all = records(&folder.join(&new[0]));
    assert!(all.iter().all(|record| record["sessionId"] == id));
    let rows = all.iter().filter(|record| record["uuid"].is_string());
    assert!(rows.clone().all(|row| row["forkedFrom"]["sessionId"] == TIDES));
    let blocks = rows.filter_map(|row| row["message"]["content"].as_array()).flatten();
    assert!(blocks.clone().count() > 0 && blocks.clone().all(|block| block["type"] == "text"));
    let last = all.last().unwrap();
    assert_eq!(
        (&last["type"], &last["customTitle"]),
        (&"custom-title".into(), &"Tides on the wrong day (clone)".into())
    );
    let verified = machine.out(&["clone", "--verify", id]);
    assert!(verified.contains("the same byte for byte"), "{verified}");
    assert_eq!(machine.out(&["check", id]), "1 session: 1 clean\n");
}

#[test]
fn clone_writes_nothing_in_a_dry_run() {
    let machine = Machine::with_sample();
    let folder = project(&machine, "-home-dev-tidewatch");
    let before = names(&folder);
    let report = made(&machine, &["bf74", "--preset", "heavy-trim", "--dry-run"]);
    assert_eq!((&report["written"], names(&folder)), (&false.into(), before));
    assert_eq!(report["schema"], "backstory.clone/1");
    assert_eq!(report["counts"]["calls"], 9);
    assert!(report["counts"]["calls_truncated"].as_u64() > Some(0), "{}", report["counts"]);
    assert!(report["after"]["tokens"].as_u64() < report["before"]["tokens"].as_u64());
}

#[test]
fn tools_are_chosen_by_turn_and_by_name() {
    let machine = Machine::with_sample();
    let calls = |words: &[&str]| {
        let report = made(&machine, &[&["bf74", "--dry-run"], words].concat());
        let count = |name: &str| report["counts"][name].as_u64().unwrap();
        (count("calls"), count("calls_truncated"), count("calls_removed"))
    };
    assert_eq!(calls(&[]), (9, 0, 0));
    assert_eq!(calls(&["--tools", "remove"]), (0, 0, 9));
    assert_eq!(calls(&["--keep-tool-turns", "2"]), (9, 0, 0));
    let (kept, _, removed) = calls(&["--keep-tool-turns", "1"]);
    assert!(kept > 0 && removed > 0 && kept + removed == 9);
    assert_eq!(calls(&["--tool-percent", "50"]), (kept, 0, removed));
    let (_, truncated, removed) =
        calls(&["--tools", "remove", "--tools-for", "Bash=truncate,Edit=keep"]);
    assert!(removed > 0 && truncated + removed < 9, "{truncated} {removed}");
    let (kept, truncated, removed) = calls(&["--truncate-percent", "100"]);
    assert!((kept, removed) == (9, 0) && truncated > 0, "{truncated}");
}

#[test]
fn the_end_of_a_clone_can_be_named() {
    let machine = Machine::with_sample();
    let one = made(&machine, &["bf74", "--up-to", "1", "--dry-run"]);
    assert_eq!(one["counts"]["turns"], 1);
    let all = made(&machine, &["bf74", "--dry-run"]);
    let messages = all["messages"].as_array().unwrap();
    let end = messages[3]["source_uuid"].as_str().unwrap();
    let four = made(&machine, &["bf74", "--up-to", end, "--dry-run"]);
    assert_eq!(four["messages"].as_array().unwrap().last().unwrap()["source_uuid"], end);
    let compacted = made(&machine, &["59ab", "--since-compaction", "--dry-run"]);
    let whole = made(&machine, &["59ab", "--all-branches", "--dry-run"]);
    assert!(compacted["after"]["records"].as_u64() < whole["after"]["records"].as_u64());
}

#[test]
fn subagents_go_along_under_the_new_id() {
    let machine = Machine::with_sample();
    let report = made(&machine, &[CSV, "--with-subagents"]);
    let (path, id) = (path_of(&machine, &report), report["id"].as_str().unwrap());
    let agents = path.with_extension("").join("subagents");
    assert_eq!(report["counts"]["subagents"], 1);
    assert_eq!(
        names(&agents).len(),
        names(&project(&machine, "-home-dev-tidewatch").join(CSV).join("subagents")).len()
    );
    for record in records(&agents.join("agent-a4c8e1f20b7d93561.jsonl")) {
        assert_eq!(record["sessionId"], id);
    }
    let shown = machine.json(&["show", id, "--format", "json"]).remove(0);
    assert_eq!(shown["subagents"].as_array().unwrap().len(), 1);
    // Its lineage is a record of a type that no client writes.
    let grave = |problem: &&Value| problem["severity"] != "info";
    assert_eq!(shown["problems"].as_array().unwrap().iter().filter(grave).count(), 0);
    // A clone without the call has no use for its agent.
    let without = made(&machine, &[CSV, "--with-subagents", "--tools", "remove"]);
    assert_eq!(without["counts"]["subagents_left"], 1);
    assert!(!path_of(&machine, &without).with_extension("").exists());
}

#[test]
fn another_place_can_be_named() {
    let machine = Machine::with_sample();
    let report = made(&machine, &["bf74", "--project", "elsewhere/my.app"]);
    let path = path_of(&machine, &report);
    let key = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    assert!(key.ends_with("-elsewhere-my-app"), "{key}");
    let folder = report["folder"].as_str().unwrap();
    assert!(
        records(&path)
            .iter()
            .filter_map(|record| record["cwd"].as_str())
            .all(|cwd| cwd.starts_with(folder)
                || cwd.starts_with(&folder.replace("[HOME]", &machine.home().to_string_lossy())))
    );
    assert_eq!(machine.out(&["check", report["id"].as_str().unwrap()]), "1 session: 1 clean\n");

    let out = machine.home().join("copies");
    std::fs::DirBuilder::new().create(&out).unwrap();
    let report = made(&machine, &["bf74", "--out", "copies/"]);
    assert_eq!(names(&out), [format!("{}.jsonl", report["id"].as_str().unwrap())]);
    let ran = machine.run(&["clone", "bf74", "--out", "copies/mine.jsonl"]);
    assert_eq!(ran.code, Some(0));
    assert!(!ran.stdout.contains("--resume"), "{}", ran.stdout);
    assert!(ran.stderr.contains("and be named"), "{}", ran.stderr);
    let again = machine.run(&["clone", "bf74", "--out", "copies/mine.jsonl"]);
    assert_eq!(again.code, Some(2));
    insta::assert_snapshot!(again.stderr, @r"
    error: `copies/mine.jsonl`: exists already
    hint: name a file that does not exist, or a folder
    ");
}

#[test]
fn a_clone_of_a_clone_knows_its_ancestors() {
    let machine = Machine::with_sample();
    let first = made(&machine, &["bf74", "--preset", "default"]);
    let first = first["id"].as_str().unwrap();
    let second = made(&machine, &[first, "--preset", "default"]);
    assert_eq!(second["title"], "Tides on the wrong day (clone)");
    let proof =
        machine.json(&["clone", "--verify", second["id"].as_str().unwrap(), "--json"]).remove(0);
    assert_eq!(proof["proof"]["outcome"], "same");
    assert_eq!(proof["lineage"]["source"]["session"], first);
    assert_eq!(proof["lineage"]["source"]["ancestors"], serde_json::json!([TIDES]));
}

#[test]
fn a_clone_that_was_changed_is_found_out() {
    let machine = Machine::with_sample();
    let report = made(&machine, &["bf74", "--preset", "default"]);
    let path = path_of(&machine, &report);
    let text = std::fs::read_to_string(&path).unwrap();
    write_file(&path, format!("{text}{{\"type\":\"mode\",\"sessionId\":\"x\"}}\n").as_bytes());
    let grown = machine.json(&["clone", "--verify", &path.to_string_lossy(), "--json"]).remove(0);
    assert_eq!(grown["proof"]["outcome"], "same-and-more");
    write_file(&path, text.replacen("wrong day", "right day", 1).as_bytes());
    let ran = machine.run(&["clone", "--verify", &path.to_string_lossy()]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("it differs from byte"), "{}", ran.stdout);
    let plain = machine.json(&["clone", "--verify", TIDES, "--json"]).remove(0);
    assert_eq!(plain["proof"]["outcome"], "no-lineage");
}

fn shout(machine: &Machine, program: &str, more: &[&str]) -> Value {
    let words = [
        "bf74",
        "--dry-run",
        "--band",
        "0-100:compress",
        "--include-user",
        "--summarizer",
        program,
    ];
    made(machine, &[&words[..], more].concat())
}

#[cfg(unix)]
#[test]
fn texts_can_be_compressed_by_a_program() {
    let machine = Machine::with_sample();
    let long = "The tide table is wrong on the first day of each month. ".repeat(20);
    let path = project(&machine, "-home-dev-tidewatch").join(format!("{TIDES}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap();
    let first = records(&path)
        .iter()
        .find_map(|record| record["message"]["content"].as_str().map(str::to_owned))
        .unwrap();
    write_file(&path, text.replacen(&first, &long, 1).as_bytes());

    let done = shout(&machine, "cat >/dev/null; echo '{\"text\":\"short\"}'", &[]);
    let texts = done["counts"]["texts_compressed"].as_u64();
    assert!(texts > Some(0), "{}", done["counts"]);
    assert_eq!(done["counts"]["texts_failed"], 0);
    for (program, more) in [
        ("exit 3", &["--summarizer-retries", "1"][..]),
        ("echo nonsense", &[]),
        ("echo '{\"text\":\"  \"}'", &[]),
        ("sleep 300", &["--summarizer-timeout", "1", "--summarizer-retries", "0"]),
        ("sleep 300 & sleep 300", &["--summarizer-timeout", "1", "--summarizer-retries", "0"]),
        ("no-such-program-at-all", &[]),
    ] {
        let began = std::time::Instant::now();
        let done = shout(&machine, program, more);
        assert_eq!(
            (done["counts"]["texts_compressed"].as_u64(), done["counts"]["texts_failed"].as_u64()),
            (Some(0), texts),
            "{program}"
        );
        assert!(!done["failures"].as_array().unwrap().is_empty());
        for what in ["prompts", "answers"] {
            assert_eq!(done["after"]["categories"][what], done["before"]["categories"][what]);
        }
        assert!(began.elapsed().as_secs() < 200, "{program}");
    }
    // The second try counts as well.
    let flaky = "test -e tried || { touch tried; exit 1; }; echo '{\"text\":\"short\"}'";
    assert_eq!(shout(&machine, flaky, &[])["counts"]["texts_compressed"].as_u64(), texts);
    // The program is given what it needs to know.
    shout(&machine, "cat >> asked.jsonl; echo '{\"text\":\"short\"}'", &[]);
    let asked = records(&machine.home().join("asked.jsonl"));
    let asked = asked.iter().find(|asked| asked["text"] == long.as_str()).unwrap();
    assert_eq!(asked["schema"], "backstory.summarize/1");
    assert_eq!((&asked["level"], &asked["role"]), (&"compress".into(), &"user".into()));
    let offline =
        made(&machine, &["bf74", "--dry-run", "--band", "0-100:compress", "--include-user"]);
    assert!(offline["counts"]["texts_compressed"].as_u64() > Some(0));
}

fn failed(machine: &Machine, arguments: &[&str]) -> Ran {
    let ran = machine.run(arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    ran
}

#[test]
fn clone_reports_what_it_cannot_do() {
    let machine = Machine::with_sample();
    insta::assert_snapshot!(failed(&machine, &["clone", "bf74", "--up-to", "9"]).stderr, @r"
    error: `[HOME]/.claude/projects/-home-dev-tidewatch/bf74c68e-c847-4cdb-aade-68b60fc0dfa8.jsonl`: turn 9: there are only 2
    hint: backstory show bf74c68e-c847-4cdb-aade-68b60fc0dfa8 --format json lists turns and uuids
    ");
    insta::assert_snapshot!(failed(&machine, &["clone", "bf74", "--since-compaction"]).stderr, @r"
    error: `[HOME]/.claude/projects/-home-dev-tidewatch/bf74c68e-c847-4cdb-aade-68b60fc0dfa8.jsonl`: the conversation was never compacted
    hint: leave out --since-compaction
    ");
    insta::assert_snapshot!(failed(&machine, &["clone", "bf74", "--band", "0-50:light", "--band", "40-60:light"]).stderr, @r"
    error: `[HOME]/.claude/projects/-home-dev-tidewatch/bf74c68e-c847-4cdb-aade-68b60fc0dfa8.jsonl`: bands 0-50:light and 40-60:light overlap
    hint: --band 0-50:heavy-compress --band 50-80:light
    ");
    assert!(
        failed(&machine, &["clone", "a4c8e1f2"])
            .stderr
            .contains("a subagent is not resumed by itself")
    );
    assert_eq!(machine.run(&["clone", "nothing-like-it"]).code, Some(1));
    for odd in [
        ["--band", "50-20:light"],
        ["--tools", "shred"],
        ["--drop", "everything"],
        ["--tools-for", "Bash"],
        ["--tool-percent", "101"],
        ["--preset", "mild"],
    ] {
        assert_eq!(failed(&machine, &[&["clone", "bf74"], &odd[..]].concat()).code, Some(2));
    }
    let broken = testdata("check/14-starts-with-answer-broken.jsonl");
    let path =
        project(&machine, "-home-dev-kiln").join("efaa041e-37e9-4ac4-93be-1871f01fb1a1.jsonl");
    write_file(&path, &std::fs::read(broken).unwrap());
    insta::assert_snapshot!(failed(&machine, &["clone", "efaa"]).stderr, @r"
    error: `[HOME]/.claude/projects/-home-dev-kiln/efaa041e-37e9-4ac4-93be-1871f01fb1a1.jsonl`: the clone would not resume: starts-with-answer: The conversation begins with an answer.
    hint: nothing was written; backstory check --explain starts-with-answer
    hint: backstory check efaa041e-37e9-4ac4-93be-1871f01fb1a1 says what is wrong with the source
    ");
    assert_eq!(names(path.parent().unwrap()).len(), 1);
}

#[test]
fn hostile_titles_stay_text() {
    let machine = Machine::with_sample();
    let ran = machine.run(&["clone", "bf74", "--title", "\u{1b}[31mred\u{7}", "--dry-run"]);
    assert_eq!(ran.code, Some(0));
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains('\u{7}'), "{:?}", ran.stdout);
}

#[test]
fn every_key_is_documented() {
    let machine = Machine::with_sample();
    let mut seen = 0;
    for session in ["bf74", "59ab", CSV, "5931", "bddf"] {
        let report = made(
            &machine,
            &[
                session,
                "--preset",
                "default",
                "--band",
                "0-100:light",
                "--with-subagents",
                "--tools-for",
                "Bash=keep",
                "--up-to",
                "1",
                "--title",
                "t",
            ],
        );
        let proof = machine
            .json(&["clone", "--verify", report["id"].as_str().unwrap(), "--json"])
            .remove(0);
        assert_valid("clone", std::slice::from_ref(&report));
        assert_valid("clone-proof", std::slice::from_ref(&proof));
        // What stands for the user's own tools is no key of ours.
        seen += assert_documented("clone-json.md", vec![report, proof], |key| key == "Bash");
    }
    assert!(seen > 500, "{seen}");
}
