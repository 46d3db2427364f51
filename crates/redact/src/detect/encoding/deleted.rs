//! EncodedParts that are undone by leaving something out: colours, ends of lines, quotes, spaces.

use super::{View, line, line_from};
use backstory_format::json::marks::{Byte, Marks};
use std::ops::Range;

/// The longest sequence that colours or moves.
const LONGEST_SEQUENCE: usize = 256;
/// What may stand between two literals at most, without their quotes.
const LONGEST_JOINT: usize = 96;
/// How far a value in pieces is followed.
const LONGEST_PART: usize = 16 << 10;
const FEWEST_SPACED: usize = 8;

/// The line around `at` and those below it that are coloured too: one search for all of them.
pub(super) fn coloured_part(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let mut part = line(text, at);
    while part.len() < LONGEST_PART && bytes.get(part.end) == Some(&b'\n') {
        let next = part.end + 1;
        // Most texts have one coloured line here and there.
        let rest = bytes.get(next..).unwrap_or_default();
        if !matches!(memchr::memchr2(b'\n', 0x1b, rest), Some(at) if rest.get(at) == Some(&0x1b)) {
            break;
        }
        let next = line_from(text, next);
        let words = bytes.get(next.clone()).unwrap_or_default();
        if memchr::memchr(0x1b, words).is_none() {
            break;
        }
        part.end = next.end;
    }
    part
}

/// The text without colours and characters that have no width.
pub(super) fn uncoloured(text: &str, part: Range<usize>) -> Option<View> {
    let bytes = text.as_bytes().get(..part.end)?;
    let without_width = |from: usize| {
        memchr::memchr3(0xc2, 0xe2, 0xef, bytes.get(from..)?).map(|found| from + found)
    };
    let mut escapes = Marks::<Byte<0x1b>>::new(bytes, part.start);
    let (mut next_escape, mut next_other) = (escapes.peek(), without_width(part.start));
    let mut view = View::with_room(part.len(), 8);
    let mut copied = part.start;
    while let Some(start) = next_escape.into_iter().chain(next_other).min() {
        let length = sequence(bytes.get(start..)?).unwrap_or(0);
        if length > 0 {
            view.copy(text, copied..start);
            copied = start + length;
        }
        let at = start + length.max(1);
        // Only what was passed is searched for again.
        if next_escape.is_some_and(|next| next < at) {
            escapes.pass_to(at);
            next_escape = escapes.peek();
        }
        if next_other.is_some_and(|next| next < at) {
            next_other = without_width(at);
        }
    }
    if copied == part.start {
        return None;
    }
    view.copy(text, copied..part.end);
    Some(view)
}

/// How long the sequence or character without width is that stands here.
fn sequence(bytes: &[u8]) -> Option<usize> {
    let short = bytes.get(..LONGEST_SEQUENCE).unwrap_or(bytes);
    match bytes {
        [0x1b, b'[', ..] => {
            let end = short.iter().skip(2).position(|byte| matches!(byte, b'@'..=b'~'))?;
            Some(2 + end + 1)
        }
        // The title of a window, a link: up to a bell or `ESC \`.
        [0x1b, b']', ..] => {
            let end = short.iter().position(|byte| *byte == 0x07).map(|at| at + 1);
            end.or_else(|| memchr::memmem::find(short, b"\x1b\\").map(|at| at + 2))
        }
        [0x1b, b'@'..=b'_', ..] => Some(2),
        [0xe2, 0x80, 0x8b..=0x8f, ..] | [0xe2, 0x81, 0xa0, ..] | [0xef, 0xbb, 0xbf, ..] => Some(3),
        [0xc2, 0xad, ..] => Some(2),
        _ => None,
    }
}

/// The part without what is left out of it; none if nothing is.
fn without(text: &str, part: Range<usize>, left_out: &[Range<usize>]) -> Option<View> {
    if left_out.is_empty() {
        return None;
    }
    let mut view = View::with_room(part.len(), left_out.len() + 1);
    let mut at = part.start;
    for gap in left_out {
        view.copy(text, at..gap.start);
        at = gap.end;
    }
    view.copy(text, at..part.end);
    Some(view)
}

/// The lines that go on behind the `\` at `at`, if a word does.
pub(super) fn continued_part(text: &str, at: usize) -> Option<Range<usize>> {
    let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at))?;
    if before.is_ascii_whitespace() || *before == b'\\' {
        return None;
    }
    let mut part = line(text, at);
    while part.len() < LONGEST_PART && text.get(part.clone())?.ends_with(['\\', '\r']) {
        if part.end >= text.len() {
            break;
        }
        part.end = line(text, part.end + 1).end;
    }
    Some(part)
}

