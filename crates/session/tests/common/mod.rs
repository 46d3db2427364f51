//! The bundled test data, found and read: shared by tests that go over all of it.
#![allow(dead_code, reason = "each test takes what it needs")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use backstory_format::Limits;
use backstory_session::agents::claude_code;
use backstory_session::export::{Arguments, Per, SftFormat, SftOptions, StateOptions};
use backstory_session::model::Session;
use backstory_session::store::{Root, discover};
use std::path::{Path, PathBuf};

pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// The seeds of a fuzz target.
pub(crate) fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = testdata("../fuzz/corpus").join(target);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let seeds: Vec<Vec<u8>> = files.map(|path| std::fs::read(path).unwrap()).collect();
    assert!(!seeds.is_empty(), "{target} has no seeds");
    seeds
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

/// Rows of every trainer, by session and by step.
pub(crate) fn rows_of_trainers<'o>(
    states: StateOptions<'o>,
) -> impl Iterator<Item = SftOptions<'o>> {
    let formats = [
        SftFormat::Trl,
        SftFormat::LlamaFactory,
        SftFormat::Axolotl,
        SftFormat::OpenAi,
        SftFormat::Verl,
        SftFormat::SkyRl,
    ];
    formats.into_iter().flat_map(move |format| {
        [Per::Session, Per::Step].map(|per| SftOptions {
            format,
            per,
            arguments: Arguments::Object,
            states,
        })
    })
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for letter in 0..4 {
            let index = (bits >> (18 - 6 * letter) & 63) as usize;
            out.push(if letter <= group.len() { LETTERS[index] as char } else { '=' });
        }
    }
    out
}
