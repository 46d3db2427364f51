//! Secrets that are not in plain text: encoded, escaped, coloured, cut into literals, dumped.
//!
//! The sign of an encoding is a keyword like those of the rules, and base64 and hex are long words,
//! so texts without encoded parts cost nothing. For the part around a sign a [`View`] is made: its
//! decoded text, with the place each byte came from. The rules search the view like any text,
//! encodings inside it included, and what they find is redacted where it came from.
//!
//! Not here: values that were found elsewhere in plain text (`recall`), and values that are wrapped
//! over lines or named by the header of a table, which need no decoding (`wrapped`, `table`).

mod deleted;
mod dump;
mod encoded;
mod escaped;
mod view;

use std::ops::Range;
pub(crate) use view::View;

/// A way to write a text that hides words in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Colours of a terminal, characters without width.
    Colour,
    /// `%70`
    Percent,
    /// `&#112;`
    Entity,
    /// `\u0070`, `\x70`, `\160`
    Escape,
    /// A line that goes on behind `\`.
    Continued,
    /// `"pass" + "word"`
    Literals,
    /// `00000000: 7061 7373`
    Dump,
    /// `70 61 73 73`
    Pairs,
    /// `p a s s`
    Spaced,
    /// A packed file in base64.
    Packed,
}

const KINDS: usize = 10;

/// Signs that a part of a text may be encoded, except the sequences of terminals: a coloured text
/// has more of them than of all others, so they are searched for separately.
pub(crate) const SIGNS: [(&str, Encoding); 71] = [
    ("\u{200b}", Encoding::Colour),
    ("\u{200c}", Encoding::Colour),
    ("\u{200d}", Encoding::Colour),
    ("\u{2060}", Encoding::Colour),
    ("\u{feff}", Encoding::Colour),
    ("\u{ad}", Encoding::Colour),
    ("%2", Encoding::Percent),
    ("%3", Encoding::Percent),
    ("%4", Encoding::Percent),
    ("%5", Encoding::Percent),
    ("%6", Encoding::Percent),
    ("%7", Encoding::Percent),
    ("&#", Encoding::Entity),
    ("&quot;", Encoding::Entity),
    ("&amp;", Encoding::Entity),
    ("&equals;", Encoding::Entity),
    ("\\u0", Encoding::Escape),
    ("\\u{", Encoding::Escape),
    ("\\x", Encoding::Escape),
    ("\\14", Encoding::Escape),
    ("\\15", Encoding::Escape),
    ("\\16", Encoding::Escape),
    ("\\\n", Encoding::Continued),
    ("\\\r\n", Encoding::Continued),
    ("\"+", Encoding::Literals),
    ("\" +", Encoding::Literals),
    ("'+", Encoding::Literals),
    ("' +", Encoding::Literals),
    ("\" .", Encoding::Literals),
    ("' .", Encoding::Literals),
    ("\" \"", Encoding::Literals),
    ("' '", Encoding::Literals),
    ("\" \\", Encoding::Literals),
    ("\"\n", Encoding::Literals),
    ("'\n", Encoding::Literals),
    ("0000", Encoding::Dump),
    ("H4sI", Encoding::Packed),
    (" 41 ", Encoding::Pairs),
    (" 45 ", Encoding::Pairs),
    (" 52 ", Encoding::Pairs),
    (" 53 ", Encoding::Pairs),
    (" 61 ", Encoding::Pairs),
    (" 65 ", Encoding::Pairs),
    (" 6f ", Encoding::Pairs),
    (" 72 ", Encoding::Pairs),
    (" 73 ", Encoding::Pairs),
    (" 74 ", Encoding::Pairs),
    (":45:", Encoding::Pairs),
    (":53:", Encoding::Pairs),
    (":61:", Encoding::Pairs),
    (":65:", Encoding::Pairs),
    (":72:", Encoding::Pairs),
    (":73:", Encoding::Pairs),
    ("0x45,", Encoding::Pairs),
    ("0x53,", Encoding::Pairs),
    ("0x61,", Encoding::Pairs),
    ("0x65,", Encoding::Pairs),
    ("0x72,", Encoding::Pairs),
    ("0x73,", Encoding::Pairs),
    ("p a s s", Encoding::Spaced),
    ("s e c r e t", Encoding::Spaced),
    ("t o k e n", Encoding::Spaced),
    ("k e y", Encoding::Spaced),
    ("b e a r e r", Encoding::Spaced),
    ("c o o k i e", Encoding::Spaced),
    (": / /", Encoding::Spaced),
    ("g h p _", Encoding::Spaced),
    ("_ p a t", Encoding::Spaced),
    ("d o p _", Encoding::Spaced),
    ("s k -", Encoding::Spaced),
    ("A K I A", Encoding::Spaced),
];

/// The encoded parts of one text.
#[derive(Debug, Default)]
pub(crate) struct EncodedParts {
    /// Each with the place of its sign.
    parts: Vec<(usize, Part)>,
    /// By encoding: up to where the text was looked at.
    done: [usize; KINDS],
    encoded_done: usize,
    /// Up to where the text was searched for sequences of terminals.
    sequences_done: usize,
}

#[derive(Debug)]
enum Part {
    Around(Encoding, Range<usize>),
    Encoded(encoded::Run),
}

