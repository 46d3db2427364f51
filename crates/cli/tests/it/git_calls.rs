//! git is run safely: nothing of the repository is started, nothing hangs, owners are respected.
#![cfg(unix)]

use crate::repo_fixture::{RepoFixture, SESSION, TIDES, wrote};
use crate::support::Ran;
use backstory_testkit::write_file;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A fixture whose session wrote a file that was committed.
fn fixture() -> RepoFixture {
    let fixture = RepoFixture::new();
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    fixture.put("src/tides.rs", TIDES);
    fixture.commit("Add tides", "2026-03-01T10:00:30Z");
    fixture
}

fn script(path: &Path, text: &str) {
    write_file(path, format!("#!/bin/sh\n{text}\n").as_bytes());
    assert!(Command::new("chmod").arg("+x").arg(path).status().unwrap().success());
}

/// A `git` that comes first; it does `first` and goes on as the real one.
fn wrap_git(fixture: &RepoFixture, first: &str) -> String {
    let folder = fixture.machine.home().join("bin");
    script(&folder.join("git"), &format!("{first}\nPATH=\"${{PATH#*:}}\" exec git \"$@\""));
    format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display())
}

/// Runs a command that must end by itself.
fn ends(fixture: &RepoFixture, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut command = fixture.machine.command(arguments);
    command.envs(environment.iter().copied());
    let out = fixture.machine.home().join("out");
    let stderr = fixture.machine.home().join("stderr");
    for (path, error) in [(&out, false), (&stderr, true)] {
        write_file(path, b"");
        let file = std::fs::File::options().append(true).open(path).unwrap();
        if error {
            command.stderr(file)
        } else {
            command.stdout(file)
        };
    }
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = |path: &PathBuf| String::from_utf8(std::fs::read(path).unwrap()).unwrap();
    Ran { code: status.code(), stdout: text(&out), stderr: text(&stderr) }
}

/// Every command that asks git.
const ASKING: [&[&str]; 6] = [
    &["link", "--repo", "work", SESSION],
    &["link", "--repo", "work", "--commit", "HEAD"],
    &["link", "--repo", "work", "--range", "HEAD~1..HEAD"],
    &["blame", "work/src/tides.rs", "--git"],
    &["blame", "work/src/tides.rs", "--rev", "HEAD"],
    &["export", SESSION, "--to", "opentraces", "--raw"],
];

#[test]
fn missing_objects_are_not_fetched_by_any_version_of_git() {
    let fixture = fixture();
    let marker = fixture.machine.home().join("ran");
    let blob = fixture.git(&["rev-parse", "HEAD:src/tides.rs"]);
    let object = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
    assert!(
        Command::new("rm").arg("-f").arg(fixture.repo().join(object)).status().unwrap().success()
    );
    for (key, value) in [
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
        ("protocol.file.allow", "always"),
    ] {
        fixture.git(&["config", key, value]);
    }
    let trap = fixture.machine.home().join("trap.sh");
    script(&trap, &format!("touch '{}'", marker.display()));
    // As git before 2.45, and before 2.32.
    let old = "unset GIT_NO_LAZY_FETCH GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT";
    let path = wrap_git(&fixture, old);
    let traps = [
        ("remote.origin.url", format!("ext::{}", trap.display())),
        ("remote.origin.uploadpack", trap.display().to_string()),
        ("core.sshCommand", trap.display().to_string()),
    ];
    for (url, fetches) in [("", true), (".", true), ("host:place", true)] {
        for (key, value) in &traps {
            fixture.git(&["config", key, value]);
        }
        if !url.is_empty() {
            fixture.git(&["config", "remote.origin.url", url]);
        }
        for arguments in ASKING {
            let ran = ends(&fixture, arguments, &[("PATH", &path)]);
            assert!(!marker.exists(), "{url} {arguments:?} ran a program: {}", ran.stderr);
            if arguments.contains(&"--rev") {
                assert_eq!(ran.code, Some(2), "{}", ran.stderr);
                let wanted = format!("git lacks the object {blob}: the clone is partial");
                assert!(ran.stderr.contains(&wanted), "{}", ran.stderr);
            }
        }
        // That the trap works at all: git by itself falls into it.
        let mut plain = Command::new("git");
        plain.current_dir(fixture.repo()).args(["cat-file", "blob", &blob]);
        plain.env("HOME", fixture.machine.home()).env_remove("GIT_NO_LAZY_FETCH");
        assert!(plain.output().is_ok());
        assert_eq!(marker.exists(), fetches, "{url}: the trap is set wrongly");
        assert!(Command::new("rm").arg("-f").arg(&marker).status().unwrap().success());
    }
}

