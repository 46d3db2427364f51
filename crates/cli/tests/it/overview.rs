//! `backstory` alone, and what is common to all commands.

use crate::support::Machine;
use backstory_testkit::{testdata, write_file};
use std::process::Stdio;

#[test]
fn a_machine_without_sessions_gets_the_sample() {
    insta::assert_snapshot!(Machine::empty().out(&[]), @r"
    No sessions in ~/.claude, ~/.codex/sessions, ~/.codex/archived_sessions, ~/.openhands,
    ~/.config/mini-swe-agent, ~/.cline, ~/.config/Code/User/globalStorage/saoudrizwan.claude-dev,
    ~/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev,
    ~/AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev, ~/.gemini/tmp.
    This is the bundled sample, made up for the purpose.

    Claude Code in the sample
      sessions  6 sessions in 3 projects, 2 subagents, 90.0 kB
      time      2025-08-12 to 2026-10-21
      work      11 turns, 29 tool calls, 128 records
      tokens    1.2M read (97% from cache), at least 4.8k written (older clients never wrote the final count)
      models    claude-haiku-4-5-20251001 (2), claude-opus-4-6 (1), claude-opus-5 (1), claude-opus-5-5 (1), claude-sonnet-4-20250514 (1), claude-sonnet-4-5-20250929 (1), 1 more
      versions  1.0.98 to 2.1.325 (6 different)
      problems  none

    Newest sessions
      5931ab08    2026-10-21  Make saving notes atomic
      bf74c68e    2026-08-19  Tides on the wrong day
      18502db4    2026-04-02  Add a --csv switch that prints the readings as CSV. Look first how the …
      59aba946    2026-02-20  Calm the humidity alert with hysteresis
      8ea9873d    2025-11-27  Write a simulation of the heater so that I can test the controller …

    Try
      backstory ls --sample                  the sessions of the sample
      backstory show latest --sample         its newest session
      backstory --root DIR                   sessions in another place
    ");
}

#[test]
fn the_overview_as_json() {
    let overview = &Machine::with_sample().json(&["--json"])[0];
    assert_eq!(overview["schema"], "backstory.overview/1");
    assert_eq!(overview["sample"], false);
    assert_eq!(overview["sessions"], 6);
    assert_eq!(overview["subagents"], 2);
    assert_eq!(overview["projects"].as_object().unwrap().len(), 3);
}

#[test]
fn the_configured_folder_is_used() {
    let machine = Machine::empty();
    let mut command = machine.command(&["--json"]);
    let output = command.env("CLAUDE_CONFIG_DIR", testdata("sample")).output().unwrap();
    let overview: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (overview["sample"].as_bool(), overview["sessions"].as_u64()),
        (Some(false), Some(6))
    );
}

#[test]
fn version_says_what_is_covered() {
    insta::assert_snapshot!(Machine::empty().out(&["--version"]), @r"
    backstory 0.1.0
    reads: Claude Code 1.0.0 to 2.1.325 (checked against the client itself),
      Codex, OpenHands, SWE-agent, mini-swe-agent, SWE-smith, Aider, Cline, Gemini CLI
    writes: backstory.session/1, backstory.check/1, backstory.ls/1, backstory.overview/1,
      backstory.analysis/1, backstory.profile/1, backstory.differences/1, backstory.history/1,
      backstory.blame/1, backstory.log/1, backstory.annotate/1, backstory.redact/1,
      backstory.search/1, backstory.stats/1, backstory.link/1, backstory.link-note/1,
      backstory.clone/1, backstory.clone-proof/1, backstory.config/1,
      replay journals 1, backstory.pairs/1,
      backstory.export/1, OpenTraces 0.9.0 and 0.3.0, ATIF 1.7 and 1.8, Agent Trace 0.1.0
    ");
}

#[test]
fn completions_and_manual_pages_are_generated() {
    let machine = Machine::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(machine.out(&["completions", shell]).contains("backstory"), "{shell}");
    }
    assert!(machine.out(&["man"]).starts_with(".ie"));
    machine.out(&["man", "--out", "share/man1"]);
    assert!(machine.home().join("share/man1/backstory-ls.1").is_file());
}

#[test]
fn help_fits_a_screen_and_every_command_has_examples() {
    let machine = Machine::empty();
    for command in [
        "ls",
        "show",
        "open",
        "resume",
        "blame",
        "log",
        "annotate",
        "spec",
        "check",
        "clone",
        "stats",
        "link",
        "export",
        "capture",
        "redact",
        "replay",
        "completions",
        "man",
    ] {
        let help = machine.out(&[command, "-h"]);
        assert!(help.lines().count() <= 50, "{command}: {}", help.lines().count());
        let examples =
            help.split("Examples:").nth(1).unwrap_or_else(|| panic!("{command} has no examples"));
        assert!(examples.matches("\n  backstory ").count() >= 2, "{command}");
        assert!(help.lines().next().unwrap().chars().count() <= 72, "{command}");
    }
}

