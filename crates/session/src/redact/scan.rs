//! Reading on from a name: the sign that assigns to it, and the value behind that.
//!
//! Every step is bounded, so that a text of nothing but names and quotes costs no more than its
//! length. Not here: which values are secrets.

use super::language;
use super::lookup::is_lookup;
use std::ops::Range;

const LONGEST_VALUE: usize = 4 << 10;
const LONGEST_GAP: usize = 48;
const LONGEST_COLOUR: usize = 16;
const ESCAPE: u8 = 0x1b;
/// How far behind an option's name its default may stand.
const FARTHEST_DEFAULT: usize = 120;
/// A shorter value ends at a sign that also stands between statements.
const LONG_BEFORE_SIGN: usize = 4;
/// How many such signs are in a value at most.
const MOST_SIGNS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
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
pub(super) struct Scan<'a> {
    text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

/// Methods that compare or type in, as languages and test suites name them.
pub(super) fn is_comparison(method: &[u8]) -> bool {
    const METHODS: [&str; 21] = [
        "equals",
        "equalsignorecase",
        "eq",
        "is_eq",
        "tobe",
        "toequal",
        "tostrictequal",
        "to.equal",
        "to.eql",
        "to.eq",
        "isequalto",
        "compareto",
        "isequal",
        "isequaltostring",
        "send_keys",
        "sendkeys",
        "type",
        "fill",
        "setvalue",
        "typetext",
        "entertext",
    ];
    METHODS.iter().any(|one| method.eq_ignore_ascii_case(one.as_bytes()))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Scan<'a> {
        Scan { text, bytes: text.as_bytes(), at }
    }

    pub(super) fn peek(&self) -> Option<u8> {
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
    pub(super) fn gap(&mut self, lines: bool) -> usize {
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
                Some(b'\\') => {
                    // Each text inside another one doubles them.
                    let run = self.rest().iter().take_while(|byte| **byte == b'\\').count();
                    if !matches!(self.bytes.get(self.at + run), Some(b'"' | b'\'')) {
                        break;
                    }
                    self.at += run;
                    continue;
                }
                Some(b']' | b')') if quoted => {}
                Some(b']') if self.is_assigned_behind() => {}
                // Bold in Markdown: `**Password**:`.
                Some(b'*') if matches!(self.bytes.get(self.at + 1), Some(b'*' | b':')) => {}
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

    /// Passes over the sequence that colours what follows in a terminal.
    pub(super) fn colour(&mut self) {
        if let Some(rest) = self.rest().strip_prefix(b"\x1b[") {
            let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b';';
            let length = rest.iter().take(LONGEST_COLOUR).take_while(is_part).count();
            if rest.get(length) == Some(&b'm') {
                self.at += b"\x1b[".len() + length + 1;
            }
        }
    }

    pub(super) fn operator(&mut self, flag: bool, tag: bool) -> Option<Operator> {
        self.colour();
        if tag && self.peek() == Some(b'>') {
            self.at += 1;
            return Some(Operator::Tag);
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            return Some(Operator::Call);
        }
        self.leaders();
        if self.compared_call() {
            return Some(Operator::Call);
        }
        self.dimension();
        let quoted = self.closers();
        let spaces = self.gap(false);
        let kind = if spaces > 0 { Operator::Loose } else { Operator::Tight };
        match self.peek()? {
            b'>' if quoted => {
                self.at += 1;
                Some(Operator::Tag)
            }
            b'<' if self.next_element() => Some(Operator::Tag),
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
            b'?' | b'|' | b'+' | b'!' if self.equals_follows() || self.default_follows() => {
                Some(kind)
            }
            b'?' | b'-' | b'<' if self.arrow_follows() => Some(Operator::Loose),
            b',' if quoted || spaces == 0 => {
                self.at += 1;
                self.gap(true);
                self.value_field();
                Some(Operator::Comma)
            }
            b'v' | b'c' | b'"' | b'\n' | b'\\' | b'\'' | b'\r' if self.value_field() => {
                Some(Operator::Tight)
            }
            b'a' | b'A' | b's' | b'S' if spaces > 0 && self.typed() => Some(Operator::Loose),
            b'i' if spaces > 0 && (self.take(b"is: ") || self.take(b"is ")) => Some(Operator::Is),
            _ if spaces > 0 && (flag || !quoted) => Some(Operator::Space),
            _ => None,
        }
    }

    fn equals_follows(&mut self) -> bool {
        for operator in [&b"??="[..], b"?=", b"||=", b"+=", b"!==", b"!="] {
            if self.take(operator) {
                return true;
            }
        }
        false
    }

    /// Passes over `->`, `<-`, and the `?:` of a field that may be missing.
    fn arrow_follows(&mut self) -> bool {
        [&b"->"[..], b"<-", b"?:"].iter().any(|operator| self.take(operator))
    }

    /// Passes over the sign of a borrowed type: `: &str = "…"`.
    pub(super) fn borrowed(&mut self) {
        for sign in [&b"&'static str"[..], b"&str"] {
            if self.rest().starts_with(sign) {
                self.at += sign.len() - b"str".len();
            }
        }
    }

    /// Passes over the dots that lead from a name to its value: `password.....: `.
    fn leaders(&mut self) {
        let dots = self.rest().iter().take(LONGEST_GAP).take_while(|byte| **byte == b'.').count();
        if dots >= 3 {
            self.at += dots;
        }
    }

    /// Whether the bracket here is that of a key which is assigned to: `[name] = `.
    fn is_assigned_behind(&self) -> bool {
        let mut behind = Scan { at: self.at + 1, ..*self };
        behind.gap(false);
        behind.peek() == Some(b'=') && behind.bytes.get(behind.at + 1) != Some(&b'=')
    }

    /// Passes from a name that is the text of an element to the text of the next one:
    /// `</param-name><param-value>`, `</key><string>`.
    fn next_element(&mut self) -> bool {
        let before = self.at;
        for opening in [&b"</"[..], b"<"] {
            self.gap(true);
            let tag = Scan { at: self.at + opening.len(), ..*self };
            let end = tag.until(|byte| !is_of_name(byte));
            let is_tag = self.rest().starts_with(opening) && end > tag.at && end - tag.at < 40;
            if !is_tag || self.bytes.get(end) != Some(&b'>') {
                self.at = before;
                return false;
            }
            self.at = end + 1;
        }
        true
    }

    /// Passes over what YAML and Markdown put before a value: a type, the sign of a block, stars.
    pub(super) fn ornament(&mut self) {
        if self.take(b"!!str ") || self.take(b"**") {
            self.gap(false);
            return;
        }
        let before = self.at;
        if matches!(self.peek(), Some(b'|' | b'>')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'-' | b'+')));
            if matches!(self.peek(), Some(b'\n' | b'\r')) && self.gap(true) > 1 {
                return;
            }
        }
        self.at = before;
    }

    /// Passes over the size of an array behind its name: `[]`, `[64]`.
    fn dimension(&mut self) {
        let Some(rest) = self.rest().strip_prefix(b"[") else { return };
        let digits = rest.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
        if rest.get(digits) == Some(&b']') {
            self.at += digits + 2;
        }
    }

    /// Passes over what compares the name before it with a literal: `).toBe(`.
    fn compared_call(&mut self) -> bool {
        let is_closer = |byte: &&u8| matches!(byte, b')' | b']' | b'\'' | b'"');
        let closers = self.rest().iter().take(4).take_while(is_closer).count();
        let rest = self.rest().get(closers..).unwrap_or_default();
        let Some(rest) = rest.strip_prefix(b".") else { return false };
        let rest = rest.get(..LONGEST_GAP).unwrap_or(rest);
        let Some(open) = rest.iter().position(|byte| *byte == b'(') else { return false };
        let Some(method) = rest.get(..open) else { return false };
        if !is_comparison(method) {
            return false;
        }
        self.at += closers + 1 + open + 1;
        true
    }

    /// Passes over what stands between a name and the literal that is taken if it has no value:
    /// `process.env.PASSWORD || "…"`.
    fn default_follows(&mut self) -> bool {
        let before = self.at;
        if [&b"||"[..], b"??", b"?:"].iter().any(|operator| self.take(operator)) {
            self.gap(false);
            if matches!(self.peek(), Some(b'"' | b'\'' | b'`')) {
                return true;
            }
        }
        self.at = before;
        false
    }

    /// Passes over `As String =`, `string =`.
    fn typed(&mut self) -> bool {
        let before = self.at;
        if self.take(b"As ") || self.take(b"as ") {
            self.gap(false);
        }
        if self.take(b"String") || self.take(b"string") {
            self.gap(false);
            if self.take(b"=") {
                return true;
            }
        }
        self.at = before;
        false
    }

    /// Passes over what stands between the name of an option and its default, in the same line.
    pub(super) fn option_default(&mut self) -> bool {
        let rest = self.rest();
        let line = rest.get(..FARTHEST_DEFAULT).unwrap_or(rest);
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or(line);
        let Some(at) = memchr::memmem::find(line, b"default") else { return false };
        self.at += at + b"default".len();
        self.gap(false);
        let assigned = matches!(self.peek(), Some(b'=' | b':'));
        self.at += usize::from(assigned);
        self.gap(false);
        assigned
    }

    /// Passes over `value:` or `value=` of a name-value pair, `content=` of a `<meta>`.
    fn value_field(&mut self) -> bool {
        let before = self.at;
        self.gap(true);
        while matches!(self.peek(), Some(b'\\' | b'"' | b'\'')) {
            self.at += 1;
        }
        if self.take(b"value") || self.take(b"content") || self.take(b"with") {
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
    pub(super) fn is_prose(&self) -> bool {
        let rest = self.rest();
        let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = rest.get(space..).unwrap_or_default();
        let word = rest.iter().take(24).take_while(|byte| byte.is_ascii_lowercase()).count();
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        // A sign between letters: `m@ple`.
        let signed = rest.get(word).is_some_and(|byte| b"@#$%&!^*+".contains(byte))
            && rest.get(word + 1).is_some_and(is_inner);
        let ends = !rest.get(word).is_some_and(is_inner) && !signed;
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

    pub(super) fn until(&self, is_end: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest();
        let rest = rest.get(..LONGEST_VALUE).unwrap_or(rest);
        self.at + rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len())
    }

    /// A quoted value, perhaps behind a prefix or inside a call.
    pub(super) fn literal(&mut self) -> Option<Range<usize>> {
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
    pub(super) fn quoted(&mut self) -> Option<Range<usize>> {
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
    pub(super) fn open_quoted(&self) -> Option<Range<usize>> {
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
    pub(super) fn bare_end(&self) -> usize {
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
            if !sign || end < self.at + LONG_BEFORE_SIGN || !behind.goes_on(next) {
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
    fn goes_on(&self, end: usize) -> bool {
        let part = self.bytes.get(self.at..end).unwrap_or_default();
        let is_plain = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'-');
        !part.iter().all(is_plain)
            && !part.iter().any(|byte| matches!(byte, b'=' | b'(' | b'[' | b'{' | b'\\' | b'$'))
            && !part.starts_with(b"#")
    }

    /// The rest of the line from here, if it is one word behind which nothing or a comment stands.
    pub(super) fn rest_of_line(&self) -> Option<Range<usize>> {
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
    pub(super) fn number_list(&self) -> Option<Range<usize>> {
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
