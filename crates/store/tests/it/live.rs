//! Files that change while they are read, and files larger than the window they are read through.

use backstory_format::{Limits, Problem, Record, Visitor};
use backstory_store::{ReadContext, Store, StoreError, read_file};
use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

const RECORD: &str =
    r#"{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"hi"}}"#;

/// Counts what it sees, and does something to the file at the first record.
struct Meddler<'a> {
    meddle: Option<&'a dyn Fn()>,
    records: u64,
    problems: Vec<&'static str>,
}

impl Visitor for Meddler<'_> {
    fn record(&mut self, _: &Record<'_>) {
        self.records += 1;
        if let Some(meddle) = self.meddle.take() {
            meddle();
        }
    }
    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem.id.name());
    }
}

type Outcome = Result<(u64, Vec<&'static str>, bool), StoreError>;

fn read(path: &Path, meddle: &dyn Fn()) -> Outcome {
    let visitor = || Meddler { meddle: Some(meddle), records: 0, problems: Vec::new() };
    let read = read_file(path, &mut ReadContext::default(), visitor)?;
    Ok((read.visitor.records, read.visitor.problems, read.growing))
}

fn file(content: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content.as_bytes()).unwrap();
    file
}

#[test]
fn a_growing_file_is_read_up_to_where_it_was() {
    let file = file(&format!("{RECORD}\n{}", &RECORD[..30]));
    let append = || {
        let mut writer = OpenOptions::new().append(true).open(file.path()).unwrap();
        writeln!(writer, "{}", &RECORD[30..]).unwrap();
    };
    let (records, problems, growing) = read(file.path(), &append).unwrap();
    assert_eq!((records, growing), (1, true));
    assert_eq!(problems, ["torn-tail"], "which the session drops because the file is growing");
}

#[test]
fn a_file_cut_short_is_read_once_more() {
    let file = file(&format!("{RECORD}\n{RECORD}\n"));
    let times = Cell::new(0);
    let cut = || {
        times.set(times.get() + 1);
        if times.get() == 1 {
            file.as_file().set_len(RECORD.len() as u64 + 1).unwrap();
        }
    };
    let (records, problems, growing) = read(file.path(), &cut).unwrap();
    assert_eq!((times.get(), records, growing), (2, 1, false));
    assert!(problems.is_empty());
}

#[test]
fn a_file_that_keeps_shrinking_is_an_error() {
    let file = file(&format!("{RECORD}\n{RECORD}\n{RECORD}\n"));
    let length = Cell::new(3 * RECORD.len() as u64);
    let cut = || {
        length.set(length.get() - RECORD.len() as u64);
        file.as_file().set_len(length.get()).unwrap();
    };
    assert!(matches!(read(file.path(), &cut), Err(StoreError::Changed { .. })));
}

#[cfg(unix)]
#[test]
fn a_replaced_file_is_read_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.jsonl"), folder.path().join("b"));
    std::fs::write(&path, format!("{RECORD}\n")).unwrap();
    std::fs::write(&other, format!("{RECORD}\n{RECORD}\n{RECORD}\n")).unwrap();
    let replace = || {
        if other.exists() {
            std::fs::rename(&other, &path).unwrap();
        }
    };
    assert_eq!(read(&path, &replace).unwrap().0, 3);
}

#[test]
fn reader_reads_or_skips_lines_longer_than_the_window() {
    let long = RECORD.replace("hi", &"x".repeat(3 << 20));
    let file = file(&format!("{RECORD}\n{long}\n\n\n{RECORD}\n{long}"));
    assert_eq!(read(file.path(), &|| ()).unwrap(), (4, vec!["no-final-newline"], false));
    let limits = Limits { max_record: 1 << 20, ..Limits::default() };
    let mut context = ReadContext::new(&Store::default().with_limits(limits));
    let visitor = || Meddler { meddle: None, records: 0, problems: Vec::new() };
    let read = read_file(file.path(), &mut context, visitor).unwrap();
    assert_eq!((read.visitor.records, read.visitor.problems), (2, vec!["too-long", "too-long"]));
    assert_eq!((read.totals.lines, read.totals.blank_lines), (6, 2));
    assert_eq!(read.totals.bytes, read.state.size);
}

#[test]
fn reading_in_windows_is_reading_at_once() {
    // Lines of every length around the window's edge.
    let mut content = String::new();
    for length in (0..400).map(|n| n * 7919 % 60_000) {
        content.push_str(&RECORD.replace("hi", &"y".repeat(length)));
        content.push('\n');
    }
    let file = file(&content);
    let mut whole = Meddler { meddle: None, records: 0, problems: Vec::new() };
    let totals = backstory_format::read_all(content.as_bytes(), Limits::default(), &mut whole);
    let visitor = || Meddler { meddle: None, records: 0, problems: Vec::new() };
    let read = read_file(file.path(), &mut ReadContext::default(), visitor).unwrap();
    assert_eq!(read.totals, totals);
    assert_eq!(read.visitor.records, 400);
}

#[test]
fn reading_refuses_what_is_not_a_file() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(read(folder.path(), &|| ()), Err(StoreError::NotAFile { .. })));
    assert!(matches!(read(&folder.path().join("none"), &|| ()), Err(StoreError::Io { .. })));
}
