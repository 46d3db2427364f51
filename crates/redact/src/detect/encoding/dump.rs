//! Bytes shown as numbers: dumps by `xxd`, `hexdump` and `od`, and lists of hexadecimal bytes.

use super::{View, hex_byte, line};
use std::ops::Range;

/// Bytes on a line of a dump.
const MOST_ON_LINE: usize = 16;
const LONGEST_DUMP: usize = 256 << 10;
/// A shorter list says nothing.
const FEWEST_PAIRS: usize = 12;
const LONGEST_INDENT: usize = 12;
/// How far a list is followed back.
const BEFORE: usize = 1 << 10;
const BEHIND: usize = 64 << 10;

/// The lines of the dump whose first line has the place in its first number.
pub(super) fn dump_part(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let near = bytes.get(at.saturating_sub(LONGEST_INDENT)..at)?;
    let begins = near.len() == at || near.contains(&b'\n');
    if !begins {
        return None;
    }
    let mut part = line(text, at);
    bytes_of(bytes, part.clone())?;
    while part.len() < LONGEST_DUMP && part.end < bytes.len() {
        let next = line(text, part.end + 1);
        let is_left_out = bytes.get(next.clone()) == Some(b"*");
        if !is_left_out && bytes_of(bytes, next.clone()).is_none() {
            break;
        }
        part.end = next.end;
    }
    Some(part)
}

/// What a dump shows. The bytes of a line stand there a second time as letters, so a value goes with
/// the rest of its last line.
pub(super) fn dump(text: &str, part: Range<usize>) -> Option<View> {
    let bytes = text.as_bytes();
    let mut view = View::default();
    let mut at = part.start;
    while at < part.end {
        let line = line(text, at);
        for (byte, place) in bytes_of(bytes, line.clone()).into_iter().flatten() {
            view.bytes(&[byte], place..line.end);
        }
        at = line.end + 1;
    }
    Some(view)
}

/// The bytes on a line of a dump, and where each stands.
fn bytes_of(bytes: &[u8], line: Range<usize>) -> Option<Vec<(u8, usize)>> {
    let rest = bytes.get(line.clone())?;
    let indent = rest.iter().take(LONGEST_INDENT).take_while(|byte| **byte == b' ').count();
    let digits = |from: usize| {
        let rest = rest.get(from..).unwrap_or_default().iter();
        rest.take(17).take_while(|byte| byte.is_ascii_hexdigit()).count()
    };
    let offset = digits(indent);
    if !(4..=16).contains(&offset) {
        return None;
    }
    let mut at = indent + offset;
    let colon = rest.get(at) == Some(&b':');
    at += usize::from(colon);
    let mut found: Vec<(u8, usize)> = Vec::new();
    while found.len() < MOST_ON_LINE {
        let gap = rest.get(at..)?.iter().take_while(|byte| **byte == b' ').count();
        let middle = found.is_empty() || found.len() == MOST_ON_LINE / 2;
        if gap == 0 || gap > if middle { 3 } else { 1 } {
            break;
        }
        let length = digits(at + gap);
        if !matches!(length, 2 | 4 | 8) {
            break;
        }
        at += gap;
        let pairs = (0..length / 2).filter_map(|pair| {
            let place = at + 2 * pair;
            Some((hex_byte(rest.get(place..)?)?, line.start + place))
        });
        // Numbers of two bytes, as `hexdump` shows them: the last byte first.
        if length == 4 && !colon {
            found.extend(pairs.collect::<Vec<_>>().into_iter().rev());
        } else {
            found.extend(pairs);
        }
        at += length;
    }
    (!found.is_empty()).then_some(found)
}

/// The list around a place, as far as it may be one.
pub(super) fn pairs_part(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let ends = |byte: &u8| {
        !(byte.is_ascii_hexdigit()
            || matches!(byte, b' ' | b',' | b':' | b'x' | b'\n' | b'\t' | b'\r'))
    };
    let least = at.saturating_sub(BEFORE);
    let start =
        bytes.get(least..at)?.iter().rposition(ends).map_or(least, |found| least + found + 1);
    let behind = bytes.get(at..(at + BEHIND).min(bytes.len()))?;
    let end = at + behind.iter().position(ends).unwrap_or(behind.len());
    Some(start..end)
}

/// What the bytes of a list say.
pub(super) fn pairs(text: &str, part: Range<usize>) -> Option<View> {
    let bytes = text.as_bytes();
    let mut view = View::default();
    let mut at = part.start;
    let mut count = 0;
    while at < part.end {
        let rest = bytes.get(at..part.end)?;
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let word = rest.get(..length)?;
        let digits = word.strip_prefix(b"0x").unwrap_or(word);
        match hex_byte(digits).filter(|_| digits.len() == 2) {
            Some(byte) => {
                view.bytes(&[byte], at..at + length);
                count += 1;
            }
            None if length > 0 => view.decode("\n", at..at + length),
            None => {}
        }
        at += length.max(1);
    }
    (count >= FEWEST_PAIRS).then_some(view)
}
