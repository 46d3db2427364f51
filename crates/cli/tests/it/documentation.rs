//! Examples in the documentation do what they say.

use crate::support::Machine;
use backstory_testkit::{document, files_below, top, write_file};
use std::collections::BTreeSet;

/// The documents whose console blocks are run: the README and the pages of the guide.
fn documents_with_commands() -> Vec<String> {
    let mut names = vec!["README.md".to_owned()];
    for path in files_below(&top().join("docs/guide")) {
        names.push(path.strip_prefix(top()).unwrap().to_str().unwrap().to_owned());
    }
    names
}

/// The sample's sessions, and a file that one of them wrote.
fn machine_with_work() -> Machine {
    let machine = Machine::with_sample();
    let session = machine.out(&["show", "8ea9873d", "--format", "json"]);
    let session: serde_json::Value = serde_json::from_str(&session).unwrap();
    let written = find_content(&session).expect("the sample writes a file");
    write_file(&machine.home().join("heater_sim.py"), written.as_bytes());
    machine
}

/// The first `content` of an `input`.
fn find_content(value: &serde_json::Value) -> Option<&str> {
    match value {
        serde_json::Value::Object(fields) => {
            let own = fields.get("input").and_then(|input| input.get("content"));
            let own = own.and_then(serde_json::Value::as_str);
            own.or_else(|| fields.values().find_map(find_content))
        }
        serde_json::Value::Array(items) => items.iter().find_map(find_content),
        _ => None,
    }
}

/// `$ command` lines of console blocks with the output below each; `…` stands for any number of
/// lines.
#[test]
fn documents_show_what_the_program_prints() {
    let machine = machine_with_work();
    let mut ran = 0;
    for name in documents_with_commands() {
        let text = document(&name);
        let console =
            text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        for example in console.flat_map(|block| block.split("$ ").skip(1)) {
            let (command, expected) = example.split_once('\n').unwrap();
            let command = command.split(" > ").next().unwrap();
            let arguments: Vec<&str> = command.split(' ').skip(1).collect();
            let printed = machine.out(&arguments);
            ran += 1;
            let mut rest = printed.as_str();
            for part in expected.split("…\n").filter(|part| !part.is_empty()) {
                let at = rest
                    .find(part)
                    .unwrap_or_else(|| panic!("{name}: {command} prints\n{printed}\nnot\n{part}"));
                rest = &rest[at + part.len()..];
            }
        }
    }
    assert!(ran >= 12, "{ran}");
}

/// The commands that a help text lists.
fn commands_in(help: &str) -> Vec<String> {
    let Some(list) = help.split("Commands:\n").nth(1) else { return Vec::new() };
    let lines = list.split("\n\n").next().unwrap().lines();
    let own = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = own.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// `BACKSTORY_WRITE_DOCS=1` writes the page instead.
#[test]
fn the_page_of_commands_is_current() {
    let machine = Machine::empty();
    let mut page =
        "# Commands\n\nThe output of `backstory COMMAND --help`, for every command.\n".to_owned();
    let mut add = |heading: &str, arguments: &[&str]| {
        let help = machine.out(arguments);
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        page += &format!("\n{heading}\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    };
    for command in commands_in(&machine.out(&["-h"])) {
        add(&format!("## backstory {command}"), &[&command, "--help"]);
        for inner in commands_in(&machine.out(&[&command, "-h"])) {
            add(&format!("### backstory {command} {inner}"), &[&command, &inner, "--help"]);
        }
    }
    let path = top().join("docs/cli.md");
    if std::env::var_os("BACKSTORY_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(current == page, "run this test with BACKSTORY_WRITE_DOCS=1");
}

#[test]
fn the_book_lists_every_page() {
    let folder = top().join("docs");
    let summary = document("docs/SUMMARY.md");
    let links = summary.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    let listed: BTreeSet<&str> = links.collect();
    let pages = files_below(&folder);
    let pages = pages.iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
    let pages = pages.map(|path| path.strip_prefix(&folder).unwrap().to_str().unwrap());
    assert_eq!(listed, pages.filter(|name| *name != "SUMMARY.md").collect());
}

#[test]
fn readme_names_every_command() {
    let readme = document("README.md");
    let help = Machine::empty().out(&["-h"]);
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for line in commands.lines() {
        let name = line.split_whitespace().next().unwrap();
        assert!(name == "help" || readme.contains(&format!("backstory {name}")), "{name}");
    }
}

#[test]
fn every_problem_has_a_name_and_an_explanation() {
    for id in backstory_format::ProblemId::ALL {
        assert!(
            id.name().chars().all(|letter| letter.is_ascii_lowercase()
                || letter == '-'
                || letter.is_ascii_digit())
        );
        assert!(id.explanation().ends_with('.'), "{id}");
    }
}