/// Such lines as one.
pub(super) fn continued(text: &str, part: Range<usize>) -> Option<View> {
    let bytes = text.as_bytes();
    let mut left_out = Vec::new();
    for end in memchr::memchr_iter(b'\n', bytes.get(part.clone())?) {
        let end = part.start + end;
        let before = bytes.get(part.start..end)?;
        let kept = before.strip_suffix(b"\r").unwrap_or(before);
        let Some(kept) = kept.strip_suffix(b"\\") else { continue };
        let indent = bytes.get(end + 1..part.end)?;
        let indent = indent.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        left_out.push(part.start + kept.len()..end + 1 + indent);
    }
    without(text, part, &left_out)
}

/// What stands between two literals, their quotes included, if the first ends with the quote at `at`.
fn joint(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let quote = *bytes.get(at).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let before = bytes.get(..at)?;
    let escapes = before.iter().rev().take(8).take_while(|byte| **byte == b'\\').count();
    let spaces = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default().iter().take(LONGEST_JOINT);
        // The end of a line may be escaped.
        rest.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\\')).count()
    };
    let first = spaces(at + 1);
    let mut next = at + 1 + first;
    let signs = bytes
        .get(next..)?
        .iter()
        .take(2)
        .take_while(|byte| matches!(byte, b'+' | b'.' | b'&' | b'~'));
    let signs = signs.count();
    next += signs;
    if signs > 0 {
        next += spaces(next);
    }
    let prefix = |byte: &&u8| matches!(byte, b'f' | b'F' | b'r' | b'R' | b'b' | b'B' | b'u' | b'L');
    next += bytes.get(next..)?.iter().take(2).take_while(prefix).count();
    let escaped = bytes.get(next..)?.iter().take(8).take_while(|byte| **byte == b'\\').count();
    next += escaped;
    // `""` is an empty literal, or a quote in a table.
    (bytes.get(next) == Some(&quote) && signs + first > 0).then_some(at - escapes..next + 1)
}

/// The lines of literals that follow each other, the first of which ends at the quote at `at`.
pub(super) fn literals_part(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut behind = joint(bytes, at)?.end;
    let part = line(text, at);
    while behind - part.start < LONGEST_PART {
        let Some(quote) = next_quote(bytes, behind) else { break };
        let Some(next) = joint(bytes, quote) else { break };
        behind = next.end;
    }
    Some(part.start..line(text, behind).end)
}

/// The next quote on the line.
fn next_quote(bytes: &[u8], at: usize) -> Option<usize> {
    let found = memchr::memchr3(b'"', b'\'', b'\n', bytes.get(at..)?)?;
    (bytes.get(at + found) != Some(&b'\n')).then_some(at + found)
}

/// Such literals as one.
pub(super) fn literals(text: &str, part: Range<usize>) -> Option<View> {
    let bytes = text.as_bytes();
    let mut left_out: Vec<Range<usize>> = Vec::new();
    let mut at = part.start;
    while let Some(found) =
        bytes.get(at..part.end).and_then(|rest| memchr::memchr2(b'"', b'\'', rest))
    {
        at += found;
        let last = left_out.last().map_or(0, |gap| gap.end);
        match joint(bytes, at).filter(|gap| gap.end <= part.end && gap.start >= last) {
            Some(gap) => {
                at = gap.end;
                left_out.push(gap);
            }
            None => at += 1,
        }
    }
    without(text, part, &left_out)
}

/// The characters with spaces between them around `at`.
pub(super) fn spaced_part(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_spaced = |at: usize| {
        bytes.get(at).is_some_and(u8::is_ascii_graphic) && bytes.get(at + 1) == Some(&b' ')
    };
    let mut start = at;
    while start >= 2 && is_spaced(start - 2) && at - start < LONGEST_PART {
        start -= 2;
    }
    let mut end = at;
    while is_spaced(end) && end - at < LONGEST_PART {
        end += 2;
        // Two more spaces are a space.
        if bytes.get(end..end + 2) == Some(b"  ") {
            end += 2;
        }
    }
    end += usize::from(bytes.get(end).is_some_and(u8::is_ascii_graphic));
    ((end - start) / 2 >= FEWEST_SPACED).then_some(start..end)
}

/// Such characters without their spaces.
pub(super) fn spaced(text: &str, part: Range<usize>) -> Option<View> {
    let mut view = View::default();
    for at in part.clone().step_by(2) {
        view.copy(text, at..at + 1);
    }
    Some(view)
}
