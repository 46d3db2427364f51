//! Secrets that do not stand there in clear: encoded, escaped, coloured, cut into literals, dumped.
//!
//! A sign of a disguise is a keyword like those of the rules, and encoded words are long words, so
//! texts without disguise cost nothing. Around a sign a [`View`] is made: what the part of the text
//! says, with the places its bytes came from. The rules search the view like any text, disguises
//! inside it included, and what they find is taken out where it came from.
//!
//! Not here: values that were found elsewhere in clear (`memory`), and values wrapped over lines or
//! told by the header of a table, which need no decoding (`wrapped`, `table`).

mod deleted;
mod dump;
mod encoded;
mod escaped;
mod view;

use std::ops::Range;
pub(crate) use view::View;

/// A way to write a text that hides words in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disguise {
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

/// What shows that a disguise may be there, but for the sequences of terminals: a coloured text holds
/// more of them than of all others, so they are searched for by themselves.
pub(crate) const SIGNS: [(&str, Disguise); 71] = [
    ("\u{200b}", Disguise::Colour),
    ("\u{200c}", Disguise::Colour),
    ("\u{200d}", Disguise::Colour),
    ("\u{2060}", Disguise::Colour),
    ("\u{feff}", Disguise::Colour),
    ("\u{ad}", Disguise::Colour),
    ("%2", Disguise::Percent),
    ("%3", Disguise::Percent),
    ("%4", Disguise::Percent),
    ("%5", Disguise::Percent),
    ("%6", Disguise::Percent),
    ("%7", Disguise::Percent),
    ("&#", Disguise::Entity),
    ("&quot;", Disguise::Entity),
    ("&amp;", Disguise::Entity),
    ("&equals;", Disguise::Entity),
    ("\\u0", Disguise::Escape),
    ("\\u{", Disguise::Escape),
    ("\\x", Disguise::Escape),
    ("\\14", Disguise::Escape),
    ("\\15", Disguise::Escape),
    ("\\16", Disguise::Escape),
    ("\\\n", Disguise::Continued),
    ("\\\r\n", Disguise::Continued),
    ("\"+", Disguise::Literals),
    ("\" +", Disguise::Literals),
    ("'+", Disguise::Literals),
    ("' +", Disguise::Literals),
    ("\" .", Disguise::Literals),
    ("' .", Disguise::Literals),
    ("\" \"", Disguise::Literals),
    ("' '", Disguise::Literals),
    ("\" \\", Disguise::Literals),
    ("\"\n", Disguise::Literals),
    ("'\n", Disguise::Literals),
    ("0000", Disguise::Dump),
    ("H4sI", Disguise::Packed),
    (" 41 ", Disguise::Pairs),
    (" 45 ", Disguise::Pairs),
    (" 52 ", Disguise::Pairs),
    (" 53 ", Disguise::Pairs),
    (" 61 ", Disguise::Pairs),
    (" 65 ", Disguise::Pairs),
    (" 6f ", Disguise::Pairs),
    (" 72 ", Disguise::Pairs),
    (" 73 ", Disguise::Pairs),
    (" 74 ", Disguise::Pairs),
    (":45:", Disguise::Pairs),
    (":53:", Disguise::Pairs),
    (":61:", Disguise::Pairs),
    (":65:", Disguise::Pairs),
    (":72:", Disguise::Pairs),
    (":73:", Disguise::Pairs),
    ("0x45,", Disguise::Pairs),
    ("0x53,", Disguise::Pairs),
    ("0x61,", Disguise::Pairs),
    ("0x65,", Disguise::Pairs),
    ("0x72,", Disguise::Pairs),
    ("0x73,", Disguise::Pairs),
    ("p a s s", Disguise::Spaced),
    ("s e c r e t", Disguise::Spaced),
    ("t o k e n", Disguise::Spaced),
    ("k e y", Disguise::Spaced),
    ("b e a r e r", Disguise::Spaced),
    ("c o o k i e", Disguise::Spaced),
    (": / /", Disguise::Spaced),
    ("g h p _", Disguise::Spaced),
    ("_ p a t", Disguise::Spaced),
    ("d o p _", Disguise::Spaced),
    ("s k -", Disguise::Spaced),
    ("A K I A", Disguise::Spaced),
];

