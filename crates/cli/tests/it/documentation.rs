//! Examples in the documentation do what they say.

use crate::support::Machine;
use backstory_testkit::document;

/// `$ command` lines of the README's console blocks with the output below each; `…` stands for
/// any number of lines.
#[test]
fn the_readme_shows_what_the_program_prints() {
    let machine = Machine::with_sample();
    let readme = document("README.md");
    let console =
        readme.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut ran = 0;
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
                .unwrap_or_else(|| panic!("{command} prints\n{printed}\nnot\n{part}"));
            rest = &rest[at + part.len()..];
        }
    }
    assert!(ran >= 3);
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
