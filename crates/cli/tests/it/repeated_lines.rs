//! A line that stands in many places of a file is given only to edits that can have written it there.

use crate::repo_fixture::{RepoFixture, wrote};
use serde_json::Value;

fn icon(name: &str, path: &str) -> String {
    format!(
        "export const {name} = () => (\n  <svg\n    xmlns=\"http://www.w3.org/2000/svg\"\n    viewBox=\"0 0 24 24\"\n  >\n    <path d=\"{path}\" />\n  </svg>\n);\n"
    )
}

fn icons(names: std::ops::Range<usize>) -> String {
    names
        .map(|number| icon(&format!("Icon{number}"), &format!("M{number} 4h{number}v9z")))
        .collect()
}

/// Index of the edit that each line is given to.
fn given(blame: &Value) -> Vec<Option<u64>> {
    blame["lines"].as_array().unwrap().iter().map(|line| line["edit"].as_u64()).collect()
}

#[test]
fn components_that_came_later_are_not_the_sessions() {
    let fixture = RepoFixture::new();
    let first = icons(0..3);
    fixture.record(&[wrote("icons.tsx", &first)]);
    fixture.put("icons.tsx", &first);
    fixture.commit("Add icons", "2026-03-01T10:05:00Z");
    // Two days later somebody adds many more, between those that are there.
    let all = format!("{}{}{}{}", icons(3..9), icons(0..1), icons(9..16), icons(1..3));
    fixture.put("icons.tsx", &all);
    fixture.commit("Add more icons", "2026-03-03T10:05:00Z");
    let blame = &fixture.machine.json(&["blame", "work/icons.tsx", "--json"])[0];
    let own: Vec<usize> = all
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains("xmlns"))
        .map(|(at, _)| at)
        .filter(|at| given(blame)[*at].is_some())
        .collect();
    assert_eq!(own.len(), 3, "{blame}");
    for at in own {
        let name = all.lines().nth(at - 2).unwrap();
        assert!(["Icon0 ", "Icon1 ", "Icon2 "].iter().any(|own| name.contains(own)), "{name}");
    }
    let log = &fixture.machine.json(&["log", "work", "--json"])[0];
    let (edit, total) = (&log["edits"][0], &log["totals"][0]);
    assert_eq!((edit["added"].as_u64(), edit["surviving"].as_u64()), (Some(24), Some(24)));
    assert_eq!(total["surviving"], 24);
}

#[test]
fn blame_does_not_restore_a_line_that_every_component_has() {
    let fixture = RepoFixture::new();
    let first = icons(0..3);
    fixture.record(&[wrote("icons.tsx", &first), wrote("icons.tsx", "export {};\n")]);
    // Others of the same sort, not those that were taken out.
    fixture.put("icons.tsx", &format!("export {{}};\n{}", icons(3..19)));
    let blame = &fixture.machine.json(&["blame", "work/icons.tsx", "--json"])[0];
    let given = given(blame);
    assert_eq!(given[0], Some(1), "{blame}");
    assert!(given[1..].iter().all(Option::is_none), "{blame}");
}

#[test]
fn blame_counts_a_line_broken_into_several_as_one() {
    let fixture = RepoFixture::new();
    let call = "let harbour = open_harbour(first_harbour_name, second_harbour_name);\n";
    fixture.record(&[wrote("harbour.rs", call)]);
    let broken = "let harbour =\n    open_harbour(\n        first_harbour_name,\n        second_harbour_name);\n";
    fixture.put("harbour.rs", broken);
    let blame = &fixture.machine.json(&["blame", "work/harbour.rs", "--json"])[0];
    assert_eq!(given(blame), [Some(0); 4], "{blame}");
    assert_eq!(
        (&blame["edits"][0]["added"], &blame["edits"][0]["surviving"]),
        (&1.into(), &1.into())
    );
    assert_eq!(blame["summary"]["attributed"], 4);
}
