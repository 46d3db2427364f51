//! A file with one JSON value on each line, read as a whole.

use super::{Cite, parse};
use backstory_format::json::{Tape, Value};
use backstory_format::line::split;
use backstory_format::{Limits, Problem};
use backstory_model::{Problems, Session};
use backstory_store::Loaded;

/// A line that holds a value.
#[derive(Debug)]
pub(crate) struct JsonLine<'b> {
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    offset: u64,
    bytes: &'b [u8],
    tape: Tape,
}

impl JsonLine<'_> {
    /// The value; none if it is not valid.
    pub(crate) fn value(&self) -> Option<Value<'_>> {
        self.tape.root(self.bytes)
    }

    /// How to refer to its content.
    pub(crate) fn cite(&self) -> Cite {
        Cite::at(self.offset)
    }
}

/// Parses each line. Lines and faults are counted in the session, which gets its file's facts.
pub(crate) fn json_lines<'b>(
    loaded: &'b Loaded,
    limits: Limits,
    session: &mut Session,
) -> Vec<JsonLine<'b>> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in split(&loaded.bytes) {
        let offset = at;
        at += line.width() as u64;
        session.file.lines += 1;
        if line.content.trim_ascii().is_empty() {
            session.file.blank_lines += 1;
            continue;
        }
        let number = session.file.lines;
        let mut problems = Problems::default();
        let tape = parse(line.content, offset, limits, &mut problems);
        for problem in problems.listed() {
            session.problems.push(Problem { line: number, ..problem.clone() });
        }
        session.file.bad_lines += u64::from(tape.is_none());
        lines.extend(tape.map(|tape| JsonLine { number, offset, bytes: line.content, tape }));
    }
    session.file.bytes = at;
    session.file.modified = loaded.state.modified;
    lines
}
