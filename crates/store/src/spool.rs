//! Bytes that wait to be written: in memory while they are few, else in a file without a name.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};

/// More than this goes to the file.
const IN_MEMORY: usize = 4 << 20;

/// Bytes in the order in which they came.
#[derive(Debug, Default)]
pub struct Spool {
    buffer: Vec<u8>,
    file: Option<File>,
    in_file: u64,
    failure: Option<io::Error>,
}

impl Spool {
    /// Adds bytes. A failure is kept and told by [`copy_to`](Spool::copy_to).
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The bytes that are still in memory, to be added to.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Moves the bytes in memory to the file if there are many.
    pub fn spill(&mut self) {
        if self.buffer.len() > IN_MEMORY
            && let Err(failure) = self.move_to_file()
        {
            self.failure.get_or_insert(failure);
        }
    }

    fn move_to_file(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile()?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(&self.buffer)?;
            self.in_file += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        self.in_file + self.buffer.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes of memory they take.
    pub fn memory(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Writes everything to `out`.
    pub fn copy_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if let Some(file) = &mut self.file {
            file.seek(SeekFrom::Start(0))?;
            let copied = io::copy(&mut file.take(self.in_file), out)?;
            if copied != self.in_file {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        out.write_all(&self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spool_returns_its_bytes() {
        let mut spool = Spool::default();
        let mut expected = Vec::new();
        for round in 0..5u8 {
            let bytes = vec![round; 3 << 20];
            spool.push(&bytes);
            spool.spill();
            expected.extend(bytes);
        }
        assert!(spool.memory() < 8 << 20);
        assert_eq!(spool.len(), expected.len() as u64);
        let mut out = Vec::new();
        spool.copy_to(&mut out).unwrap();
        assert!(out == expected);
    }
}
