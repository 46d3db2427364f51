//! Lines to records and problems.
//!
//! Push in, visit out: the caller feeds lines (from a buffer, a stream or a whole file), the
//! visitor is handed each record while its bytes are at hand. Damaged lines are searched for
//! whole records, because that is what real damage leaves: a stub of one record and then another
//! whole one, NUL runs before a record, two records without the newline between them.

use crate::json::{Cause, Fault, Kind, Tape, scan, skim};
use crate::line::{Ending, Line, split};
use crate::record::Record;
use crate::record_kind::RecordKind;
use crate::slice::Part;
use crate::{Limits, Problem, ProblemId};
use memchr::memmem;
use std::borrow::Cow;

/// Receives what a [`Reader`] finds, in file order.
pub trait Visitor {
    /// A whole record.
    fn record(&mut self, record: &Record<'_>);
    /// A fault.
    fn problem(&mut self, problem: Problem);
}

/// What a file consisted of, in bytes and lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes fed.
    pub bytes: u64,
    /// Lines, blank ones included.
    pub lines: u64,
    /// Lines of nothing but white space.
    pub blank_lines: u64,
    /// Records read.
    pub records: u64,
    /// Lines with bytes that belong to no record.
    pub bad_lines: u64,
}

/// Reads one file's lines in order.
#[derive(Debug)]
pub struct Reader {
    limits: Limits,
    tape: Tape,
    totals: Totals,
    utf16: bool,
}

impl Reader {
    /// A reader at the start of a file.
    pub fn new(limits: Limits) -> Reader {
        let max_record = limits.max_record.min(Limits::MAX_RECORD_CEILING);
        Reader {
            limits: Limits { max_record, ..limits },
            tape: Tape::new(),
            totals: Totals::default(),
            utf16: false,
        }
    }

    /// What was read so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The longest line this reader wants to be fed; pass longer ones to [`Reader::too_long`].
    pub fn max_line(&self) -> u64 {
        self.limits.max_record
    }

    /// Reads the next line. A line without ending is taken as the last one.
    pub fn line(&mut self, line: Line<'_>, visitor: &mut impl Visitor) {
        if line.content.len() as u64 > self.limits.max_record {
            return self.too_long(line.width() as u64, visitor);
        }
        let offset = self.totals.bytes;
        self.totals.bytes += line.width() as u64;
        self.totals.lines += 1;
        if self.utf16 {
            return;
        }
        let mut reading = LineReading {
            content: line.content,
            at: 0,
            offset,
            line: self.totals.lines,
            last: line.ending == Ending::None,
            limits: self.limits,
            tape: &mut self.tape,
            records: 0,
            bad: false,
            visitor,
        };
        if offset == 0 && reading.starts_as_utf16() {
            reading.bad_span(ProblemId::Utf16, 0, line.content.len());
            self.utf16 = true;
            self.totals.bad_lines += 1;
            return;
        }
        if offset == 0 && line.content.starts_with(BYTE_ORDER_MARK) {
            reading.problem(ProblemId::ByteOrderMark, 0, BYTE_ORDER_MARK.len(), "");
            reading.at = BYTE_ORDER_MARK.len();
        }
        let blank = reading.read();
        self.totals.records += reading.records;
        self.totals.bad_lines += u64::from(reading.bad);
        self.totals.blank_lines += u64::from(blank);
    }

    /// Counts `count` empty lines (a bare LF each) at once.
    pub fn empty_lines(&mut self, count: u64) {
        self.totals.bytes += count;
        self.totals.lines += count;
        self.totals.blank_lines += if self.utf16 { 0 } else { count };
    }

    /// Passes over a line of `width` bytes that exceeds the limit.
    pub fn too_long(&mut self, width: u64, visitor: &mut impl Visitor) {
        let offset = self.totals.bytes;
        self.totals.bytes += width;
        self.totals.lines += 1;
        if self.utf16 {
            return;
        }
        self.totals.bad_lines += 1;
        let id = ProblemId::TooLong;
        let detail = Cow::Owned(format!("the limit is {} bytes", self.limits.max_record));
        visitor.problem(Problem { id, line: self.totals.lines, offset, length: width, detail });
    }
}

/// Reads a file that is wholly in memory.
pub fn read_all(bytes: &[u8], limits: Limits, visitor: &mut impl Visitor) -> Totals {
    let mut reader = Reader::new(limits);
    for line in split(bytes) {
        reader.line(line, visitor);
    }
    reader.totals()
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

struct LineReading<'a, V> {
    content: &'a [u8],
    at: usize,
    offset: u64,
    line: u64,
    last: bool,
    limits: Limits,
    tape: &'a mut Tape,
    records: u64,
    bad: bool,
    visitor: &'a mut V,
}

