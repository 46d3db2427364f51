//! Decoding JSON strings for people.
//!
//! The result is for display, comparison and search; it is lossy for invalid UTF-8 and for lone
//! surrogates (both become U+FFFD). The raw bytes stay the truth for writing.

use super::marks::{Byte, Marks};
use crate::slice::Part;
use bstr::ByteSlice;
use simdutf8::basic::from_utf8;
use std::borrow::Cow;

/// Decodes the inside of a JSON string (without its quotes).
pub fn decode(raw: &[u8]) -> Cow<'_, str> {
    match memchr::memchr(b'\\', raw) {
        None => lossy(raw),
        Some(first) => Cow::Owned(decode_escaped(raw, first)),
    }
}

/// The same, with `space` for what must be written anew: for those who decode much and keep nothing.
pub fn decode_with<'a>(raw: &'a [u8], space: &'a mut String) -> &'a str {
    space.clear();
    match (memchr::memchr(b'\\', raw), from_utf8(raw)) {
        (None, Ok(text)) => return text,
        (Some(first), Ok(text)) => {
            space.reserve(raw.len());
            decode_valid(text, first, space);
        }
        (_, Err(_)) => space.push_str(&decode(raw)),
    }
    space
}

/// Bytes as text; mostly they are.
pub fn lossy(raw: &[u8]) -> Cow<'_, str> {
    match from_utf8(raw) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => raw.to_str_lossy(),
    }
}

/// Decodes at most `limit` raw bytes of the inside of a JSON string, never splitting a character.
pub fn decode_prefix(raw: &[u8], limit: usize) -> Cow<'_, str> {
    if raw.len() <= limit {
        return decode(raw);
    }
    let mut end = limit;
    let mut position = 0;
    while let Some(at) = raw.get(position..limit).and_then(|part| memchr::memchr(b'\\', part)) {
        let start = position + at;
        let (_, width) = read_escape(raw.part(start..));
        if start + width > limit {
            end = start;
            break;
        }
        position = start + width;
    }
    while end > 0 && raw.get(end).is_some_and(|byte| (byte & 0xC0) == 0x80) {
        end -= 1;
    }
    decode(raw.part(..end))
}

/// Whether the inside of a JSON string holds an escape for half a surrogate pair.
pub fn has_lone_surrogate(raw: &[u8]) -> bool {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let escape = rest.part(at..);
        let (unit, width) = read_escape(escape);
        if unit == Unit::LoneSurrogate {
            return true;
        }
        rest = escape.part(width..);
    }
    false
}

/// Where places of the decoded text stand in the raw inside of a JSON string. `places` are byte
/// offsets into what [`decode`] gives, in ascending order.
pub fn locate(raw: &[u8], places: &[usize]) -> Vec<usize> {
    let mut located = Vec::with_capacity(places.len());
    let (mut at, mut decoded) = (0, 0);
    for &place in places {
        while decoded < place && at < raw.len() {
            let rest = raw.part(at..);
            let plain = rest.iter().take(place - decoded);
            let plain = plain.take_while(|byte| byte.is_ascii() && **byte != b'\\').count();
            if plain > 0 {
                at += plain;
                decoded += plain;
                continue;
            }
            if rest.first() == Some(&b'\\') {
                let (unit, width) = read_escape(rest);
                at += width.min(rest.len());
                decoded += match unit {
                    Unit::Character(character) => character.len_utf8(),
                    Unit::LoneSurrogate | Unit::Broken => char::REPLACEMENT_CHARACTER.len_utf8(),
                };
                continue;
            }
            let (character, width) = bstr::decode_utf8(rest);
            at += width.max(1);
            decoded += character.unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8();
        }
        located.push(at);
    }
    located
}

/// Appends `text` as the inside of a JSON string.
pub fn encode_into(text: &str, out: &mut Vec<u8>) {
    for character in text.chars() {
        match character {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\u{0}'..='\u{1f}' => {
                out.extend_from_slice(format!("\\u{:04x}", character as u32).as_bytes());
            }
            _ => {
                let mut buffer = [0; 4];
                out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
            }
        }
    }
}

/// A JSON value that any reader accepts: invalid UTF-8 and lone surrogates become U+FFFD, all
/// else stays as it is.
pub fn portable(value: &[u8]) -> Cow<'_, str> {
    let readable = lossy(value);
    if !has_lone_surrogate(readable.as_bytes()) {
        return readable;
    }
    let mut out = String::with_capacity(readable.len());
    let mut rest = readable.as_ref();
    while let Some((plain, _)) = rest.split_once('\\') {
        let escape = rest.part(plain.len()..);
        let (unit, mut width) = read_escape(escape.as_bytes());
        // A broken escape may end inside a character.
        while !escape.is_char_boundary(width) {
            width += 1;
        }
        out.push_str(plain);
        match unit {
            Unit::LoneSurrogate => out.push_str("\\ufffd"),
            _ => out.push_str(escape.part(..width)),
        }
        rest = escape.part(width..);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Character(char),
    LoneSurrogate,
    Broken,
}

