//! A text without its line breaks, for matching values that were wrapped over several lines.

use std::ops::Range;

/// The text without line ends and what surrounds them, and where its pieces stood.
#[derive(Debug, Default)]
pub(crate) struct Unwrapped {
    pub(crate) text: String,
    /// Where each piece begins, here and in the original.
    pieces: Vec<(usize, usize)>,
}

impl Unwrapped {
    /// None if the text has only one line. A line end written as `\n` counts as one.
    pub(crate) fn of(text: &str) -> Option<Unwrapped> {
        let bytes = text.as_bytes();
        let mut unwrapped = Unwrapped::default();
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.get(at..)?;
            let line = memchr::memchr2(b'\n', b'\\', rest).unwrap_or(rest.len());
            let escape = matches!(rest.get(line..line + 2), Some(b"\\n" | b"\\r"));
            if rest.get(line) == Some(&b'\\') && !escape {
                unwrapped.push(text.get(at..at + line + 1)?, at);
                at += line + 1;
                continue;
            }
            let piece = text.get(at..at + line)?;
            unwrapped.push(piece.trim_end_matches([' ', '\t', '\r']), at);
            at += line + if escape { 2 } else { 1 };
            while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r')) {
                at += 1;
            }
        }
        (unwrapped.pieces.len() > 1).then_some(unwrapped)
    }

    fn push(&mut self, piece: &str, at: usize) {
        if !piece.is_empty() {
            self.pieces.push((self.text.len(), at));
            self.text.push_str(piece);
        }
    }

    /// Where a range stood, if it was broken there.
    pub(crate) fn broken(&self, range: Range<usize>) -> Option<Range<usize>> {
        let first = self.piece(range.start)?;
        let last = self.piece(range.end.checked_sub(1)?)?;
        let (start_here, start_there) = *self.pieces.get(first)?;
        let (end_here, end_there) = *self.pieces.get(last)?;
        let there = start_there + range.start - start_here..end_there + range.end - end_here;
        (there.len() > range.len()).then_some(there)
    }

    fn piece(&self, at: usize) -> Option<usize> {
        self.pieces.partition_point(|(here, _)| *here <= at).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_text_is_found_and_its_place_known() {
        let text = "key: abcd\n   efgh\\nijkl end";
        let unwrapped = Unwrapped::of(text).unwrap();
        let at = unwrapped.text.find("abcdefghijkl").unwrap();
        let there = unwrapped.broken(at..at + 12).unwrap();
        assert_eq!(text.get(there), Some("abcd\n   efgh\\nijkl"));
        assert!(Unwrapped::of("one \\ line").is_none() || unwrapped.broken(0..3).is_none());
    }
}