impl<V: Visitor> LineReading<'_, V> {
    /// Reads the whole line; true when it is blank.
    fn read(&mut self) -> bool {
        self.skip_white_space();
        if self.at == self.content.len() {
            return self.content.iter().all(u8::is_ascii_whitespace);
        }
        let first = self.at;
        let mut values = 0u64;
        while self.at < self.content.len() {
            let start = self.at;
            match scan(self.content, start, self.limits.max_depth, self.tape) {
                Ok(end) if self.is_object() || self.is_standalone(end) => {
                    self.value(start, end);
                    values += 1;
                    self.at = end;
                }
                // A number or word at the start of a fragment is no value of its own.
                Ok(end) => self.recover(start, Fault { at: end, cause: Cause::Syntax }),
                Err(fault) => self.recover(start, fault),
            }
            self.skip_white_space();
        }
        if values > 1 && !self.bad {
            // A raw CR inside a string is invalid, so here it stands between the records.
            let id = match memchr::memchr(b'\r', self.content) {
                Some(_) => ProblemId::BareCarriageReturn,
                None => ProblemId::SeveralRecords,
            };
            self.problem(id, first, self.content.len() - first, "");
        }
        if self.last && !self.bad {
            self.problem(ProblemId::NoFinalNewline, self.content.len(), 0, "");
        }
        false
    }

    /// A value that was scanned from `start` to `end`.
    fn value(&mut self, start: usize, end: usize) {
        let Some(value) = self.tape.root(self.content) else { return };
        let span = value.span();
        if value.kind() != Kind::Object {
            self.bad = true;
            return self.problem(ProblemId::NotAnObject, span.start, end - span.start, "");
        }
        let oddities = self.tape.oddities();
        let offset = self.offset + span.start as u64;
        self.records += 1;
        let record = Record::new(value, offset, self.line);
        self.visitor.record(&record);
        match record.kind() {
            RecordKind::Missing => self.problem(ProblemId::MissingType, span.start, 1, ""),
            RecordKind::Other => self.problem(ProblemId::UnknownType, span.start, 1, ""),
            _ => {}
        }
        for (id, place) in oddities.problems() {
            self.problem(id, place, 1, "");
        }
        let written = self.content.part(start..end);
        if let Err(error) = simdutf8::compat::from_utf8(written) {
            let length = error.error_len().unwrap_or(1);
            self.problem(ProblemId::InvalidUtf8, start + error.valid_up_to(), length, "");
        }
    }

    /// The value at `start` could not be read: report it and find the next place to read from.
    fn recover(&mut self, start: usize, fault: Fault) {
        let rest = self.content.part(start..);
        if rest.first() == Some(&0) {
            let run = rest.iter().take_while(|byte| **byte == 0).count();
            self.bad_span(ProblemId::NulBytes, start, run);
            self.at = start + run;
            return;
        }
        if fault.cause == Cause::TooDeep {
            let end = skim(self.content, start).unwrap_or(self.content.len());
            self.bad_span(ProblemId::TooDeep, start, end - start);
            self.at = end;
            return;
        }
        let nul = memchr::memchr(0, rest).map_or(self.content.len(), |at| start + at);
        match self.find_record(start + 1) {
            Some(next) => {
                self.bad_span(ProblemId::GluedRecords, start, next - start);
                self.at = next;
            }
            None => {
                let id = self.name_fault(start, fault);
                // A NUL run inside the damage is reported as such, not swallowed by it.
                let end = if nul > start { nul } else { self.content.len() };
                self.bad_span(id, start, end - start);
                self.at = end;
            }
        }
    }

    fn name_fault(&self, start: usize, fault: Fault) -> ProblemId {
        let looks_like_record = self.content.get(start) == Some(&b'{');
        match fault.cause {
            Cause::End if self.last && looks_like_record => ProblemId::TornTail,
            Cause::End if looks_like_record => ProblemId::TornLine,
            Cause::ControlCharacter if looks_like_record => ProblemId::ControlCharacter,
            Cause::Syntax if looks_like_record => ProblemId::InvalidJson,
            _ => ProblemId::StrayBytes,
        }
    }

    /// Looks for the start of a whole record at or after `from`. Objects nested in the damaged
    /// record look similar, so a find must carry what only records carry, and must be followed by
    /// the end of the line or by something that is not a continuation.
    fn find_record(&mut self, from: usize) -> Option<usize> {
        let mut effort = self.content.len() as u64 * u64::from(self.limits.salvage_effort) + 65_536;
        let rest = self.content.get(from..)?;
        for found in memmem::find_iter(rest, b"{\"") {
            let start = from + found;
            let outcome = scan(self.content, start, self.limits.max_depth, self.tape);
            let reached = match outcome {
                Ok(end) => end,
                Err(fault) => fault.at,
            };
            if outcome.is_ok() && self.is_record() && self.is_standalone(reached) {
                return Some(start);
            }
            effort = effort.checked_sub((reached - start) as u64 + 1)?;
        }
        None
    }

    fn is_object(&self) -> bool {
        self.tape.root(self.content).is_some_and(|value| value.kind() == Kind::Object)
    }

    fn is_record(&self) -> bool {
        let Some(value) = self.tape.root(self.content) else { return false };
        value.get_text("type").is_some()
            && ["sessionId", "parentUuid", "leafUuid", "messageId", "snapshotMessageId"]
                .iter()
                .any(|name| value.get(name).is_some())
    }

    fn is_standalone(&self, end: usize) -> bool {
        let rest = self.content.part(end..);
        matches!(rest.trim_ascii_start().first(), None | Some(b'{' | 0))
    }

    fn starts_as_utf16(&self) -> bool {
        let head = self.content.get(..64).unwrap_or(self.content);
        if head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF") {
            return true;
        }
        // Without a mark: `{` and `"` with a zero byte before or after each.
        head.starts_with(b"{\0\"\0") || head.starts_with(b"\0{\0\"")
    }

    fn skip_white_space(&mut self) {
        while self
            .content
            .get(self.at)
            .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        {
            self.at += 1;
        }
    }

    fn bad_span(&mut self, id: ProblemId, start: usize, length: usize) {
        self.bad = true;
        self.problem(id, start, length, "");
    }

    fn problem(&mut self, id: ProblemId, start: usize, length: usize, detail: &'static str) {
        self.visitor.problem(Problem {
            id,
            line: self.line,
            offset: self.offset + start as u64,
            length: length as u64,
            detail: Cow::Borrowed(detail),
        });
    }
}
