//! Clones that cannot be written, or whose writer is killed: no partial file, the source untouched.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods)]

use crate::support::Machine;
use backstory_testkit::{testdata, write_file};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const ID: &str = "bf74c68e-c847-4cdb-aade-68b60fc0dfa8";

/// A machine with one session of some size.
fn machine(repeat: usize) -> (Machine, PathBuf, Vec<u8>) {
    let machine = Machine::empty();
    let sample = testdata(&format!("sample/projects/-home-dev-tidewatch/{ID}.jsonl"));
    let text = std::fs::read_to_string(sample).unwrap();
    let mut bytes = text.clone().into_bytes();
    // More of the same, under other ids, hanging from the end.
    let mut last = text
        .lines()
        .filter_map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["uuid"]
                .as_str()
                .map(str::to_owned)
        })
        .next_back()
        .unwrap();
    for number in 0..repeat {
        let uuid = format!("{number:08x}-1111-4111-8111-111111111111");
        let prompt = "What about the next harbour? ".repeat(40);
        bytes.extend(format!(
            "{{\"parentUuid\":\"{last}\",\"isSidechain\":false,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}},\"uuid\":\"{uuid}\",\"timestamp\":\"2026-10-06T12:40:02.000Z\",\"cwd\":\"/home/dev/tidewatch\",\"sessionId\":\"{ID}\",\"version\":\"2.1.325\"}}\n"
        ).into_bytes());
        last = uuid;
    }
    let path = machine.home().join(format!(".claude/projects/-home-dev-tidewatch/{ID}.jsonl"));
    write_file(&path, &bytes);
    (machine, path, bytes)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A command run by a shell that first limits itself.
fn limited(machine: &Machine, prelude: &str) -> (Option<i32>, String) {
    let binary = env!("CARGO_BIN_EXE_backstory");
    let output = Command::new("bash")
        .args(["-c", &format!("{prelude}; exec {binary} clone {ID} --quiet")])
        .env_clear()
        .env("HOME", machine.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(machine.home())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn clone_leaves_nothing_on_a_full_disk() {
    let (machine, path, bytes) = machine(40);
    let folder = path.parent().unwrap().to_path_buf();
    let blocks = bytes.len() as u64 / 1024;
    let (mut refused, mut killed, mut written) = (0, 0, 0);
    for limit in (0..blocks + 40).step_by(3) {
        // With the signal ignored, writing past the limit fails as it does on a full disk; without,
        // the process is killed in the middle of the write.
        for prelude in ["trap '' XFSZ; ", ""] {
            let (code, said) =
                limited(&machine, &format!("{prelude}ulimit -c 0; ulimit -f {limit}"));
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "the source changed");
            let new: Vec<String> =
                names(&folder).into_iter().filter(|name| !name.starts_with(ID)).collect();
            match code {
                Some(0) => {
                    written += 1;
                    assert_eq!(new.len(), 1);
                    let clone = folder.join(&new[0]);
                    machine.out(&["clone", "--verify", &clone.to_string_lossy()]);
                    std::fs::remove_file(clone).unwrap();
                }
                Some(code) => {
                    refused += 1;
                    assert_eq!(code, 2);
                    assert!(said.starts_with("error: ") && said.contains("large"), "{said}");
                    assert!(new.is_empty(), "{new:?}");
                }
                None => {
                    killed += 1;
                    assert!(new.iter().all(|name| !name.ends_with(".jsonl")), "{new:?}");
                }
            }
        }
    }
    assert!(refused > 10 && killed > 10 && written > 0, "{refused} {killed} {written}");
}

#[test]
fn killed_clone_leaves_nothing_or_a_whole_copy() {
    let (machine, path, bytes) = machine(4_000);
    let folder = path.parent().unwrap().to_path_buf();
    let (mut partial, mut whole) = (0, 0);
    for attempt in 0..60u64 {
        let mut child = machine
            .command(&["clone", ID, "--quiet"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(attempt * 3));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "the source changed");
        for name in names(&folder).into_iter().filter(|name| !name.starts_with(ID)) {
            assert!(name.ends_with(".jsonl"), "left behind: {name}");
            let clone = folder.join(name);
            machine.out(&["clone", "--verify", &clone.to_string_lossy()]);
            std::fs::remove_file(clone).unwrap();
            whole += 1;
        }
        partial += 1;
    }
    assert!(partial > whole, "{partial} {whole}");
}

/// A disk that is really full, where one can be mounted.
#[test]
fn clone_fails_on_a_small_disk() {
    let (machine, path, bytes) = machine(400);
    let binary = env!("CARGO_BIN_EXE_backstory");
    let script = format!(
        "mount -t tmpfs -o size=256k none /mnt || exit 99; {binary} clone {} --out /mnt/ --quiet; code=$?; ls -A /mnt; exit $code",
        path.display()
    );
    let output = Command::new("unshare")
        .args(["-rm", "bash", "-c", &script])
        .env("HOME", machine.home())
        .output();
    let Ok(output) = output else { return eprintln!("skipped: no unshare") };
    let said = String::from_utf8_lossy(&output.stderr);
    if !said.starts_with("error: ") {
        return eprintln!("skipped: nothing can be mounted: {said}");
    }
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("No space left"), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "left behind");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}