#[test]
fn git_that_does_not_answer_is_ended_and_reported() {
    let fixture = fixture();
    let pipe = fixture.machine.home().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // By hand: git itself would wait for the pipe from the second setting on.
    let file = fixture.repo().join(".git/config");
    let mut config = std::fs::read_to_string(&file).unwrap();
    config.push_str(&format!("[include]\n\tpath = {}\n", pipe.display()));
    write_file(&file, config.as_bytes());
    for arguments in ASKING {
        let ran = ends(&fixture, arguments, &[("BACKSTORY_GIT_TIMEOUT", "0.5")]);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("git did not answer in 0.5 s"),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
    let ran = ends(&fixture, ASKING[0], &[("BACKSTORY_GIT_TIMEOUT", "0.5")]);
    assert!(ran.stderr.contains("hint: "), "{}", ran.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn git_timeouts_end_the_processes_that_git_started() {
    let fixture = fixture();
    let pid = fixture.machine.home().join("pid");
    let path = wrap_git(&fixture, &format!("sleep 3600 & echo $! > '{}'; wait", pid.display()));
    let environment = [("BACKSTORY_GIT_TIMEOUT", "0.5"), ("PATH", path.as_str())];
    let ran = ends(&fixture, ASKING[0], &environment);
    assert!(ran.stderr.contains("git did not answer"), "{}", ran.stderr);
    let pid = std::fs::read_to_string(&pid).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    let state = stat.ok().and_then(|stat| stat.rsplit(") ").next()?.chars().next());
    assert!(matches!(state, None | Some('Z' | 'X')), "{pid} still runs: {state:?}");
}

#[test]
fn a_pipe_in_the_place_of_the_repository_is_not_read() {
    let fixture = fixture();
    let odd = fixture.machine.home().join("odd");
    write_file(&odd.join("notes.txt"), b"some words\n");
    assert!(Command::new("mkfifo").arg(odd.join(".git")).status().unwrap().success());
    let quick = [("BACKSTORY_GIT_TIMEOUT", "0.5")];
    for arguments in [&["log", "odd"][..], &["blame", "odd/notes.txt"], &["ls", "--project", "odd"]]
    {
        ends(&fixture, arguments, &quick);
    }
}

#[test]
fn a_repository_of_another_user_is_asked_if_the_user_says_so() {
    let fixture = fixture();
    // Variables of git's own tests; that they work is seen below.
    let others = [("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")];
    let top = fixture.repo().canonicalize().unwrap().display().to_string();
    let settings = fixture.machine.home().join(".gitconfig");
    let refused = |what: &str| {
        for arguments in ASKING {
            let ran = ends(&fixture, arguments, &others);
            assert_eq!(ran.code, Some(2), "{what} {arguments:?}: {}", ran.stderr);
            assert!(ran.stderr.contains("dubious ownership"), "{what}: {}", ran.stderr);
        }
        let ran = ends(&fixture, ASKING[0], &others);
        let hint = format!("hint: if you trust it: git config --global --add safe.directory {top}");
        assert!(ran.stderr.contains(&hint), "{}", ran.stderr);
    };
    refused("nothing is said");
    write_file(&settings, b"[safe]\n\tdirectory = /somewhere/else\n");
    refused("another one is named");
    // A repository cannot vouch for itself.
    fixture.git(&["config", "safe.directory", "*"]);
    refused("it names itself");
    // What the user configured otherwise does not change answers.
    let rest = "[log]\n\tshowSignature = true\n[diff]\n\tnoprefix = true\n[color]\n\tui = always\n";
    write_file(&settings, format!("[safe]\n\tdirectory = {top}\n{rest}").as_bytes());
    for arguments in ASKING {
        let own = ends(&fixture, arguments, &[]);
        let ran = ends(&fixture, arguments, &others);
        assert_eq!((ran.code, &ran.stdout), (Some(0), &own.stdout), "{}", ran.stderr);
    }
    write_file(&settings, format!("[safe]\n\tdirectory = {top}\n\tdirectory =\n").as_bytes());
    refused("the list was emptied");
}

#[test]
fn hooks_of_the_configuration_are_switched_off() {
    let fixture = fixture();
    let seen = fixture.machine.home().join("seen");
    let path = wrap_git(&fixture, &format!("env | grep ^GIT_CONFIG_ >> '{}'", seen.display()));
    fixture.git(&["config", "hook.odd=name.command", "false"]);
    fixture.git(&["config", "hook.odd=name.event", "reference-transaction"]);
    let words = ["link", "--repo", "work", "--commit", "HEAD", "--note"];
    assert_eq!(ends(&fixture, &words, &[("PATH", &path)]).code, Some(0));
    let seen = std::fs::read_to_string(&seen).unwrap();
    assert!(seen.contains("GIT_CONFIG_KEY_0=hook.odd=name.enabled\n"), "{seen}");
    assert!(seen.contains("GIT_CONFIG_VALUE_0=false\n"), "{seen}");
}
