//! The fuzz targets' seeds, and every synthetic session, replayed as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[path = "../../../fuzz/laws/mod.rs"]
mod laws;

use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    assert!(!found.is_empty(), "{folder} has no seeds");
    found
}

#[test]
fn seeds_keep_the_laws() {
    for (folder, law) in [
        ("fuzz/corpus/lines", laws::lines as fn(&[u8])),
        ("fuzz/corpus/record", laws::record),
        ("fuzz/corpus/splice", laws::splice),
    ] {
        for path in files(folder) {
            law(&std::fs::read(path).unwrap());
        }
    }
}

#[test]
fn synthetic_sessions_keep_the_laws() {
    for path in files("testdata/sessions") {
        let bytes = std::fs::read(path).unwrap();
        laws::lines(&bytes);
        laws::splice(&bytes);
        for line in bytes.split(|byte| *byte == b'\n') {
            laws::record(line);
        }
    }
}
