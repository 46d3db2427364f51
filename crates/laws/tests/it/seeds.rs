//! The seeds of the fuzz targets: whole, cut and changed.

use crate::mutate::mutated;
use backstory_laws as laws;
use backstory_testkit::{files_below, seeds, testdata};
use std::collections::BTreeSet;

#[test]
fn lines_and_records_of_seeds_keep_the_laws() {
    for (target, law) in
        [("lines", laws::lines as fn(&[u8])), ("record", laws::record), ("splice", laws::splice)]
    {
        seeds(target).iter().for_each(|seed| law(seed));
    }
}

#[test]
fn lines_and_records_of_bundled_sessions_keep_the_laws() {
    let files = files_below(&testdata("sessions"));
    assert!(!files.is_empty());
    for path in files {
        let bytes = std::fs::read(path).unwrap();
        laws::lines(&bytes);
        laws::splice(&bytes);
        for line in bytes.split(|byte| *byte == b'\n') {
            laws::record(line);
        }
    }
}

/// Every seed is recognised as a trace, whole, cut and damaged.
#[test]
fn agents_files_keep_the_laws() {
    let mut kinds = BTreeSet::new();
    for data in seeds("agents") {
        assert_eq!(laws::agents(&data), 1, "{}", data.escape_ascii());
        kinds.insert(data[0]);
        let step = data.len() / 16 + 1;
        for at in (1..data.len()).step_by(step) {
            laws::agents(&data[..at]);
            let mut damaged = data.clone();
            damaged[at] = b'"';
            laws::agents(&damaged);
        }
    }
    assert_eq!(kinds.len(), laws::AGENT_FILES.len(), "one seed for each sort of file");
}

#[test]
fn packed_files_keep_the_laws() {
    mutated(&seeds("packed"), laws::packed);
}

#[test]
fn configurations_keep_the_laws() {
    mutated(&seeds("config"), laws::config);
}

#[test]
fn histories_keep_the_laws() {
    mutated(&seeds("edits"), laws::edits);
}

#[test]
fn git_output_keeps_the_laws() {
    mutated(&seeds("git"), laws::git);
}

#[test]
fn shown_sessions_keep_the_laws() {
    seeds("render").iter().for_each(|seed| laws::render(seed));
}

#[test]
fn tables_keep_the_laws() {
    mutated(&seeds("table"), laws::table);
}

#[test]
fn answers_keep_the_laws() {
    mutated(&seeds("answers"), laws::answers);
}

#[test]
fn journals_keep_the_laws() {
    mutated(&seeds("journal"), laws::journal);
}

#[test]
fn redaction_of_seeds_and_bundled_sessions_keeps_the_laws() {
    let sessions = files_below(&testdata("sessions"));
    let sessions = sessions.iter().map(|path| std::fs::read(path).unwrap());
    let all: Vec<Vec<u8>> = seeds("redact").into_iter().chain(sessions).collect();
    assert!(all.len() > 60, "{}", all.len());
    all.iter().for_each(|data| laws::redact(data));
}
