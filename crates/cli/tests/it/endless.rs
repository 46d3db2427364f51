//! Input that never ends or unpacks to anything, and output that cannot be written.

use crate::support::Machine;
use backstory_testkit::write_file;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs a command with bounded memory; fails if it does not end.
fn bounded(machine: &Machine, words: &[&str]) -> Output {
    let program = machine.command(&[]).get_program().to_owned();
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v 6000000; exec \"$@\"", "sh"])
        .arg(program)
        .args(words)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", machine.home())
        .env("RAYON_NUM_THREADS", "2")
        .current_dir(machine.home())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("{words:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn devices_and_pipes_are_refused_by_every_command() {
    let machine = Machine::with_sample();
    let fifo = machine.home().join("pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let teacher = "[[teacher]]\nid='t'\nmodel='m'\nbase_url='http://127.0.0.1:9/v1'\n";
    write_file(&machine.home().join("t.toml"), teacher.as_bytes());
    write_file(&machine.home().join("j.jsonl"), b"");
    let commands: &[&[&str]] = &[
        &["show", "IN"],
        &["analyze", "IN"],
        &["analyze", "--compare", "IN", "known"],
        &["check", "IN"],
        &["stats", "IN"],
        &["clone", "IN", "--out", "c.jsonl"],
        &["clone", "--verify", "IN"],
        &["blame", "IN"],
        &["log", "IN"],
        &["annotate", "IN"],
        &["export", "IN", "--to", "atif"],
        &["replay", "IN", "--teachers-from", "t.toml"],
        &["replay", "latest", "--teachers-from", "t.toml", "--journal", "IN"],
        &["replay", "latest", "--teachers-from", "IN"],
        &["pairs", "IN"],
        &["pairs", "j.jsonl", "--states", "IN"],
        &["redact", "IN"],
        &["redact", "--scan", "IN"],
        &["redact", "--spans", "IN"],
        &["capture", "--session", "IN", "--out", "traces"],
        &["capture", "status", "--settings", "IN"],
        &["trust", "IN"],
        &["ls", "--root", "IN"],
    ];
    for input in ["/dev/zero", "pipe.jsonl"] {
        for words in commands {
            let words: Vec<&str> =
                words.iter().map(|word| if *word == "IN" { input } else { word }).collect();
            let ran = bounded(&machine, &words);
            let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(
                matches!(ran.status.code(), Some(1 | 2)),
                "{words:?}: {:?} {stderr}",
                ran.status
            );
            assert!(
                stderr.contains("error: ") && !stderr.contains("panicked"),
                "{words:?}: {stderr}"
            );
        }
    }
}

/// A Codex rollout that unpacks to gigabytes.
fn unpacking_file() -> Vec<u8> {
    let line = "{\"timestamp\":\"2026-01-31T09:30:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\
                \"aaaaaaaa-0000-4000-8000-000000000004\",\"timestamp\":\"2026-01-31T09:30:00Z\",\
                \"cwd\":\"/w\",\"originator\":\"codex\",\"cli_version\":\"0.90.0\"}}\n";
    // A frame of Zstandard without checksum: the line as it is, then blocks of one repeated letter.
    let mut bytes = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x50];
    let mut block = |last: u32, kind: u32, size: usize, content: &[u8]| {
        let header = last | kind << 1 | (size as u32) << 3;
        bytes.extend_from_slice(&header.to_le_bytes()[..3]);
        bytes.extend_from_slice(content);
    };
    block(0, 0, line.len(), line.as_bytes());
    for at in 0..30_000 {
        block(u32::from(at == 29_999), 1, 128 << 10, b"x");
    }
    bytes
}

#[test]
fn a_file_that_unpacks_to_gigabytes_is_a_problem_of_that_file() {
    let machine = Machine::with_sample();
    let name = "rollout-2026-01-31T09-30-00-aaaaaaaa-0000-4000-8000-000000000004.jsonl.zst";
    let path = machine.home().join(".codex/sessions/2026/01/31").join(name);
    write_file(&path, &unpacking_file());
    for words in [&["stats"][..], &["export", "--to", "sft"], &["redact", "--scan"]] {
        let ran = bounded(&machine, words);
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{words:?}: {stderr}");
        assert!(stderr.contains("unpacks to more than 64 MB"), "{words:?}: {stderr}");
        assert!(!ran.stdout.is_empty(), "{words:?}: the others are read");
    }
    let ran = bounded(&machine, &["show", &path.to_string_lossy()]);
    assert_eq!(ran.status.code(), Some(2));
}

/// Commands that print something.
const PRINTING: &[&[&str]] = &[
    &[],
    &["--help"],
    &["--version"],
    &["ls"],
    &["ls", "--json"],
    &["ls", "--help"],
    &["show", "latest"],
    &["show", "latest", "--format", "json"],
    &["show", "latest", "--format", "html"],
    &["analyze"],
    &["analyze", "--format", "json"],
    &["analyze", "--history"],
    &["check"],
    &["check", "--json"],
    &["stats"],
    &["stats", "--json"],
    &["clone", "latest", "--dry-run"],
    &["clone", "latest", "--dry-run", "--json"],
    &["log", "--all"],
    &["export", "--to", "opentraces"],
    &["export", "--to", "sft"],
    &["replay", "latest", "--teachers-from", "t.toml"],
    &["redact", "latest"],
    &["redact", "--scan"],
    &["redact", "--scan", "--json"],
    &["capture", "status"],
    &["completions", "bash"],
    &["man"],
];

fn printing_machine() -> Machine {
    let machine = Machine::with_sample();
    let teacher = "[[teacher]]\nid='t'\nmodel='m'\nbase_url='http://127.0.0.1:9/v1'\n";
    write_file(&machine.home().join("t.toml"), teacher.as_bytes());
    machine
}

fn full() -> Stdio {
    std::fs::OpenOptions::new().write(true).open(Path::new("/dev/full")).unwrap().into()
}

#[test]
fn full_standard_output_is_an_error() {
    let machine = printing_machine();
    for words in PRINTING {
        let ran = machine.command(words).stdout(full()).output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{words:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{words:?}: {stderr}");
    }
}

#[test]
fn closed_pipe_is_not_an_error() {
    let machine = printing_machine();
    for words in PRINTING {
        let whole = machine.command(words).output().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = machine.command(words).stdout(writer).output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        let fine = ran.status.code() == Some(0) || ran.status.code() == whole.status.code();
        assert!(fine && ran.status.code() < Some(2), "{words:?}: {:?} {stderr}", ran.status);
        assert!(!stderr.contains("panicked"), "{words:?}: {stderr}");
    }
}

#[test]
fn full_standard_error_is_an_error() {
    let machine = printing_machine();
    let saying: &[&[&str]] = &[
        &["--wrong"],
        &["show", "no-such-session"],
        &["redact", "latest"],
        &["export", "--to", "sft"],
        &["export", "--to", "sft", "--raw"],
        &["show", "--all", "--out", "pages"],
        &["capture", "--session", "latest", "--out", "traces"],
    ];
    for words in saying {
        let ran = machine.command(words).stderr(full()).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{words:?}");
    }
    for words in PRINTING {
        let ran = machine.command(words).stderr(full()).stdout(full()).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{words:?}");
    }
}
