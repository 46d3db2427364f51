//! Edits of other agents, and the lines they wrote.

use backstory_session::history::{self, LineOrigin, Target};
use backstory_testkit::codex::codex;
use backstory_testkit::{Sample, agent, agent_forms, discover_at, lines};
use serde_json::json;

/// The lines of a file that was made and then changed are given to the right edits, whoever made them.
#[test]
fn lines_are_followed_in_every_form_that_records_edits() {
    let mut agents = std::collections::BTreeSet::new();
    for form in agent_forms() {
        let found = discover_at(&form.folder);
        let all = |_: &str| true;
        let collected = history::collect(&found, &all, None, &());
        let chains = collected.gathered.chains.iter().filter(|(_, c)| c.edits().next().is_some());
        let paths: Vec<String> = chains.map(|(path, _)| path.to_string()).collect();
        let name = form.folder.display();
        if form.row["edits"] == "-" {
            assert!(paths.is_empty(), "{name}: {paths:?}");
            continue;
        }
        let [path] = paths.as_slice() else { panic!("{name}: {paths:?}") };
        let text = "name = \"Mühle 🌾 file-mark\"\nspeed = 120  # gezähmt\n";
        let target = Target { path, text, until: None };
        let traced = history::trace(&collected.gathered, &paths, Some(target));
        let origins: Vec<LineOrigin> = traced.marks.iter().map(|mark| mark.origin).collect();
        // Where nothing tells that a file that was written is a new one, its lines are nobody's.
        let unknown = form.row["edits"].starts_with("write:");
        let first = if unknown { LineOrigin::Before } else { LineOrigin::Edit(0) };
        assert_eq!(origins, [first, LineOrigin::Edit(1)], "{name}");
        for edit in &traced.edits {
            assert_eq!(edit.edit.by.agent, form.agent, "{name}");
            assert_eq!(edit.edit.by.session.as_ref(), form.row["session"], "{name}");
            assert!(edit.surviving <= edit.added, "{name}");
        }
        agents.insert(form.agent);
    }
    let without = [agent("claude-code"), agent("mini-swe-agent")];
    let expected = backstory_agents::all().filter(|agent| !without.contains(agent));
    assert!(agents.into_iter().eq(expected));
}

#[test]
fn blame_joins_the_same_edit_of_two_sessions_without_ids() {
    let call = "Edit.\n<function=str_replace_editor>\n<parameter=command>create</parameter>\n<parameter=path>/t/b.py</parameter>\n<parameter=file_text>\nx = 1\n</parameter>\n</function>";
    let row = |id: &str| {
        json!({ "instance_id": "demo", "traj_id": id, "messages": [
            { "role": "user", "content": "Fix it" }, { "role": "assistant", "content": call },
            { "role": "user", "content": "OBSERVATION:\nFile created successfully at: /t/b.py" } ] })
    };
    let folder = tempfile::tempdir().unwrap();
    let files = vec![("rows.jsonl", lines(&[row("a"), row("b")]))];
    Sample { agent: agent("swe-smith"), files }.write(folder.path());
    let found = discover_at(folder.path());
    let collected = history::collect(&found, &|_| true, None, &());
    let chain = collected.gathered.chains.get("/t/b.py").unwrap();
    assert_eq!(chain.edits().count(), 2, "neither is a copy of the other");
}

/// Lines are followed from a patch to the file as it is now.
#[test]
fn a_patch_is_blamed() {
    let (folder, _) = codex().sessions();
    let found = discover_at(folder.path());
    let wanted = |path: &str| path == "/w/demo/a.py";
    let collected = history::collect(&found, &wanted, None, &());
    let text = "x = 1\ny = 3\n";
    let path = "/w/demo/a.py";
    let target = Target { path, text, until: None };
    let traced = history::trace(&collected.gathered, &[path.to_owned()], Some(target));
    let known: Vec<bool> =
        traced.marks.iter().map(|mark| matches!(mark.origin, LineOrigin::Edit(_))).collect();
    assert_eq!(known, [true, false], "a line that was changed later is nobody's");
}
