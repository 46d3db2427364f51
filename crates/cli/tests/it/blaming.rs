//! `backstory blame`, `log` and `annotate` as people use them.

use crate::support::{Machine, assert_documented, assert_valid};
use crate::traces::Trace;
use backstory_testkit::write_file;
use std::collections::BTreeSet;
use std::process::Command;

const MODEL: &str = "claude-opus-4-5";

fn machine() -> (Machine, Trace) {
    let machine = Machine::empty();
    let mut trace = Trace::new(&machine);
    trace.prompt("Write a greeting");
    trace.write(MODEL, "hello.py", None, "def hello():\n    print(\"hello to everybody\")\n");
    trace.prompt("Make it louder");
    let text = "def hello():\n    print(\"hello to everybody\")\n";
    trace.edit(
        "claude-sonnet-4-6",
        "hello.py",
        text,
        "hello to everybody",
        "HELLO TO EVERYBODY",
        false,
    );
    trace.save(&machine);
    trace.file(
        &machine,
        "hello.py",
        "# mine\ndef hello():\n        print(\"HELLO TO EVERYBODY\")\n",
    );
    (machine, trace)
}

#[test]
fn the_table() {
    let (machine, _) = machine();
    insta::assert_snapshot!(machine.out(&["blame", "repo/hello.py"]), @r#"
    -                                            1│ # mine
    opus-4-5    aaaaaaaa  2026-03-01 10:00  #1   2│ def hello():
    sonnet-4-6  aaaaaaaa  2026-03-01 10:00  #2  ~3│         print("HELLO TO EVERYBODY")

    repo/hello.py  3 lines
      by agents    66.7%  2 lines (1 reformatted)
         33.3%  1 line  claude-opus-4-5
         33.3%  1 line  claude-sonnet-4-6
      others       33.3%  1 line, by people, commands or unknown
    "#);
    insta::assert_snapshot!(machine.out(&["blame", "repo/hello.py", "--prompt", "-L", "2,3"]), @r#"
    2  opus-4-5    aaaaaaaa  2026-03-01 10:00  #1  │ def hello():
       prompt Write a greeting
    3  sonnet-4-6  aaaaaaaa  2026-03-01 10:00  #2  │ print("HELLO TO EVERYBODY")
       prompt Make it louder

    repo/hello.py  2 lines
      by agents   100.0%  2 lines (1 reformatted)
         50.0%  1 line  claude-opus-4-5
         50.0%  1 line  claude-sonnet-4-6
      others        0.0%  0 lines, by people, commands or unknown
    "#);
}

#[test]
fn the_log() {
    let (machine, _) = machine();
    insta::assert_snapshot!(machine.out(&["log", "repo"]), @r"
    repo/hello.py  2 of 3 lines by agents
      2026-03-01 10:00  opus-4-5    aaaaaaaa  #1  create  +2 -0  1 left
      2026-03-01 10:00  sonnet-4-6  aaaaaaaa  #2  edit    +1 -1  1 left

    2 edits in 1 file: 3 lines added, 1 removed, 2 still there
    ");
    insta::assert_snapshot!(machine.out(&["log", "repo", "--report"]), @r"
                                         edits    added  removed  still there
    repo/hello.py  opus-4-5    aaaaaaaa      1        2        0            1
    repo/hello.py  sonnet-4-6  aaaaaaaa      1        1        1            1

    2 edits in 1 file: 3 lines added, 1 removed, 2 still there
    ");
    insta::assert_snapshot!(machine.out(&["log", "repo", "--by", "session", "--diff"]), @r#"
    aaaaaaaa-0000-4000-8000-000000000001
      “Write a greeting”
      2026-03-01 10:00  opus-4-5    aaaaaaaa  #1  create  +2 -0  1 left  repo/hello.py
        @@ -0,0 +1,2 @@
        +def hello():
        +    print("hello to everybody")
      “Make it louder”
      2026-03-01 10:00  sonnet-4-6  aaaaaaaa  #2  edit    +1 -1  1 left  repo/hello.py
        @@ -1,1 +1,1 @@
        -hello to everybody
        +HELLO TO EVERYBODY

    2 edits in 1 file: 3 lines added, 1 removed, 2 still there
    "#);
}

#[test]
fn a_plan_is_only_a_plan() {
    let (machine, _) = machine();
    insta::assert_snapshot!(machine.out(&["annotate", "repo"]), @r"
    create      sidecar  repo/hello.py  → ~/repo/hello.py.history.yaml

    1 of 1 would be written; --write does it
    ");
    assert!(!machine.home().join("repo/hello.py.history.yaml").exists());
    assert_eq!(machine.run(&["annotate", "repo", "--check"]).code, Some(1));
    machine.out(&["annotate", "repo", "--write"]);
    let sidecar =
        std::fs::read_to_string(machine.home().join("repo/hello.py.history.yaml")).unwrap();
    insta::assert_snapshot!(sidecar, @r#"
    source_file: hello.py
    edit_history:
      - timestamp: "2026-03-01T10:00:03Z"
        model: claude-opus-4-5
        action: CREATED
        agent_tool: claude-code
        agent_version: "2.0.75"
        session: aaaaaaaa-0000-4000-8000-000000000001
        lines_added: 2
        lines_removed: 0
      - timestamp: "2026-03-01T10:00:06Z"
        model: claude-sonnet-4-6
        action: EDITED
        agent_tool: claude-code
        agent_version: "2.0.75"
        session: aaaaaaaa-0000-4000-8000-000000000001
        lines_added: 1
        lines_removed: 1
    "#);
}

#[test]
fn blame_gives_a_hint_if_it_knows_no_line() {
    let (machine, trace) = machine();
    trace.file(&machine, "other.py", "x\n");
    let ran = machine.run(&["blame", "repo/other.py"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    insta::assert_snapshot!(ran.stderr, @r"
    error: `repo/other.py`: no edit of it in 1 session
    hint: if the project was in another folder when it was worked on, name it: --recorded-as DIR
          other sessions: --root DIR; who committed the lines: --git
    ");
    assert_eq!(machine.run(&["blame", "repo/missing.py"]).code, Some(2));
    assert_eq!(machine.run(&["blame", "repo/hello.py", "-L", "9,10"]).code, Some(2));
}

#[test]
fn blame_takes_the_lines_after_a_colon() {
    let (machine, _) = machine();
    let lines = |arguments: &[&str]| machine.out(&[&["blame"], arguments].concat());
    assert_eq!(lines(&["repo/hello.py:1"]), lines(&["repo/hello.py", "-L", "1"]));
    assert_eq!(lines(&["repo/hello.py:1-2"]), lines(&["repo/hello.py", "-L", "1,2"]));
    assert_eq!(machine.run(&["blame", "repo/hello.py:x"]).code, Some(2));
}

fn git(folder: &std::path::Path, words: &[&str]) {
    git_at(folder, "2026-03-01T11:00:00Z", words);
}

fn git_at(folder: &std::path::Path, time: &str, words: &[&str]) {
    let done = Command::new("git")
        .args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_DATE", time)
        .env("GIT_COMMITTER_DATE", time)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn git_says_who_committed_the_rest_and_follows_names() {
    let (machine, trace) = machine();
    let work = machine.home().join("repo");
    git(&work, &["init", "-q"]);
    git(&work, &["add", "."]);
    git(&work, &["commit", "-q", "-m", "Greeting"]);
    git(&work, &["mv", "hello.py", "greet.py"]);
    git(&work, &["commit", "-q", "-m", "Rename"]);
    trace.file(
        &machine,
        "greet.py",
        "# mine\ndef hello():\n        print(\"HELLO TO EVERYBODY\")\nnot_committed = 1\n",
    );
    let mut command = machine.command(&["blame", "repo/greet.py", "--git", "--json"]);
    let path = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
    let output = command.env("PATH", path).output().unwrap();
    let blame: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = blame["lines"].as_array().unwrap();
    assert_eq!(lines[0]["commit"]["author"], "Ada");
    assert_eq!(lines[0]["edit"], serde_json::Value::Null);
    assert_eq!(lines[1]["edit"], 0, "found under its earlier name");
    assert_eq!(lines[2]["confidence"], "reformatted");
    assert_eq!(lines[3]["commit"], serde_json::Value::Null);
    let rev = machine
        .command(&["blame", "repo/greet.py", "--rev", "HEAD", "--porcelain"])
        .env("PATH", path)
        .output()
        .unwrap();
    let rev = String::from_utf8(rev.stdout).unwrap();
    assert_eq!(rev.matches("\nauthor Ada\n").count(), 3, "{rev}");
    assert!(rev.contains("\nbackstory-model claude-opus-4-5\n"));
}

const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

fn blame_with_git(machine: &Machine, name: &str, options: &[&str]) -> serde_json::Value {
    let words = [&["blame", name, "--json"], options].concat();
    let output = machine.command(&words).env("PATH", PATH).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn git_blame_names_the_same_commits() {
    let (machine, trace) = machine();
    let work = machine.home().join("repo");
    git(&work, &["init", "-q"]);
    let mut text = std::fs::read_to_string(work.join("hello.py")).unwrap();
    for number in 0..5 {
        text = format!("# line {number}\n{text}tail_{number} = {number}\n");
        trace.file(&machine, "hello.py", &text);
        git(&work, &["add", "."]);
        git(&work, &["commit", "-q", "-m", &format!("Change {number}")]);
    }
    let theirs = Command::new("git")
        .args(["blame", "-l", "-s", "--root", "HEAD", "--", "hello.py"])
        .current_dir(&work)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let theirs = String::from_utf8(theirs.stdout).unwrap();
    let blame = blame_with_git(&machine, "repo/hello.py", &["--git", "--rev", "HEAD"]);
    let lines = blame["lines"].as_array().unwrap();
    assert_eq!(lines.len(), theirs.lines().count());
    let mut commits = BTreeSet::new();
    for (ours, theirs) in lines.iter().zip(theirs.lines()) {
        let commit = ours["commit"]["id"].as_str().unwrap();
        assert!(theirs.starts_with(commit), "{theirs} is not {commit}");
        commits.insert(commit);
    }
    assert_eq!(commits.len(), 5, "every commit has lines left");
}

/// The client left the file before an edit out, nobody read it, and it was changed since: only the
/// commit before the edit can tell where the edit was.
#[test]
fn blame_reads_a_file_from_a_commit() {
    let machine = Machine::empty();
    let mut trace = Trace::new(&machine);
    trace.prompt("Double it");
    let before = "first_value = compute_first(1)\nsecond_value = compute_second(2)\nthird_value = compute_third(3)\n";
    let (old, new) = ("compute_second(2)", "compute_second(2 * 2)");
    let edit_of = |hunk: serde_json::Value| {
        serde_json::json!({"filePath": trace.path("v.py"), "oldString": old, "newString": new,
            "originalFile": null, "structuredPatch": [hunk], "userModified": false, "replaceAll": false})
    };
    let fits = edit_of(
        serde_json::json!({"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3, "lines": [
        " first_value = compute_first(1)", "-second_value = compute_second(2)",
        "+second_value = compute_second(2 * 2)", " third_value = compute_third(3)"]}),
    );
    let path = trace.path("v.py");
    let input = serde_json::json!({"file_path": path, "old_string": old, "new_string": new});
    let call = trace.call("claude-opus-4-5", "Edit", input);
    trace.result(&call, "done".into(), false, Some(fits));
    trace.save(&machine);
    let work = machine.home().join("repo");
    trace.file(&machine, "v.py", before);
    // The word the edit wrote is twice now, so the file as it is does not say where it wrote.
    let after = "first_value = compute_first(1)\nsecond_value = compute_second(2 * 2)\nagain = compute_second(2 * 2)\n";
    let lines_of = |blame: &serde_json::Value| -> Vec<(bool, String)> {
        let lines = blame["lines"].as_array().unwrap().iter();
        lines
            .map(|line| (line["edit"].is_u64(), line["why"].as_str().unwrap_or("").to_owned()))
            .collect()
    };
    trace.file(&machine, "v.py", after);
    let without = lines_of(&blame_with_git(&machine, "repo/v.py", &[]));
    assert!(without.iter().all(|(claimed, _)| !claimed), "{without:?}");
    trace.file(&machine, "v.py", before);
    git_at(&work, "2026-03-01T09:00:00Z", &["init", "-q"]);
    git_at(&work, "2026-03-01T09:00:00Z", &["add", "."]);
    git_at(&work, "2026-03-01T09:00:00Z", &["commit", "-q", "-m", "Values"]);
    trace.file(&machine, "v.py", after);
    let with = lines_of(&blame_with_git(&machine, "repo/v.py", &[]));
    let claimed: Vec<bool> = with.iter().map(|(claimed, _)| *claimed).collect();
    assert_eq!(claimed, [false, true, false], "{with:?}");
    assert!(with[1].1.contains("newest commit before it"), "{with:?}");
}

#[test]
fn every_key_of_the_json_is_documented() {
    let (machine, trace) = machine();
    write_file(&machine.home().join("repo/.keep"), b"");
    trace.file(&machine, "hello.py", "# mine\ndef hello():\n");
    let mut values = Vec::new();
    for (kind, words) in
        [("blame", ["blame", "repo/hello.py", "--json"]), ("log", ["log", "repo", "--json"])]
    {
        let printed = machine.json(&words);
        assert_valid(kind, &printed);
        values.extend(printed);
    }
    values.extend(machine.json(&["annotate", "repo", "--json"]));
    assert_documented("files-json.md", values, |key| key.starts_with("claude-"));
}

#[test]
fn tables_fit_narrow_terminals() {
    let (machine, mut trace) = machine();
    let long = "a/very/long/way/down/to/the/file/that/was/written/there/hello_again.py";
    let text = format!("print(\"{}\")\n", "words ".repeat(30));
    trace.write(MODEL, long, None, &text);
    trace.save(&machine);
    trace.file(&machine, long, &text);
    let long = format!("repo/{long}");
    let commands: [&[&str]; 7] = [
        &["log", "repo"],
        &["log", "repo", "--by", "session"],
        &["log", "repo", "--report"],
        &["log", "repo", "--report", "--by", "session"],
        &["blame", "repo/hello.py"],
        &["blame", &long],
        &["blame", &long, "--prompt"],
    ];
    for arguments in commands {
        for columns in [60, 80, 120] {
            let mut command = machine.command(arguments);
            let output = command.env("COLUMNS", columns.to_string()).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let table = text.split("\n\n").next().unwrap();
            for line in table.lines() {
                let width = unicode_width::UnicodeWidthStr::width(line);
                assert!(width <= columns, "{arguments:?}: {width} in {columns}: {line}");
            }
        }
    }
    let mut command = machine.command(&["log", "repo"]);
    let output = command.env("COLUMNS", "60").output().unwrap();
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    …hat/was/written/there/hello_again.py  1 of 1 line by agents
      2026-03-01 10:00  opus-4-5    aaaaaaaa  +1 -0  1 left

    repo/hello.py  2 of 3 lines by agents
      2026-03-01 10:00  opus-4-5    aaaaaaaa  +2 -0  1 left
      2026-03-01 10:00  sonnet-4-6  aaaaaaaa  +1 -1  1 left

    3 edits in 2 files: 4 lines added, 1 removed, 3 still there
    ");
}

#[test]
fn messages_count_one_in_the_singular() {
    let (machine, _) = machine();
    for arguments in [
        &["log", "other"][..],
        &["annotate", "other"],
        &["blame", "repo/hello.py", "-L", "9"],
        &["redact", "--scan"],
    ] {
        let ran = machine.run(arguments);
        let said = ran.stderr + &ran.stdout;
        for wrong in ["1 sessions", "1 lines", "1 files"] {
            assert!(!said.contains(wrong), "{arguments:?}: {said}");
        }
    }
}

/// A machine whose file was committed before the session edited it, and after.
fn committed() -> crate::repo_fixture::RepoFixture {
    use crate::repo_fixture::{RepoFixture, TIDES, wrote};
    let fixture = RepoFixture::new();
    fixture.put("src/tides.rs", "// Nothing is here yet, but soon there will be.\n");
    fixture.put("empty.txt", "");
    fixture.commit("Prepare", "2026-03-01T09:30:00Z");
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    fixture.put("src/tides.rs", TIDES);
    fixture.commit("Add tides", "2026-03-01T10:00:30Z");
    fixture
}

#[test]
fn an_empty_file_has_no_lines() {
    let fixture = committed();
    for rev in [&[][..], &["--rev", "HEAD"], &["--git"], &["--porcelain"]] {
        let ran = fixture.machine.run(&[&["blame", "work/empty.txt"], rev].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{rev:?}: {}", ran.stderr);
    }
    let message = fixture.machine.run(&["blame", "work/empty.txt"]).stderr;
    assert_eq!(message, "`work/empty.txt`: the file is empty\n");
    let json = &fixture.machine.json(&["blame", "work/empty.txt", "--json"])[0];
    assert_eq!(json["lines"], serde_json::json!([]));
    let ran = fixture.machine.run(&["blame", "work/empty.txt", "-L", "1,2"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("only 0 lines"), "{}", ran.stderr);
}

#[test]
fn a_revision_that_cannot_be_blamed_is_explained() {
    let fixture = committed();
    let blame = |words: &[&str]| {
        let ran = fixture.machine.run(&[&["blame", "work/src/tides.rs"], words].concat());
        (ran.code, ran.stderr)
    };
    let (code, message) = blame(&["--rev", "HEAD~1"]);
    assert_eq!(code, Some(1), "{message}");
    assert!(
        message.starts_with(
            "error: `work/src/tides.rs`: the only edit of it is later than --rev `HEAD~1`\nhint: "
        ),
        "{message}"
    );
    let (code, message) = blame(&["--rev", "HEAD~2"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("`src/tides.rs` is not in commit"), "{message}");
    let (code, message) = blame(&["--rev", "nowhere"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.starts_with("error: --rev `nowhere`: no such commit\nhint: "), "{message}");
    // An object that is not there, of each kind.
    for (name, rev) in [("HEAD~1:src/tides.rs", "HEAD~1"), ("HEAD~1", "HEAD~1")] {
        let id = fixture.git(&["rev-parse", name]);
        let object = fixture.repo().join(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
        assert!(Command::new("rm").arg("-f").arg(object).status().unwrap().success());
        let (code, message) = blame(&["--rev", rev]);
        assert_eq!(code, Some(2), "{message}");
        let wanted = format!("--rev `{rev}`: git lacks the object {id}: the clone is partial");
        assert!(message.contains(&wanted), "{name}: {message}");
    }
}
/// A repository whose `docs.md` is a link, and a rule that lets everything be written into files.
#[cfg(unix)]
#[allow(clippy::disallowed_methods)]
fn linked(target: &str, model: &str) -> Machine {
    let machine = Machine::empty();
    let mut trace = Trace::new(&machine);
    trace.prompt("Write");
    trace.write(model, "docs.md", None, "words of mine\n");
    trace.save(&machine);
    write_file(&machine.home().join("outside.rc"), b"alias x=y\n");
    write_file(&machine.home().join("repo/deep/real.md"), b"words of mine\n");
    write_file(&machine.home().join("repo/.git/config"), b"words of git\n");
    std::os::unix::fs::symlink(target, machine.home().join("repo/docs.md")).unwrap();
    let rule = "[[annotate.rule]]\npattern = \"*\"\npolicy = \"comment\"\ncomment = \"hash\"\n";
    write_file(&machine.home().join("repo/.backstory.toml"), rule.as_bytes());
    machine
}

#[test]
#[cfg(unix)]
fn annotations_do_not_follow_links_out_of_the_repository() {
    for (target, place) in [
        ("../outside.rc", "outside.rc"),
        (".git/config", "repo/.git/config"),
        ("deep/../../outside.rc", "outside.rc"),
    ] {
        let machine = linked(target, MODEL);
        let before = std::fs::read(machine.home().join(place)).unwrap();
        let plan = machine.run(&["annotate", "repo", "--config", "repo/.backstory.toml"]).stdout;
        assert!(plan.contains(&format!("→ ~/{place}")), "{plan}");
        let ran = machine.run(&["annotate", "repo", "--config", "repo/.backstory.toml", "--write"]);
        assert_eq!(std::fs::read(machine.home().join(place)).unwrap(), before, "{}", ran.stdout);
        assert!(machine.home().join("repo/docs.md").is_symlink());
        let refused = place == "outside.rc";
        assert_eq!(ran.code, Some(if refused { 2 } else { 0 }), "{}", ran.stdout);
        assert!(ran.stdout.contains(if refused { "refused" } else { "skipped" }), "{}", ran.stdout);
    }
}

#[test]
#[cfg(unix)]
fn sidecars_stay_in_the_repository() {
    for pattern in ["../outside.rc", "{dir}/../outside.rc", "/proc/self/cwd/outside.rc"] {
        let machine = linked("deep/real.md", MODEL);
        let rule = format!(
            "[[annotate.rule]]\npattern = \"*\"\npolicy = \"sidecar\"\nsidecar = \"{pattern}\"\n"
        );
        write_file(&machine.home().join("repo/.backstory.toml"), rule.as_bytes());
        let ran = machine.run(&["annotate", "repo", "--config", "repo/.backstory.toml", "--write"]);
        assert_eq!(ran.code, Some(2), "{pattern}: {}", ran.stdout);
        let kept = std::fs::read(machine.home().join("outside.rc")).unwrap();
        assert_eq!(kept, b"alias x=y\n", "{pattern}");
    }
}

#[test]
#[cfg(unix)]
fn links_inside_the_repository_are_written_through() {
    let machine = linked("deep/real.md", "x\n$(touch gone)\u{1b}[2J*/-->");
    let plan = machine.out(&["annotate", "repo", "--config", "repo/.backstory.toml"]);
    assert!(plan.contains("→ ~/repo/deep/real.md"), "{plan}");
    machine.out(&["annotate", "repo", "--config", "repo/.backstory.toml", "--write"]);
    assert!(machine.home().join("repo/docs.md").is_symlink());
    let text = std::fs::read_to_string(machine.home().join("repo/deep/real.md")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[1..].iter().all(|line| line.starts_with("# ")), "{text}");
    assert!(lines[2].contains(" model=x%0A%24%28touch%20gone%29%1B%5B2J%2A/--%3E "), "{text}");
}
