//! Private keys between `-----BEGIN` and `-----END`: taken out whole, body included.
//!
//! The body may be wrapped, quoted, escaped or cut into string literals of a program, so it is not
//! parsed: everything up to the closing mark goes. Where one of the marks is missing, as in output
//! that was cut, the lines next to the other one go that look like a part of a key, whatever stands
//! before and behind each of them.

use crate::detect::pem_lines::{Body, Runs, body, is_header, parts};
use memchr::memmem;
use std::ops::Range;

pub(crate) const OPENING: &str = "-----begin";
pub(crate) const CLOSING: &str = "-----end";
/// What is in every mark of a private key.
pub(crate) const MARK: &[u8] = b"PRIVATE KEY";
pub(crate) const RULE: &str = "private-key";

/// A key is never longer.
const LONGEST: usize = 64 << 10;
/// What a line of a key is long, or a little more.
const WIDEST: usize = 80;
/// A mark is never longer.
const LONGEST_MARK: usize = 80;
/// How many other lines may stand between those of a key, where they come from different strings.
const MOST_BETWEEN: usize = 3;

/// Finds keys in one text; remembers where there is no closing mark, so that many opening ones
/// cost nothing.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    done: usize,
    /// No closing mark begins in this range.
    without_end: Range<usize>,
}

impl Keys {
    /// The key whose opening mark begins at `at`.
    pub(crate) fn find(&mut self, text: &str, at: usize) -> Option<Range<usize>> {
        if at < self.done || !is_mark(text, at) {
            return None;
        }
        let end = self.end(text, at).unwrap_or_else(|| cut_off(text, at));
        self.done = end;
        Some(at..end)
    }

    /// The key whose closing mark begins at `at`, if its opening one is not in the text.
    pub(crate) fn find_before(&mut self, text: &str, at: usize) -> Option<Range<usize>> {
        if at < self.done || !is_mark(text, at) {
            return None;
        }
        let start = cut_on(text, at, self.done)?;
        let end = end_of_mark(text, at + CLOSING.len())?;
        self.done = end;
        Some(start..end)
    }

    fn end(&mut self, text: &str, at: usize) -> Option<usize> {
        let limit = (at + LONGEST).min(text.len());
        let from = if self.without_end.contains(&at) { self.without_end.end } else { at };
        let found =
            text.as_bytes().get(from..limit).and_then(|part| memmem::find(part, b"-----END"));
        let Some(found) = found else {
            self.without_end = at..limit.saturating_sub(8).max(at);
            return None;
        };
        end_of_mark(text, from + found + b"-----END".len())
    }
}

/// Whether the mark at `at` is one of a private key.
fn is_mark(text: &str, at: usize) -> bool {
    let Some(mark) = text.get(at..) else { return false };
    let mark = mark.get(..boundary(mark, LONGEST_MARK)).unwrap_or(mark);
    mark.to_ascii_uppercase().contains("PRIVATE KEY")
}

/// Where the closing mark ends, as far as it is there; `mark` is behind its first word.
fn end_of_mark(text: &str, mark: usize) -> Option<usize> {
    let rest = text.as_bytes().get(mark..)?;
    let rest = rest.get(..LONGEST_MARK).unwrap_or(rest);
    let tail = memmem::find(rest, b"-----").map_or(0, |dashes| dashes + 5);
    let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let end = mark + tail.min(line.max(tail));
    text.is_char_boundary(end).then_some(end)
}

/// Where a key without closing mark ends.
fn cut_off(text: &str, at: usize) -> usize {
    let rest = text.get(at..boundary(text, at + LONGEST)).unwrap_or_default();
    let mut end = 0;
    let mut is_begun = false;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        // The first line holds the mark, and whatever is behind it.
        let kind = if number == 0 { Body::None } else { body(line, Some(WIDEST)) };
        if kind == Body::None && number > 0 && (is_begun || !is_header(line)) {
            break;
        }
        is_begun |= kind != Body::None;
        end += line.len();
        if kind == Body::Last {
            break;
        }
    }
    at + rest.get(..end).unwrap_or(rest).trim_end().len()
}

/// Where a key without opening mark begins, not before `from`; none if nothing of it is there.
fn cut_on(text: &str, at: usize, from: usize) -> Option<usize> {
    let start = boundary(text, at.saturating_sub(LONGEST).max(from));
    let above = text.get(start..at)?;
    // What stands before the mark in its own line.
    let line = above.rfind('\n').map_or(0, |place| place + 1);
    let mut first = None;
    let mut place = line;
    let mut lines = above.get(..line)?.split_inclusive('\n').rev();
    // The last line of the body is shorter than the others, and is judged by the one above it.
    let last = lines.next()?;
    let rest: Vec<&str> =
        lines.take_while(|line| matches!(body(line, None), Body::Line(_))).collect();
    place -= last.len();
    let width = rest.first().map(|line| match body(line, None) {
        Body::Line(length) => length,
        _ => 0,
    });
    if !matches!(body(last, width), Body::None) {
        first = Some(place);
        place -= rest.iter().map(|line| line.len()).sum::<usize>();
        if !rest.is_empty() {
            first = Some(place);
        }
    }
    // Only the body goes, not what stands before its first line.
    let first = first?;
    let shown = text.get(start + first..at)?;
    Some(start + first + Runs::of(shown).next().map_or(0, |run| run.start))
}

/// The lines of a key's body, each of which gives it away; none for values of other rules.
pub(crate) fn lines<'a>(rule: &str, value: &'a str) -> impl Iterator<Item = &'a str> {
    let runs = (rule == RULE).then(|| Runs::of(value));
    runs.into_iter()
        .flatten()
        .filter_map(move |run| value.get(run))
        .filter(|run| is_worth_searching(run))
}

/// Lines of keys whose marks and lines stand in strings of their own, as in a list of lines.
pub(crate) fn scattered<'a>(strings: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (place, one) in strings.iter().enumerate() {
        let upper = one.to_ascii_uppercase();
        let marks = |mark: &str| upper.contains(mark) && upper.contains("PRIVATE KEY");
        if marks("-----BEGIN") && !marks("-----END") {
            near(strings.iter().skip(place + 1).copied(), &mut found);
        }
        if marks("-----END") && !marks("-----BEGIN") {
            let above = strings.get(..place).unwrap_or_default();
            near(above.iter().rev().copied(), &mut found);
        }
    }
    found
}

/// The lines of a key in `strings`, from a mark on.
fn near<'a>(strings: impl Iterator<Item = &'a str>, found: &mut Vec<&'a str>) {
    let (mut between, mut is_begun) = (0, false);
    let mut short = None;
    for line in strings.flat_map(str::lines).take(LONGEST / 64) {
        match body(line, Some(WIDEST)) {
            Body::Line(_) => {
                // A shorter line counts only next to one of them: by itself it is a word.
                found.extend(short.take().into_iter().flat_map(parts));
                found.extend(parts(line));
                (between, is_begun) = (0, true);
            }
            Body::Last if is_begun => return found.extend(parts(line)),
            Body::Last if short.is_none() => short = Some(line),
            _ => {
                between += 1;
                if between > MOST_BETWEEN || line.contains("-----") {
                    return;
                }
            }
        }
    }
}

/// Whether part of a key can be looked for by itself.
fn is_worth_searching(run: &str) -> bool {
    run.len() >= 40 || parts(run).next().is_some()
}

pub(crate) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
