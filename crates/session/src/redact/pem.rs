//! Private keys between `-----BEGIN` and `-----END`: taken out whole, body included.
//!
//! The body may be wrapped, quoted, escaped or cut into string literals of a program, so it is not
//! parsed: everything up to the closing mark goes. Where none follows, as in output that was cut,
//! everything goes that still looks like a part of a key.

use memchr::memmem;
use std::ops::Range;

pub(super) const OPENING: &str = "-----begin";
pub(super) const RULE: &str = "private-key";

/// A key is never longer.
const LONGEST: usize = 64 << 10;

/// Finds keys in one text; remembers where there is no closing mark, so that many opening ones
/// cost nothing.
#[derive(Debug, Default)]
pub(super) struct Keys {
    done: usize,
    /// No closing mark begins in this range.
    without_end: Range<usize>,
}

impl Keys {
    /// The key whose opening mark begins at `at`.
    pub(super) fn find(&mut self, text: &str, at: usize) -> Option<Range<usize>> {
        if at < self.done {
            return None;
        }
        let header = text.get(at..)?;
        let header = header.get(..boundary(header, 80)).unwrap_or(header);
        if !header.to_ascii_uppercase().contains("PRIVATE KEY") {
            return None;
        }
        let end = self.end(text, at).unwrap_or_else(|| cut_off(text, at));
        self.done = end;
        Some(at..end)
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
        let mark = from + found + b"-----END".len();
        let rest = text.as_bytes().get(mark..)?;
        // The closing mark itself, as far as it is there.
        let rest = rest.get(..80).unwrap_or(rest);
        let tail = memmem::find(rest, b"-----").map_or(0, |dashes| dashes + 5);
        let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let end = mark + tail.min(line.max(tail));
        text.is_char_boundary(end).then_some(end)
    }
}

/// Where a key without closing mark ends.
fn cut_off(text: &str, at: usize) -> usize {
    let rest = text.get(at..boundary(text, at + LONGEST)).unwrap_or_default();
    let mut end = 0;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        let body = line.replace("\\r", "").replace("\\n", "");
        let body =
            body.trim_matches(|one: char| one.is_whitespace() || "\"'+,;|`\\#*>".contains(one));
        let is_key =
            body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-.".contains(&byte));
        let is_head = body.contains(": ") && body.len() < 80;
        // The first line holds the mark, and whatever is behind it.
        if number > 0 && !is_key && !is_head {
            break;
        }
        end += line.len();
    }
    at + rest.get(..end).unwrap_or(rest).trim_end().len()
}

/// The lines of a key's body, each of which gives it away; none for values of other rules.
pub(super) fn lines<'a>(rule: &str, value: &'a str) -> impl Iterator<Item = &'a str> {
    let is_key = rule == RULE;
    let lines = value.split(['\n', '\\', '"', '\'', '`', ' ']).filter(move |_| is_key);
    let is_body = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    lines.map(str::trim).filter(move |line| line.len() >= 40 && line.bytes().all(is_body))
}

fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
