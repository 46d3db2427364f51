//! `backstory spec`

use crate::support::Machine;
use backstory_testkit::{document, testdata};
use insta::assert_snapshot;

#[test]
fn the_document_has_all_its_parts() {
    let machine = Machine::with_sample();
    let text = machine.out(&["spec"]);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert_snapshot!(headings.join("\n"), @r"
    ## 1. Summary
    ## 2. Sessions
    ## 3. Entry types
    ## 4. Messages
    ## 5. Turn boundaries
    ## 6. The uuid chain
    ## 7. Tool calls and results
    ## 8. Streaming and token counts
    ## 9. Versions, caveats, raw counts
    ");
    let page = machine.out(&["spec", "--format", "html"]);
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"));
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("src="));
}

#[test]
fn spec_writes_nothing_into_an_agents_folder() {
    let machine = Machine::with_sample();
    for option in ["--out", "--save-profile"] {
        let done = machine.run(&["spec", option, ".claude/analysis.md"]);
        assert_eq!(done.code, Some(2), "{option}");
        assert!(!machine.home().join(".claude/analysis.md").exists(), "{option}");
    }
    machine.out(&["spec", "--out", "analysis.md"]);
    assert!(machine.home().join("analysis.md").is_file());
}

#[test]
fn sets_can_be_named_and_split() {
    let machine = Machine::with_sample();
    let one = machine.out(&["spec", "5931ab08", "--format", "json"]);
    let one: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["sessions"].as_array().unwrap().len(), 1);
    let split = machine.out(&["spec", "--by", "version", "--format", "json"]);
    let split: serde_json::Value = serde_json::from_str(&split).unwrap();
    let versions: Vec<&String> = split["groups"].as_object().unwrap().keys().collect();
    assert!(versions.len() > 3 && versions.iter().any(|name| *name == "2.1.325"), "{versions:?}");
    let by_project = machine.out(&["spec", "--by", "project"]);
    assert!(by_project.contains("| project | type |"));
    assert_eq!(by_project.matches("| project | version |").count(), 3);
}

#[test]
fn spec_drift_sets_the_exit_code() {
    let machine = Machine::with_sample();
    let clean = machine.run(&["spec", "--drift"]);
    assert_eq!((clean.code, clean.stdout.lines().last()), (Some(0), Some("No differences.")));
    machine.out(&["clone", "59aba946"]);
    let cloned = machine.run(&["spec", "--drift", "--json"]);
    assert!(!cloned.stdout.contains("backstory-clone"), "{}", cloned.stdout);
    let odd = testdata("sessions/unknown-type.jsonl");
    let found = machine.run(&["spec", &odd.to_string_lossy(), "--drift", "--format", "json"]);
    assert_eq!(found.code, Some(1));
    let line: serde_json::Value =
        serde_json::from_str(found.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(line["difference"], "new-type");
    assert_eq!(line["of"], "hologram");
    assert!(line["example"].as_str().unwrap().ends_with("unknown-type.jsonl:2"), "{line}");
}

#[test]
fn profiles_are_saved_merged_and_compared() {
    let machine = Machine::with_sample();
    machine.out(&["spec", "--save-profile", "all.json", "--out", "/dev/null"]);
    machine.out(&["spec", "5931ab08", "--save-profile", "one.json", "--out", "/dev/null"]);
    let merged = [
        "spec",
        "5931ab08",
        "--save-profile",
        "merged.json",
        "--base",
        "all.json",
        "--out",
        "/dev/null",
    ];
    machine.out(&merged);
    let read = |name: &str| std::fs::read_to_string(machine.home().join(name)).unwrap();
    assert!(read("all.json").contains("backstory.profile/1"));
    assert!(read("merged.json").contains("1.0."));
    let same = machine.out(&["spec", "--compare", "all.json", "all.json"]);
    assert!(same.contains("No differences."));
    let less = machine.out(&["spec", "--compare", "all.json", "one.json"]);
    assert!(less.contains("gone-type"));
    let ranges = machine.out(&["spec", "--compare", "..2.0.99", "2.1.0.."]);
    assert!(ranges.contains("| new-type | `attachment/"), "{ranges}");
    let history = machine.out(&["spec", "--history"]);
    assert!(history.contains("## 2.1.325"));
    let versions = machine.json(&["spec", "--history", "--json"]);
    assert_eq!(history.matches("\n## ").count(), versions.len());
    for version in &versions {
        assert_eq!(version["schema"], "backstory.history/1");
        assert!(history.contains(&format!("\n## {}\n", version["version"].as_str().unwrap())));
    }
    let added = versions[1]["added"].as_array().unwrap();
    assert!(added.iter().all(|line| history.contains(line.as_str().unwrap())), "{added:?}");
}

#[test]
fn spec_reports_files_it_cannot_analyse() {
    let machine = Machine::with_sample();
    assert_snapshot!(machine.run(&["spec", "--drift", "--profile", "none.json"]).stderr, @r"
    error: `none.json`: No such file or directory (os error 2)
    hint: backstory spec --save-profile FILE writes one
    ");
    assert_snapshot!(machine.run(&["spec", "--compare", "9.0.0..", "..1.0"]).stderr, @r"
    error: `9.0.0..`: nothing to compare
    hint: give a folder of sessions, a version range such as 2.1.0..2.1.50, or a saved profile
    ");
    assert_snapshot!(Machine::empty().run(&["spec"]).stderr, @r"
    error: no sessions on this machine
    hint: name another place with --root DIR, or give the path of a session file
    hint: --sample takes the bundled sample; `backstory` lists the places that were searched
    ");
}

/// Every key of the JSON is in its documentation, and so does every figure.
#[test]
fn the_json_is_documented() {
    let machine = Machine::with_sample();
    let text = machine.out(&["spec", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let documentation = document("docs/analysis-json.md");
    let check = |object: &serde_json::Value| {
        for key in object.as_object().unwrap().keys() {
            assert!(documentation.contains(&format!("`{key}`")), "{key} is not documented");
        }
    };
    let group = &value["groups"][""];
    let kind = &group["kinds"]["assistant"];
    let references = &value["references"];
    for object in [
        &value,
        &value["sessions"][0],
        group,
        &group["versions"]["2.1.325"],
        kind,
        &kind["fields"][0],
        references,
        &references["missing_parents"],
    ] {
        check(object);
    }
    for version in group["versions"].as_object().unwrap().values() {
        for name in version["sessions"].as_object().unwrap().keys() {
            let heading = name.rsplit_once('.').unwrap().0;
            let known = [name.as_str(), heading]
                .iter()
                .any(|name| documentation.contains(&format!("`{name}`")));
            assert!(known, "{name} is not documented");
        }
    }
}
