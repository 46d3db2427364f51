//! What other tools of this kind get wrong: one test for each known fault.

use crate::support::Machine;
use crate::traces::{ID, Trace, models};
use backstory_testkit::{testdata, write_file};
use serde_json::json;

const OLD: &str = "claude-opus-4-5";
const NEW: &str = "claude-sonnet-4-6";

fn started() -> (Machine, Trace) {
    let machine = Machine::empty();
    let mut trace = Trace::new(&machine);
    trace.prompt("Please work on these files");
    (machine, trace)
}

fn read(machine: &Machine, name: &str) -> String {
    std::fs::read_to_string(machine.home().join("repo").join(name)).unwrap()
}

#[test]
fn parallel_calls_have_their_own_models() {
    let (machine, mut trace) = started();
    let calls: Vec<(String, String)> = ["a.py", "b.py"]
        .iter()
        .zip([OLD, NEW])
        .map(|(name, model)| {
            let path = trace.path(name);
            let input = json!({"file_path": path, "content": "x = 1\n"});
            (trace.call(model, "Write", input), path)
        })
        .collect();
    // The second result hangs off the first one.
    for (call, path) in &calls {
        let structured = json!({"type": "create", "filePath": path, "content": "x = 1\n", "structuredPatch": []});
        trace.result(call, "done".into(), false, Some(structured));
    }
    trace.save(&machine);
    trace.file(&machine, "a.py", "x = 1\n");
    trace.file(&machine, "b.py", "x = 1\n");
    assert_eq!(models(&machine, "a.py"), [OLD]);
    assert_eq!(models(&machine, "b.py"), [NEW]);
}

#[test]
fn blame_does_not_cache_between_runs() {
    let (machine, mut trace) = started();
    for name in ["a.py", "b.py", "c.py"] {
        trace.write(OLD, name, None, "one = 1\n");
        trace.file(&machine, name, "one = 1\n");
    }
    trace.save(&machine);
    let before = tree(&machine.home().join(".claude"));
    assert_eq!(models(&machine, "a.py"), [OLD]);
    assert_eq!(models(&machine, "c.py"), [OLD]);
    assert_eq!(machine.json(&["log", "repo", "--json"]).len(), 3);
    assert_eq!(before, tree(&machine.home().join(".claude")), "no cache among the sessions");
}

