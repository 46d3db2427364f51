//! The list of readers: names and places are different.

use backstory_agents::{Home, Surroundings, readers};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[test]
fn agents_are_listed_once_and_in_order() {
    let agents: Vec<_> = readers().map(|reader| reader.agent()).collect();
    for pair in agents.windows(2) {
        assert!(pair[0].place() < pair[1].place(), "{:?} {:?}", pair[0], pair[1]);
    }
    let names: BTreeSet<&str> = agents.iter().map(|agent| agent.name()).collect();
    let titles: BTreeSet<&str> = agents.iter().map(|agent| agent.title()).collect();
    assert_eq!((names.len(), titles.len()), (agents.len(), agents.len()));
    assert_eq!(agents.iter().max(), agents.last());
}

#[test]
fn sessions_are_looked_for_only_where_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let set = |name: &str| Some(OsString::from(format!("/set/{name}")));
    let around =
        Surroundings { home: Some(Path::new("/u")), here: Some(folder.path()), variable: &set };
    let plain = Surroundings { variable: &|_| None, ..around };
    for reader in readers() {
        let name = reader.agent().name();
        let (usual, named) = (reader.homes(&plain), reader.homes(&around));
        for home in usual.iter().chain(&named) {
            assert!(home.sessions.iter().all(|place| place.starts_with(&home.path)), "{name}");
        }
        // A home that a variable replaces is protected, but holds no sessions that are in use.
        let left: Vec<&Home> = named.iter().filter(|home| home.path.starts_with("/u")).collect();
        let replaced = named.len() > usual.len() && !usual.is_empty();
        assert!(!replaced || left.iter().all(|home| home.sessions.is_empty()), "{name}");
        let paths = |homes: &[Home]| homes.iter().map(|home| home.path.clone()).collect();
        let (usual, named): (Vec<PathBuf>, Vec<PathBuf>) = (paths(&usual), paths(&named));
        assert!(usual.iter().all(|path| named.contains(path)), "{name}: {usual:?} {named:?}");
    }
}
