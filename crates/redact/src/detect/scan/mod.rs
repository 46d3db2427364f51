//! Reading on from a name: the sign that assigns to it, and the value behind that.
//!
//! Every step is bounded, so that a text of nothing but names and quotes costs no more than its
//! length. Values are in `value`. Not here: which values are secrets.

mod value;

use crate::judge::wordlike;

const LONGEST_VALUE: usize = 4 << 10;
const LONGEST_GAP: usize = 48;
const LONGEST_COLOUR: usize = 16;
const ESCAPE: u8 = 0x1b;
/// How far behind an option's name its default may stand.
const FARTHEST_DEFAULT: usize = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
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
pub(crate) struct Scan<'a> {
    text: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

/// Methods that compare or type in, as languages and test suites name them.
pub(crate) fn is_comparison(method: &[u8]) -> bool {
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
    pub(crate) fn new(text: &'a str, at: usize) -> Scan<'a> {
        Scan { text, bytes: text.as_bytes(), at }
    }

    pub(crate) fn peek(&self) -> Option<u8> {
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
    pub(crate) fn gap(&mut self, lines: bool) -> usize {
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
    pub(crate) fn colour(&mut self) {
        if let Some(rest) = self.rest().strip_prefix(b"\x1b[") {
            let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b';';
            let length = rest.iter().take(LONGEST_COLOUR).take_while(is_part).count();
            if rest.get(length) == Some(&b'm') {
                self.at += b"\x1b[".len() + length + 1;
            }
        }
    }

    pub(crate) fn operator(&mut self, flag: bool, tag: bool) -> Option<Operator> {
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
    pub(crate) fn borrowed(&mut self) {
        if self.peek() != Some(b'&') {
            return;
        }
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
    pub(crate) fn ornament(&mut self) {
        if !matches!(self.peek(), Some(b'!' | b'*' | b'|' | b'>')) {
            return;
        }
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
    pub(crate) fn option_default(&mut self) -> bool {
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
    pub(crate) fn is_prose(&self) -> bool {
        let rest = self.rest();
        let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = rest.get(space..).unwrap_or_default();
        let word = rest.iter().take(24).take_while(|byte| byte.is_ascii_lowercase()).count();
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let behind = rest.get(word).copied();
        if word == 0 || behind.is_some_and(|byte| is_inner(&byte)) {
            return false;
        }
        if !behind.is_none_or(|byte| byte.is_ascii_whitespace()) {
            // A sign between letters: `m@ple`.
            let signed = behind.is_some_and(|byte| b"@#$%&!^*+".contains(&byte))
                && rest.get(word + 1).is_some_and(is_inner);
            // A long word with digits in it is none, whatever it begins with.
            let whole = rest.iter().take(40).take_while(|byte| !byte.is_ascii_whitespace());
            let (length, digits) = whole.fold((0, 0), |(length, digits), byte| {
                (length + 1, digits + usize::from(byte.is_ascii_digit()))
            });
            if signed || length >= 20 && digits >= 5 {
                return false;
            }
        }
        let start = self.at + space;
        let reads = |word: &str| word.len() < 5 || wordlike::bigram_surprisal(word) < 4.4;
        self.text.get(start..start + word).is_some_and(reads)
    }

    pub(crate) fn until(&self, is_end: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest();
        let rest = rest.get(..LONGEST_VALUE).unwrap_or(rest);
        self.at + rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len())
    }
}
