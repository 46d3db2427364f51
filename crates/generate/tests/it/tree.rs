//! Laws of generated trees: same arguments, same bytes; the size asked for; nothing unreadable; truth
//! that agrees with the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use backstory_generate::{Plan, Truth, generate};
use serde_json::Value;

const MILLION: u64 = 1_000_000;

fn tree(folder: &Path, bytes: u64, files: usize, seed: u64) -> Truth {
    let plan = Plan { out: folder.to_owned(), bytes, files, projects: 8, seed };
    generate(&plan).expect("a tree")
}

/// Every file below a folder with its contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).expect("a file");
                found.insert(path.strip_prefix(folder).expect("a path below").to_owned(), bytes);
            }
        }
    }
    found
}

#[test]
fn the_same_arguments_give_the_same_bytes() {
    let (one, two, three) = (folder(), folder(), folder());
    tree(one.path(), 2 * MILLION, 25, 7);
    tree(two.path(), 2 * MILLION, 25, 7);
    tree(three.path(), 2 * MILLION, 25, 8);
    assert!(contents(one.path()) == contents(two.path()), "the seed decides everything");
    assert!(contents(one.path()) != contents(three.path()), "another seed gives another tree");
}

#[test]
fn the_size_and_number_of_files_are_as_asked() {
    for (bytes, files) in [(4 * MILLION, 40), (25 * MILLION, 120), (6 * MILLION, 3)] {
        let out = folder();
        let truth = tree(out.path(), bytes, files, 7);
        assert_eq!(truth.files.len(), files);
        let found = contents(out.path());
        let sessions =
            found.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "jsonl"));
        let (count, size) =
            sessions.fold((0, 0), |(count, size), (_, file)| (count + 1, size + file.len() as u64));
        assert_eq!((count, size), (files, truth.bytes));
        assert!(size.abs_diff(bytes) * 20 <= bytes, "{size} bytes instead of {bytes}");
    }
}

#[test]
fn every_line_parses_and_the_truth_counts_it() {
    let out = folder();
    let truth = tree(out.path(), 12 * MILLION, 120, 7);
    let mut all = BTreeMap::new();
    for file in &truth.files {
        let bytes = fs::read(out.path().join(&file.path)).expect("a file of the truth");
        assert_eq!(bytes.len() as u64, file.bytes, "{}", file.path);
        let mut types = BTreeMap::new();
        for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let record: Value = serde_json::from_slice(line).expect("JSON");
            *types.entry(record["type"].as_str().expect("a type").to_owned()).or_insert(0) += 1;
        }
        let counted = file.lines_by_type.iter().map(|(kind, count)| ((*kind).to_owned(), *count));
        assert_eq!(types, counted.collect(), "{}", file.path);
        for (kind, count) in types {
            *all.entry(kind).or_insert(0) += count;
        }
    }
    let text = fs::read(out.path().join("truth.json")).expect("the truth");
    let truth: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(truth["totals"]["lines_by_type"], serde_json::to_value(&all).expect("JSON"));
}

#[test]
fn every_record_type_and_kind_of_file_occurs() {
    let out = folder();
    let truth = tree(out.path(), 60 * MILLION, 600, 7);
    let types: Vec<&str> = truth.lines_by_type().iter().map(|(kind, _)| *kind).collect();
    for wanted in [
        "agent-name",
        "agent-setting",
        "ai-title",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "assistant",
        "atis-latch",
        "attachment",
        "bridge-session",
        "content-replacement",
        "cost-state",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "fork-context-ref",
        "frame-link",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "summary",
        "system",
        "tag",
        "teleported-from",
        "tools-used",
        "user",
        "worktree-state",
    ] {
        assert!(types.contains(&wanted), "no `{wanted}`");
    }
    let links: Vec<&str> =
        truth.files.iter().flat_map(|file| &file.links).map(|link| link.kind).collect();
    for wanted in ["task", "fork", "workflow", "compaction", "prompt-suggestion", "warmup"] {
        assert!(links.contains(&wanted), "no `{wanted}`");
    }
    assert!(truth.files.iter().any(|file| file.kind == "session" && file.copied_from.is_some()));
    assert!(truth.files.iter().any(|file| file.sidechains.steps > 0));
    assert!(truth.files.iter().any(|file| file.abandoned.turns > 0));
}

#[test]
fn a_folder_with_a_tree_is_left_alone() {
    let out = folder();
    tree(out.path(), MILLION, 5, 7);
    let before = contents(out.path());
    let plan = Plan { out: out.path().to_owned(), bytes: MILLION, files: 5, projects: 2, seed: 8 };
    assert!(generate(&plan).is_err());
    assert!(contents(out.path()) == before);
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}
