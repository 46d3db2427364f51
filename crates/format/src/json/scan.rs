//! One pass over a JSON value: validity, spans, and what is odd about it.
//!
//! Strict where the grammar is (numbers, literals, escapes, control characters), tolerant where
//! files are really damaged: bytes inside strings need not be UTF-8, surrogates need not pair.
//! There is no recursion; nesting is bounded by [`Limits::max_depth`](crate::Limits).

use super::marks::{Marks, Special};
use super::tape::{Kind, Node, Oddities, Tape};
use super::text;
use crate::slice::Part;

/// Why a value could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The bytes end inside the value.
    End,
    /// A byte that the grammar does not allow there.
    Syntax,
    /// A raw control character inside a string.
    ControlCharacter,
    /// Nested deeper than the limit.
    TooDeep,
}

/// A failed scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Offset of the byte that could not be accepted.
    pub at: usize,
    /// Why.
    pub cause: Cause,
}

const NONE: u32 = u32::MAX;
/// From this many keys on, repeated keys are looked for by sorting when the object closes.
const MANY_KEYS: u32 = 64;

/// Scans the value that starts at `start` (white space allowed before it) into `tape`; gives the
/// offset behind it. Offsets on the tape are relative to `bytes`.
pub fn scan(bytes: &[u8], start: usize, max_depth: u32, tape: &mut Tape) -> Result<usize, Fault> {
    tape.nodes.clear();
    tape.key_masks.clear();
    tape.oddities = Oddities::default();
    Scanner { bytes, at: start, tape, open: NONE, max_depth }.run()
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    tape: &'a mut Tape,
    /// The innermost open container.
    open: u32,
    max_depth: u32,
}

