//! The JSON Schemas in `docs/schemas`, and the output of commands over the bundled test data.

use crate::support::{Machine, assert_valid};
use backstory_session::wire::{self, SessionDocument};
use backstory_testkit::{agent_forms, files_below, testdata, top};
use serde_json::Value;

/// `BACKSTORY_WRITE_SCHEMAS=1` writes the files instead.
#[test]
fn schemas_are_current() {
    let folder = top().join("docs/schemas");
    let schemas = wire::schemas();
    for (kind, schema) in &schemas {
        let path = folder.join(format!("{kind}.json"));
        let wanted = serde_json::to_string_pretty(schema).unwrap() + "\n";
        if std::env::var_os("BACKSTORY_WRITE_SCHEMAS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &wanted).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(there == wanted, "{kind}: run this test with BACKSTORY_WRITE_SCHEMAS=1");
    }
    assert_eq!(files_below(&folder).len(), schemas.len(), "files without a type");
}

/// A session as JSON. Values that the session file writes on several lines are on several lines.
fn shown(machine: &Machine, arguments: &[&str]) -> Value {
    let arguments = [&["show", "--quiet", "--format", "json"], arguments].concat();
    serde_json::from_str(&machine.out(&arguments)).unwrap()
}

#[test]
fn sessions_have_the_shape_of_their_schema_and_their_type() {
    let machine = Machine::empty();
    let mut paths = files_below(&testdata("sessions"));
    paths.extend(files_below(&testdata("sample")));
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    // Nothing in it is a session's.
    paths.retain(|path| !path.ends_with("fault-only-newlines.jsonl"));
    let mut values: Vec<Value> =
        paths.iter().map(|path| shown(&machine, &[path.to_str().unwrap()])).collect();
    for form in agent_forms() {
        let root = form.folder.to_str().unwrap();
        for row in machine.json(&["ls", "--all", "--root", root, "--json"]) {
            let id = row["id"].as_str().unwrap();
            values.push(shown(&machine, &[id, "--root", root]));
        }
    }
    assert!(values.len() > 90, "{}", values.len());
    assert_valid("session", &values);
    for value in values {
        let read: SessionDocument = serde_json::from_value(value.clone()).unwrap();
        assert!(serde_json::to_value(&read).unwrap() == value, "{}", value["path"]);
    }
}

#[test]
fn listings_have_the_shape_of_their_schema() {
    let machine = Machine::with_sample();
    let mut values = machine.json(&["ls", "--all", "--json"]);
    values.extend(machine.json(&["ls", "--fast", "--json"]));
    for form in agent_forms() {
        values.extend(machine.json(&[
            "ls",
            "--all",
            "--root",
            form.folder.to_str().unwrap(),
            "--json",
        ]));
    }
    assert!(values.len() > 20, "{}", values.len());
    assert_valid("ls", &values);
}

#[test]
fn costs_have_the_shape_of_their_schema() {
    let machine = Machine::with_sample();
    for by in ["day", "model", "session", "tool", "subagent", "agent-type"] {
        assert_valid("stats", &machine.json(&["stats", "--json", "--by", by]));
    }
}

#[test]
fn schemas_of_tests_allow_no_other_key() {
    let machine = Machine::with_sample();
    let mut values = machine.json(&["stats", "--json"]);
    values[0]["total"]["tokens"]["more"] = Value::from(1);
    let refused = std::panic::catch_unwind(|| assert_valid("stats", &values));
    assert!(refused.is_err());
}
