//! Rows that share most of their bytes, put together while they are written.
//!
//! Histories of training states repeat each other: state k + 1 holds all of state k. Here every message
//! stands once and a row says which pieces it is made of, so that memory is linear in the session
//! although what is written is quadratic.

use backstory_format::slice::Part;
use std::io::{self, Write};
use std::ops::Range;

/// A part of a row.
#[derive(Debug)]
pub(super) enum Piece {
    Own(Vec<u8>),
    /// A range of one of the shared buffers.
    Shared(usize, Range<usize>),
}

/// Rows of one document.
#[derive(Debug, Default)]
pub(super) struct Rows {
    shared: Vec<Vec<u8>>,
    pieces: Vec<Piece>,
}

impl Rows {
    pub(super) fn new(shared: Vec<Vec<u8>>, pieces: Vec<Piece>) -> Rows {
        Rows { shared, pieces }
    }

    fn bytes<'r>(&'r self, piece: &'r Piece) -> &'r [u8] {
        match piece {
            Piece::Own(bytes) => bytes,
            Piece::Shared(at, range) => self
                .shared
                .part(*at..*at + 1)
                .first()
                .map_or(&[][..], |bytes| bytes.part(range.clone())),
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.pieces.iter().map(|piece| self.bytes(piece).len() as u64).sum()
    }

    /// Bytes of memory it takes.
    pub(super) fn memory(&self) -> u64 {
        let own = self.pieces.iter().map(|piece| match piece {
            Piece::Own(bytes) => bytes.len(),
            Piece::Shared(..) => 0,
        });
        own.chain(self.shared.iter().map(Vec::len)).sum::<usize>() as u64
    }

    pub(super) fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        self.pieces.iter().try_for_each(|piece| out.write_all(self.bytes(piece)))
    }
}
