//! Laws of reading: any bytes, every byte, nothing invented.

use backstory_format::{Limits, Problem, ProblemId, Record, Totals, Visitor, read_all};
use proptest::prelude::*;

#[derive(Default, Debug, PartialEq)]
struct Seen {
    records: Vec<(u64, Vec<u8>)>,
    problems: Vec<(ProblemId, u64, u64)>,
}

impl Visitor for Seen {
    fn record(&mut self, record: &Record<'_>) {
        self.records.push((record.offset, record.raw().to_vec()));
    }
    fn problem(&mut self, problem: Problem) {
        self.problems.push((problem.id, problem.offset, problem.length));
    }
}

fn read(bytes: &[u8]) -> (Seen, Totals) {
    let mut seen = Seen::default();
    let totals = read_all(bytes, Limits::default(), &mut seen);
    (seen, totals)
}

fn ids(bytes: &[u8]) -> Vec<&'static str> {
    read(bytes).0.problems.iter().map(|problem| problem.0.name()).collect()
}

const ONE: &str =
    r#"{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"hi"}}"#;
const TWO: &str = r#"{"type":"summary","summary":"t","leafUuid":"u1"}"#;

#[test]
fn damage_leaves_the_rest_readable() {
    let cases: &[(&str, String, usize, &[&str])] = &[
        ("clean", format!("{ONE}\n{TWO}\n"), 2, &[]),
        ("no final newline", format!("{ONE}\n{TWO}"), 2, &["no-final-newline"]),
        ("torn tail", format!("{ONE}\n{}", &TWO[..20]), 1, &["torn-tail"]),
        ("torn line", format!("{}\n{TWO}\n", &ONE[..40]), 1, &["torn-line"]),
        ("stub and record", format!("{}{TWO}\n", &ONE[..40]), 1, &["glued-records"]),
        ("two on a line", format!("{ONE}{TWO}\n"), 2, &["several-records"]),
        ("bare CR", format!("{ONE}\r{TWO}\n"), 2, &["bare-carriage-return"]),
        ("NUL run", format!("{ONE}\n\0\0\0\n{TWO}\n"), 2, &["nul-bytes"]),
        ("NUL prefix", format!("\0\0{ONE}\n"), 1, &["nul-bytes"]),
        ("record then stub", format!("{ONE}{}\n", &TWO[..20]), 1, &["torn-line"]),
        ("fragment", format!("abc\"}}]}}\n{ONE}\n"), 1, &["stray-bytes"]),
        ("BOM", format!("\u{feff}{ONE}\n"), 1, &["byte-order-mark"]),
        ("CRLF", format!("{ONE}\r\n{TWO}\r\n"), 2, &[]),
        ("not objects", format!("[]\n1\n{ONE}\n"), 1, &["not-an-object", "not-an-object"]),
        (
            "unknown type",
            "{\"type\":\"new\"}\n{}\n".to_owned(),
            2,
            &["unknown-type", "missing-type"],
        ),
        ("repeated key", "{\"type\":\"mode\",\"a\":1,\"a\":2}\n".to_owned(), 1, &["duplicate-key"]),
        ("control", format!("{}\n", ONE.replace("hi", "h\x01i")), 0, &["control-character"]),
    ];
    for (name, text, records, problems) in cases {
        let (seen, totals) = read(text.as_bytes());
        assert_eq!(seen.records.len(), *records, "{name}");
        assert_eq!(ids(text.as_bytes()), *problems, "{name}");
        assert_eq!(totals.bytes, text.len() as u64, "{name}");
    }
}

#[test]
fn nested_objects_of_a_torn_record_are_not_records() {
    let nested = r#"{"type":"assistant","uuid":"u","sessionId":"s","message":{"content":[{"type":"text","text":"x"}"#;
    assert_eq!(read(format!("{nested}\n").as_bytes()).0.records.len(), 0);
}

#[test]
fn utf16_is_one_problem() {
    let text: Vec<u8> =
        format!("{ONE}\n{TWO}\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(ids(&text), ["utf-16"]);
    assert_eq!(ids(&[&b"\xff\xfe"[..], &text].concat()), ["utf-16"]);
}

#[test]
fn reader_skips_deep_and_long_records_with_their_span() {
    let deep =
        format!("{{\"type\":\"x\",\"a\":{}{}}}\n{ONE}\n", "[".repeat(5000), "]".repeat(5000));
    assert_eq!(ids(deep.as_bytes()), ["too-deep"]);
    assert_eq!(read(deep.as_bytes()).0.records.len(), 1);
    let mut seen = Seen::default();
    let limits = Limits { max_record: 20, ..Limits::default() };
    let totals = read_all(format!("{ONE}\n{{}}\n").as_bytes(), limits, &mut seen);
    assert_eq!(seen.records.len(), 1);
    assert_eq!(seen.problems[0], (ProblemId::TooLong, 0, ONE.len() as u64 + 1));
    assert_eq!(totals.lines, 2);
}

#[test]
fn salvage_is_bounded_on_bait() {
    // Every `{"` is a candidate that fails only at the end of the line.
    let bait = format!("{{\"a\":{}\n", "{\"\":".repeat(200_000));
    let (seen, _) = read(bait.as_bytes());
    assert!(seen.records.is_empty());
}

/// Files made of whole records, fragments and noise, so that the interesting paths are hit.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(ONE.as_bytes().to_vec()),
        3 => Just(TWO.as_bytes().to_vec()),
        4 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        2 => (0..ONE.len()).prop_map(|n| ONE.as_bytes()[..n].to_vec()),
        1 => (0..ONE.len()).prop_map(|n| ONE.as_bytes()[n..].to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
        1 => Just(vec![0; 5]),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_byte_is_accounted_for(bytes in file()) {
        let (seen, totals) = read(&bytes);
        prop_assert_eq!(totals.bytes, bytes.len() as u64);
        prop_assert_eq!(totals.records as usize, seen.records.len());
        let mut end = 0;
        for (offset, raw) in &seen.records {
            prop_assert!(*offset >= end);
            end = offset + raw.len() as u64;
            prop_assert_eq!(&bytes[*offset as usize..end as usize], &raw[..]);
        }
        for (_, offset, length) in &seen.problems {
            prop_assert!(offset + length <= bytes.len() as u64);
        }
    }

    #[test]
    fn reading_a_concatenation_is_concatenating_readings(mut a in file(), b in file()) {
        a.push(b'\n');
        // A mark at the very start of `b` is only a mark at the start of a file.
        prop_assume!(![&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{"].iter().any(|mark| b.starts_with(mark) || a.starts_with(mark)));
        let joined = [a.clone(), b.clone()].concat();
        let mut expected = read(&a).0;
        let later = read(&b).0;
        expected.records.extend(later.records.into_iter().map(|(at, raw)| (at + a.len() as u64, raw)));
        expected.problems.extend(later.problems.into_iter().map(|(id, at, length)| (id, at + a.len() as u64, length)));
        prop_assert_eq!(read(&joined).0, expected);
    }
}
