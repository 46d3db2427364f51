//! `backstory capture`, with scripts in the place of an agent

use crate::support::Machine;
use backstory_testkit::write_file;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

const OLD: &str = "00000000-0000-4000-8000-00000000000a";
const NEW: &str = "11111111-1111-4111-8111-111111111111";
const OTHER: &str = "22222222-2222-4222-8222-222222222222";

/// Shell functions of an agent: `say ID CWD PROMPT` appends a prompt and an answer.
const AGENT: &str = r#"
PATH=/usr/bin:/bin
now() { date -u +%Y-%m-%dT%H:%M:%S.000Z; }
folder() { f="$HOME/.claude/projects/-fake"; mkdir -p "$f"; echo "$f"; }
say() {
    file="$(folder)/$1.jsonl"
    [ -f "$file" ] || echo '{"type":"file-history-snapshot","messageId":"m","snapshot":{}}' >> "$file"
    printf '{"type":"user","uuid":"u-%s","parentUuid":%s,"sessionId":"%s","cwd":"%s","version":"%s","timestamp":"%s","message":{"role":"user","content":"%s"}}\n' "$3" "${PARENT:-null}" "$1" "$2" "${VERSION:-2.1.300}" "$(now)" "$3" >> "$file"
    printf '{"type":"assistant","uuid":"a-%s","parentUuid":"u-%s","sessionId":"%s","cwd":"%s","version":"%s","timestamp":"%s","message":{"role":"assistant","id":"m-%s","model":"x","stop_reason":"end_turn","content":[{"type":"text","text":"answer to %s"}]}}\n' "$3" "$3" "$1" "$2" "${VERSION:-2.1.300}" "$(now)" "$3" "$3" >> "$file"
}
"#;

struct Place {
    machine: Machine,
    worktree: PathBuf,
}

impl Place {
    fn new() -> Place {
        let machine = Machine::empty();
        let worktree = std::fs::canonicalize(machine.home()).unwrap().join("repo");
        write_file(&worktree.join(".git/HEAD"), b"ref: refs/heads/main\n");
        write_file(&worktree.join("src/a.rs"), b"");
        Place { machine, worktree }
    }

    /// A session of long ago in the same worktree; its file is as new as any.
    fn old_session(&self) -> PathBuf {
        let path = self.machine.home().join(format!(".claude/projects/-fake/{OLD}.jsonl"));
        let cwd = self.worktree.display();
        let text = format!(
            "{{\"type\":\"user\",\"uuid\":\"u-old\",\"parentUuid\":null,\"sessionId\":\"{OLD}\",\"cwd\":\"{cwd}\",\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"long ago\"}}}}\n\
             {{\"type\":\"assistant\",\"uuid\":\"a-old\",\"parentUuid\":\"u-old\",\"sessionId\":\"{OLD}\",\"cwd\":\"{cwd}\",\"timestamp\":\"2025-01-01T00:00:01.000Z\",\"message\":{{\"role\":\"assistant\",\"id\":\"m-old\",\"model\":\"x\",\"stop_reason\":\"end_turn\",\"content\":[{{\"type\":\"text\",\"text\":\"old answer\"}}]}}}}\n"
        );
        write_file(&path, text.as_bytes());
        path
    }

    fn capture(&self, more: &[&str], script: &str) -> Output {
        let mut arguments = vec!["capture", "--out", "../traces"];
        arguments.extend(more);
        let script = format!("{AGENT}\n{script}");
        arguments.extend(["--", "/bin/sh", "-c", &script]);
        self.machine.command(&arguments).current_dir(&self.worktree).output().unwrap()
    }

    fn traces(&self) -> Vec<String> {
        traces(&self.machine.home().join("traces"))
    }
}

fn traces(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_session_that_ran_is_captured_and_no_other() {
    let place = Place::new();
    place.old_session();
    let script = format!(
        r#"say {OTHER} /somewhere/else elsewhere
        say {NEW} "$PWD/src" first
        mkdir -p "$(folder)/{NEW}/subagents"
        printf '{{"type":"user","uuid":"s1","isSidechain":true,"agentId":"abc","sessionId":"{NEW}","cwd":"%s","timestamp":"%s","message":{{"role":"user","content":"to the helper"}}}}\n' "$PWD" "$(now)" > "$(folder)/{NEW}/subagents/agent-abc.jsonl"
        printf '{{"type":"assistant","torn' >> "$(folder)/{NEW}.jsonl"
        echo from the agent; echo to stderr >&2; exit 7"#
    );
    let output = place.capture(&[], &script);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, b"from the agent\n");
    assert_eq!(stderr(&output), "to stderr\n");
    let traces = place.traces();
    assert_eq!(traces.len(), 1, "{traces:?}");
    let trace = &traces[0];
    assert!(trace.contains(NEW) && trace.contains("> first") && trace.contains("to the helper"));
    assert!(trace.contains("- **Command:** /bin/sh -c ") && trace.contains("exit status: 7"));
    assert!(trace.contains("2.1.300") && !trace.contains("Left out"), "{trace}");
}

