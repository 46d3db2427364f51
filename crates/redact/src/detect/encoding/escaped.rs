//! EncodedParts that write a character as a number or a name: in URLs, pages and literals.

use super::{View, hex_byte, on_boundaries};
use std::ops::Range;

/// How far a URL is followed, before its first escape and behind it.
const BEFORE: usize = 1 << 10;
const BEHIND: usize = 64 << 10;

/// The word around the `%` at `at`, if it is an escape.
pub(super) fn percent_part(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    hex_byte(bytes.get(at + 1..)?)?;
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
    };
    let least = at.saturating_sub(BEFORE);
    let start =
        bytes.get(least..at)?.iter().rposition(ends).map_or(least, |found| least + found + 1);
    let behind = bytes.get(at..(at + BEHIND).min(bytes.len()))?;
    let end = at + behind.iter().position(ends).unwrap_or(behind.len());
    Some(on_boundaries(text, start..end))
}

/// What the word says when it is not escaped.
pub(super) fn percent(text: &str, part: Range<usize>) -> Option<View> {
    decoded(
        text,
        part,
        |byte| byte == b'%',
        |rest| {
            let byte = hex_byte(rest.get(1..)?).filter(u8::is_ascii)?;
            Some((char::from(byte), 3))
        },
    )
}

/// What a line of a page says.
pub(super) fn entities(text: &str, part: Range<usize>) -> Option<View> {
    decoded(text, part, |byte| byte == b'&', entity)
}

const LONGEST_ENTITY: usize = 12;
const NAMED: [(&[u8], char); 20] = [
    (b"quot", '"'),
    (b"apos", '\''),
    (b"amp", '&'),
    (b"lt", '<'),
    (b"gt", '>'),
    (b"nbsp", ' '),
    (b"equals", '='),
    (b"colon", ':'),
    (b"sol", '/'),
    (b"num", '#'),
    (b"plus", '+'),
    (b"lowbar", '_'),
    (b"period", '.'),
    (b"comma", ','),
    (b"excl", '!'),
    (b"dollar", '$'),
    (b"percnt", '%'),
    (b"commat", '@'),
    (b"hyphen", '-'),
    (b"ast", '*'),
];

fn entity(rest: &[u8]) -> Option<(char, usize)> {
    let short = rest.get(..LONGEST_ENTITY).unwrap_or(rest);
    let end = short.iter().position(|byte| *byte == b';')?;
    let name = short.get(1..end)?;
    let character = match name {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16)?,
        [b'#', digits @ ..] => number(digits, 10)?,
        _ => NAMED.iter().find(|(one, _)| *one == name)?.1,
    };
    Some((character, end + 1))
}

fn number(digits: &[u8], radix: u32) -> Option<char> {
    let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    char::from_u32(number)
}

/// What a line says when the numbers of characters in it are read.
pub(super) fn escapes(text: &str, part: Range<usize>) -> Option<View> {
    decoded(
        text,
        part,
        |byte| byte == b'\\',
        |rest| {
            // Inside other literals each of them is escaped again.
            let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
            let (character, length) = match rest.get(slashes..)? {
                [b'u', b'{', digits @ ..] => {
                    let digits = digits.get(..8).unwrap_or(digits);
                    let end = digits.iter().position(|byte| *byte == b'}')?;
                    (number(digits.get(..end)?, 16)?, end + 3)
                }
                [b'u', digits @ ..] => (number(digits.get(..4)?, 16)?, 5),
                [b'U', digits @ ..] => (number(digits.get(..8)?, 16)?, 9),
                [b'x', digits @ ..] => (number(digits.get(..2)?, 16)?, 3),
                [b'0'..=b'1', b'0'..=b'7', b'0'..=b'7', ..] => {
                    (number(rest.get(slashes..slashes + 3)?, 8)?, 3)
                }
                _ => return None,
            };
            Some((character, slashes + length))
        },
    )
}

/// The part with each escape decoded; none if there is none in it. `escape` gives the character that
/// stands at the beginning, and how long its escape is.
fn decoded(
    text: &str,
    part: Range<usize>,
    opens: impl Fn(u8) -> bool,
    escape: impl Fn(&[u8]) -> Option<(char, usize)>,
) -> Option<View> {
    let bytes = text.as_bytes().get(..part.end)?;
    let mut view = View::default();
    let (mut at, mut copied) = (part.start, part.start);
    let mut space = [0; 4];
    let mut any = false;
    while let Some(found) =
        bytes.get(at..).and_then(|rest| rest.iter().position(|byte| opens(*byte)))
    {
        at += found;
        let rest = bytes.get(at..)?;
        let Some((character, length)) = escape(rest) else {
            // A run of backslashes is looked at once.
            let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
            at += slashes.max(1);
            continue;
        };
        view.copy(text, copied..at);
        view.decode(character.encode_utf8(&mut space), at..at + length);
        at += length;
        copied = at;
        any = true;
    }
    view.copy(text, copied..part.end);
    any.then_some(view)
}
