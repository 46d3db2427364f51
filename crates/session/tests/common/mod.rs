//! The bundled test data, found and read: shared by tests that go over all of it.
#![allow(dead_code, reason = "each test takes what it needs")]

use backstory_format::Limits;
use backstory_session::agents::claude_code;
use backstory_session::model::Session;
use backstory_session::store::{Root, discover};
use std::path::{Path, PathBuf};

pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

pub(crate) fn sessions(root: &Path) -> Vec<Session> {
    let found = discover(&[Root { path: root.to_path_buf() }]);
    let read = |files| claude_code::read(files, Limits::default(), &mut Vec::new()).unwrap().0;
    found.sessions.iter().map(read).collect()
}

/// The sample, and every bundled session and tree.
pub(crate) fn all_sessions() -> Vec<Session> {
    let mut all = sessions(&testdata("sample"));
    for folder in ["sessions", "trees"] {
        for entry in std::fs::read_dir(testdata(folder)).unwrap() {
            all.extend(sessions(&entry.unwrap().path()));
        }
    }
    assert!(all.len() > 100, "{}", all.len());
    all
}