impl Scanner<'_> {
    fn run(mut self) -> Result<usize, Fault> {
        loop {
            if self.value()? {
                // A non-empty container was opened; its first value comes next.
                continue;
            }
            loop {
                if self.open == NONE {
                    return Ok(self.at);
                }
                let in_object = self.open_kind() == Kind::Object;
                match (self.significant()?, in_object) {
                    (b',', true) => {
                        self.at += 1;
                        self.key()?;
                        break;
                    }
                    (b',', false) => {
                        self.at += 1;
                        break;
                    }
                    (b'}', true) | (b']', false) => self.close(),
                    _ => return Err(self.fault(Cause::Syntax)),
                }
            }
        }
    }

    /// Reads one value; true when it opened a container that has content.
    fn value(&mut self) -> Result<bool, Fault> {
        match self.significant()? {
            b'"' => {
                self.string(false)?;
                Ok(false)
            }
            b'{' => {
                self.open(Kind::Object)?;
                self.tape.key_masks.push(0);
                if self.significant()? == b'}' {
                    self.close();
                    return Ok(false);
                }
                self.key()?;
                Ok(true)
            }
            b'[' => {
                self.open(Kind::Array)?;
                self.tape.key_masks.push(0);
                if self.significant()? == b']' {
                    self.close();
                    return Ok(false);
                }
                Ok(true)
            }
            b't' => self.literal(b"true", Kind::True),
            b'f' => self.literal(b"false", Kind::False),
            b'n' => self.literal(b"null", Kind::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(self.fault(Cause::Syntax)),
        }
    }

    fn open(&mut self, kind: Kind) -> Result<(), Fault> {
        if self.tape.key_masks.len() >= self.max_depth as usize {
            return Err(self.fault(Cause::TooDeep));
        }
        let index = self.tape.nodes.len() as u32;
        let (start, next) = (self.at as u32, self.open);
        self.tape.nodes.push(Node { start, end: 0, next, kind, escaped: false });
        self.open = index;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) {
        self.at += 1;
        self.tape.key_masks.pop();
        let index = self.open;
        let behind = self.tape.nodes.len() as u32;
        let end = self.at as u32;
        let mut many_keys = false;
        if let Some(node) = self.tape.nodes.get_mut(index as usize) {
            self.open = node.next;
            // While open, `end` counts the keys.
            many_keys = node.kind == Kind::Object && node.end >= MANY_KEYS;
            node.next = behind;
            node.end = end;
        }
        if many_keys && self.tape.oddities.duplicate_key.is_none() {
            self.tape.oddities.duplicate_key = self.repeated_key_of(index, behind);
        }
    }

    fn open_kind(&self) -> Kind {
        self.tape.nodes.get(self.open as usize).map_or(Kind::Null, |node| node.kind)
    }

    fn key(&mut self) -> Result<(), Fault> {
        if self.significant()? != b'"' {
            return Err(self.fault(Cause::Syntax));
        }
        let index = self.tape.nodes.len() as u32;
        self.string(true)?;
        self.note_repeated_key(index);
        if self.significant()? != b':' {
            return Err(self.fault(Cause::Syntax));
        }
        self.at += 1;
        Ok(())
    }

    /// Looks whether the key at `index` already stands in the open object. A small mask says
    /// "certainly new" in most cases, so that ordinary objects cost one comparison a key.
    fn note_repeated_key(&mut self, index: u32) {
        if self.tape.oddities.duplicate_key.is_some() {
            return;
        }
        let (Some(key), Some(object)) = (
            self.tape.nodes.get(index as usize).copied(),
            self.tape.nodes.get_mut(self.open as usize),
        ) else {
            return;
        };
        object.end += 1;
        if object.end >= MANY_KEYS {
            return;
        }
        let raw = self.bytes.part(key.start as usize + 1..key.end as usize - 1);
        let (first, last) = (raw.first().copied().unwrap_or(0), raw.last().copied().unwrap_or(0));
        let middle = raw.get(raw.len() / 2).copied().unwrap_or(0);
        let bit = 1u128
            << ((u32::from(first) * 31
                + u32::from(last) * 7
                + u32::from(middle) * 13
                + raw.len() as u32)
                % 127);
        let escape_bit = 1u128 << 127;
        let Some(mask) = self.tape.key_masks.last_mut() else { return };
        let suspicious = *mask & bit != 0 || key.escaped || *mask & escape_bit != 0;
        *mask |= if key.escaped { bit | escape_bit } else { bit };
        if !suspicious {
            return;
        }
        let wanted = text::decode(raw);
        let mut at = self.open + 1;
        while at < index {
            let Some(node) = self.tape.nodes.get(at as usize) else { return };
            if self.tape.key_equals(self.bytes, node, wanted.as_bytes()) {
                self.tape.oddities.duplicate_key = Some(key.start);
                return;
            }
            let Some(value) = self.tape.nodes.get(at as usize + 1) else { return };
            at = value.next;
        }
    }

    /// For objects with many keys: sort, then compare neighbours.
    fn repeated_key_of(&self, object: u32, behind: u32) -> Option<u32> {
        let mut keys = Vec::new();
        let mut at = object + 1;
        while at < behind {
            let node = self.tape.nodes.get(at as usize)?;
            let raw = self.bytes.get(node.start as usize + 1..node.end as usize - 1)?;
            keys.push((text::decode(raw), node.start));
            at = self.tape.nodes.get(at as usize + 1)?.next;
        }
        keys.sort_unstable();
        keys.windows(2).find_map(|pair| match pair {
            [(first, _), (second, start)] if first == second => Some(*start),
            _ => None,
        })
    }

    fn string(&mut self, is_key: bool) -> Result<(), Fault> {
        let start = self.at;
        let mut escaped = false;
        let mut marks = Marks::<Special>::new(self.bytes, start + 1);
        loop {
            let Some(at) = marks.peek() else {
                self.at = self.bytes.len();
                return Err(self.fault(Cause::End));
            };
            self.at = at;
            match self.bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                    marks.pass_to(self.at);
                }
                _ => return Err(self.fault(Cause::ControlCharacter)),
            }
        }
        self.at += 1;
        let next = if is_key { 0 } else { self.tape.nodes.len() as u32 + 1 };
        let (start, end) = (start as u32, self.at as u32);
        self.tape.nodes.push(Node { start, end, next, kind: Kind::String, escaped });
        Ok(())
    }

    #[inline(always)]
    fn escape(&mut self) -> Result<(), Fault> {
        match self.bytes.get(self.at + 1) {
            Some(b'n' | b'"' | b'\\' | b't' | b'/' | b'r' | b'b' | b'f') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => self.unicode_escape(),
            None => Err(self.fault(Cause::End)),
            Some(_) => Err(self.fault(Cause::Syntax)),
        }
    }

    fn unicode_escape(&mut self) -> Result<(), Fault> {
        let unit = self.hex(self.at + 2)?;
        let start = self.at;
        self.at += 6;
        if !(0xD800..0xE000).contains(&unit) {
            return Ok(());
        }
        let follows = self.bytes.get(self.at..self.at + 2) == Some(b"\\u");
        if unit < 0xDC00 && follows && (0xDC00..0xE000).contains(&self.hex(self.at + 2)?) {
            self.at += 6;
        } else if self.tape.oddities.lone_surrogate.is_none() {
            self.tape.oddities.lone_surrogate = Some(start as u32);
        }
        Ok(())
    }

    fn hex(&self, at: usize) -> Result<u32, Fault> {
        let mut value = 0;
        for index in at..at + 4 {
            let Some(byte) = self.bytes.get(index) else {
                return Err(Fault { at: self.bytes.len(), cause: Cause::End });
            };
            let Some(digit) = char::from(*byte).to_digit(16) else {
                return Err(Fault { at: index, cause: Cause::Syntax });
            };
            value = value * 16 + digit;
        }
        Ok(value)
    }

    fn literal(&mut self, word: &[u8], kind: Kind) -> Result<bool, Fault> {
        for (index, byte) in word.iter().enumerate() {
            match self.bytes.get(self.at + index) {
                Some(found) if found == byte => {}
                None => return Err(Fault { at: self.bytes.len(), cause: Cause::End }),
                Some(_) => return Err(self.fault(Cause::Syntax)),
            }
        }
        self.scalar(self.at + word.len(), kind);
        Ok(false)
    }

    fn number(&mut self) -> Result<bool, Fault> {
        let mut end = self.at + usize::from(self.bytes.get(self.at) == Some(&b'-'));
        let mut whole = true;
        match self.bytes.get(end) {
            Some(b'0') => end += 1,
            Some(b'1'..=b'9') => end = self.digits(end),
            other => return Err(self.incomplete_number(end, other.is_none())),
        }
        if self.bytes.get(end) == Some(&b'.') {
            whole = false;
            let fraction = end + 1;
            end = self.digits(fraction);
            if end == fraction {
                return Err(self.incomplete_number(end, self.bytes.get(end).is_none()));
            }
        }
        if matches!(self.bytes.get(end), Some(b'e' | b'E')) {
            whole = false;
            let sign = usize::from(matches!(self.bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = end + 1 + sign;
            end = self.digits(exponent);
            if end == exponent {
                return Err(self.incomplete_number(end, self.bytes.get(end).is_none()));
            }
        }
        if (end - self.at > 18 || !whole) && self.tape.oddities.huge_number.is_none() {
            let written = self.bytes.part(self.at..end);
            if !fits_machine(written, whole) {
                self.tape.oddities.huge_number = Some(self.at as u32);
            }
        }
        self.scalar(end, Kind::Number);
        Ok(false)
    }

    fn digits(&self, mut at: usize) -> usize {
        while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    }

    fn incomplete_number(&self, at: usize, ended: bool) -> Fault {
        Fault { at, cause: if ended { Cause::End } else { Cause::Syntax } }
    }

    fn scalar(&mut self, end: usize, kind: Kind) {
        let next = self.tape.nodes.len() as u32 + 1;
        let (start, end) = (self.at as u32, end as u32);
        self.tape.nodes.push(Node { start, end, next, kind, escaped: false });
        self.at = end as usize;
    }

    /// Passes white space; gives the byte behind it.
    #[inline]
    fn significant(&mut self) -> Result<u8, Fault> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(byte) => return Ok(*byte),
                None => return Err(self.fault(Cause::End)),
            }
        }
    }

    fn fault(&self, cause: Cause) -> Fault {
        Fault { at: self.at, cause }
    }
}

