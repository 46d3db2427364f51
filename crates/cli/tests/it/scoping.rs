//! Which sessions names mean: those of the repository, and those that filters keep

use crate::support::Machine;
use backstory_testkit::{agent_form, write_file};
use std::path::PathBuf;

const HERE: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const EARLIER: &str = "aaaaaaaa-0000-4000-8000-000000000002";
const ELSEWHERE: &str = "bbbbbbbb-0000-4000-8000-000000000003";

/// A repository with two sessions, and a newer session of another project.
struct Checkout {
    machine: Machine,
    top: PathBuf,
}

impl Checkout {
    fn new() -> Checkout {
        let machine = Machine::empty();
        let home = std::fs::canonicalize(machine.home()).unwrap();
        let top = home.join("code/app");
        write_file(&top.join(".git/HEAD"), b"ref: refs/heads/main\n");
        write_file(&top.join("src/deep/x.rs"), b"");
        let checkout = Checkout { machine, top };
        let app = checkout.top.display().to_string();
        checkout.session(HERE, &app, "2026-03-02", "opus-4", "main");
        checkout.session(EARLIER, &format!("{app}/src"), "2026-03-01", "haiku-4", "topic");
        checkout.session(
            ELSEWHERE,
            &format!("{}/other", home.display()),
            "2026-03-03",
            "opus-4",
            "main",
        );
        checkout
    }

    fn session(&self, id: &str, cwd: &str, day: &str, model: &str, branch: &str) {
        let common = format!("\"sessionId\":\"{id}\",\"cwd\":\"{cwd}\",\"gitBranch\":\"{branch}\"");
        let text = format!(
            "{{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,{common},\"timestamp\":\"{day}T10:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"Work of {day}\"}}}}\n\
             {{\"type\":\"assistant\",\"uuid\":\"a\",\"parentUuid\":\"u\",{common},\"timestamp\":\"{day}T10:00:01.000Z\",\"message\":{{\"role\":\"assistant\",\"id\":\"m-{id}\",\"model\":\"claude-{model}\",\"stop_reason\":\"end_turn\",\"usage\":{{\"input_tokens\":1,\"output_tokens\":2}},\"content\":[{{\"type\":\"text\",\"text\":\"Done\"}}]}}}}\n"
        );
        let path = self.machine.home().join(format!(".claude/projects/-x/{id}.jsonl"));
        write_file(&path, text.as_bytes());
    }

    /// Standard output and standard error of a command in a folder of the repository.
    fn run(&self, folder: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        let folder = self.top.join(folder);
        let output = self.machine.command(arguments).current_dir(folder).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    fn ids(&self, folder: &str, arguments: &[&str]) -> Vec<String> {
        let all = [&["ls", "--json"], arguments].concat();
        let rows = self.run(folder, &all).1;
        let id = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            row["id"].as_str().unwrap().to_owned()
        };
        rows.lines().map(id).collect()
    }
}

const LIMITED: &str = "limited to the repository ~/code/app; all projects: --everywhere (-a)\n";

#[test]
fn inside_a_repository_names_mean_its_sessions() {
    let checkout = Checkout::new();
    for folder in [".", "src/deep"] {
        assert_eq!(checkout.ids(folder, &[]), [HERE, EARLIER], "{folder}");
        assert_eq!(checkout.ids(folder, &["."]), [HERE, EARLIER], "{folder}");
    }
    assert_eq!(checkout.ids(".", &["-a"]), [ELSEWHERE, HERE, EARLIER]);
    assert_eq!(checkout.ids(".", &["src"]), [EARLIER], "a folder that is named is that folder");
    assert_eq!(checkout.ids("../..", &[]), [ELSEWHERE, HERE, EARLIER], "outside, everything");

    let (code, out, told) = checkout.run("src", &["ls"]);
    assert!(code == Some(0) && told == LIMITED && !out.contains("bbbbbbbb"), "{told}{out}");
    let (_, out, told) = checkout.run("src", &["show", "latest"]);
    assert!(out.contains("Work of 2026-03-02") && told == LIMITED, "{told}{out}");
    let (_, out, _) = checkout.run("src", &["show"]);
    assert!(out.contains("Work of 2026-03-02"), "{out}");
    let (_, out, told) = checkout.run("src", &["show", "latest~1"]);
    assert!(out.contains("Work of 2026-03-01") && told == LIMITED, "{told}{out}");
    let (_, out, told) = checkout.run("src", &["show", "bbbb"]);
    assert!(out.contains("Work of 2026-03-03") && told.is_empty(), "ids are found everywhere");
    let (code, _, told) = checkout.run("src", &["show", "latest~2"]);
    assert!(code == Some(1) && told.contains("there are only 2 sessions"), "{told}");
    let count = |arguments: &[&str]| {
        let out = checkout.run("src", arguments).1;
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        report["total"]["messages"].as_u64().unwrap()
    };
    assert_eq!(count(&["stats", "--json"]), 2);
    assert_eq!(count(&["stats", "--json", "-a"]), 3);
    assert_eq!(checkout.run("src", &["check", "--json"]).1.lines().count(), 2);
    assert_eq!(checkout.run("src", &["check", "--json", "bbbb", "latest"]).1.lines().count(), 2);
    let exported = checkout.run("src", &["export", "--to", "atif"]).1;
    assert_eq!(exported.lines().count(), 2);
    assert_eq!(checkout.run("src", &["clone", "latest", "--dry-run", "--json"]).0, Some(0));
}

