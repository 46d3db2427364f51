//! No output of any command replaces what is read, reaches an agent's folder or follows a link.

use crate::replaying::{ReplayFixture, script, states};
use crate::support::Machine;
use backstory_testkit::{copy_tree, testdata, write_file};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// What an option that names a path is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Reads,
    /// A new session, which alone may lie in its agent's folder, never in place of another file.
    NewFile,
    File,
    Folder,
    Either,
}

/// Every option that takes a path, by command; and for outputs a way to call it.
const OPTIONS: &[(&str, &str, Use, &[&str])] = &[
    ("", "--root", Use::Reads, &[]),
    ("ls", "--project", Use::Reads, &[]),
    ("show", "--project", Use::Reads, &[]),
    ("open", "--project", Use::Reads, &[]),
    ("resume", "--project", Use::Reads, &[]),
    ("spec", "--project", Use::Reads, &[]),
    ("search", "--project", Use::Reads, &[]),
    ("stats", "--project", Use::Reads, &[]),
    ("check", "--project", Use::Reads, &[]),
    ("link", "--project", Use::Reads, &[]),
    ("log", "--project", Use::Reads, &[]),
    ("export", "--project", Use::Reads, &[]),
    ("redact", "--project", Use::Reads, &[]),
    ("replay", "--project", Use::Reads, &[]),
    ("show", "--out", Use::Either, &["show", "w/s.jsonl", "--out", "OUT"]),
    ("show", "--out", Use::Folder, &["show", "--all", "w", "--out", "OUT"]),
    ("spec", "--out", Use::File, &["spec", "w/s.jsonl", "--out", "OUT"]),
    ("spec", "--out", Use::File, &["spec", "w", "--format", "json", "--out", "OUT"]),
    ("spec", "--out", Use::File, &["spec", "--compare", "known", "w", "--out", "OUT"]),
    ("spec", "--out", Use::File, &["spec", "w/s.jsonl", "--drift", "--out", "OUT"]),
    ("spec", "--save-profile", Use::File, &["spec", "w/s.jsonl", "--save-profile", "OUT"]),
    ("spec", "--profile", Use::Reads, &[]),
    ("spec", "--base", Use::Reads, &[]),
    ("stats", "--prices", Use::Reads, &[]),
    ("clone", "--out", Use::NewFile, &["clone", "w/s.jsonl", "--out", "OUT"]),
    ("clone", "--project", Use::Reads, &[]),
    ("clone", "--verify", Use::Reads, &[]),
    ("link", "--repo", Use::Reads, &[]),
    ("link", "--recorded-as", Use::Reads, &[]),
    ("link install", "--repo", Use::Reads, &[]),
    ("link uninstall", "--repo", Use::Reads, &[]),
    ("link status", "--repo", Use::Reads, &[]),
    ("capture", "--project", Use::Reads, &[]),
    ("capture", "--out", Use::Folder, &["capture", "--session", "w/s.jsonl", "--out", "OUT"]),
    (
        "capture install",
        "--out",
        Use::Folder,
        &["capture", "install", "--yes", "--settings", "w/settings.json", "--out", "OUT"],
    ),
    (
        "capture install",
        "--settings",
        Use::File,
        &["capture", "install", "--yes", "--out", "traces", "--settings", "OUT"],
    ),
    (
        "capture uninstall",
        "--settings",
        Use::File,
        &["capture", "uninstall", "--yes", "--settings", "OUT"],
    ),
    ("capture status", "--settings", Use::Reads, &[]),
    ("blame", "--recorded-as", Use::Reads, &[]),
    ("log", "--recorded-as", Use::Reads, &[]),
    ("annotate", "--config", Use::Reads, &[]),
    ("annotate", "--recorded-as", Use::Reads, &[]),
    ("export", "--out", Use::Either, &["export", "w/s.jsonl", "--to", "atif", "--out", "OUT"]),
    ("export", "--out", Use::File, &["export", "w", "--to", "sft", "--parquet", "--out", "OUT"]),
    ("export", "--stats", Use::File, &["export", "w/s.jsonl", "--to", "sft", "--stats", "OUT"]),
    ("export", "--prices", Use::Reads, &[]),
    (
        "replay",
        "--preview",
        Use::File,
        &["replay", "w/s.jsonl", "--teachers-from", "t.toml", "--preview", "OUT"],
    ),
    (
        "replay",
        "--journal",
        Use::File,
        &["replay", "w/s.jsonl", "--teachers-from", "t.toml", "--send", "--journal", "OUT"],
    ),
    ("replay", "--teachers-from", Use::Reads, &[]),
    ("replay", "--prices", Use::Reads, &[]),
    ("pairs", "--out", Use::File, &["pairs", "w/s.jsonl", "--states", "w/u.jsonl", "--out", "OUT"]),
    (
        "pairs",
        "--stats",
        Use::File,
        &["pairs", "w/s.jsonl", "--states", "w/u.jsonl", "--stats", "OUT"],
    ),
    ("pairs", "--states", Use::Reads, &[]),
    ("redact", "--out", Use::Either, &["redact", "w/s.jsonl", "--out", "OUT"]),
    ("redact", "--out", Use::Folder, &["redact", "w", "--out", "OUT"]),
    ("redact", "--spans", Use::Reads, &[]),
    ("man", "--out", Use::Folder, &["man", "--out", "OUT"]),
];

