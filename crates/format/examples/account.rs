//! Accounts for every byte of the given files; one JSON object per file on standard output.
//!
//! `account FILE…` prints lines, records, problems and whether writing the file back from its
//! lines gives the same bytes; `account --json-value FILE…` says whether each file is one JSON
//! value. Used by the corpus checks; it holds each file in memory, unlike the program.
#![allow(clippy::print_stdout)]

use backstory_format::json::{Tape, scan};
use backstory_format::line::split;
use backstory_format::{Limits, Problem, Record, Visitor, read_all};
use std::collections::BTreeMap;

#[derive(Default)]
struct Account {
    types: BTreeMap<String, u64>,
    problems: BTreeMap<&'static str, u64>,
    record_bytes: u64,
    last_end: u64,
    ordered: bool,
}

impl Visitor for Account {
    fn record(&mut self, record: &Record<'_>) {
        let name = record.type_name().map_or_else(|| "(none)".to_owned(), |name| name.into_owned());
        *self.types.entry(name).or_default() += 1;
        self.record_bytes += u64::from(record.length());
        self.ordered &= record.offset >= self.last_end;
        self.last_end = record.offset + u64::from(record.length());
    }

    fn problem(&mut self, problem: Problem) {
        *self.problems.entry(problem.id.name()).or_default() += 1;
    }
}

fn main() -> std::io::Result<()> {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    let values = paths.first().is_some_and(|first| first == "--json-value");
    if values {
        paths.remove(0);
    }
    for path in paths {
        let bytes = std::fs::read(&path)?;
        let line = if values { value(&path, &bytes) } else { account(&path, &bytes) };
        println!("{line}");
    }
    Ok(())
}

fn value(path: &str, bytes: &[u8]) -> serde_json::Value {
    let end = scan(bytes, 0, 100_000, &mut Tape::new());
    let whole = end.is_ok_and(|end| bytes.get(end..).unwrap_or_default().trim_ascii().is_empty());
    serde_json::json!({ "path": path, "accepted": whole })
}

fn account(path: &str, bytes: &[u8]) -> serde_json::Value {
    let mut account = Account { ordered: true, ..Account::default() };
    let totals = read_all(bytes, Limits::default(), &mut account);
    let mut written = Vec::with_capacity(bytes.len());
    for line in split(bytes) {
        written.extend_from_slice(line.content);
        written.extend_from_slice(match line.ending {
            backstory_format::line::Ending::LineFeed => b"\n",
            backstory_format::line::Ending::CarriageReturnLineFeed => b"\r\n",
            backstory_format::line::Ending::None => b"",
        });
    }
    serde_json::json!({
        "path": path, "bytes": bytes.len(), "accounted": totals.bytes, "lines": totals.lines,
        "blank": totals.blank_lines, "records": totals.records, "bad_lines": totals.bad_lines,
        "record_bytes": account.record_bytes, "by_type": account.types, "problems": account.problems,
        "identity": written == bytes && totals.bytes == bytes.len() as u64 && account.ordered,
    })
}