#[test]
fn a_repository_without_sessions_says_how_to_see_the_others() {
    let checkout = Checkout::new();
    write_file(&checkout.top.join("../empty/.git/HEAD"), b"");
    for arguments in [&["ls"][..], &["show", "latest"], &["stats"], &["check"]] {
        let (code, _, told) = checkout.run("../empty", arguments);
        assert_ne!(code, Some(0), "{arguments:?}");
        assert!(told.contains("no session worked in the repository ~/code/empty"), "{told}");
        assert!(told.contains("hint: --everywhere (-a) takes all projects: 3 sessions"), "{told}");
    }
}

#[test]
fn filters_are_the_same_for_every_command() {
    let checkout = Checkout::new();
    let dated = ["--since", "2026-03-02", "--until", "2026-03-02"];
    let cases: [(&[&str], &[&str]); 7] = [
        (&dated, &[HERE]),
        (&["--branch", "topic"], &[EARLIER]),
        (&["--model", "HAIKU"], &[EARLIER]),
        (&["--title", "work of 2026-03-03"], &[ELSEWHERE]),
        (&["--agent", "claude-code"], &[HERE, EARLIER, ELSEWHERE]),
        (&["--project", "code/app"], &[HERE, EARLIER]),
        (&["--project", "code/app/src"], &[EARLIER]),
    ];
    for (filter, expected) in cases {
        let run = |command: &[&str]| {
            let all = [command, filter].concat();
            let (code, out, told) = checkout.run("../..", &all);
            assert!(code.is_some_and(|code| code < 2), "{all:?}: {told}");
            out
        };
        let lines = |command: &[&str]| run(command).lines().count();
        let ids = |out: &str| expected.iter().filter(|id| out.contains(*id)).count();
        for command in
            [&["ls", "--json"][..], &["check", "--json"], &["redact", "--scan", "--json"]]
        {
            assert_eq!((lines(command), ids(&run(command))), (expected.len(), expected.len()));
        }
        assert_eq!(lines(&["export", "--to", "atif"]), expected.len(), "{filter:?}");
        let stats: serde_json::Value = serde_json::from_str(&run(&["stats", "--json"])).unwrap();
        assert_eq!(stats["total"]["messages"], expected.len(), "{filter:?}");
        let folder = checkout.machine.home().join("pages");
        let pages = folder.to_string_lossy().into_owned();
        run(&["show", "--all", "--out", &pages]);
        let written = std::fs::read_dir(&folder).unwrap().flatten();
        let names = written.map(|entry| entry.file_name().into_string().unwrap());
        let names: Vec<String> = names.filter(|name| name.contains("-0000-")).collect();
        assert_eq!(names.len(), expected.len(), "{filter:?} {names:?}");
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(lines(&["analyze", "--format", "json"]), 1);
    }
    let (code, _, told) = checkout.run("../..", &["export", "--to", "atif", "--branch", "none"]);
    assert_eq!((code, told.lines().next()), (Some(1), Some("error: none of 3 sessions matches")));
    let (code, ..) = checkout
        .run("../..", &["check", "aaaaaaaa-0000-4000-8000-000000000002", "--branch", "main"]);
    assert_eq!(code, Some(1), "a named session must meet the filter, too");
}

#[test]
fn latest_is_the_newest_by_its_own_times_that_the_command_can_handle() {
    let checkout = Checkout::new();
    let home = checkout.machine.home();
    agent_form("mini-swe-agent/calls").write(&home.join(".config/mini-swe-agent"), |text| text);
    agent_form("codex/rollout")
        .write(&home.join(".codex"), |text| text.replace("2026-01-31T", "2026-12-31T"));
    let listed = checkout.ids("../..", &[]);
    assert_eq!(listed.len(), 5, "{listed:?}");
    assert_eq!(listed[1], ELSEWHERE, "a file without times is never the newest");
    let (code, out, told) = checkout.run("../..", &["check", "latest", "--json"]);
    assert!(code < Some(2) && out.contains(ELSEWHERE), "{code:?} {told}{out}");
    let (code, out, told) = checkout.run("../..", &["clone", "latest", "--dry-run", "--json"]);
    assert!(code == Some(0) && out.contains(ELSEWHERE), "{told}");
    let (_, out, _) = checkout.run("../..", &["show", "latest", "--format", "json"]);
    assert!(out.contains("\"agent\":\"codex\""), "the newest of all: {out}");
}