/// Names of values that are not paths.
const OTHER_VALUES: &[&str] = &[
    "A",
    "AGE",
    "AGENT",
    "B",
    "BOOL",
    "CHARACTERS",
    "CLASSES",
    "CMD",
    "FORMAT",
    "FROM,TO",
    "HOW",
    "ID",
    "IDS",
    "ID|N",
    "KEY",
    "LEVEL",
    "LINES",
    "MODE",
    "N",
    "NAME",
    "ORDER",
    "P",
    "PARTS",
    "QUERY",
    "RANGE",
    "REV",
    "SECONDS",
    "SESSION",
    "SIZE",
    "START-END:LEVEL",
    "STYLE",
    "TEXT",
    "TIME",
    "TOOL=MODE",
    "TRAINER",
    "TURN|UUID",
    "UNIT",
    "USD",
    "VERSION",
    "WHAT",
    "WHEN",
    "WHICH",
    "ZONE",
];

/// Commands, those within commands included, and the options of each with the names of its values.
fn commands(machine: &Machine) -> BTreeMap<String, Vec<(String, Vec<String>)>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![String::new()];
    while let Some(command) = waiting.pop() {
        let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = machine.out(&words);
        let mut section = "";
        let mut options = Vec::new();
        for line in help.lines() {
            if !line.starts_with(' ') && line.ends_with(':') {
                section = line;
            }
            let word = line.split_whitespace().next().unwrap_or_default();
            let depth = line.len() - line.trim_start().len();
            if section == "Commands:" && depth == 2 && word != "help" && !word.is_empty() {
                waiting.push(format!("{command} {word}").trim().to_owned());
            }
            if let Some((_, rest)) = line.split_once("--").filter(|_| word.starts_with('-')) {
                let name: String = rest
                    .chars()
                    .take_while(|one| one.is_ascii_lowercase() || *one == '-')
                    .collect();
                let values = rest.split('<').skip(1).filter_map(|part| part.split('>').next());
                options.push((format!("--{name}"), values.map(str::to_owned).collect()));
            }
        }
        found.insert(command, options);
    }
    found
}

#[test]
fn every_option_that_takes_a_path_is_in_the_table() {
    let commands = commands(&Machine::empty());
    assert!(commands.len() > 20 && commands.contains_key("capture install"));
    let mut seen = BTreeSet::new();
    for (command, options) in &commands {
        for (option, values) in options {
            let is_path = |value: &String| {
                let parts = ["FILE", "DIR", "PATH"];
                let is_path = value.split('|').any(|part| parts.contains(&part));
                assert!(is_path || OTHER_VALUES.contains(&value.as_str()), "is {value} a path?");
                is_path
            };
            if values.iter().filter(|value| is_path(value)).count() == 0 {
                continue;
            }
            let global = OPTIONS.iter().any(|row| row.0.is_empty() && row.1 == option);
            let known = OPTIONS.iter().any(|row| row.0 == command && row.1 == option);
            assert!(global || known, "`{command} {option}` is not in the table");
            seen.insert((if global { "" } else { command }, option.as_str()));
        }
    }
    for row in OPTIONS {
        assert!(seen.contains(&(row.0, row.1)), "{row:?} does not exist");
    }
}

