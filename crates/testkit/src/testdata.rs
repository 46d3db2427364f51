//! Where the bundled test data is, and its tables.

use crate::files_below;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file or folder of `testdata`.
pub fn testdata(name: &str) -> PathBuf {
    top().join("testdata").join(name)
}

/// The text of a document: `README.md`, `docs/export.md`.
pub fn document(name: &str) -> String {
    std::fs::read_to_string(top().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The seeds of a fuzz target.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let files = files_below(&top().join("fuzz/corpus").join(target));
    assert!(!files.is_empty(), "{target} has no seeds");
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A table of the test data: its rows by the names of its columns.
pub fn table(name: &str) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(testdata(name)).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    lines
        .map(|cells| names.iter().zip(cells).map(|(n, c)| (n.to_string(), c.to_owned())).collect())
        .collect()
}

/// Whether what was found is what a cell of a table says. `?` may be anything; the order of problems
/// does not count.
pub fn agrees(column: &str, expected: &str, found: &str) -> bool {
    let parts = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    match column {
        _ if expected == "?" => true,
        "problems" => {
            let (mut expected, mut found) = (parts(expected), parts(found));
            expected.sort();
            found.sort();
            expected == found
        }
        "turn_kinds" => {
            let (expected, found) = (parts(expected), parts(found));
            expected.len() == found.len()
                && expected.iter().zip(&found).all(|(e, f)| e == "?" || e == f)
        }
        _ => expected == found,
    }
}

/// A tree of the test data, as the tables name it.
pub fn tree(name: &str) -> PathBuf {
    if name == "sample" { testdata(name) } else { testdata("trees").join(name) }
}
