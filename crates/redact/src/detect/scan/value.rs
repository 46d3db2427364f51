//! Values: between quotes, bare, to the end of a line, as a list of numbers.

use super::{ESCAPE, LONGEST_GAP, LONGEST_VALUE, Scan, is_of_name};
use crate::detect::lookup::is_lookup;
use std::ops::Range;

/// A shorter value ends at a sign that also stands between statements.
const LONG_BEFORE_SIGN: usize = 4;
/// How many such signs are in a value at most.
const MOST_SIGNS: usize = 4;

impl Scan<'_> {
    /// A quoted value, perhaps behind a prefix or inside a call.
    pub(crate) fn literal(&mut self) -> Option<Range<usize>> {
        if let Some(value) = self.quoted() {
            return Some(value);
        }
        let start = self.at;
        let end = self.until(|byte| {
            !(byte.is_ascii_alphanumeric()
                || matches!(
                    byte,
                    b'_' | b'.' | b'[' | b']' | b':' | b'<' | b'>' | b'&' | b'@' | b'!'
                ))
        });
        if end - start > LONGEST_GAP {
            return None;
        }
        self.at = end;
        let name = self.text.get(start..end).unwrap_or_default();
        if name == "new" || name == "await" {
            self.gap(false);
            return self.literal();
        }
        let prefix =
            matches!(name, "f" | "b" | "r" | "u" | "L" | "N" | "@" | "br" | "rb" | "fr" | "s");
        let call = !name.is_empty() && self.peek() == Some(b'(');
        if call {
            self.at += 1;
            self.gap(true);
        }
        let found = if prefix || call { self.quoted() } else { None };
        if found.is_none() {
            self.at = start;
        } else if call && is_lookup(name) {
            // The name of a variable, and perhaps a default behind it.
            return None;
        }
        found
    }

    /// What stands between quotes here.
    pub(crate) fn quoted(&mut self) -> Option<Range<usize>> {
        let opening = self.rest();
        for entity in [&b"&quot;"[..], b"&#34;", b"&#39;", b"&apos;"] {
            if opening.starts_with(entity) {
                let start = self.at + entity.len();
                let rest = self.bytes.get(start..)?;
                let rest = rest.get(..LONGEST_VALUE).unwrap_or(rest);
                let length = memchr::memmem::find(rest, entity)?;
                self.at = start + length + entity.len();
                return Some(start..start + length);
            }
        }
        let slashes = opening.iter().take_while(|byte| **byte == b'\\').count();
        let quote = *opening.get(slashes)?;
        if !matches!(quote, b'"' | b'\'' | b'`') {
            return None;
        }
        let mut start = self.at + slashes + 1;
        if quote == b'`' {
            let ticks = opening.iter().take_while(|byte| **byte == b'`').count();
            let start = self.at + ticks;
            let rest = self.bytes.get(start..)?;
            let length =
                rest.iter().take(LONGEST_VALUE).position(|byte| matches!(byte, b'`' | b'\n'))?;
            self.at = start + length + ticks;
            return (rest.get(length) == Some(&b'`')).then_some(start..start + length);
        }
        if slashes == 0 && self.bytes.get(start..start + 2) == Some(&[quote, quote]) {
            start += 2;
        }
        let mut end = start;
        let last = (start + LONGEST_VALUE).min(self.bytes.len());
        loop {
            let byte = *self.bytes.get(end).filter(|_| end < last)?;
            if byte == b'\n' {
                return None;
            }
            if byte == b'\\' {
                let run = self.bytes.get(end..)?.iter().take_while(|byte| **byte == b'\\').count();
                let closes = self.bytes.get(end + run) == Some(&quote);
                if closes && slashes > 0 && run <= slashes {
                    self.at = end + run + 1;
                    return Some(start..end);
                }
                // An escaped character, whatever it is.
                end += run + usize::from(run % 2 == 1);
                continue;
            }
            if byte == quote {
                self.at = end + 1;
                return Some(start..end);
            }
            end += 1;
        }
    }

    /// What stands behind a quote that its line does not close: the line was cut, or goes on in the
    /// next one.
    pub(crate) fn open_quoted(&self) -> Option<Range<usize>> {
        self.peek().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let start = self.at + 1;
        let behind = Scan { at: start, ..*self };
        let end = behind.until(|byte| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>')
        });
        let rest = self.bytes.get(end..)?;
        let rest = rest.strip_prefix(b"\\").unwrap_or(rest);
        (rest.is_empty() || rest.starts_with(b"\n") || rest.starts_with(b"\r"))
            .then_some(start..end)
    }

    /// Where a bare value ends.
    pub(crate) fn bare_end(&self) -> usize {
        let stop = |byte: u8| {
            byte.is_ascii_whitespace()
                || matches!(
                    byte,
                    b'"' | b'\'' | b'`' | b'<' | b'>' | b',' | b';' | b'&' | b'|' | ESCAPE
                )
        };
        let mut end = self.until(stop);
        for _ in 0..MOST_SIGNS {
            let sign = matches!(self.bytes.get(end), Some(b'&' | b';'));
            let behind = Scan { at: end + 1, ..*self };
            let next = behind.until(stop);
            if !sign || end < self.at + LONG_BEFORE_SIGN || !behind.continues(next) {
                break;
            }
            end = next;
        }
        let value = self.bytes.get(self.at..end).unwrap_or_default();
        if let Some(at) = value.iter().position(|byte| *byte == b'\\') {
            end = self.at + at;
        }
        let value = self.bytes.get(self.at..end).unwrap_or_default();
        for (open, close) in [(b'(', b')'), (b'[', b']'), (b'{', b'}')] {
            let opened = value.iter().filter(|byte| **byte == open).count();
            let closed = value.iter().position(|byte| *byte == close);
            if let Some(at) = closed.filter(|_| opened == 0) {
                end = end.min(self.at + at);
            }
        }
        while end > self.at && matches!(self.bytes.get(end - 1), Some(b'.' | b':')) {
            end -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        end
    }

    /// Whether what stands from here to `end` belongs to the value before it, with a sign between:
    /// `Tr0ub4dor&3x`. Not so the next parameter, an entity or a word of a program.
    fn continues(&self, end: usize) -> bool {
        let part = self.bytes.get(self.at..end).unwrap_or_default();
        let is_plain = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'-');
        !part.iter().all(is_plain)
            && !part.iter().any(|byte| matches!(byte, b'=' | b'(' | b'[' | b'{' | b'\\' | b'$'))
            && !part.starts_with(b"#")
    }

    /// The rest of the line from here, if it is one word behind which nothing or a comment stands.
    pub(crate) fn rest_of_line(&self) -> Option<Range<usize>> {
        let end = self.until(|byte| matches!(byte, b'\n' | b'\r' | b'\\'));
        let line = self.text.get(self.at..end)?;
        let line = line.split(" #").next().unwrap_or(line).trim_end();
        let is_odd = |byte: u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | ESCAPE)
        };
        let is_parameter = |part: &str| {
            let name = part.split('=').next().filter(|name| name.len() < part.len());
            name.is_some_and(|name| !name.is_empty() && name.bytes().all(is_of_name))
        };
        if line.split(['&', ';']).skip(1).any(is_parameter) {
            return None;
        }
        let is_code = line.ends_with([',', ';', '{', '(', ')', '|', '&'])
            || ["||", "&&"].iter().any(|sign| line.contains(sign));
        (!line.bytes().any(is_odd) && !is_code).then(|| self.at..self.at + line.len())
    }

    /// A list of at least ten small numbers: bytes written out.
    pub(crate) fn number_list(&self) -> Option<Range<usize>> {
        if matches!(self.peek(), Some(b'"' | b'\'' | b'`' | b'$' | b'\n')) {
            return None;
        }
        let rest = self.rest();
        let open =
            rest.get(..24).unwrap_or(rest).iter().position(|byte| matches!(byte, b'{' | b'['))?;
        let open = match rest.get(open..open + 2) {
            Some(b"[]") => {
                open + rest
                    .get(open..open + 24)
                    .unwrap_or_default()
                    .iter()
                    .position(|byte| *byte == b'{')?
            }
            _ => open,
        };
        let head = rest.get(..open)?;
        if !head.iter().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'[' | b']' | b'(' | b' ' | b'_')
        }) {
            return None;
        }
        let start = self.at + open + 1;
        let scan = Scan { at: start, ..*self };
        let end = scan.until(|byte| {
            !(byte.is_ascii_hexdigit()
                || matches!(byte, b',' | b' ' | b'x' | b'\n' | b'\t' | b'\r'))
        });
        let list = self.text.get(start..end)?;
        let numbers = list.split(',').filter(|item| {
            let item = item.trim();
            let digits = item.strip_prefix("0x").unwrap_or(item);
            matches!(digits.len(), 1..=3) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        (numbers.count() >= 10).then(|| {
            let trimmed = list.trim_end();
            start..start + trimmed.len()
        })
    }
}