impl EncodedParts {
    /// Notes the part around a sign.
    pub(crate) fn sign(&mut self, text: &str, encoding: Encoding, at: usize) {
        if encoding == Encoding::Colour {
            self.sequences(text, at);
        }
        self.note(text, encoding, at);
    }

    /// Notes what only sequences of terminals show, after all signs and before long words.
    pub(crate) fn end_signs(&mut self, text: &str) {
        let others = self.parts.len();
        self.sequences(text, text.len());
        if others > 0 && self.parts.len() > others {
            self.parts.sort_by_key(|(at, _)| *at);
        }
    }

    /// Notes the parts around sequences of terminals that begin before `end`.
    fn sequences(&mut self, text: &str, end: usize) {
        let bytes = text.as_bytes();
        loop {
            let coloured = self.done.get(Encoding::Colour as usize).copied().unwrap_or(0);
            let from = self.sequences_done.max(coloured);
            let rest = bytes.get(from..end).unwrap_or_default();
            let Some(at) = memchr::memchr(0x1b, rest).map(|found| from + found) else { break };
            self.sequences_done = at + 1;
            if matches!(bytes.get(at + 1), Some(b'[' | b']')) {
                self.note(text, Encoding::Colour, at);
            }
        }
        self.sequences_done = self.sequences_done.max(end);
    }

    fn note(&mut self, text: &str, encoding: Encoding, at: usize) {
        let Some(done) = self.done.get_mut(encoding as usize).filter(|done| **done <= at) else {
            return;
        };
        let part = match encoding {
            Encoding::Packed => return self.long_word(text, at..at),
            Encoding::Percent => escaped::percent_part(text, at),
            Encoding::Continued => deleted::continued_part(text, at),
            Encoding::Literals => deleted::literals_part(text, at),
            Encoding::Dump => dump::dump_part(text, at),
            Encoding::Pairs => dump::pairs_part(text, at),
            Encoding::Spaced => deleted::spaced_part(text, at),
            Encoding::Colour => Some(deleted::coloured_part(text, at)),
            Encoding::Entity | Encoding::Escape => Some(line(text, at)),
        };
        if let Some(part) = part {
            *done = part.end.max(at + 1);
            self.parts.push((at, Part::Around(encoding, part)));
        }
    }

    /// Notes a long word if it is an encoded text.
    pub(crate) fn long_word(&mut self, text: &str, word: Range<usize>) {
        if word.start >= self.encoded_done
            && let Some(run) = encoded::Run::at(text, &word)
        {
            self.encoded_done = run.end();
            self.parts.push((word.start, Part::Encoded(run)));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// What the parts say.
    pub(crate) fn views(self, text: &str) -> impl Iterator<Item = View> {
        self.parts.into_iter().filter_map(move |(_, part)| match part {
            Part::Encoded(run) => run.view(text),
            Part::Around(encoding, part) => match encoding {
                Encoding::Colour => deleted::uncoloured(text, part),
                Encoding::Percent => escaped::percent(text, part),
                Encoding::Entity => escaped::entities(text, part),
                Encoding::Escape => escaped::escapes(text, part),
                Encoding::Continued => deleted::continued(text, part),
                Encoding::Literals => deleted::literals(text, part),
                Encoding::Dump => dump::dump(text, part),
                Encoding::Pairs => dump::pairs(text, part),
                Encoding::Spaced => deleted::spaced(text, part),
                Encoding::Packed => None,
            },
        })
    }
}

/// How much of a line is looked at, before a sign and behind it.
const BEFORE: usize = 1 << 10;
const BEHIND: usize = 16 << 10;

/// The line around a place, as far as it is looked at.
pub(crate) fn line(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let least = at.saturating_sub(BEFORE);
    let before = bytes.get(least..at).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(least, |found| least + found + 1);
    let behind = bytes.get(at..(at + BEHIND).min(bytes.len())).unwrap_or_default();
    let end = at + memchr::memchr(b'\n', behind).unwrap_or(behind.len());
    on_boundaries(text, start..end)
}

/// The line that begins at a place, as far as it is looked at.
fn line_from(text: &str, start: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let behind = bytes.get(start..(start + BEHIND).min(bytes.len())).unwrap_or_default();
    let end = start + memchr::memchr(b'\n', behind).unwrap_or(behind.len());
    on_boundaries(text, start..end)
}

/// The range, widened to whole characters.
fn on_boundaries(text: &str, range: Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (range.start, range.end.min(text.len()));
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// A hexadecimal number of one byte at the beginning of `bytes`.
fn hex_byte(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_the_order_of_their_signs() {
        let text = "a%41b \u{1b}[1mred\u{1b}[0m\nc\u{200b}d e%42f\n\n\u{1b}]g";
        let mut encodings = EncodedParts::default();
        let signs = [("%41", Encoding::Percent), ("\u{200b}", Encoding::Colour)];
        for (sign, encoding) in signs.into_iter().chain([("%42", Encoding::Percent)]) {
            encodings.sign(text, encoding, text.find(sign).unwrap());
        }
        encodings.end_signs(text);
        let found: Vec<usize> = encodings.parts.iter().map(|(at, _)| *at).collect();
        let signs = ["%41", "\u{1b}[1m", "\u{200b}", "%42", "\u{1b}]"];
        assert_eq!(found, signs.map(|sign| text.find(sign).unwrap()));
    }
}
