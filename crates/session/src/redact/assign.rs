//! From a telling word to the value that is assigned to it, in whatever syntax.
//!
//! Settings, JSON, YAML, shells, headers, command lines, XML, code and prose all write "this name
//! has that value", and a transcript quotes them inside each other. One scanner by hand reads them
//! all, because it must be linear and because a set of expressions for every nesting of quotes
//! would be unreadable.

use super::language;
use super::name::{Names, Strength};
use super::value::{Form, is_secret};
use std::ops::Range;

/// A value with the strength of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assigned {
    pub(super) range: Range<usize>,
    pub(super) strength: Strength,
}

const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 4 << 10;
const LONGEST_GAP: usize = 48;
const MOST_ITEMS: usize = 32;

/// Where the name around the word at `word` begins and ends.
pub(super) fn name_around(text: &str, word: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let mut start = word.start;
    while start > 0
        && word.start - start < LONGEST_NAME
        && bytes.get(start - 1).is_some_and(is_part)
    {
        start -= 1;
    }
    let mut end = word.end;
    while end - word.end < LONGEST_NAME && bytes.get(end).is_some_and(is_part) {
        end += 1;
    }
    // A full stop or dash at the end belongs to the sentence.
    while end > word.end && matches!(bytes.get(end - 1), Some(b'.' | b'-')) {
        end -= 1;
    }
    start..end
}

/// Whether the value of a field with such a name is a secret.
pub(super) fn is_field(strength: Strength, value: &str) -> bool {
    is_secret(value, strength, Form::Quoted)
}

/// The values assigned to the name at `name`, if they are secrets.
pub(super) fn values(text: &str, name: Range<usize>, names: &Names, found: &mut Vec<Assigned>) {
    if let Some(joined) = joined(text, name.clone(), names) {
        return found.push(joined);
    }
    let mut scan = Scan { text, bytes: text.as_bytes(), at: name.end };
    let flag = text.get(..name.start).is_some_and(|before| before.ends_with('-'))
        || text.get(name.clone()).is_some_and(|name| name.starts_with('-'));
    let tag = name.start > 0 && scan.bytes.get(name.start - 1) == Some(&b'<');
    // Most names are only mentioned. To see that is cheaper than to judge them.
    let Some(operator) = scan.operator(flag, tag) else { return };
    if operator == Operator::Space && !flag && scan.is_prose() {
        return;
    }
    let strength = text.get(name).and_then(|name| names.judge(name));
    let Some(strength) = strength else { return };
    let mut keep = |range: Range<usize>, form: Form, strength: Strength| {
        if let Some(value) = text.get(range.clone())
            && is_secret(value, strength, form)
        {
            found.push(Assigned { range, strength });
        }
    };
    if operator == Operator::Tag {
        let end = scan.until(|byte| byte == b'<' || byte == b'\n');
        return keep(scan.at..end, Form::Quoted, strength);
    }
    scan.gap(operator != Operator::Space);
    if let Some(numbers) = scan.number_list() {
        if strength != Strength::Meta {
            found.push(Assigned { range: numbers, strength });
        }
        return;
    }
    if scan.peek() == Some(b'[') || scan.peek() == Some(b'{') {
        scan.at += 1;
        for _ in 0..MOST_ITEMS {
            scan.gap(true);
            let Some(item) = scan.quoted() else { break };
            keep(item, Form::Quoted, strength);
            scan.gap(true);
            if scan.peek() != Some(b',') {
                break;
            }
            scan.at += 1;
        }
        return;
    }
    let literal = scan.literal();
    if let Some(value) = literal {
        return keep(value, Form::Quoted, strength);
    }
    if matches!(operator, Operator::Comma | Operator::Call) {
        return;
    }
    let start = scan.at;
    let end = scan.bare_end();
    let form = match operator {
        Operator::Space if flag => Form::Bare,
        Operator::Space | Operator::Is => Form::Prose,
        _ => match scan.bytes.get(end) {
            Some(b',' | b')' | b';' | b'(' | b'[' | b'}') => Form::Code,
            // More words follow: a sentence.
            Some(b' ') if scan.bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic) => {
                Form::Prose
            }
            _ if operator == Operator::Loose => Form::Code,
            _ => Form::Bare,
        },
    };
    // `password: str = "…"`
    if form != Form::Prose {
        let mut behind = Scan { at: end, ..scan };
        behind.gap(false);
        if behind.peek() == Some(b'=') && behind.bytes.get(behind.at + 1) != Some(&b'=') {
            behind.at += 1;
            behind.gap(true);
            if let Some(value) = behind.literal() {
                return keep(value, Form::Quoted, strength);
            }
        }
    }
    if scan.bytes.get(end) == Some(&b'(') {
        return;
    }
    keep(start..end, form, strength);
}