/// Sessions in `w`, one of them of a killed agent's folder elsewhere, and what must stay.
fn prepared() -> Machine {
    let machine = Machine::with_sample();
    let home = machine.home();
    let sample = sessions(&testdata("sample"));
    let bytes = std::fs::read(&sample[0]).unwrap();
    write_file(&home.join("w/s.jsonl"), &bytes);
    write_file(&home.join("w/u.jsonl"), &std::fs::read(&sample[1]).unwrap());
    write_file(&home.join("w/settings.json"), b"{}\n");
    write_file(&home.join("victim"), b"keep me\n");
    write_file(&home.join("other/.keep"), b"");
    symlink(home.join("w/s.jsonl"), home.join("link.jsonl")).unwrap();
    symlink(home.join("victim"), home.join("out-link")).unwrap();
    symlink(home.join(".claude/new-file"), home.join("dangling")).unwrap();
    symlink(home.join(".claude"), home.join("into")).unwrap();
    std::fs::hard_link(home.join("w/s.jsonl"), home.join("hard.jsonl")).unwrap();
    let teacher = "[[teacher]]\nid='t'\nmodel='m'\nbase_url='http://127.0.0.1:9/v1'\n";
    write_file(&home.join("t.toml"), teacher.as_bytes());
    machine
}

fn sessions(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                found.push(path);
            }
        }
    }
    found.retain(|path| path.parent().is_some_and(|above| !above.ends_with("subagents")));
    found.sort();
    found
}

/// Everything that must stay as it is.
fn contents(home: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![home.join(".claude"), home.join("w"), home.join("other")];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                drop(all.insert(path.clone(), std::fs::read(&path).unwrap()));
            }
        }
    }
    for name in ["victim", "hard.jsonl"] {
        all.insert(home.join(name), std::fs::read(home.join(name)).unwrap());
    }
    all
}

#[test]
fn no_output_replaces_what_is_read_or_reaches_an_agents_folder() {
    // The file, and whether it has to be refused for outputs that are files.
    let cases = [
        ("w/s.jsonl", true),
        ("link.jsonl", true),
        ("hard.jsonl", true),
        ("none/../w/s.jsonl", true),
        ("w/../w/s.jsonl", true),
        (".claude/projects/x.out", true),
        ("into/x.out", true),
        ("none/../.claude/x.out", true),
        ("dangling", true),
        ("out-link", false),
    ];
    let machine = prepared();
    let home = machine.home();
    let before = contents(home);
    for (command, option, usage, words) in OPTIONS.iter().filter(|row| !row.3.is_empty()) {
        for (path, refused) in cases {
            let words: Vec<&str> =
                words.iter().map(|word| if *word == "OUT" { path } else { word }).collect();
            let ran = machine.run(&words);
            let message = format!("{command} {option} {path}: {:?} {}", ran.code, ran.stderr);
            let mut after = contents(home);
            if *usage == Use::NewFile || *option == "--settings" || *command == "capture install" {
                after.retain(|path, _| before.contains_key(path));
            }
            let same = |path: &PathBuf| before.get(path) == after.get(path);
            // The hook is what `install` is for.
            let hook = home.join("w/settings.json");
            let changed: Vec<&PathBuf> = before
                .keys()
                .chain(after.keys())
                .filter(|path| !same(path) && (*command != "capture install" || **path != hook))
                .collect();
            assert!(changed.is_empty(), "{message}: {changed:?}");
            write_file(&hook, b"{}\n");
            let own = *usage == Use::NewFile || *option == "--settings";
            if refused && !own && *usage != Use::Folder {
                assert_eq!(ran.code, Some(2), "{message}");
                assert!(
                    ran.stderr.contains("error: ") && ran.stderr.contains("hint: "),
                    "{message}"
                );
            }
            let into_agents = path.contains(".claude") || path.starts_with("into");
            if into_agents && *usage == Use::Folder {
                assert_eq!(ran.code, Some(2), "{message}");
                assert!(ran.stderr.contains("where sessions are kept"), "{message}");
            }
            // What a link led to stays; the link itself may have become the output.
            assert!(!ran.stderr.contains("panicked"), "{message}");
            for name in [".claude/new-file", ".claude/projects/x.out", ".claude/x.out"] {
                let path = home.join(name);
                if own && path.is_file() {
                    std::fs::remove_file(path).unwrap();
                }
            }
            let link = home.join("out-link");
            if !link.is_symlink() {
                let _ = std::fs::remove_file(&link);
                let _ = std::fs::remove_dir_all(&link);
                symlink(home.join("victim"), &link).unwrap();
            }
        }
    }
}

