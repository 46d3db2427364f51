//! Words that are a text in base64 or hexadecimal digits, perhaps wrapped over lines, perhaps packed.
//!
//! Most long words are names, hashes, images and signatures. Their first letters tell: decoded, they
//! are neither printable nor the mark of a packed file, and nothing more is done.

use super::{View, hex_byte};
use std::io::Read as _;
use std::ops::Range;

/// A longer run is an image or an archive.
const LONGEST: usize = 512 << 10;
/// What a packed text may become.
const LONGEST_UNPACKED: u64 = 256 << 10;
/// How many letters are looked at first: a multiple of what three bytes take.
const FIRST: usize = 12;
/// Lines of a wrapped run are not shorter.
const SHORTEST_LINE: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Base64,
    Hex,
}

/// A run of letters that says something else.
#[derive(Debug)]
pub(super) struct Run {
    alphabet: Alphabet,
    /// Its lines.
    lines: Vec<Range<usize>>,
}

impl Alphabet {
    fn holds(self, byte: u8) -> bool {
        match self {
            Alphabet::Base64 => digit(byte).is_some(),
            Alphabet::Hex => byte.is_ascii_hexdigit(),
        }
    }

    /// Whether letters that begin like this may be a text.
    fn may_be_text(self, letters: &[u8]) -> bool {
        let Some(first) = letters.get(..FIRST) else { return false };
        let is_text = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b | b' '..=b'~');
        match self {
            Alphabet::Hex => first.chunks(2).all(|pair| hex_byte(pair).is_some_and(is_text)),
            Alphabet::Base64 => {
                let all_text = first.chunks(4).all(|group| {
                    three(group).is_some_and(|bytes| bytes.iter().all(|byte| is_text(*byte)))
                });
                all_text || first.get(..4).and_then(three).is_some_and(|bytes| is_packed(&bytes))
            }
        }
    }
}

/// Marks of gzip and of the usual strengths of zlib.
fn is_packed(bytes: &[u8]) -> bool {
    matches!(bytes, [0x1f, 0x8b, 8, ..] | [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..])
}

/// What each letter counts in either base64; `NOT_A_DIGIT` for those that count nothing.
const DIGITS: [u8; 256] = digits();
const NOT_A_DIGIT: u8 = 0xff;

#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn digits() -> [u8; 256] {
    let mut digits = [NOT_A_DIGIT; 256];
    let mut letter = 0;
    while letter < 256 {
        digits[letter] = match letter as u8 {
            upper @ b'A'..=b'Z' => upper - b'A',
            lower @ b'a'..=b'z' => lower - b'a' + 26,
            figure @ b'0'..=b'9' => figure - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => NOT_A_DIGIT,
        };
        letter += 1;
    }
    digits
}

fn digit(letter: u8) -> Option<u8> {
    DIGITS.get(usize::from(letter)).copied().filter(|digit| *digit != NOT_A_DIGIT)
}

/// The bytes of four letters; those that are missing count nothing.
fn three(letters: &[u8]) -> Option<[u8; 3]> {
    let mut four = [b'A'; 4];
    four.iter_mut().zip(letters).for_each(|(to, from)| *to = *from);
    let [first, second, third, fourth] =
        four.map(|letter| DIGITS.get(usize::from(letter)).copied().unwrap_or(NOT_A_DIGIT));
    if first | second | third | fourth == NOT_A_DIGIT {
        return None;
    }
    Some([first << 2 | second >> 4, second << 4 | third >> 2, third << 6 | fourth])
}

impl Run {
    /// The run that begins with a word.
    pub(super) fn at(text: &str, word: &Range<usize>) -> Option<Run> {
        let bytes = text.as_bytes();
        let mut start = word.start;
        match bytes.get(start..start + 2)? {
            // The end of a line, as other literals write it.
            [b'n' | b'r' | b't', _]
                if start.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'\\') =>
            {
                start += 1;
            }
            b"0x" => start += 2,
            _ => {}
        }
        let letters = bytes.get(start..)?;
        let mut alphabets = [Alphabet::Base64, Alphabet::Hex].into_iter();
        let alphabet = alphabets.find(|alphabet| alphabet.may_be_text(letters))?;
        let line = |from: usize| {
            let rest = bytes.get(from..).unwrap_or_default().iter().take(LONGEST);
            from..from + rest.take_while(|byte| alphabet.holds(**byte)).count()
        };
        let mut lines = vec![line(start)];
        let full = lines.first()?.len();
        let mut total = full;
        while let Some(at) = next_line(bytes, lines.last()?.end) {
            let next = line(at);
            if next.is_empty() || next.len() > full || full < SHORTEST_LINE || total > LONGEST {
                break;
            }
            total += next.len();
            let is_last = next.len() < full;
            lines.push(next);
            if is_last {
                break;
            }
        }
        Some(Run { alphabet, lines })
    }

    pub(super) fn end(&self) -> usize {
        self.lines.last().map_or(0, |line| line.end)
    }

    /// What it says.
    pub(super) fn view(self, text: &str) -> Option<View> {
        let bytes = text.as_bytes();
        let places: Vec<usize> = self.lines.iter().cloned().flatten().collect();
        let letters: Vec<u8> = places.iter().filter_map(|at| bytes.get(*at).copied()).collect();
        let group = if self.alphabet == Alphabet::Hex { 2 } else { 4 };
        let mut decoded = Vec::with_capacity(letters.len() / group * 3 + 3);
        let mut view = View::default();
        for (letters, places) in letters.chunks(group).zip(places.chunks(group)) {
            let there = *places.first()?..*places.last()? + 1;
            let (said, length) = match self.alphabet {
                Alphabet::Hex => ([hex_byte(letters).unwrap_or(0), 0, 0], letters.len() / 2),
                Alphabet::Base64 => (three(letters)?, letters.len() * 3 / 4),
            };
            let said = said.get(..length)?;
            decoded.extend_from_slice(said);
            if !said.is_empty() {
                view.bytes(said, there);
            }
        }
        if !is_packed(&decoded) {
            return Some(view);
        }
        let mut view = View::default();
        let whole = self.lines.first()?.start..self.end();
        view.bytes(&unpacked(&decoded)?, whole);
        Some(view)
    }
}

/// What was packed, as far as it is whole.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    // What is cut off is read up to there.
    let _ = match packed.first()? {
        0x1f => flate2::read::GzDecoder::new(packed).take(LONGEST_UNPACKED).read_to_end(&mut out),
        _ => flate2::read::ZlibDecoder::new(packed).take(LONGEST_UNPACKED).read_to_end(&mut out),
    };
    (!out.is_empty()).then_some(out)
}

/// Where the next line begins behind the end of one, without its indent and marks of a quotation.
fn next_line(bytes: &[u8], end: usize) -> Option<usize> {
    let rest = bytes.get(end..)?;
    let ends = [&b"\n"[..], b"\r\n", b"\\n", b"\\r\\n"];
    let end = end + ends.iter().find(|one| rest.starts_with(one))?.len();
    let rest = bytes.get(end..)?.iter();
    let marks = rest.take(64).take_while(|byte| {
        matches!(byte, b' ' | b'\t' | b'|' | b'>' | b'#' | b'*' | 0xe2 | 0x94 | 0x82)
    });
    Some(end + marks.count())
}
