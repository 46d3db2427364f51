//! `backstory link` for sessions that were recorded in another place, perhaps in another repository.

use crate::repo_fixture::{RepoFixture, SESSION, TIDES, wrote};

/// What a generator writes for any project.
fn settings(name: &str) -> String {
    format!(
        "[build-system]\nrequires = [\"hatchling\"]\nbuild-backend = \"hatchling.build\"\n\n\
         [project]\nname = \"{name}\"\nversion = \"0.1.0\"\nrequires-python = \">=3.11\"\n\n\
         [tool.ruff]\nline-length = 100\ntarget-version = \"py311\"\n\n\
         [tool.pytest.ini_options]\ntestpaths = [\"tests\"]\naddopts = \"--strict-markers\"\n\n\
         [tool.mypy]\nstrict = true\nwarn_unused_configs = true\n"
    )
}

const LICENSE: &str = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software and associated documentation files, to deal in the Software\nwithout restriction, including without limitation the rights to use and copy.\n";
const IGNORED: &str = "__pycache__/\n*.egg-info/\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\nhtmlcov/\n.coverage\ndist/\nbuild/\n";
const PLACE: &str = "/nowhere/at/all/harbour";

fn commit_another_project(fixture: &RepoFixture) {
    fixture.put("pyproject.toml", &settings("lighthouse"));
    fixture.put("LICENSE", LICENSE);
    fixture.put(".gitignore", IGNORED);
    fixture
        .put("src/lighthouse/beam.py", "def beam(angle, strength):\n    return strength * angle\n");
    fixture.commit("Begin a lighthouse", "2026-03-01T10:20:00Z");
}

fn assert_no_links(fixture: &RepoFixture, what: &str) {
    for arguments in [&[SESSION][..], &["--commit", "HEAD"], &["--range", "main"]] {
        let (links, code) = fixture.links(arguments);
        assert_eq!((links.len(), code), (0, Some(1)), "{what} {arguments:?}: {links:#?}");
    }
}

#[test]
fn templates_link_no_session_of_another_repository() {
    let own = settings("harbour");
    let templates =
        [wrote("pyproject.toml", &own), wrote("LICENSE", LICENSE), wrote(".gitignore", IGNORED)];
    let fixture = RepoFixture::new();
    commit_another_project(&fixture);
    fixture.record_at(PLACE, &templates);
    assert_no_links(&fixture, "templates alone");
    let [settings, license, ignored] = templates;
    fixture.record_at(PLACE, &[settings, license, ignored, wrote("src/harbour/core.py", TIDES)]);
    assert_no_links(&fixture, "templates and a file of its own");
}

#[test]
fn one_file_of_many_links_no_session_of_another_repository() {
    let fixture = RepoFixture::new();
    // A file that was taken over from another project, which has many others.
    fixture.put("src/tides.py", TIDES);
    fixture.commit("Take tides over", "2026-03-01T10:20:00Z");
    let other = TIDES.replace("tide", "wave");
    fixture.record_at(
        PLACE,
        &[
            wrote("src/tides.py", TIDES),
            wrote("src/waves.py", &other),
            wrote("src/ports.py", &other),
            wrote("src/ships.py", &other),
        ],
    );
    assert_no_links(&fixture, "one of four");
}

#[test]
fn link_recognizes_a_moved_repository_by_its_files() {
    let own = settings("harbour");
    let fixture = RepoFixture::new();
    fixture.record_at(
        PLACE,
        &[
            wrote("pyproject.toml", &own),
            wrote("src/harbour/tides.rs", TIDES),
            wrote("notes/draft.txt", "Words that nobody will ever commit to anything.\n"),
        ],
    );
    fixture.put("pyproject.toml", &own);
    fixture.put("src/harbour/tides.rs", &format!("// Reviewed.\n{TIDES}"));
    fixture.commit("Add tides", "2026-03-01T10:20:00Z");
    let (links, code) = fixture.links(&[SESSION]);
    assert_eq!((links.len(), code), (1, Some(0)), "{links:#?}");
    let paths: Vec<&str> = links[0]["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|proof| proof["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["pyproject.toml", "pyproject.toml", "src/harbour/tides.rs"]);
}

#[test]
fn link_recognizes_a_session_by_the_words_of_a_readme() {
    let words = "# Harbour\n\nTells when the tide lets a ship of a given draught over the bar.\n\
        Tables of the harbour office are read from the folder `tables`, one for each year.\n\
        Times are those of the harbour's own clock, which never knew summer time.\n\
        Heights are in feet above the sill of the old dock, as pilots still count them.\n\
        Where two tables disagree, the younger one wins, and the difference is printed.\n";
    let fixture = RepoFixture::new();
    fixture.record_at(PLACE, &[wrote("README.md", words)]);
    fixture.put("README.md", &format!("{words}\nWritten down in spring.\n"));
    fixture.commit("Say what it is", "2026-03-01T10:20:00Z");
    let (links, code) = fixture.links(&[SESSION]);
    assert_eq!((links.len(), code), (1, Some(0)), "{links:#?}");
    assert_eq!(links[0]["tier"], "lines");
}

#[test]
fn a_licence_that_is_committed_at_once_is_the_sessions() {
    let fixture = RepoFixture::new();
    fixture.record_at(PLACE, &[wrote("LICENSE", LICENSE)]);
    fixture.put("LICENSE", LICENSE);
    fixture.commit("Add a licence", "2026-03-01T10:01:00Z");
    let (links, code) = fixture.links(&[SESSION]);
    assert_eq!((links.len(), code), (1, Some(0)), "{links:#?}");
    assert_eq!(links[0]["tier"], "blob");
    // Something else that it wrote was not committed.
    fixture.record_at(PLACE, &[wrote("LICENSE", LICENSE), wrote("src/harbour/core.py", TIDES)]);
    assert_no_links(&fixture, "not all of it");
}
