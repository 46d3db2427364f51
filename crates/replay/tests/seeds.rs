//! The seeds of the fuzz targets for answers and journals: whole, cut and changed.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../fuzz/laws/answers.rs"]
mod answers;
#[path = "../../../fuzz/laws/mutate.rs"]
mod mutate;

use std::path::Path;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn answers_keep_the_laws() {
    mutate::mutated(&seeds("answers"), answers::answers);
}

#[test]
fn journals_keep_the_laws() {
    mutate::mutated(&seeds("journal"), answers::journal);
}