fn tree(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.to_string_lossy().into_owned());
        if path.is_dir() {
            found.extend(tree(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn an_overwrite_owns_only_what_it_changed() {
    let (machine, mut trace) = started();
    trace.write(OLD, "b.py", None, "first = 1\nsecond = 2\n");
    trace.write(
        NEW,
        "b.py",
        Some("first = 1\nsecond = 2\n"),
        "first = 1\nsecond = 22\nthird = 3\n",
    );
    trace.save(&machine);
    trace.file(&machine, "b.py", "first = 1\nsecond = 22\nthird = 3\n");
    assert_eq!(models(&machine, "b.py"), [OLD, NEW, NEW]);
}

#[test]
fn an_edit_of_part_of_a_line_owns_the_line() {
    let (machine, mut trace) = started();
    let text = "a = 1\nb = 2\nc = 3\n";
    trace.write(OLD, "a.py", None, text);
    trace.edit(NEW, "a.py", text, "= 3", "= 33", false);
    trace.save(&machine);
    trace.file(&machine, "a.py", "a = 1\nb = 2\nc = 33\n");
    assert_eq!(models(&machine, "a.py"), [OLD, OLD, NEW]);
}

#[test]
fn blame_claims_no_line_that_a_person_typed() {
    let (machine, mut trace) = started();
    trace.write(OLD, "a.py", None, "a = 1\nb = 2\n");
    trace.save(&machine);
    trace.file(&machine, "a.py", "a = 1\ntyped_by_hand = True\nb = 2\n");
    assert_eq!(models(&machine, "a.py"), [OLD, "-", OLD]);
}

#[test]
fn replace_all_owns_every_place() {
    let (machine, mut trace) = started();
    let text = "use(old)\nkeep()\nuse(old)\n";
    trace.write(OLD, "c.py", None, text);
    trace.edit(NEW, "c.py", text, "old", "new", true);
    trace.save(&machine);
    trace.file(&machine, "c.py", "use(new)\nkeep()\nuse(new)\n");
    assert_eq!(models(&machine, "c.py"), [NEW, OLD, NEW]);
}

#[test]
fn context_of_an_edit_is_not_its_own() {
    let (machine, mut trace) = started();
    let text = "def one():\n    return 1\n\ndef two():\n    return 2\n";
    trace.write(OLD, "d.py", None, text);
    let old = "    return 1\n\ndef two():";
    trace.edit(NEW, "d.py", text, old, "    return 1\n\n\ndef two():", false);
    trace.save(&machine);
    trace.file(&machine, "d.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n");
    let owners = models(&machine, "d.py");
    assert_eq!(owners.iter().filter(|model| *model == NEW).count(), 1, "{owners:?}");
    assert_eq!((&*owners[0], &*owners[1], &*owners[4], &*owners[5]), (OLD, OLD, OLD, OLD));
}

#[test]
fn comments_are_put_once() {
    let (machine, mut trace) = started();
    trace.write(OLD, "doc.md", None, "# Title\n");
    trace.save(&machine);
    trace.file(&machine, "doc.md", "# Title\n");
    trace.file(
        &machine,
        "../.backstory.toml",
        "[[annotate.rule]]\npattern = \"*.md\"\npolicy = \"comment\"\ncomment = \"html\"\n",
    );
    machine.out(&["annotate", "repo", "--write"]);
    let once = read(&machine, "doc.md");
    assert!(once.starts_with("# Title\n<!-- edit_history\n") && once.ends_with("-->\n"), "{once}");
    machine.out(&["annotate", "repo", "--write"]);
    assert_eq!(read(&machine, "doc.md"), once);
    machine.out(&["annotate", "repo", "--check"]);
}

#[test]
fn json_keeps_its_order_and_its_numbers() {
    let (machine, mut trace) = started();
    let text = "{\n    \"zebra\": 12345678901234567890123,\n    \"apple\": 1.50,\n    \"list\": [1,2]\n}\n";
    trace.write(OLD, "d.json", None, text);
    trace.write(OLD, "arr.json", None, "[1, 2]\n");
    trace.save(&machine);
    trace.file(&machine, "d.json", text);
    trace.file(&machine, "arr.json", "[1, 2]\n");
    machine.out(&["annotate", "repo", "--write"]);
    let written = read(&machine, "d.json");
    let head = text.strip_suffix("\n}\n").unwrap();
    assert!(written.starts_with(&format!("{head},\n    \"edit_history\": [\n")), "{written}");
    serde_json::from_str::<serde_json::Value>(&written).unwrap();
    assert_eq!(read(&machine, "arr.json"), "[1, 2]\n", "a list has no place for a key");
    assert!(read(&machine, "arr.json.history.yaml").contains("source_file: arr.json\n"));
    machine.out(&["annotate", "repo", "--check"]);
}

#[test]
fn annotate_puts_a_sidecar_next_to_yaml_without_a_mapping() {
    let (machine, mut trace) = started();
    for (name, text) in [("l.yaml", "- one\n- two\n"), ("m.yaml", "a: 1 # one\nb:\n- x\n")] {
        trace.write(OLD, name, None, text);
        trace.file(&machine, name, text);
    }
    trace.save(&machine);
    machine.out(&["annotate", "repo", "--write"]);
    assert_eq!(read(&machine, "l.yaml"), "- one\n- two\n");
    assert!(read(&machine, "l.yaml.history.yaml").contains("model: claude-opus-4-5"));
    let mapping = read(&machine, "m.yaml");
    assert!(
        mapping.starts_with("a: 1 # one\nb:\n- x\nedit_history:\n  - timestamp: "),
        "{mapping}"
    );
    machine.out(&["annotate", "repo", "--check"]);
}

#[test]
fn sidecars_do_not_collide() {
    let (machine, mut trace) = started();
    for name in ["m.py", "m.js"] {
        trace.write(OLD, name, None, "x\n");
        trace.file(&machine, name, "x\n");
    }
    trace.save(&machine);
    machine.out(&["annotate", "repo", "--write"]);
    assert!(read(&machine, "m.py.history.yaml").contains("source_file: m.py"));
    assert!(read(&machine, "m.js.history.yaml").contains("source_file: m.js"));
    // Where the configuration makes them meet, neither is written.
    trace.file(
        &machine,
        "../.ai-blame.yaml",
        "defaults:\n  policy: sidecar\n  sidecar_pattern: \"{stem}.story\"\n",
    );
    let ran = machine.run(&["annotate", "repo", "--write"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_eq!(ran.stdout.matches("refused").count(), 2, "{}", ran.stdout);
    assert!(!machine.home().join("repo/m.story").exists());
}

#[test]
fn folders_with_underscores_and_a_configured_home_are_found() {
    let machine = Machine::empty();
    let mut trace = Trace::new(&machine);
    trace.folder = machine.home().join("my_proj").to_string_lossy().into_owned();
    trace.prompt("go");
    trace.write(OLD, "a.py", None, "x = 1\n");
    write_file(&machine.home().join("my_proj/a.py"), b"x = 1\n");
    write_file(
        &machine.home().join(format!("elsewhere/projects/-my-proj/{ID}.jsonl")),
        trace.text().as_bytes(),
    );
    let mut command = machine.command(&["blame", "my_proj/a.py"]);
    let output =
        command.env("CLAUDE_CONFIG_DIR", machine.home().join("elsewhere")).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("opus-4-5"));
}

#[test]
fn copies_of_a_session_count_once() {
    let (machine, mut trace) = started();
    trace.write(OLD, "a.py", None, "x = 1\n");
    trace.save(&machine);
    trace.file(&machine, "a.py", "x = 1\n");
    // A fork: the same records under a new id.
    let copy = "bbbbbbbb-0000-4000-8000-000000000002";
    let text = trace
        .text()
        .replace(&format!("\"sessionId\":\"{ID}\""), &format!("\"sessionId\":\"{copy}\""));
    trace.id = copy.to_owned();
    let key = tree(&machine.home().join(".claude/projects"))[0].clone();
    write_file(std::path::Path::new(&format!("{key}/{copy}.jsonl")), text.as_bytes());
    let blame = &machine.json(&["blame", "repo/a.py", "--json"])[0];
    assert_eq!(blame["edits"].as_array().unwrap().len(), 1);
    assert_eq!(blame["edits"][0]["also_in"].as_array().unwrap().len(), 1);
}

#[test]
fn a_closed_pipe_is_quiet() {
    let (machine, mut trace) = started();
    let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    trace.write(OLD, "long.txt", None, &text);
    trace.save(&machine);
    trace.file(&machine, "long.txt", &text);
    for words in [
        vec!["blame", "repo/long.txt"],
        vec!["blame", "repo/long.txt", "--porcelain"],
        vec!["log", "repo", "--diff"],
    ] {
        let mut child = machine
            .command(&words)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{words:?}");
    }
}

#[test]
fn fragments_of_a_message_are_counted_once() {
    let machine = Machine::empty();
    let mut trace = Trace::new(&machine);
    trace.prompt("go");
    for text in ["a", "b", "c"] {
        let message = json!({"role": "assistant", "type": "message", "id": "msg_1", "model": OLD,
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 71, "output_tokens": 9}});
        trace.push("assistant", message, None);
    }
    trace.save(&machine);
    let usage = &machine.json(&["show", "latest", "--format", "json"])[0]["usage"];
    assert_eq!((usage["input"].as_u64(), usage["output"].as_u64()), (Some(71), Some(9)));
}

#[test]
fn results_given_as_blocks_are_not_empty() {
    let (machine, mut trace) = started();
    let call = trace.call(OLD, "Bash", json!({"command": "ls"}));
    let said = json!([{"type": "text", "text": "seen it"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]);
    trace.result(&call, said, false, None);
    trace.save(&machine);
    let session = machine.out(&["show", "latest", "--format", "json"]);
    assert!(session.contains("seen it") && session.contains("image/png"));
}

#[test]
fn blame_accepts_names_in_any_script() {
    let (machine, mut trace) = started();
    let name = "größe/目次 — naïve 🚀 日本語のとても長い名前のファイル.txt";
    trace.write(OLD, name, None, "x\n");
    trace.save(&machine);
    trace.file(&machine, name, "x\n");
    assert!(machine.out(&["log", "repo"]).contains("目次"));
    assert_eq!(models(&machine, name), [OLD]);
}

#[test]
fn every_editing_tool_counts_and_commands_only_possibly() {
    let (machine, mut trace) = started();
    let path = trace.path("m.py");
    let edits = json!([
        {"old_string": "one", "new_string": "uno", "replace_all": false},
        {"old_string": "two", "new_string": "due", "replace_all": false},
    ]);
    let call = trace.call(OLD, "MultiEdit", json!({"file_path": path, "edits": edits}));
    let structured = json!({"filePath": path, "edits": edits, "originalFileContents": "one\nkept\ntwo\n", "structuredPatch": []});
    trace.result(&call, "done".into(), false, Some(structured));
    trace.file(&machine, "m.py", "uno\nkept\ndue\n");

    let notebook = trace.path("n.ipynb");
    let input = json!({"notebook_path": notebook, "cell_id": "c", "new_source": "import os\nprint(os.getcwd())", "edit_mode": "replace"});
    let call = trace.call(NEW, "NotebookEdit", input);
    trace.result(&call, "done".into(), false, Some(json!({"new_source": "import os\nprint(os.getcwd())", "cell_type": "code", "language": "python", "edit_mode": "replace", "error": ""})));
    trace.file(
        &machine,
        "n.ipynb",
        "{\n \"cells\": [\n  {\n   \"source\": \"import os\\nprint(os.getcwd())\"\n  }\n ]\n}\n",
    );

    // A person changed the proposal before accepting it.
    let path = trace.path("r.py");
    let call = trace.call(
        OLD,
        "Write",
        json!({"file_path": path, "content": "proposed\nalso proposed\n"}),
    );
    let structured = json!({"type": "create", "filePath": path, "content": "proposed\nchanged in review\n", "structuredPatch": [], "userModified": true});
    trace.result(&call, "done".into(), false, Some(structured));
    trace.file(&machine, "r.py", "proposed\nchanged in review\n");

    trace.write(OLD, "s.py", None, "alpha\n");
    let call = trace.call(OLD, "Bash", json!({"command": "sed -i s/alpha/beta/ s.py"}));
    trace.result(
        &call,
        "".into(),
        false,
        Some(json!({"stdout": "", "stderr": "", "interrupted": false})),
    );
    trace.file(&machine, "s.py", "beta\n");
    trace.save(&machine);

    assert_eq!(models(&machine, "m.py"), [OLD, "-", OLD]);
    assert_eq!(models(&machine, "n.ipynb")[3], NEW);
    assert_eq!(models(&machine, "r.py"), [OLD, "-"]);
    assert_eq!(models(&machine, "s.py"), ["-"]);
    let blame = &machine.json(&["blame", "repo/s.py", "--json"])[0];
    let command = &blame["outside"][0]["possible_commands"][0]["command"];
    assert_eq!(command, "sed -i s/alpha/beta/ s.py");
    assert!(machine.out(&["log", "repo/s.py"]).contains("possibly changed"));
}

#[test]
fn small_edits_at_the_ends_stay() {
    let (machine, mut trace) = started();
    let one = "a\n";
    let two = "a\nb1\n";
    trace.write(OLD, "x.txt", None, one);
    trace.write(OLD, "x.txt", Some(one), two);
    trace.write(OLD, "x.txt", Some(two), "a\nb1\nc\n");
    trace.save(&machine);
    trace.file(&machine, "x.txt", "a\nb1\nc\n");
    let log = &machine.json(&["log", "repo", "--json", "--min-change", "5"])[0];
    let shown: Vec<u64> = log["edits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| edit["index"].as_u64().unwrap())
        .collect();
    assert_eq!(shown, [0, 2], "the first and the last are kept however small");
}

#[test]
fn blame_ignores_failed_and_refused_edits() {
    let (machine, mut trace) = started();
    trace.write(OLD, "a.py", None, "x = 1\n");
    for said in [
        "<tool_use_error>String to replace not found</tool_use_error>",
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
    ] {
        let input =
            json!({"file_path": trace.path("a.py"), "old_string": "x = 1", "new_string": "x = 2"});
        let call = trace.call(NEW, "Edit", input);
        trace.result(&call, said.into(), true, Some(format!("Error: {said}").into()));
    }
    trace.save(&machine);
    trace.file(&machine, "a.py", "x = 1\n");
    let blame = &machine.json(&["blame", "repo/a.py", "--json"])[0];
    assert_eq!(blame["edits"].as_array().unwrap().len(), 1);
    assert!(testdata("README.md").exists());
}

#[test]
fn edits_of_codex_are_edits() {
    let machine = Machine::empty();
    crate::agents::codex(&machine);
    assert_eq!(models(&machine, "a.py"), ["gpt-5.2-codex"; 2]);
    let log = machine.json(&["log", "repo", "--json"]);
    assert_eq!(log.len(), 1);
}