#[test]
fn resumed_sessions_give_only_what_is_new() {
    let place = Place::new();
    place.old_session();
    let script = format!("PARENT='\"a-old\"' say {OLD} \"$PWD\" again");
    let output = place.capture(&[], &script);
    assert_eq!(stderr(&output), "");
    let traces = place.traces();
    assert_eq!(traces.len(), 1);
    assert!(traces[0].contains("> again") && !traces[0].contains("> long ago"), "{}", traces[0]);
    assert!(traces[0].contains("- **Resumed:** only what is new since "));
    assert!(traces[0].contains("- **Left out:** 1 turn"));
}

#[test]
fn capture_writes_a_file_for_each_parallel_session() {
    let place = Place::new();
    let script =
        format!("say {NEW} \"$PWD\" one; say {OTHER} \"$PWD\" two; say {NEW} \"$PWD\" three");
    place.capture(&[], &script);
    let traces = place.traces();
    assert_eq!(traces.len(), 2);
    assert!(traces[0].contains("> one") && traces[1].contains("> two"));
}

#[cfg(unix)]
#[test]
fn the_end_of_the_command_is_passed_on() {
    use std::os::unix::process::ExitStatusExt;
    let place = Place::new();
    let killed = place.capture(&[], &format!("say {NEW} \"$PWD\" first; kill -KILL $$"));
    assert_eq!(killed.status.signal(), Some(9), "{}", stderr(&killed));
    assert_eq!(place.traces().len(), 1, "captured all the same");
    let missing = place
        .machine
        .command(&["capture", "--out", "t", "--", "no-such-program"])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(127));
}

#[cfg(unix)]
#[test]
fn a_request_to_end_reaches_the_command() {
    let place = Place::new();
    let script = format!(
        "{AGENT}\ntrap 'say {NEW} \"$PWD\" ended; exit 3' TERM; echo ready; while :; do sleep 0.1; done"
    );
    let mut child = place
        .machine
        .command(&["capture", "--out", "../traces", "--", "/bin/sh", "-c", &script])
        .current_dir(&place.worktree)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(place.traces().len(), 1);
}

#[test]
fn failures_are_one_line_and_never_the_commands_fault() {
    let place = Place::new();
    write_file(&place.machine.home().join("traces"), b"a file, not a folder");
    let output = place.capture(&[], &format!("say {NEW} \"$PWD\" x; exit 5"));
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    assert!(stderr(&output).starts_with("warning: trace not captured: "));

    let place = Place::new();
    let output = place.capture(&[], "true");
    assert_eq!(
        stderr(&output),
        "warning: trace not captured: no session was at work in this worktree\n"
    );
    let output = place.capture(&["--debug"], "true");
    assert!(stderr(&output).contains("capture: window ") && stderr(&output).contains("worktree"));
}