/// The disguised parts of one text.
#[derive(Debug, Default)]
pub(crate) struct Disguises {
    /// Each with the place of its sign.
    parts: Vec<(usize, Part)>,
    /// By disguise: up to where the text was looked at.
    done: [usize; KINDS],
    encoded_done: usize,
    /// Up to where the text was searched for sequences of terminals.
    sequences_done: usize,
}

#[derive(Debug)]
enum Part {
    Around(Disguise, Range<usize>),
    Encoded(encoded::Run),
}

impl Disguises {
    /// Notes the part around a sign.
    pub(crate) fn sign(&mut self, text: &str, disguise: Disguise, at: usize) {
        if disguise == Disguise::Colour {
            self.sequences(text, at);
        }
        self.note(text, disguise, at);
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
            let coloured = self.done.get(Disguise::Colour as usize).copied().unwrap_or(0);
            let from = self.sequences_done.max(coloured);
            let rest = bytes.get(from..end).unwrap_or_default();
            let Some(at) = memchr::memchr(0x1b, rest).map(|found| from + found) else { break };
            self.sequences_done = at + 1;
            if matches!(bytes.get(at + 1), Some(b'[' | b']')) {
                self.note(text, Disguise::Colour, at);
            }
        }
        self.sequences_done = self.sequences_done.max(end);
    }

    fn note(&mut self, text: &str, disguise: Disguise, at: usize) {
        let Some(done) = self.done.get_mut(disguise as usize).filter(|done| **done <= at) else {
            return;
        };
        let part = match disguise {
            Disguise::Packed => return self.long_word(text, at..at),
            Disguise::Percent => escaped::percent_part(text, at),
            Disguise::Continued => deleted::continued_part(text, at),
            Disguise::Literals => deleted::literals_part(text, at),
            Disguise::Dump => dump::dump_part(text, at),
            Disguise::Pairs => dump::pairs_part(text, at),
            Disguise::Spaced => deleted::spaced_part(text, at),
            Disguise::Colour => Some(deleted::coloured_part(text, at)),
            Disguise::Entity | Disguise::Escape => Some(line(text, at)),
        };
        if let Some(part) = part {
            *done = part.end.max(at + 1);
            self.parts.push((at, Part::Around(disguise, part)));
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
            Part::Around(disguise, part) => match disguise {
                Disguise::Colour => deleted::uncoloured(text, part),
                Disguise::Percent => escaped::percent(text, part),
                Disguise::Entity => escaped::entities(text, part),
                Disguise::Escape => escaped::escapes(text, part),
                Disguise::Continued => deleted::continued(text, part),
                Disguise::Literals => deleted::literals(text, part),
                Disguise::Dump => dump::dump(text, part),
                Disguise::Pairs => dump::pairs(text, part),
                Disguise::Spaced => deleted::spaced(text, part),
                Disguise::Packed => None,
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
        let mut disguises = Disguises::default();
        let signs = [("%41", Disguise::Percent), ("\u{200b}", Disguise::Colour)];
        for (sign, disguise) in signs.into_iter().chain([("%42", Disguise::Percent)]) {
            disguises.sign(text, disguise, text.find(sign).unwrap());
        }
        disguises.end_signs(text);
        let found: Vec<usize> = disguises.parts.iter().map(|(at, _)| *at).collect();
        let signs = ["%41", "\u{1b}[1m", "\u{200b}", "%42", "\u{1b}]"];
        assert_eq!(found, signs.map(|sign| text.find(sign).unwrap()));
    }
}