#[test]
fn links_in_an_output_folder_are_not_followed() {
    for (command, option, usage, words) in OPTIONS.iter().filter(|row| !row.3.is_empty()) {
        if !matches!(usage, Use::Folder | Use::Either) || *command == "capture install" {
            continue;
        }
        let machine = prepared();
        let home = machine.home();
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "OUT" { "made/" } else { word }).collect();
        let ran = machine.run(&words);
        assert_eq!(ran.code, Some(0), "{command} {option}: {}", ran.stderr);
        let made: Vec<PathBuf> = std::fs::read_dir(home.join("made"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        let made: Vec<PathBuf> = made
            .into_iter()
            .filter(|path| path.is_file() && !path.ends_with(".backstory.json"))
            .collect();
        assert!(!made.is_empty(), "{command} {option}");
        let before = contents(home);
        for (at, target) in ["victim", "w/s.jsonl"].into_iter().cycle().take(4).enumerate() {
            for path in &made {
                let _ = std::fs::remove_file(path);
                match at {
                    0 | 1 => symlink(home.join(target), path).unwrap(),
                    _ => std::fs::hard_link(home.join(target), path).unwrap(),
                }
            }
            let ran = machine.run(&words);
            assert_eq!(contents(home), before, "{command} {option} {target}: {}", ran.stderr);
        }
    }
}

/// Whoever may read a file or a folder.
fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn outputs_with_text_of_sessions_are_private() {
    for (command, option, usage, words) in OPTIONS.iter().filter(|row| !row.3.is_empty()) {
        if ["man", "capture install", "capture uninstall", "replay", "pairs"].contains(command) {
            continue;
        }
        let machine = prepared();
        let out = if matches!(usage, Use::Folder | Use::Either) { "new/deep/" } else { "new.out" };
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "OUT" { out } else { word }).collect();
        let ran = machine.run(&words);
        assert!(ran.code < Some(2), "{command} {option}: {}", ran.stderr);
        let mut waiting = vec![machine.home().join(out)];
        while let Some(path) = waiting.pop() {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&path), expected, "{command} {option} {}", path.display());
            if path.is_dir() {
                waiting.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
    }
    let fixture = ReplayFixture::new(script(), "", &states(2, 2));
    let (code, message) = fixture.ran(&["states.jsonl", "--send"]);
    assert_eq!(code, Some(0), "{message}");
    for name in ["replay.jsonl", "replay.states.jsonl"] {
        assert_eq!(mode(&fixture.path(name)), 0o600, "{name}");
    }
}

#[test]
fn outputs_of_a_killed_run_are_removed_by_the_next() {
    let machine = prepared();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let gone = child.id();
    child.wait().unwrap();
    let left = [
        machine.home().join(format!("made/.backstory-{gone}-Ab12Cd.tmp")),
        machine.home().join(format!("tmp/backstory-{gone}-Ab12Cd.tmp/s.jsonl")),
    ];
    left.iter().for_each(|path| write_file(path, b"half"));
    let mut command = machine.command(&["show", "w/s.jsonl", "--share", "--out", "made/"]);
    let ran = command.env("TMPDIR", machine.home().join("tmp")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    for path in left {
        assert!(!path.exists(), "{}", path.display());
    }
    assert_eq!(std::fs::read_dir(machine.home().join("tmp")).unwrap().count(), 0);
}

#[test]
fn a_session_in_another_home_protects_its_folder() {
    let machine = prepared();
    let elsewhere = machine.home().join("backup/.codex");
    copy_tree(&machine.home().join("w"), &elsewhere.join("sessions"));
    let words = ["spec", "backup/.codex/sessions/s.jsonl", "--out", "backup/.codex/report.md"];
    let ran = machine.run(&words);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(!elsewhere.join("report.md").exists());
}
