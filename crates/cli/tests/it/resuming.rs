//! `backstory resume`, `open`, `show --open` and `--sample`, with scripts as clients and browsers

use crate::support::Machine;
use backstory_testkit::{agent_form, write_file};
use std::path::PathBuf;

const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A machine with a session of Claude Code in a folder with a quote in its name.
fn machine() -> (Machine, PathBuf) {
    let machine = Machine::empty();
    let folder = std::fs::canonicalize(machine.home()).unwrap().join("Dev's app");
    std::fs::create_dir_all(&folder).unwrap();
    put(&machine, ID, &folder.to_string_lossy());
    (machine, folder)
}

fn put(machine: &Machine, id: &str, cwd: &str) {
    let record = serde_json::json!({
        "type": "user", "uuid": "u", "parentUuid": null, "sessionId": id, "cwd": cwd,
        "timestamp": "2026-03-01T10:00:00.000Z", "message": { "role": "user", "content": "Begin" },
    });
    let path = machine.home().join(format!(".claude/projects/-x/{id}.jsonl"));
    write_file(&path, format!("{record}\n").as_bytes());
}

#[cfg(unix)]
fn program(machine: &Machine, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = machine.home().join("bin").join(name);
    write_file(&path, format!("#!/bin/sh\n{script}\n").as_bytes());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn resume_runs_the_clients_own_command_in_the_sessions_folder() {
    let (machine, folder) = machine();
    let quoted = folder.to_string_lossy().replace('\'', "'\\''");
    let printed = machine.out(&["resume", "--print"]).replace("[HOME]", "");
    assert!(quoted.ends_with(printed.split("' && ").next().unwrap().trim_start_matches("cd '")));
    assert!(printed.ends_with(&format!("' && claude --resume {ID}\n")), "{printed}");
    program(&machine, "claude", "pwd; echo \"$@\"; exit 3");
    let bin = machine.home().join("bin");
    let output = machine.command(&["resume", "aaaa"]).env("PATH", &bin).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "the client's own end");
    assert_eq!(out, format!("{}\n--resume {ID}\n", folder.display()));
    std::fs::remove_dir(&folder).unwrap();
    let gone = machine.run(&["resume"]);
    assert!(gone.code == Some(2) && gone.stderr.contains("does not exist"), "{}", gone.stderr);
}

#[test]
fn resume_takes_only_sessions_that_a_client_resumes() {
    let (machine, _) = machine();
    agent_form("codex/rollout").write(&machine.home().join(".codex"), |text| text);
    let codex = machine.out(&["resume", "--print", "--agent", "codex"]);
    assert!(codex.ends_with("&& codex resume 0a1b2c3d-0000-4000-8000-000000000001\n"), "{codex}");
    agent_form("swe-agent/text").write(&machine.home().join("runs"), |text| text);
    let other = machine.run(&["resume", "latest", "--root", "runs"]);
    assert!(other.code == Some(1), "{}", other.stderr);
    // A file may have any name, also one that is an option of the client.
    put(&machine, "--version", "/");
    let path = ".claude/projects/-x/--version.jsonl";
    let odd = machine.run(&["resume", "--print", path]);
    assert!(odd.code == Some(2) && odd.stderr.contains("not an id"), "{}", odd.stderr);
}

#[cfg(unix)]
#[test]
fn open_writes_a_private_page_and_opens_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let (machine, _) = machine();
    let home = machine.home();
    program(
        &machine,
        "browser",
        "/bin/cat \"$2\" > \"$HOME/seen\"; echo \"$1 $2\" > \"$HOME/told\"",
    );
    std::fs::create_dir(home.join("tmp")).unwrap();
    for arguments in [&["open"][..], &["show", "--open"]] {
        let browser = home.join("bin/browser").display().to_string();
        let output = machine
            .command(arguments)
            .env("BROWSER", format!("no-such-browser:{browser} --new %s"))
            .env("TMPDIR", home.join("tmp"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let told = std::fs::read_to_string(home.join("told")).unwrap();
        let page = PathBuf::from(told.trim().strip_prefix("--new ").unwrap());
        assert!(std::fs::read_to_string(home.join("seen")).unwrap().starts_with("<!doctype html>"));
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&page), mode(page.parent().unwrap())), (0o600, 0o700));
    }
    let none = machine.command(&["open"]).env("PATH", "/nowhere").output().unwrap();
    let told = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(2) && told.contains("no program opened the page"), "{told}");
    assert_eq!(machine.run(&["open", "--format", "json"]).code, Some(2));
}

#[test]
fn the_sample_works_for_every_command() {
    let machine = Machine::empty();
    let none = machine.run(&["ls"]);
    assert!(none.code == Some(1) && none.stderr.contains("hint: --sample"), "{}", none.stderr);
    assert!(none.stderr.starts_with("error: no sessions on this machine"), "{}", none.stderr);
    let told = machine.out(&[]);
    assert!(told.contains("~/.claude") && told.contains("~/.codex/sessions"), "{told}");
    assert_eq!(machine.json(&["ls", "--sample", "--json"]).len(), 6);
    for arguments in [
        &["--sample"][..],
        &["show", "latest", "--sample"],
        &["stats", "--sample"],
        &["check", "--sample"],
        &["log", "--sample", "--everywhere"],
        &["export", "--sample", "--to", "atif"],
        &["resume", "--sample", "--print"],
        &["clone", "--sample", "latest", "--dry-run"],
    ] {
        let ran = machine.run(arguments);
        assert!(ran.code < Some(2) && !ran.stdout.is_empty(), "{arguments:?}: {}", ran.stderr);
    }
}