fn fits_machine(written: &[u8], whole: bool) -> bool {
    let Ok(written) = std::str::from_utf8(written) else { return false };
    if whole {
        written.parse::<i64>().is_ok() || written.parse::<u64>().is_ok()
    } else {
        written.parse::<f64>().is_ok_and(f64::is_finite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<usize, Fault> {
        scan(text, 0, 64, &mut Tape::new())
    }

    fn cause(text: &[u8]) -> Cause {
        read(text).unwrap_err().cause
    }

    #[test]
    fn spans_and_lookup() {
        let text = br#" {"a":[1,{"b":"x\ny"}],"\u0063":null,"d":{}} tail"#;
        let mut tape = Tape::new();
        assert_eq!(scan(text, 0, 64, &mut tape).unwrap(), text.len() - 5);
        let root = tape.root(text).unwrap();
        let list: Vec<_> = root.get("a").unwrap().items().map(|item| item.raw()).collect();
        assert_eq!(list, [&b"1"[..], br#"{"b":"x\ny"}"#]);
        let inner = root.get("a").unwrap().items().nth(1).unwrap();
        assert_eq!(inner.get_text("b").unwrap(), "x\ny");
        assert!(root.get("c").unwrap().is_null(), "escaped keys are decoded");
        assert_eq!(root.fields().count(), 3);
        assert_eq!(root.get("d").unwrap().fields().count(), 0);
        assert_eq!(root.get("d").unwrap().items().count(), 0);
    }

    #[test]
    fn scan_separates_faults() {
        for torn in
            [&b"{"[..], b"{\"a", b"{\"a\":", b"{\"a\":tru", b"{\"a\":1,", b"\"\\u12", b"[-", b"[1."]
        {
            assert_eq!(cause(torn), Cause::End, "{:?}", bstr::BStr::new(torn));
        }
        for wrong in [
            &b"{1}"[..],
            b"[1 2]",
            b"[01]",
            b"[1.e1]",
            b"{\"a\" 1}",
            b"[\"\\x\"]",
            b"nulL",
            b"]",
            b"[1}",
        ] {
            assert_eq!(cause(wrong), Cause::Syntax, "{:?}", bstr::BStr::new(wrong));
        }
        assert_eq!(cause(b"[\"a\x01\"]"), Cause::ControlCharacter);
        assert_eq!(cause(&[&b"[\""[..], &[b'a'; 50], b"\n\"]"].concat()), Cause::ControlCharacter);
        assert_eq!(cause(&b"[".repeat(65)), Cause::TooDeep);
    }

    #[test]
    fn oddities_are_noted() {
        let odd = |text: &[u8]| {
            let mut tape = Tape::new();
            scan(text, 0, 64, &mut tape).unwrap();
            tape.oddities()
        };
        assert_eq!(odd(br#"{"a":1,"b":{"a":2}}"#), Oddities::default());
        assert_eq!(odd(br#"{"a":1,"\u0061":2}"#).duplicate_key, Some(7));
        assert_eq!(odd(br#"["\ud83d\ude00","\ud83d"]"#).lone_surrogate, Some(17));
        assert_eq!(odd(b"[123456789012345678901234567890]").huge_number, Some(1));
        assert_eq!(odd(b"[1e400]").huge_number, Some(1));
        assert_eq!(odd(b"[18446744073709551615,-0,1.5]").huge_number, None);
        let many: Vec<_> = (0..200).map(|n| format!("\"k{}\":0", n % 199)).collect();
        assert!(odd(format!("{{{}}}", many.join(",")).as_bytes()).duplicate_key.is_some());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(proptest::sample::select(
            b"{}[]\",:\\u0d8aetrufnl-+.e1 \x00\xff".to_vec()), 0..60)) {
            let _ = read(&bytes);
        }
    }
}