fn decode_escaped(raw: &[u8], first: usize) -> String {
    let mut out = String::with_capacity(raw.len());
    if let Ok(valid) = from_utf8(raw) {
        decode_valid(valid, first, &mut out);
        return out;
    }
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(at) = next {
        let (plain, escape) = rest.split_at(at);
        out.push_str(&plain.to_str_lossy());
        let (unit, width) = read_escape(escape);
        out.push(match unit {
            Unit::Character(character) => character,
            Unit::LoneSurrogate | Unit::Broken => char::REPLACEMENT_CHARACTER,
        });
        rest = escape.part(width..);
        next = memchr::memchr(b'\\', rest);
    }
    out.push_str(&rest.to_str_lossy());
    out
}

/// The usual case: text that need not be checked piece by piece.
fn decode_valid(text: &str, first: usize, out: &mut String) {
    let bytes = text.as_bytes();
    let mut marks = Marks::<Byte<b'\\'>>::new(bytes, first);
    let mut from = 0;
    while let Some(at) = marks.peek() {
        out.push_str(text.part(from..at));
        // Those first that texts are full of.
        let width = match bytes.get(at + 1) {
            Some(b'n') => push(out, '\n'),
            Some(b't') => push(out, '\t'),
            Some(b'"') => push(out, '"'),
            Some(b'\\') => push(out, '\\'),
            _ => {
                let (unit, width) = read_escape(bytes.part(at..));
                out.push(match unit {
                    Unit::Character(character) => character,
                    Unit::LoneSurrogate | Unit::Broken => char::REPLACEMENT_CHARACTER,
                });
                // A broken escape may end inside a character.
                if text.is_char_boundary(at + width) { width } else { 1 }
            }
        };
        from = (at + width).min(bytes.len());
        marks.pass_to(from);
    }
    out.push_str(text.part(from..));
}

/// Adds what an escape of two bytes stands for.
#[inline]
fn push(out: &mut String, character: char) -> usize {
    out.push(character);
    2
}

/// Decodes both ends of the inside of a JSON string: about `head` raw bytes of its start and
/// `tail` of its end. Between them so many characters and line ends are left out; none when it is
/// not longer than that.
pub fn decode_ends(raw: &[u8], head: usize, tail: usize) -> Option<Ends> {
    let text = from_utf8(raw).ok()?;
    let tail_from = text.len().checked_sub(tail).filter(|from| *from > head)?;
    // Both cuts are moved on to where a character or an escape begins.
    let (head_end, _, _) = boundary(text, 0, head);
    let (tail_start, lines, surplus) = boundary(text, head_end, tail_from);
    let characters = text.get(head_end..tail_start)?.chars().count() - surplus;
    let head = decode(raw.get(..head_end)?).into_owned();
    let tail = decode(raw.get(tail_start..)?).into_owned();
    Some(Ends { head, characters, lines, tail })
}

/// The first place from `limit` on where a character or an escape begins, given that one begins at
/// `start`; the line ends on the way there, and how many bytes of escapes are no character.
fn boundary(text: &str, start: usize, limit: usize) -> (usize, usize, usize) {
    let raw = text.as_bytes();
    let (mut lines, mut surplus, mut at) = (0, 0, start);
    while let Some(found) = raw.get(at..limit).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let escape = at + found;
        let (unit, width) = match raw.get(escape + 1) {
            Some(b'n') => (Unit::Character('\n'), 2),
            _ => read_escape(raw.part(escape..)),
        };
        at = (escape + width).min(raw.len());
        while !text.is_char_boundary(at) {
            at += 1;
        }
        let begun = raw.part(escape..at);
        surplus += begun.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() - 1;
        lines += usize::from(unit == Unit::Character('\n'));
    }
    at = at.max(limit);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    (at, lines, surplus)
}

/// Both ends of a text and what lies between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    /// The first lines or characters, decoded.
    pub head: String,
    /// Characters that are in neither end.
    pub characters: usize,
    /// Line breaks that are in neither end.
    pub lines: usize,
    /// The last lines or characters, decoded.
    pub tail: String,
}

/// Reads the escape that `bytes` starts with; gives its meaning and width.
fn read_escape(bytes: &[u8]) -> (Unit, usize) {
    let simple = match bytes.get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return read_unicode_escape(bytes),
        Some(_) => return (Unit::Broken, 2),
        None => return (Unit::Broken, bytes.len()),
    };
    (Unit::Character(simple), 2)
}