/// A value that hangs on its name: `service-token-0024a29224affe29d173c0bf99e5a89d`.
fn joined(text: &str, name: Range<usize>, names: &Names) -> Option<Assigned> {
    let whole = text.get(name.clone())?;
    if whole.len() < 24 {
        return None;
    }
    let first = whole.find(['-', '.', '_'])?;
    let cuts = whole.match_indices(['-', '.', '_']).map(|(at, _)| at).filter(|at| *at >= first);
    for cut in cuts.take(6) {
        let (head, tail) = whole.split_at_checked(cut)?;
        let tail = tail.get(1..)?;
        let digits = tail.bytes().filter(u8::is_ascii_digit).count();
        if tail.len() < 20 || digits < 4 {
            continue;
        }
        if names.judge(head).is_some() && is_secret(tail, Strength::Weak, Form::Quoted) {
            let range = name.start + cut + 1..name.end;
            return Some(Assigned { range, strength: Strength::Weak });
        }
    }
    None
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `=` or `:` without a space before it.
    Tight,
    /// The same with a space before it.
    Loose,
    Comma,
    Call,
    /// `<name>`
    Tag,
    /// Nothing but a space.
    Space,
    /// The word `is`.
    Is,
}

#[derive(Clone, Copy)]
struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, word: &[u8]) -> bool {
        let there = self.rest().starts_with(word);
        if there {
            self.at += word.len();
        }
        there
    }

    /// Passes over spaces, and over one line end if `lines`; also over `\n` and `\t` as written
    /// inside other quotes.
    fn gap(&mut self, lines: bool) -> usize {
        let start = self.at;
        let mut ended = !lines;
        while self.at - start < LONGEST_GAP {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\n' | b'\r') if !ended => {
                    ended = self.peek() == Some(b'\n');
                    self.at += 1;
                }
                _ => break,
            }
        }
        self.at - start
    }

    /// Passes over what closes a name: quotes, escaped or not, and brackets.
    fn closers(&mut self) -> bool {
        let mut quoted = false;
        for _ in 0..6 {
            match self.peek() {
                Some(b'"' | b'\'' | b'`') => quoted = true,
                Some(b'\\')
                    if matches!(self.bytes.get(self.at + 1), Some(b'"' | b'\'' | b'\\')) => {}
                Some(b']' | b')') if quoted => {}
                Some(b'&') => {
                    let entity = [&b"&quot;"[..], b"&#34;", b"&#39;", b"&apos;"];
                    let Some(entity) = entity.iter().find(|one| self.rest().starts_with(one))
                    else {
                        break;
                    };
                    self.at += entity.len();
                    quoted = true;
                    continue;
                }
                _ => break,
            }
            self.at += 1;
        }
        quoted
    }

    fn operator(&mut self, flag: bool, tag: bool) -> Option<Operator> {
        if tag && self.peek() == Some(b'>') {
            self.at += 1;
            return Some(Operator::Tag);
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            return Some(Operator::Call);
        }
        let quoted = self.closers();
        let spaces = self.gap(false);
        let kind = if spaces > 0 { Operator::Loose } else { Operator::Tight };
        match self.peek()? {
            b'=' => {
                self.at += 1;
                while matches!(self.peek(), Some(b'=' | b'>' | b'~')) {
                    self.at += 1;
                }
                // `foo=3D` is how mail writes `foo=`.
                Some(kind)
            }
            b':' => {
                self.at += 1;
                while matches!(self.peek(), Some(b'=' | b':')) {
                    self.at += 1;
                }
                Some(kind)
            }
            b'?' | b'|' | b'+' | b'!' if self.equals_follows() => Some(kind),
            b',' if quoted || spaces == 0 => {
                self.at += 1;
                self.gap(true);
                self.value_field();
                Some(Operator::Comma)
            }
            b'v' | b'"' | b'\n' | b'\\' | b'\'' | b'\r' if self.value_field() => {
                Some(Operator::Tight)
            }
            b'i' if spaces > 0 && self.take(b"is ") => Some(Operator::Is),
            _ if spaces > 0 && (flag || !quoted) => Some(Operator::Space),
            _ => None,
        }
    }

    fn equals_follows(&mut self) -> bool {
        for operator in [&b"?="[..], b"||=", b"+=", b"!=", b"!=="] {
            if self.take(operator) {
                return true;
            }
        }
        false
    }

    /// Passes over `value:` or `value=` of a name-value pair.
    fn value_field(&mut self) -> bool {
        let before = self.at;
        self.gap(true);
        while matches!(self.peek(), Some(b'\\' | b'"' | b'\'')) {
            self.at += 1;
        }
        if self.take(b"value") {
            self.closers();
            self.gap(false);
            if matches!(self.peek(), Some(b'=' | b':')) {
                self.at += 1;
                return true;
            }
        }
        self.at = before;
        false
    }

    /// Whether a short word or one of a language follows.
    fn is_prose(&self) -> bool {
        let rest = self.rest();
        let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = rest.get(space..).unwrap_or_default();
        let word = rest.iter().take(24).take_while(|byte| byte.is_ascii_lowercase()).count();
        let ends =
            !rest.get(word).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        // A long word with digits in it is none, whatever it begins with.
        let whole = rest.iter().take(40).take_while(|byte| !byte.is_ascii_whitespace());
        let (length, digits) = whole.fold((0, 0), |(length, digits), byte| {
            (length + 1, digits + usize::from(byte.is_ascii_digit()))
        });
        if length >= 20 && digits >= 5 {
            return false;
        }
        let start = self.at + space;
        let reads = |word: &str| word.len() < 5 || language::strangeness(word) < 4.4;
        word > 0 && ends && self.text.get(start..start + word).is_some_and(reads)
    }

    fn until(&self, is_end: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest();
        let rest = rest.get(..LONGEST_VALUE).unwrap_or(rest);
        self.at + rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len())
    }

    /// A quoted value, perhaps behind a prefix or inside a call.
    fn literal(&mut self) -> Option<Range<usize>> {
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
    fn quoted(&mut self) -> Option<Range<usize>> {
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

    /// Where a bare value ends.
    fn bare_end(&self) -> usize {
        let stop = |byte: u8| {
            byte.is_ascii_whitespace()
                || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b',' | b';' | b'&' | b'|')
        };
        let mut end = self.until(stop);
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

    /// A list of at least ten small numbers: bytes written out.
    fn number_list(&self) -> Option<Range<usize>> {
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

/// Calls that are given a name and not a value.
fn is_lookup(call: &str) -> bool {
    let last = call.rsplit(['.', ':']).next().unwrap_or(call).to_ascii_lowercase();
    matches!(
        last.as_str(),
        "get"
            | "getenv"
            | "env"
            | "environ"
            | "lookup"
            | "fetch"
            | "var"
            | "require"
            | "import"
            | "getproperty"
            | "getstring"
            | "find"
            | "read"
            | "load"
            | "config"
            | "param"
            | "getparameter"
            | "t"
            | "gettext"
            | "_"
            | "print"
            | "println"
            | "printf"
            | "sprintf"
            | "format"
            | "log"
            | "error"
            | "field"
            | "charfield"
            | "label"
            | "describe"
            | "it"
            | "open"
            | "value_of"
            | "prompt"
            | "getpass"
            | "input"
            | "flag"
            | "option"
            | "addflag"
            | "header"
            | "split"
            | "replace"
            | "parse"
            | "property"
    ) || last.starts_with("get")
        || last.ends_with("error")
        || last.ends_with("exception")
        || last.ends_with("env")
        || last.ends_with("field")
        || last.ends_with("flag")
        || last.ends_with("key")
}