#[test]
fn closed_pipe_ends_the_overview_quietly() {
    let machine = Machine::with_sample();
    let mut child = machine
        .command(&["ls", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn wrong_use_exits_with_two_and_a_hint() {
    let machine = Machine::with_sample();
    let ran = machine.run(&["--root", "nowhere"]);
    assert_eq!(ran.code, Some(2));
    insta::assert_snapshot!(ran.stderr, @r"
    error: `nowhere`: no such file or folder
    hint: give a session file, a folder that holds some, or an id from `backstory ls`
    ");
    assert_eq!(machine.run(&["lsss"]).code, Some(2));
}

#[cfg(unix)]
#[test]
fn discover_skips_files_that_are_not_plain() {
    use std::os::unix::ffi::OsStrExt;
    let machine = Machine::with_sample();
    let project = machine.home().join(".claude/projects/-tmp-odd");
    let good = project.join("11111111-1111-4111-8111-111111111111.jsonl");
    write_file(&good, b"{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n");
    let name = |n: u32| project.join(format!("{n:08}-0000-4000-8000-000000000000.jsonl"));
    rustix::fs::mknodat(rustix::fs::CWD, name(1), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    std::os::unix::fs::symlink("/dev/zero", name(2)).unwrap();
    std::os::unix::fs::symlink(&project, project.join("loop")).unwrap();
    std::os::unix::fs::symlink("/", project.join("root.jsonl")).unwrap();
    std::fs::DirBuilder::new().create(name(3)).unwrap();
    let odd = project.join(std::ffi::OsStr::from_bytes(b"\xff\xfe.jsonl"));
    write_file(&odd, b"{}\n");
    let _socket = std::os::unix::net::UnixListener::bind(name(4)).unwrap();

    let ran = machine.run(&["ls", "--json"]);
    assert_eq!(ran.stderr, "skipped: 6 files; --verbose lists them\n");
    let ran = machine.run(&["ls", "--json", "--verbose"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stdout.lines().count(), 7, "the six of the sample and the good one");
    insta::assert_snapshot!(ran.stderr, @r"
    skipped: `[HOME]/.claude/projects/-tmp-odd/00000001-0000-4000-8000-000000000000.jsonl`: not a regular file
    skipped: `[HOME]/.claude/projects/-tmp-odd/00000002-0000-4000-8000-000000000000.jsonl`: a link that leads out of the folder or nowhere
    skipped: `[HOME]/.claude/projects/-tmp-odd/00000003-0000-4000-8000-000000000000.jsonl`: not a regular file
    skipped: `[HOME]/.claude/projects/-tmp-odd/00000004-0000-4000-8000-000000000000.jsonl`: not a regular file
    skipped: `[HOME]/.claude/projects/-tmp-odd/root.jsonl`: a link that leads out of the folder or nowhere
    skipped: `[HOME]/.claude/projects/-tmp-odd/��.jsonl`: the name is not UTF-8
    ");
    let quiet = machine.run(&["ls", "--json", "--quiet"]);
    assert_eq!(quiet.stderr, "");
}

/// A folder so deep that its path is longer than the system takes: nobody can read it, not even the
/// superuser, for whom permissions do not count.
#[cfg(unix)]
fn put_unreadable_folder(below: &std::path::Path) {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let name = "deep".repeat(60);
    let flags = OFlags::DIRECTORY | OFlags::RDONLY;
    let mut folder = openat(CWD, below, flags, Mode::empty()).unwrap();
    for _ in 0..18 {
        mkdirat(&folder, &name, Mode::RWXU).unwrap();
        folder = openat(&folder, &name, flags, Mode::empty()).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn exit_status_depends_on_unreadable_files() {
    let machine = Machine::with_sample();
    let project = machine.home().join(".claude/projects/-home-dev-tidewatch");
    let commands: [&[&str]; 12] = [
        &[],
        &["ls"],
        &["check"],
        &["stats"],
        &["spec"],
        &["spec", "--drift"],
        &["redact", "--scan"],
        &["redact", ".claude", "--out", "copy"],
        &["export", "--to", "atif", "--no-git", "--out", "atif/"],
        &["log", "--all"],
        &["blame", "sea.py"],
        &["show", "--all", "--out", "pages"],
    ];
    write_file(&machine.home().join("sea.py"), b"sea = 1\n");
    for arguments in commands {
        let ran = machine.run(arguments);
        assert!(matches!(ran.code, Some(0 | 1)), "{arguments:?}: {:?} {}", ran.code, ran.stderr);
    }
    put_unreadable_folder(&project);
    for arguments in commands {
        let ran = machine.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("File name too long"), "{arguments:?}: {}", ran.stderr);
        let quiet = machine.run(&[arguments, &["--quiet"]].concat());
        assert_eq!(quiet.code, Some(2), "{arguments:?}: {}", quiet.stderr);
    }
    assert_eq!(machine.run(&["show", "5931ab08"]).code, Some(0), "what was named could be read");
}

#[cfg(unix)]
#[test]
fn commands_exit_with_two_if_they_find_only_unreadable_files() {
    let machine = Machine::empty();
    let project = machine.home().join(".claude/projects/-home-dev-tidewatch");
    std::fs::DirBuilder::new().recursive(true).create(&project).unwrap();
    for command in ["ls", "check", "stats", "spec", "redact --scan", "export --to atif"] {
        let ran = machine.run(&command.split(' ').collect::<Vec<_>>());
        let code = if command == "check" { 2 } else { 1 };
        assert_eq!(ran.code, Some(code), "{command}: {}", ran.stderr);
    }
    assert_eq!(machine.run(&[]).code, Some(0), "the sample");
    put_unreadable_folder(&project);
    let ran = machine.run(&[]);
    assert!(ran.stdout.contains("This is the bundled sample"), "{}", ran.stdout);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    for command in ["ls", "check", "stats", "spec", "redact --scan", "export --to atif"] {
        let ran = machine.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, Some(2), "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("File name too long"), "{command}: {}", ran.stderr);
    }
}
