//! Searching bytes as they are in a file for letters that some text in it may contain.
//!
//! May find letters where no text has them, and never misses one that has. In a file, letters are
//! written as they are, or as `\uXXXX` (with more backslashes where JSON is inside JSON), and control
//! sequences of a terminal may be between them. The first is searched for in all bytes, the others
//! only around the signs of such writing.

use crate::ansi;
use crate::literal::{LONGEST, Literals};
use memchr::{memchr, memmem};
use regex::bytes::{Regex, RegexBuilder};
use std::borrow::Cow;

/// A text with its letters may stretch over this many bytes, as far as [`Finder`] looks.
pub(crate) const WIDEST: usize = 4_096;

/// Backslashes before `u`, at most; more of them count as found.
const BACKSLASHES: usize = 16;
/// Bytes of control sequences between two letters, at most; more of them count as found.
const SEQUENCES: usize = 256;
/// Bytes from one sign to the next in the same letters: letters as they are, and one sequence.
const APART: usize = 4 * LONGEST + 80 + BACKSLASHES + 6;
/// Signs are looked at in pieces of this size.
const PIECE: usize = 64 << 10;

/// Searches for one of several letters.
#[derive(Debug)]
pub(crate) struct Finder {
    plain: Regex,
    escape: memmem::Finder<'static>,
    /// The letters are ASCII, so other escapes do not matter.
    ascii: bool,
}

impl Finder {
    pub(crate) fn new(literals: &Literals, ignore_case: bool) -> Option<Finder> {
        let escaped: Vec<String> =
            literals.any_of.iter().map(|literal| regex::escape(literal)).collect();
        let plain = RegexBuilder::new(&escaped.join("|")).case_insensitive(ignore_case).build();
        Some(Finder {
            plain: plain.ok()?,
            escape: memmem::Finder::new(b"\\u").into_owned(),
            ascii: literals.any_of.iter().all(|literal| literal.is_ascii()),
        })
    }

    /// Whether a text in these bytes may contain the letters.
    pub(crate) fn may_be_in(&self, bytes: &[u8]) -> bool {
        self.plain.is_match(bytes) || self.may_be_hidden_in(bytes)
    }

    fn may_be_hidden_in(&self, bytes: &[u8]) -> bool {
        let mut signs = Signs {
            bytes,
            finder: self,
            escape: self.next_escape(bytes, 0),
            control: next_control(bytes, 0),
        };
        let mut sign = signs.next();
        // The end of the piece before, where signs went on.
        let mut continued = None;
        while let Some(first) = sign {
            let start = continued.take().unwrap_or(first.saturating_sub(APART));
            let mut last = first;
            sign = signs.next();
            while let Some(next) = sign.filter(|next| next - last <= APART) {
                if next - start > PIECE {
                    continued = Some(next.saturating_sub(WIDEST));
                    break;
                }
                last = next;
                sign = signs.next();
            }
            let end = (last + APART).min(bytes.len());
            if bytes.get(start..end).is_some_and(|piece| self.may_be_behind_signs(piece)) {
                return true;
            }
        }
        false
    }

    /// The next `\u` that may be one of the letters or the start of a control sequence.
    fn next_escape(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = bytes.get(from..)?;
        let matters = |at: &usize| {
            let code = rest.get(at + 2..at + 6).unwrap_or_default();
            // Of letters outside ASCII, a long s and the sign for Kelvin have ASCII forms.
            let others = [&b"017f"[..], b"212a"];
            !self.ascii
                || code.starts_with(b"00")
                || others.iter().any(|other| code.eq_ignore_ascii_case(other))
        };
        self.escape.find_iter(rest).find(matters).map(|at| from + at)
    }

    fn may_be_behind_signs(&self, piece: &[u8]) -> bool {
        [Escapes::Text, Escapes::Single, Escapes::Nested].into_iter().any(|escapes| {
            let Some(text) = unescape(piece, escapes) else { return true };
            let has_command = memchr::memchr_iter(ansi::ESCAPE, &text)
                .any(|at| text.get(at + 1) == Some(&ansi::COMMAND_START));
            if has_command || ansi::longest_run(&text) > SEQUENCES {
                return true;
            }
            match ansi::without(&text) {
                Some(text) => self.plain.is_match(&text),
                None => self.plain.is_match(&text),
            }
        })
    }
}

fn next_control(bytes: &[u8], from: usize) -> Option<usize> {
    memchr(ansi::ESCAPE, bytes.get(from..)?).map(|at| from + at)
}

/// Places of escapes and control characters, in order.
struct Signs<'a> {
    bytes: &'a [u8],
    finder: &'a Finder,
    escape: Option<usize>,
    control: Option<usize>,
}

impl Signs<'_> {
    fn next(&mut self) -> Option<usize> {
        match (self.escape, self.control) {
            (Some(escape), control) if control.is_none_or(|control| escape < control) => {
                self.escape = self.finder.next_escape(self.bytes, escape + 1);
                Some(escape)
            }
            (_, Some(control)) => {
                self.control = next_control(self.bytes, control + 1);
                Some(control)
            }
            _ => None,
        }
    }
}

/// How a file may write letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// As they are.
    Text,
    /// As JSON does.
    Single,
    /// As JSON inside JSON does.
    Nested,
}

/// The bytes with escapes of letters decoded; none where that cannot be said.
fn unescape(bytes: &[u8], escapes: Escapes) -> Option<Cow<'_, [u8]>> {
    if escapes == Escapes::Text {
        return Some(Cow::Borrowed(bytes));
    }
    let mut text = Vec::with_capacity(bytes.len());
    let mut high: Option<u32> = None;
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
        let code = (slashes > 0).then(|| rest.get(slashes + 1..slashes + 5)).flatten();
        let is_escape =
            rest.get(slashes) == Some(&b'u') && (escapes == Escapes::Nested || slashes % 2 == 1);
        let code = code.filter(|_| is_escape).and_then(hexadecimal);
        let Some(code) = code else {
            high = None;
            let step = slashes.max(1);
            text.extend_from_slice(rest.get(..step).unwrap_or(std::slice::from_ref(first)));
            rest = rest.get(step..).unwrap_or(tail);
            continue;
        };
        // A backslash may begin another escape.
        if slashes > BACKSLASHES || code == u32::from(b'\\') {
            return None;
        }
        let letter = match (high.take(), code) {
            (Some(high), 0xDC00..=0xDFFF) => {
                char::from_u32(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00))
            }
            (_, 0xD800..=0xDBFF) => {
                high = Some(code);
                None
            }
            _ => char::from_u32(code),
        };
        if let Some(letter) = letter {
            text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = rest.get(slashes + 5..).unwrap_or_default();
    }
    Some(Cow::Owned(text))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let digits = digits.iter().map(|digit| char::from(*digit).to_digit(16));
    digits.into_iter().try_fold(0, |all, digit| Some(all << 4 | digit?))
}
