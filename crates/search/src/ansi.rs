//! Control sequences of terminals, which are not part of what was said.

use std::borrow::Cow;

/// Parameters of a sequence are short.
const PARAMETERS: usize = 64;
/// The text of an operating system command, such as a title or a link.
const COMMAND: usize = 2_000;

pub(crate) const ESCAPE: u8 = 0x1B;
/// What follows [`ESCAPE`] at the start of an operating system command.
pub(crate) const COMMAND_START: u8 = b']';

/// The text without control sequences.
pub(crate) fn strip(text: Cow<'_, str>) -> Cow<'_, str> {
    match without(text.as_bytes()) {
        Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        None => text,
    }
}

/// The bytes without control sequences; none if there are none in them.
pub(crate) fn without(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut places = memchr::memchr_iter(ESCAPE, bytes).peekable();
    places.peek()?;
    let mut kept = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for at in places {
        if at < from {
            continue;
        }
        if let Some(length) = bytes.get(at..).and_then(sequence) {
            kept.extend_from_slice(bytes.get(from..at).unwrap_or_default());
            from = at + length;
        }
    }
    kept.extend_from_slice(bytes.get(from..).unwrap_or_default());
    Some(kept)
}

/// The length of the sequence that these bytes begin with.
fn sequence(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'[' => {
            let rest = bytes.get(2..)?;
            let is_parameter = |byte: &u8| matches!(byte, 0x30..=0x3F | b' ');
            let length = rest.iter().take(PARAMETERS).take_while(|byte| is_parameter(byte)).count();
            match rest.get(length)? {
                b'\\' => None,
                0x40..=0x7E => Some(2 + length + 1),
                _ => None,
            }
        }
        &COMMAND_START => {
            let rest = bytes.get(2..)?;
            let ends = |byte: &u8| matches!(*byte, 0x07 | ESCAPE | b'\n');
            let length = rest.iter().take(COMMAND).position(ends)?;
            match (rest.get(length)?, rest.get(length + 1)) {
                (0x07, _) => Some(2 + length + 1),
                (&ESCAPE, Some(b'\\')) => Some(2 + length + 2),
                _ => None,
            }
        }
        b'(' | b')' => bytes.get(2).filter(|byte| byte.is_ascii_alphanumeric()).map(|_| 3),
        b'=' | b'>' | b'7' | b'8' | b'c' | b'M' => Some(2),
        _ => None,
    }
}

/// The most bytes of control sequences in a row.
pub(crate) fn longest_run(bytes: &[u8]) -> usize {
    let (mut longest, mut run, mut end) = (0, 0, 0);
    for at in memchr::memchr_iter(ESCAPE, bytes) {
        if let Some(length) = bytes.get(at..).and_then(sequence) {
            run = if at == end { run + length } else { length };
            end = at + length;
            longest = longest.max(run);
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_go_and_text_stays() {
        let stripped = |text: &str| strip(Cow::Borrowed(text)).into_owned();
        assert_eq!(stripped("\u{1b}[1;31mre\u{1b}[0mdis\u{1b}[K"), "redis");
        assert_eq!(stripped("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}!"), "link!");
        assert_eq!(stripped("a\u{1b}(Bb\u{1b}=c"), "abc");
        assert_eq!(stripped("a\u{1b}zb\u{1b}"), "a\u{1b}zb\u{1b}");
        assert_eq!(stripped("é"), "é");
        assert_eq!(longest_run(b"\x1b[1m\x1b[0mx\x1b[1m"), 8);
    }
}
