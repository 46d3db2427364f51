//! Edits of every agent, through the commands that are about files and commits.

use crate::repo_fixture::RepoFixture;
use crate::support::Machine;
use backstory_testkit::{AgentForm, agent_form, agent_forms, write_file};
use serde_json::{Value, json};

const EDITED: &str = "name = \"Mühle 🌾 file-mark\"\nspeed = 120  # gezähmt\n";

/// Forms in which edits are recorded.
fn with_edits() -> Vec<AgentForm> {
    agent_forms().into_iter().filter(|form| form.row["edits"] != "-").collect()
}

/// Writes a form's files and the file that its session edited; gives the project's folder.
fn install(machine: &Machine, form: &AgentForm) -> String {
    let project = machine.home().join(form.path()).join("mill");
    let place = project.to_str().unwrap().to_owned();
    form.write(&machine.home().join(form.path()), |text| text.replace("/w/mill", &place));
    write_file(&project.join("mill.py"), EDITED.as_bytes());
    format!("{}/mill", form.path())
}

/// Whether the trace tells where the file was.
fn is_placed(form: &AgentForm) -> bool {
    form.row["cwd"] != "-" || form.row["edits"].contains(":/")
}

#[test]
fn log_and_blame_name_the_agent() {
    for form in with_edits() {
        let machine = Machine::empty();
        let project = install(&machine, &form);
        let (path, agent) = (form.path(), json!(form.row["agent"]));
        let log = machine.json(&["log", "--all", "--json", "--root", path]);
        let edits = log[0]["edits"].as_array().unwrap();
        assert_eq!(edits.len(), 2, "{path}: {log:?}");
        assert!(edits.iter().all(|edit| edit["agent"] == agent), "{path}: {edits:?}");
        if !is_placed(&form) {
            continue;
        }
        let file = format!("{project}/mill.py");
        let blame = &machine.json(&["blame", &file, "--json", "--root", path])[0];
        for (at, line) in blame["lines"].as_array().unwrap().iter().enumerate() {
            assert_eq!(line["edit"], at, "{path}: {blame}");
        }
        assert!(blame["edits"].as_array().unwrap().iter().all(|edit| edit["agent"] == agent));
        let porcelain = machine.out(&["blame", &file, "--porcelain", "--root", path]);
        let named = format!("backstory-agent {}", form.row["agent"]);
        assert_eq!(porcelain.matches(&named).count(), 2, "{path}: {porcelain}");
    }
}

#[test]
fn annotate_writes_the_agent_that_made_the_edit() {
    for form in with_edits().into_iter().filter(is_placed) {
        let machine = Machine::empty();
        let project = install(&machine, &form);
        // What lies where sessions are read from is never written, so the traces go elsewhere; aider
        // keeps its own in the project.
        let mut words = vec!["annotate", ".", "--write"];
        if form.row["agent"] != "aider" {
            let place = machine.home().join(&project);
            let place = place.to_str().unwrap();
            form.write(&machine.home().join("traces"), |text| text.replace("/w/mill", place));
            words.extend(["--root", "../../../traces"]);
        }
        let mut command = machine.command(&words);
        let done = command.current_dir(machine.home().join(&project)).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = std::fs::read_to_string(machine.home().join(&project).join("mill.py")).unwrap();
        let sidecar = machine.home().join(&project).join("mill.py.history.yaml");
        let text = text + &std::fs::read_to_string(sidecar).unwrap_or_default();
        let tools: Vec<&str> = text
            .split("agent_tool")
            .skip(1)
            .map(|rest| rest.trim_start_matches(['=', ':', ' ']))
            .map(|rest| rest.split_whitespace().next().unwrap())
            .collect();
        let agent = form.row["agent"].as_str();
        assert_eq!(tools, [agent, agent], "{}: {text}", form.path());
    }
}

#[test]
fn show_draws_the_edits_of_every_agent() {
    for form in with_edits() {
        let machine = Machine::empty();
        install(&machine, &form);
        let path = form.path();
        let show = |format: &str| {
            let words = ["--root", path, "show", &form.row["session"], "--select", "edits"];
            machine.out(&[&words[..], &["--format", format]].concat())
        };
        let text = show("text");
        assert!(text.contains("+speed = 120  # gezähmt"), "{path}: {text}");
        assert!(text.contains("mill.py"), "{path}: {text}");
        assert!(!text.contains("list.txt"), "{path}: commands are no edits: {text}");
        let document = show("md");
        assert_eq!(document.matches("```diff").count(), 2, "{path}: {document}");
        assert_eq!(show("html").matches("<pre class=\"diff\">").count(), 2, "{path}");
    }
}

/// The forms that tell times and folders.
const TIMED: [&str; 3] = ["codex/rollout", "openhands/sdk", "cline/sdk"];

#[test]
fn link_reads_every_agent_with_its_own_reader() {
    for form in agent_forms().into_iter().filter(|form| TIMED.contains(&form.path())) {
        let fixture = RepoFixture::new();
        let repo = fixture.repo().canonicalize().unwrap();
        let place = repo.to_str().unwrap();
        form.write(&fixture.machine.home().join("traces"), |text| text.replace("/w/mill", place));
        fixture.put("mill.py", EDITED);
        let id = fixture.commit("Tame the mill", "2026-03-01T11:00:00Z");
        for words in
            [&["--commit", "HEAD"][..], &["--range", "HEAD~1..HEAD"], &[&form.row["session"]]]
        {
            let root = ["--root", "traces"];
            let (links, code) = fixture.links(&[words, &root].concat());
            assert_eq!((links.len(), code), (1, Some(0)), "{} {words:?}", form.path());
            assert_eq!(links[0]["session"], form.row["session"].as_str());
            assert_eq!(
                (&links[0]["commit"]["id"], &links[0]["tier"]),
                (&json!(id), &json!("blob"))
            );
        }
        fixture.links(&["--commit", "HEAD", "--note", "--root", "traces"]);
        let note = fixture.git(&["notes", "--ref", "backstory", "show", "HEAD"]);
        let note: serde_json::Value = serde_json::from_str(&note).unwrap();
        assert_eq!(note["sessions"][0]["agent"], form.row["agent"].as_str(), "{}", form.path());
    }
}

#[test]
fn link_asks_no_questions_of_a_conversation_in_a_folder() {
    let fixture = RepoFixture::new();
    fixture.commits_itself();
    let form = agent_form("openhands/sdk");
    form.write(&fixture.machine.home().join(".openhands/conversations"), |text| text);
    assert_eq!(fixture.machine.json(&["ls", "--agent", "openhands", "--json"]).len(), 1);
    for words in [["--commit", "HEAD"], ["--range", "HEAD~1..HEAD"]] {
        let ran =
            fixture.machine.run(&[&["link", "--repo", "work", "--json"][..], &words].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{words:?}");
        let links: Vec<Value> =
            ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(links.len(), 1, "{words:?}: {links:?}");
    }
}
