//! Line splitting in which every byte belongs to exactly one line.
//!
//! Only LF ends a line. U+2028, NEL, form feed and a lone CR do not, whatever other readers do:
//! Claude Code writes JSON Lines, where a raw LF cannot occur inside a record.

use crate::slice::Part;
use memchr::memchr;

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// `\n`
    LineFeed,
    /// `\r\n`
    CarriageReturnLineFeed,
    /// End of input.
    None,
}

impl Ending {
    /// Number of bytes the ending takes.
    pub fn width(self) -> usize {
        match self {
            Ending::LineFeed => 1,
            Ending::CarriageReturnLineFeed => 2,
            Ending::None => 0,
        }
    }
}

/// One line: its content without the ending, and the ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Bytes before the ending.
    pub content: &'a [u8],
    /// What followed them.
    pub ending: Ending,
}

impl Line<'_> {
    /// Bytes of the line with its ending.
    pub fn width(&self) -> usize {
        self.content.len() + self.ending.width()
    }
}

/// Iterator over the lines of `bytes`; the widths add up to `bytes.len()`.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    rest: &'a [u8],
}

/// Splits `bytes` into lines.
pub fn split(bytes: &[u8]) -> Lines<'_> {
    Lines { rest: bytes }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = match memchr(b'\n', self.rest) {
            Some(at) => {
                let (head, tail) = self.rest.split_at(at);
                (terminated(head), tail.part(1..))
            }
            None => (Line { content: self.rest, ending: Ending::None }, &[] as &[u8]),
        };
        self.rest = rest;
        Some(line)
    }
}

fn terminated(head: &[u8]) -> Line<'_> {
    match head.split_last() {
        Some((b'\r', content)) => Line { content, ending: Ending::CarriageReturnLineFeed },
        _ => Line { content: head, ending: Ending::LineFeed },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(bytes: &[u8]) -> Vec<(&[u8], Ending)> {
        split(bytes).map(|line| (line.content, line.ending)).collect()
    }

    #[test]
    fn endings_are_kept() {
        assert_eq!(
            shapes(b"a\nb\r\n\nc"),
            [
                (&b"a"[..], Ending::LineFeed),
                (b"b", Ending::CarriageReturnLineFeed),
                (b"", Ending::LineFeed),
                (b"c", Ending::None),
            ]
        );
    }

    #[test]
    fn other_separators_do_not_end_a_line() {
        assert_eq!(shapes("a\u{2028}b\u{85}c\rd".as_bytes()).len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn widths_add_up(bytes in proptest::collection::vec(0u8..16, 0..200)) {
            proptest::prop_assert_eq!(split(&bytes).map(|l| l.width()).sum::<usize>(), bytes.len());
        }

        #[test]
        fn concatenation_at_a_line_end_is_concatenation_of_lines(
            mut a in proptest::collection::vec(0u8..16, 0..100),
            b in proptest::collection::vec(0u8..16, 0..100),
        ) {
            a.push(b'\n');
            let joined = [a.clone(), b.clone()].concat();
            let expected: Vec<_> = split(&a).chain(split(&b)).collect();
            proptest::prop_assert_eq!(split(&joined).collect::<Vec<_>>(), expected);
        }
    }
}
