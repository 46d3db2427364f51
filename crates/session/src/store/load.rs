//! Reading a file, or a part of one, into memory.
//!
//! For formats that are one document, or lines inside a compressed file. A compressed file counts
//! as what is packed in it: offsets are those of the unpacked bytes.

use super::open::{FileState, StoreError, open};
use super::source::Source;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// More than this is not held in memory: real sessions are far smaller, and a small file can
/// unpack to anything.
const MOST: u64 = 2 << 30;

const ZSTANDARD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Bytes of a file.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) bytes: Vec<u8>,
    /// Where they start in the (unpacked) file.
    pub(crate) start: u64,
    pub(crate) state: FileState,
}

impl Loaded {
    /// The file, for fetching content later.
    pub(crate) fn source(&self, path: &Path) -> Source {
        Source::new(path, Some(self.state))
    }
}

/// Reads `part` of a file, or all of it.
pub(crate) fn load(path: &Path, part: Option<Range<u64>>) -> Result<Loaded, StoreError> {
    let io = |cause| StoreError::Io { path: path.into(), cause };
    let (mut file, state) = open(path)?;
    let part = part.unwrap_or(0..u64::MAX);
    let mut bytes = Vec::new();
    if is_packed(&mut file).map_err(io)? {
        unpack(&file, &mut bytes).map_err(io)?;
        let length = bytes.len() as u64;
        bytes.truncate(part.end.min(length) as usize);
        bytes.drain(..part.start.min(bytes.len() as u64) as usize);
    } else {
        let wanted = part.end.min(state.size).saturating_sub(part.start);
        if wanted > MOST {
            return Err(StoreError::TooLarge { path: path.into() });
        }
        file.seek(SeekFrom::Start(part.start)).map_err(io)?;
        (&file).take(wanted).read_to_end(&mut bytes).map_err(io)?;
        if (bytes.len() as u64) < wanted {
            return Err(StoreError::Changed { path: path.into() });
        }
    }
    if bytes.len() as u64 > MOST {
        return Err(StoreError::TooLarge { path: path.into() });
    }
    Ok(Loaded { bytes, start: part.start, state })
}

/// Whether a file is compressed; leaves it at its start.
pub(super) fn is_packed(file: &mut File) -> std::io::Result<bool> {
    let mut head = [0; 4];
    let read = file.read(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(read == head.len() && head == ZSTANDARD)
}

/// Everything that is packed in a file, up to one byte more than may be held.
pub(super) fn unpack(file: &File, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    let broken = |error| std::io::Error::new(std::io::ErrorKind::InvalidData, error);
    let mut packed = std::io::BufReader::new(file);
    let unpacked = ruzstd::decoding::StreamingDecoder::new(&mut packed).map_err(broken)?;
    unpacked.take(MOST + 1).read_to_end(bytes).map(drop)
}