fn read_unicode_escape(bytes: &[u8]) -> (Unit, usize) {
    let Some(first) = hex_unit(bytes, 2) else { return (Unit::Broken, 2) };
    if !(0xD800..0xE000).contains(&first) {
        return (char::from_u32(first).map_or(Unit::Broken, Unit::Character), 6);
    }
    if first < 0xDC00
        && bytes.get(6..8) == Some(b"\\u")
        && let Some(second) = hex_unit(bytes, 8)
        && (0xDC00..0xE000).contains(&second)
    {
        let scalar = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(scalar).map_or(Unit::Broken, Unit::Character), 12);
    }
    (Unit::LoneSurrogate, 6)
}

fn hex_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits
        .iter()
        .try_fold(0, |value, digit| char::from(*digit).to_digit(16).map(|digit| value * 16 + digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_pairs() {
        assert_eq!(decode(br#"a\n\"\\\/\u0041\ud83d\ude00b"#), "a\n\"\\/A\u{1F600}b");
        assert_eq!(decode(b"plain"), "plain");
    }

    #[test]
    fn places_in_the_decoded_text_are_found_in_the_raw_one() {
        let raw = br#"a\n\u00e9"b\ud83d\ude00c\ud83dd"#;
        let decoded = decode(raw);
        for needle in ["a", "\u{e9}", "b", "\u{1F600}c", "d"] {
            let at = decoded.find(needle).unwrap();
            let located = locate(raw, &[at, at + needle.len()]);
            assert_eq!(decode(&raw[located[0]..located[1]]), needle);
        }
        let raw = b"caf\xe9 key";
        let at = decode(raw).find("key").unwrap();
        assert_eq!(locate(raw, &[at, at + 3]), [5, 8]);
    }

    #[test]
    fn halves_become_replacement_characters() {
        assert_eq!(decode(br"x\ud83d y\udc00"), "x\u{FFFD} y\u{FFFD}");
        assert!(has_lone_surrogate(br"x\ud83d"));
        assert!(has_lone_surrogate(br"\ud83d\ud83d\ude00"));
        assert!(!has_lone_surrogate(br"\ud83d\ude00 \\ud83d"));
        assert_eq!(decode(b"caf\xe9"), "caf\u{FFFD}");
    }

    #[test]
    fn portable_values_change_only_what_is_broken() {
        assert_eq!(
            portable(br#"{"a":"\ud83d \\ud83d \ud83d\ude00"}"#),
            r#"{"a":"\ufffd \\ud83d \ud83d\ude00"}"#
        );
        // A broken escape in front hides nothing behind it.
        assert_eq!(portable("\"\\é\\ud83d\"".as_bytes()), "\"\\é\\ufffd\"");
        assert_eq!(portable(br"\ud83d\"), r"\ufffd\");
        assert!(matches!(portable(b"[1]"), Cow::Borrowed("[1]")));
    }

    #[test]
    fn a_prefix_never_cuts_a_character() {
        let raw = r"ab\n\ud83d\ude00é".as_bytes();
        let whole = decode(raw).into_owned();
        for limit in 0..=raw.len() + 2 {
            let part = decode_prefix(raw, limit);
            assert!(whole.starts_with(part.as_ref()), "{limit}: {part:?}");
        }
    }

    #[test]
    fn decode_ends_and_the_text_between() {
        let text = "é\n\"x\u{1F600}\\ line\n".repeat(40);
        let mut raw = Vec::new();
        encode_into(&text, &mut raw);
        for (head, tail) in [(0, 0), (1, 1), (7, 30), (50, 51), (100, 3)] {
            let ends = decode_ends(&raw, head, tail).unwrap();
            assert!(text.starts_with(&ends.head) && text.ends_with(&ends.tail));
            let start = ends.head.len();
            let middle = &text[start..text.len() - ends.tail.len()];
            assert_eq!(ends.characters, middle.chars().count(), "{head} {tail}");
            assert_eq!(ends.lines, middle.matches('\n').count(), "{head} {tail}");
        }
        assert_eq!(decode_ends(b"short", 3, 3), None);
    }

    proptest::proptest! {
        #[test]
        fn broken_text_never_panics(raw in proptest::collection::vec(proptest::sample::select(
            b"\\u0dD8\"n\xc3\xa9 \xff".to_vec()), 0..40), head in 0usize..20, tail in 0usize..20) {
            let _ = decode(&raw);
            let _ = decode_ends(&raw, head, tail);
        }

        #[test]
        fn encode_then_decode(text: String) {
            let mut raw = Vec::new();
            encode_into(&text, &mut raw);
            proptest::prop_assert_eq!(decode(&raw), text);
        }
    }
}