#[test]
fn after_the_fact() {
    let place = Place::new();
    place.old_session();
    let run = |arguments: &[&str]| {
        place.machine.command(arguments).current_dir(&place.worktree).output().unwrap()
    };
    let output = run(&["capture", "--out", "../traces", "--session", "latest"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(place.traces()[0].contains("> long ago"));
    run(&["capture", "--out", "../traces", "--session", "latest"]);
    assert_eq!(place.traces().len(), 1, "the same file again");
    let output = run(&["capture", "--out", "../since", "--since", "2024-12-31"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(traces(&place.machine.home().join("since")).len(), 1);
    let output = run(&["capture", "--out", "../since", "--since", "1h"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(run(&["capture", "--out", "../t"]).status.code(), Some(2));
}

fn hook(place: &Place, input: &str) -> Output {
    let mut child = place
        .machine
        .command(&["capture", "--hook", "--out", "traces"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn capture_hook_takes_the_session_of_its_input() {
    let place = Place::new();
    let path = place.old_session();
    let input = serde_json::json!({
        "session_id": OLD, "transcript_path": path, "cwd": place.worktree,
        "hook_event_name": "SessionEnd", "reason": "exit",
    });
    let output = hook(&place, &input.to_string());
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    assert!(place.traces()[0].contains("> long ago"));
    for input in ["", "not json", "{}", "{\"session_id\":\"../../x\"}", "[]"] {
        let output = hook(&place, input);
        assert_eq!(output.status.code(), Some(0), "{input}");
        assert_eq!(stderr(&output).lines().count(), 1, "{input}: {}", stderr(&output));
    }
    assert_eq!(place.traces().len(), 1);
}

#[test]
fn the_hook_is_put_into_the_settings_and_taken_out_again() {
    let place = Place::new();
    let settings = place.machine.home().join(".claude/settings.json");
    let before = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
    write_file(&settings, before.as_bytes());
    let read = || std::fs::read_to_string(&settings).unwrap();
    let run = |arguments: &[&str]| place.machine.run(arguments);
    assert_eq!(run(&["capture", "status"]).code, Some(1));
    let unasked = run(&["capture", "install", "--out", "traces"]);
    assert_eq!(unasked.code, Some(2));
    assert!(unasked.stdout.contains("+    \"SessionEnd\": ["), "{}", unasked.stdout);
    assert_eq!(read(), before);
    assert_eq!(run(&["capture", "install", "--out", "traces", "--yes"]).code, Some(0));
    let status = run(&["capture", "status"]);
    assert_eq!(status.code, Some(0));
    assert!(status.stdout.contains("capture --hook --keep 30d --out "), "{}", status.stdout);
    let installed: serde_json::Value = serde_json::from_str(&read()).unwrap();
    let command = installed["hooks"]["SessionEnd"][0]["hooks"][0]["command"].as_str().unwrap();

    let path = place.old_session();
    let input = format!("{{\"session_id\":\"{OLD}\",\"transcript_path\":\"{}\"}}", path.display());
    let mut child = std::process::Command::new("/bin/sh")
        .args(["-c", command])
        .env("HOME", place.machine.home())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(place.traces().len(), 1, "the command in the settings works");

    assert_eq!(run(&["capture", "install", "--out", "traces", "--yes"]).code, Some(0), "once only");
    assert_eq!(read().matches("--hook").count(), 1);
    assert_eq!(run(&["capture", "uninstall", "--yes"]).code, Some(0));
    assert_eq!(read(), before);
    assert_eq!(run(&["capture", "uninstall", "--yes"]).code, Some(1));
}

#[test]
fn old_traces_go_and_files_of_others_stay() {
    let place = Place::new();
    let folder = place.machine.home().join("traces");
    place.capture(&[], &format!("say {NEW} \"$PWD\" one"));
    write_file(&folder.join("notes.md"), b"mine");
    let manifest = folder.join(".backstory.json");
    let aged = || {
        let text = std::fs::read_to_string(&manifest).unwrap();
        let year = &text[text.find("\"captured\":\"").unwrap() + 12..][..4];
        write_file(
            &manifest,
            text.replace(&format!("\"captured\":\"{year}"), "\"captured\":\"2020").as_bytes(),
        );
    };
    aged();
    // Somewhere else, so that the session of a moment ago is not captured again.
    let elsewhere = place.machine.home().join("elsewhere");
    write_file(&elsewhere.join(".git/HEAD"), b"");
    let quiet = |keep: &str| {
        let arguments = ["capture", "--out", "../traces", "--keep", keep, "--", "/bin/true"];
        place.machine.command(&arguments).current_dir(&elsewhere).output().unwrap();
    };
    quiet("forever");
    assert_eq!(place.traces().len(), 2);
    quiet("30d");
    assert_eq!(place.traces(), ["mine"]);
    assert_eq!(place.capture(&["--keep", "soon"], "true").status.code(), Some(2));
}

#[test]
fn capture_warns_of_a_newer_agent_once() {
    let place = Place::new();
    let script = format!("VERSION=9.9.9 say {NEW} \"$PWD\" one");
    let first = stderr(&place.capture(&[], &script));
    assert!(first.starts_with("warning: Claude Code 9.9.9 is newer than "), "{first}");
    assert_eq!(stderr(&place.capture(&[], &script)), "");
}

/// On a terminal: the command has it as if it had been started alone.
#[cfg(target_os = "linux")]
#[test]
fn the_terminal_is_handed_through() {
    let place = Place::new();
    let script = format!(
        "{AGENT}\nsay {NEW} \"$PWD\" one; test -t 0 && test -t 1 && test -t 2 && stty size; exit 4"
    );
    write_file(&place.worktree.join("agent.sh"), script.as_bytes());
    let binary = env!("CARGO_BIN_EXE_backstory");
    let line =
        format!("stty rows 31 cols 97; '{binary}' capture --out ../traces -- /bin/sh agent.sh");
    let output = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env("HOME", place.machine.home())
        .env_remove("CLAUDE_CONFIG_DIR")
        .current_dir(&place.worktree)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "31 97");
    assert_eq!(place.traces().len(), 1);
}

#[test]
fn traces_without_secrets() {
    let place = Place::new();
    let token = "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";
    let half = token.len() / 2;
    let script = format!("say {NEW} \"$PWD\" {token}");
    let ran = place.capture(&["--redact=paths"], &script);
    assert!(ran.status.success());
    let trace = place.traces().concat();
    // The command itself named it too.
    assert!(trace.contains("[redacted:github-token:"), "{trace}");
    assert!(!trace.contains(&token[..half]) && !trace.contains(&token[half..]), "{trace}");
    let open = place.capture(&[], &format!("say {OTHER} \"$PWD\" {token}"));
    assert!(open.status.success());
    assert!(
        place.traces().concat().contains(token),
        "without the option a trace is as the session is"
    );
    assert_eq!(place.capture(&["--redact=everything"], "touch ran").status.code(), Some(2));
    assert!(!place.worktree.join("ran").exists(), "nothing is run that could not be redacted");
}
