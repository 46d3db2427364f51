//! `backstory show` in its formats for people, and `show --all`

use crate::support::Machine;
use backstory_testkit::write_file;
use std::path::Path;

#[test]
fn text_is_the_default_for_pipes() {
    let machine = Machine::with_sample();
    insta::assert_snapshot!(machine.out(&["show", "5931"]), @r#"
    Make saving notes atomic
      session   5931ab08-5ffc-4edc-ae4a-50e733ce8063
      agent     claude-code 2.1.325
      models    claude-opus-5-5
      time      2026-10-21 18:30:01 +00:00 to 2026-10-21 18:31:25 +00:00 (1 min)
      worktree  /home/dev/field-notes
      branch    main
      tokens    104k read (97 % from cache), 1.0k written
      cost      $0.0583, list prices of 2026-11-16
      work      2 turns, 4 tool calls

    ── turn 1 2026-10-21 18:30:01 · 14 s · 39.7k read (95 % from cache), 400 written · $0.0261
    > /review store.go

      ∴ thinking (not in the file)
      ● Read  store.go  ok · 291 B
               1→package notes
               2→  … 10 more lines
      ∴ thinking (not in the file)

      Two mistakes can lose notes:

      1. `Save` truncates the old note before the new one is written. A crash or a full disk in between loses both.
      2. The file is never closed, so a late write error goes unseen.

      Both go away if it writes a temporary file, syncs, closes and renames.

    ── turn 2 2026-10-21 18:30:52 · 33 s · 63.9k read (98 % from cache), 610 written · $0.0322
    > Do that

      ∴ thinking (not in the file)
      ● Edit  store.go  ok · 70 B
         3  import "os"
         4  
         5  func Save(path string, b []byte) error {
           -    f, err := os.Create(path)
         6 +    f, err := os.CreateTemp(filepath.Dir(path), ".note-*")
         7      if err != nil {
         8          return err
         9      }
           -    _, err = f.Write(b)
           -    return err
        10 +    defer os.Remove(f.Name())
        11 +    if _, err = f.Write(b); err == nil {
          … 10 more lines
      ● Edit  store.go  ok · 70 B
         1  package notes
         2  
           -import "os"
         3 +import (
         4 +    "os"
         5 +    "path/filepath"
         6 +)
         7  
         8  func Save(path string, b []byte) error {
         9      f, err := os.CreateTemp(filepath.Dir(path), ".note-*")
      ● Bash  go vet ./... && go test ./...  ok · 25 B
          ok   field-notes 0.213s

      `Save` is atomic now: temporary file in the same folder, sync, close, rename. A failed save leaves the old note as it was.

    ── 1 file changed, +16 −4
      +16 −4        store.go

    1 client message hidden; --noise shows it
    "#);
}

#[test]
fn formats_follow_the_name_of_the_file() {
    let machine = Machine::with_sample();
    for (name, start) in [
        ("a.md", "# Make saving notes atomic\n"),
        ("a.html", "<!doctype html>\n"),
        ("a.json", "{\"schema\":\"backstory.session/1\""),
        ("a.txt", "Make saving notes atomic\n"),
    ] {
        assert_eq!(machine.out(&["show", "5931", "--out", name]), "");
        let text = std::fs::read_to_string(machine.home().join(name)).unwrap();
        assert!(text.starts_with(start), "{name}: {text:.80}");
    }
}

#[test]
fn wrong_options_say_what_to_type() {
    let machine = Machine::with_sample();
    insta::assert_snapshot!(machine.run(&["show", "latest", "--redact=cake"]).stderr, @r#"
    error: --redact `cake`: no such class
    hint: the classes are secrets, paths, people
    "#);
    insta::assert_snapshot!(machine.run(&["show", "latest", "--select", "cake"]).stderr, @r#"
    error: --select `cake`: no such part
    hint: the parts are prompts, text, tools, results, thinking, edits, subagents
    "#);
    insta::assert_snapshot!(machine.run(&["show", "latest", "--turns", "9..2"]).stderr, @r#"
    error: --turns `9..2`: not a range of turns
    hint: use 3, 3..7, 3.. or ..7; the first turn is 1
    "#);
    insta::assert_snapshot!(machine.run(&["show", "latest", "--max-result", "x"]).stderr, @r#"
    error: --max-result `x`: unknown unit `x`; use K, M or G
    hint: use a number of bytes such as 4K, or `all`
    "#);
    let inside = machine.run(&["show", "latest", "--out", ".claude/projects/x.md"]);
    insta::assert_snapshot!(inside.stderr, @r#"
    error: `.claude/projects/x.md`: lies in `[HOME]/.claude`, where sessions are kept
    hint: name a place outside it
    "#);
    assert_eq!(machine.run(&["show", "--all"]).code, Some(2));
    assert_eq!(machine.run(&["show"]).code, Some(2));
}

#[test]
fn the_session_itself_is_never_written_over() {
    let machine = Machine::empty();
    let path = machine.home().join("11111111-1111-4111-8111-111111111111.jsonl");
    let record = b"{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";
    write_file(&path, record);
    let path = path.to_str().unwrap();
    assert_eq!(machine.run(&["show", path, "--out", path, "--format", "md"]).code, Some(2));
    assert_eq!(std::fs::read(path).unwrap(), record);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_project_becomes_a_folder_that_is_kept_up_to_date() {
    let machine = Machine::with_sample();
    let folder = machine.home().join("pages");
    let all = |more: &[&str]| {
        let mut arguments = vec!["show", "--all", "--out", "pages"];
        arguments.extend(more);
        machine.run(&arguments).stderr
    };
    assert_eq!(all(&[]), "6 sessions written to pages, 0 unchanged\n");
    let first = names(&folder);
    assert_eq!(first.len(), 8, "{first:?}");
    let index = std::fs::read_to_string(folder.join("index.html")).unwrap();
    let links = first.iter().filter(|name| index.contains(&format!("href=\"{name}\"")));
    assert_eq!(links.count(), 6);
    // From the newest session, links to older ones lead through all of them.
    let link = |text: &str, before: &str| -> Option<String> {
        let (_, rest) = text.split_once(before)?;
        rest.split_once('"').map(|(file, _)| file.to_owned())
    };
    let mut visited = Vec::new();
    let mut next = link(&index, "<td><a href=\"");
    while let Some(file) = next {
        let page = std::fs::read_to_string(folder.join(&file)).unwrap();
        assert!(page.contains("<a href=\"index.html\">All sessions</a>"), "{file}");
        let older = page.find("\">← ").map(|at| page[..at].rfind('"').unwrap() + 1..at);
        next = older.map(|range| page[range].to_owned());
        visited.push(file);
    }
    assert_eq!(visited.len(), 6, "{visited:?}");
    for words in
        ["<dt>Tokens</dt>", "<dt>Cost</dt>", "<h2>Projects</h2>", "data-label=\"Duration\""]
    {
        assert!(index.contains(words), "{words}");
    }
    assert_eq!(all(&[]), "0 sessions written to pages, 6 unchanged\n");
    assert_eq!(all(&["--full"]), "6 sessions written to pages, 0 unchanged\n");
    assert_eq!(all(&["--full"]), "0 sessions written to pages, 6 unchanged\n");

    let rows = machine.json(&["ls", "--json"]);
    let path =
        rows[0]["path"].as_str().unwrap().replace("[HOME]", machine.home().to_str().unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(
        b"{\"type\":\"custom-title\",\"customTitle\":\"Renamed\",\"sessionId\":\"x\"}\n",
    );
    write_file(Path::new(&path), &bytes);
    // The session before it has a link with the title.
    assert_eq!(all(&["--full"]), "2 sessions written to pages, 4 unchanged\n");
    assert!(std::fs::read_to_string(folder.join("index.html")).unwrap().contains(">Renamed<"));
    assert_eq!(names(&folder), first);

    let project =
        machine.run(&["show", "--all", "/home/dev/tidewatch", "--out", "tide", "-f", "md"]);
    assert_eq!(project.stderr, "2 sessions written to tide, 0 unchanged\n");
    assert!(machine.home().join("tide/index.md").is_file());
    assert_eq!(names(&machine.home().join("tide")).len(), 4);
}

#[test]
fn files_of_others_are_left_alone() {
    let machine = Machine::with_sample();
    let id = machine.json(&["ls", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let theirs = machine.home().join(format!("pages/{id}.html"));
    write_file(&theirs, b"mine");
    write_file(&machine.home().join("pages/notes.txt"), b"mine too");
    let ran = machine.run(&["show", "--all", "--out", "pages"]);
    assert!(ran.stderr.contains("not replaced: it was not written by backstory"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("5 sessions written to pages, 0 unchanged\n"), "{}", ran.stderr);
    assert_eq!(std::fs::read(&theirs).unwrap(), b"mine");
    let one = machine.run(&["show", &id, "--out", "pages/", "--format", "html"]);
    assert_eq!(one.code, Some(2), "{}", one.stderr);
    assert_eq!(std::fs::read(&theirs).unwrap(), b"mine");
}

#[test]
fn hostile_names_stay_in_the_folder() {
    let machine = Machine::empty();
    let record = |id: &str| {
        let record = serde_json::json!({
            "type": "user", "uuid": id, "sessionId": id, "cwd": "../../x", "gitBranch": "/etc",
            "timestamp": "2026-01-02T03:04:05.000Z",
            "message": { "role": "user", "content": "../../y" },
        });
        format!("{record}\n").into_bytes()
    };
    let project = machine.home().join("traces");
    for name in ["index", "..x", "-rf", "a b", "CON", ".hidden", "ü"] {
        write_file(&project.join(format!("{name}.jsonl")), &record("../../../../tmp/escaped"));
    }
    let before = names(machine.home());
    machine.run(&["show", "--all", "traces", "--out", "deep/pages"]);
    let mut after = names(machine.home());
    after.retain(|name| name != "deep");
    assert_eq!(after, before);
    assert_eq!(names(&machine.home().join("deep")), ["pages"]);
    let pages = names(&machine.home().join("deep/pages"));
    let plain =
        |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    assert!(pages.iter().all(plain) && pages.len() > 3, "{pages:?}");
}

/// On a terminal only our own colours, whatever the session holds.
#[cfg(target_os = "linux")]
#[test]
fn show_writes_no_control_characters_of_a_session() {
    let machine = Machine::empty();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}P+q\u{9b}6n\u{8}\u{202e}\r\u{1b}]52;c;eA==\u{7}";
    let id = "22222222-2222-4222-8222-222222222222";
    let record = serde_json::json!({
        "type": "user", "uuid": "u", "sessionId": id, "cwd": evil, "gitBranch": evil, "version": evil,
        "timestamp": "2026-01-02T03:04:05.000Z", "message": { "role": "user", "content": evil },
    });
    write_file(
        &machine.home().join(format!(".claude/projects/p/{id}.jsonl")),
        format!("{record}\n").as_bytes(),
    );
    let binary = env!("CARGO_BIN_EXE_backstory");
    let output = std::process::Command::new("script")
        .args(["-qec", &format!("'{binary}' show latest --full"), "/dev/null"])
        .env("HOME", machine.home())
        .env("PAGER", "cat")
        .env("TERM", "xterm-256color")
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("NO_COLOR")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("turn 1"), "{text}");
    let mut rest = text.as_str();
    while let Some((_, after)) = rest.split_once('\u{1b}') {
        let code = after.strip_prefix('[').and_then(|code| code.split_once('m'));
        let (code, behind) = code.unwrap_or_else(|| panic!("{after:?}"));
        assert!(code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{code:?}");
        rest = behind;
    }
    let odd = text.chars().find(|one| one.is_control() && !matches!(one, '\n' | '\r' | '\u{1b}'));
    assert_eq!(odd, None, "{text:?}");
    assert!(text.matches('\r').count() == text.matches("\r\n").count());
}
