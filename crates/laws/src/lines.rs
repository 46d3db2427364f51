//! What must hold for any bytes that are read as records.

use backstory_format::claude::{Envelope, Message, Usage, blocks, outcome};
use backstory_format::json::{Splice, Tape, scan, text};
use backstory_format::line::split;
use backstory_format::{Limits, Problem, Record, Visitor, read_all};

struct Walk<'a> {
    file: &'a [u8],
    end: u64,
    records: u64,
}

impl Visitor for Walk<'_> {
    fn record(&mut self, record: &Record<'_>) {
        assert!(record.offset >= self.end, "records overlap");
        self.end = record.offset + u64::from(record.length());
        self.records += 1;
        assert_eq!(&self.file[record.offset as usize..self.end as usize], record.raw());
        let envelope = Envelope::read(record, |problem| check(&problem, self.file));
        if let Some(message) = envelope.message {
            let (message, _) = Message::read(message);
            if let Some(usage) = message.usage {
                Usage::read(usage);
            }
            for block in blocks(message.content) {
                outcome(block.value, envelope.tool_use_result, false);
                if let Some(raw) = block.text().and_then(|text| text.raw_text()) {
                    let whole = text::decode(raw);
                    assert!(whole.starts_with(text::decode_prefix(raw, 9).as_ref()));
                }
            }
        }
        serde_json::from_str::<&serde_json::value::RawValue>(&text::portable(record.raw()))
            .expect("a record made portable is JSON");
    }

    fn problem(&mut self, problem: Problem) {
        check(&problem, self.file);
    }
}

fn check(problem: &Problem, file: &[u8]) {
    assert!(problem.offset + problem.length <= file.len() as u64, "{problem:?}");
    assert!(problem.line >= 1);
}

/// Every byte belongs to exactly one line, and reading accounts for all of them.
pub fn lines(data: &[u8]) {
    let mut written = Vec::with_capacity(data.len());
    for line in split(data) {
        written.extend_from_slice(line.content);
        written.extend_from_slice(&b"\r\n"[2 - line.ending.width()..]);
    }
    assert_eq!(written, data);
    for limits in [Limits::default(), Limits { max_record: 40, max_depth: 3, salvage_effort: 1 }] {
        let mut walk = Walk { file: data, end: 0, records: 0 };
        let totals = read_all(data, limits, &mut walk);
        assert_eq!(totals.bytes, data.len() as u64);
        assert_eq!(totals.records, walk.records);
        assert!(totals.bad_lines + totals.blank_lines <= totals.lines);
    }
}

/// The scanner agrees with serde_json on what is JSON, except for what it tolerates on purpose.
pub fn record(data: &[u8]) {
    let mut tape = Tape::new();
    let ours = scan(data, 0, 100, &mut tape);
    let whole = ours.is_ok_and(|end| data[end..].trim_ascii().is_empty());
    let theirs = std::str::from_utf8(data)
        .ok()
        .map(|text| serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok());
    // A form feed is trimmed as whitespace here and refused there.
    if let Some(theirs) = theirs {
        let too_deep =
            matches!(ours, Err(fault) if fault.cause == backstory_format::json::Cause::TooDeep);
        assert!(too_deep || whole == theirs || data.contains(&0x0c), "{whole} {theirs}");
    }
    if let Some(value) = tape.root(data).filter(|_| ours.is_ok()) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            assert!(value.span().end <= data.len());
            open.extend(value.items());
            open.extend(value.fields().map(|(_, value)| value));
        }
    }
}

/// Splicing nothing changes nothing; splicing disjoint ranges changes exactly those.
pub fn splice(data: &[u8]) {
    assert_eq!(apply(data, &[]), data);
    let mut splices = Vec::new();
    let mut at = 0;
    for (start, length) in data.iter().zip(data.iter().skip(1)).take(6) {
        let start = at + usize::from(*start) % 7;
        let end = start + usize::from(*length) % 5;
        if end > data.len() {
            break;
        }
        splices.push(Splice { range: start..end, with: vec![b'x'; usize::from(*length) % 3] });
        at = end + 1;
    }
    let out = apply(data, &splices);
    let mut rest = &out[..];
    let mut done = 0;
    for one in &splices {
        let kept = &data[done..one.range.start];
        assert_eq!(&rest[..kept.len()], kept);
        assert_eq!(&rest[kept.len()..kept.len() + one.with.len()], &one.with[..]);
        rest = &rest[kept.len() + one.with.len()..];
        done = one.range.end;
    }
    assert_eq!(rest, &data[done..]);
}

fn apply(data: &[u8], splices: &[Splice]) -> Vec<u8> {
    backstory_format::json::splice(data, splices).expect("ranges are in order and inside")
}
