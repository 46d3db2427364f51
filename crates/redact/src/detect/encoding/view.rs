//! A text that was made from a part of another one, and where its bytes came from.

use std::ops::Range;

/// What an encoded part of a text says.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) text: String,
    pieces: Vec<Piece>,
}

/// Bytes that follow each other here and came from one place.
#[derive(Debug, Clone)]
struct Piece {
    here: usize,
    there: Range<usize>,
    /// Every byte came from one byte; else all of them from all of it.
    copied: bool,
}

impl View {
    /// An empty one with room for so many bytes in so many pieces.
    pub(super) fn with_room(bytes: usize, pieces: usize) -> View {
        View { text: String::with_capacity(bytes), pieces: Vec::with_capacity(pieces) }
    }

    /// Adds a part of the original as it is.
    pub(crate) fn copy(&mut self, original: &str, there: Range<usize>) {
        let Some(part) = original.get(there.clone()).filter(|part| !part.is_empty()) else {
            return;
        };
        self.pieces.push(Piece { here: self.text.len(), there, copied: true });
        self.text.push_str(part);
    }

    /// Adds what a part of the original stands for.
    pub(super) fn decode(&mut self, says: &str, there: Range<usize>) {
        if !says.is_empty() {
            self.pieces.push(Piece { here: self.text.len(), there, copied: false });
            self.text.push_str(says);
        }
    }

    /// Adds decoded bytes that came from one place. What is not text becomes spaces.
    pub(super) fn bytes(&mut self, bytes: &[u8], there: Range<usize>) {
        self.pieces.push(Piece { here: self.text.len(), there, copied: false });
        self.text.extend(bytes.iter().map(|byte| match byte {
            b'\t' | b'\n' | b'\r' | 0x1b | b' '..=b'~' => char::from(*byte),
            _ => ' ',
        }));
    }

    /// Where a part of this text came from.
    pub(crate) fn origin(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let first = self.piece(range.start)?;
        let last = self.piece(range.end.checked_sub(1)?)?;
        let start = if first.copied {
            first.there.start + (range.start - first.here)
        } else {
            first.there.start
        };
        let end =
            if last.copied { last.there.start + (range.end - last.here) } else { last.there.end };
        (start < end).then_some(start..end)
    }

    fn piece(&self, at: usize) -> Option<&Piece> {
        let behind = self.pieces.partition_point(|piece| piece.here <= at);
        self.pieces.get(behind.checked_sub(1)?)
    }
}
