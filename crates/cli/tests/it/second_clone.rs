//! A second clone of a repository finds the sessions of the first

use crate::repo_fixture::{RepoFixture, SESSION, TIDES, wrote};

#[test]
fn a_second_clone_finds_the_sessions_of_the_first() {
    let fixture = RepoFixture::new();
    fixture.record(&[wrote("src/tides.rs", TIDES)]);
    fixture.put("src/tides.rs", TIDES);
    fixture.commit("Add tides", "2026-03-01T10:10:00Z");
    let home = fixture.machine.home();
    let place = |name: &str| home.join(name).to_string_lossy().into_owned();
    fixture.git(&["clone", "-q", &place("work"), &place("second")]);
    let included = "included: sessions of ~/work, another clone of this repository\n";
    let run = |folder: &str, arguments: &[&str]| {
        let mut command = fixture.machine.command(arguments);
        let output = command.current_dir(home.join(folder)).output().unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            let real = std::fs::canonicalize(home).unwrap();
            text.replace(&*real.to_string_lossy(), "~")
        };
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, told) = run("second", &["blame", "src/tides.rs", "--json"]);
    assert!(code == Some(0) && out.contains(SESSION), "{told}");
    assert_eq!(told, included);
    for folder in ["second", "second/src"] {
        let (code, out, told) = run(folder, &["log", "--json"]);
        assert!(code == Some(0) && out.contains("src/tides.rs"), "{folder}: {told}");
        assert!(told.contains(included), "{told}");
    }
    let (code, out, told) = run("second", &["link", "--json"]);
    assert!(code == Some(0) && out.contains(SESSION) && told.contains(included), "{told}{out}");
    let (code, out, _) = run("second", &["link", "--commit", "HEAD", "--json"]);
    assert!(code == Some(0) && out.contains(SESSION), "{out}");

    // The same by the first commit alone, and no other repository.
    let second = place("second");
    fixture.git(&["-C", &second, "remote", "remove", "origin"]);
    assert_eq!(run("second", &["blame", "src/tides.rs", "--json"]).2, included);
    fixture.git(&["init", "-q", "-b", "main", &place("third")]);
    backstory_testkit::write_file(&home.join("third/src/tides.rs"), TIDES.as_bytes());
    let (code, _, told) = run("third", &["blame", "src/tides.rs"]);
    assert!(code == Some(1) && !told.contains("included"), "{told}");
}
