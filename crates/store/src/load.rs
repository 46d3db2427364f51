//! Reading a file, or a part of one, into memory.
//!
//! For formats that are one document, or lines inside a compressed file or a table. Such a file counts
//! as what is packed in it: offsets are those of the unpacked bytes. It cannot be entered in the
//! middle, so a [`Store`] keeps the one that was unpacked last: a packed file of many sessions is
//! unpacked once, not once for each of them. How tables (Parquet) are read is said by the program,
//! because the libraries for that are larger than everything else together.

use crate::StoreError;
use crate::context::{Store, TableReader, Unpacked};
use crate::file_state::FileState;
use crate::open::open;
use backstory_format::slice::Part;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::FrameDecoderError::ReadFrameHeaderError;
use ruzstd::decoding::errors::ReadFrameHeaderError::SkipFrame;
use std::fs::File;
use std::io::{BufRead, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// More than this is not held in memory: real sessions are far smaller, and a small file can
/// unpack to anything.
const MOST: u64 = 2 << 30;

/// A packed file may always unpack to this much.
const FLOOR: u64 = 64 << 20;

/// Beyond that, to so many times its size. Sessions are words: they pack to a tenth or a fiftieth,
/// while the smallest file that holds zeros unpacks to thirty thousand times its size.
const RATIO: u64 = 500;

/// What a packed file of this size may unpack to.
fn most_of(packed: u64) -> u64 {
    packed.saturating_mul(RATIO).clamp(FLOOR, MOST)
}

/// The error for what unpacks to more.
fn too_much(path: &Path, packed: u64) -> StoreError {
    match most_of(packed) {
        MOST => StoreError::TooLarge { path: path.into() },
        most => StoreError::Bomb { path: path.into(), most },
    }
}

const ZSTANDARD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
const PARQUET: [u8; 4] = *b"PAR1";

/// Whether a file is packed, by its name alone.
pub fn named_packed(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "zst" || end == "parquet")
}

/// Bytes of a file.
#[derive(Debug)]
pub struct Loaded {
    /// What was asked for, unpacked.
    pub bytes: Vec<u8>,
    /// Where they start in the (unpacked) file.
    pub start: u64,
    /// The file as it was when it was opened.
    pub state: FileState,
    pub(super) form: Form,
    pub(super) store: Store,
}

/// How a file holds its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Packed(Packing),
}

/// How bytes are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Zstandard,
    /// Rows, of which each is a line.
    Table,
}

/// Whether a file is packed, whatever its name.
pub fn is_packed(path: &Path) -> Result<bool, StoreError> {
    let (mut file, _) = open(path)?;
    let form = form(&mut file);
    form.map(|form| form != Form::Plain)
        .map_err(|cause| StoreError::Io { path: path.into(), cause })
}

/// How a file holds its bytes; leaves it at its start.
fn form(file: &mut File) -> std::io::Result<Form> {
    let mut head = [0; 4];
    let read = file.read(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(match head {
        ZSTANDARD if read == head.len() => Form::Packed(Packing::Zstandard),
        PARQUET if read == head.len() => Form::Packed(Packing::Table),
        _ => Form::Plain,
    })
}

impl Store {
    /// Reads `part` of a file, or all of it.
    pub fn load(&self, path: &Path, part: Option<Range<u64>>) -> Result<Loaded, StoreError> {
        let io = |cause| StoreError::Io { path: path.into(), cause };
        let (mut file, state) = open(path)?;
        let form = form(&mut file).map_err(io)?;
        let part = part.unwrap_or(0..u64::MAX);
        let mut bytes = Vec::new();
        match form {
            // The start of a file needs no more than itself.
            Form::Packed(packing) if part.start == 0 && part.end < u64::MAX => {
                let most = most_of(state.size);
                unpack(&file, packing, self.tables(), part.end.min(most + 1), &mut bytes)
                    .map_err(io)?;
                if bytes.len() as u64 > most {
                    return Err(too_much(path, state.size));
                }
            }
            Form::Packed(packing) => {
                let all = self.unpacked(path, &file, state, packing)?;
                let end = part.end.min(all.len() as u64) as usize;
                let start = part.start.min(end as u64) as usize;
                bytes.extend_from_slice(all.part(start..end));
            }
            Form::Plain => {
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
        }
        if bytes.len() as u64 > MOST {
            return Err(StoreError::TooLarge { path: path.into() });
        }
        // Documents are many and are held together; what is left over of each adds up.
        bytes.shrink_to_fit();
        Ok(Loaded { bytes, start: part.start, state, form, store: self.clone() })
    }

    /// Everything that is packed in a file.
    pub(super) fn unpacked(
        &self,
        path: &Path,
        file: &File,
        state: FileState,
        packing: Packing,
    ) -> Result<Arc<Vec<u8>>, StoreError> {
        // Others who want the same file wait for it instead of unpacking it as well.
        let mut last = self.last_unpacked();
        if let Some(kept) = last.as_ref().filter(|kept| kept.path == path && kept.state == state) {
            return Ok(kept.bytes.clone());
        }
        *last = None;
        let mut bytes = Vec::new();
        let most = most_of(state.size);
        unpack(file, packing, self.tables(), most + 1, &mut bytes)
            .map_err(|cause| StoreError::Io { path: path.into(), cause })?;
        if bytes.len() as u64 > most {
            return Err(too_much(path, state.size));
        }
        bytes.shrink_to_fit();
        let bytes = Arc::new(bytes);
        *last = Some(Unpacked { path: path.into(), state, bytes: bytes.clone() });
        Ok(bytes)
    }
}

/// What is packed in a file, up to so many bytes.
fn unpack(
    file: &File,
    packing: Packing,
    tables: Option<TableReader>,
    most: u64,
    bytes: &mut Vec<u8>,
) -> std::io::Result<()> {
    if packing == Packing::Table {
        let unread = || std::io::Error::other("tables are not read here");
        return tables.ok_or_else(unread)?(file, most, bytes);
    }
    unpack_frames(std::io::BufReader::new(file), most, bytes)
}

/// A file may be several frames, one after the other, as `zstd -c >>` makes them; some may be there
/// to be skipped.
fn unpack_frames(mut packed: impl BufRead, most: u64, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    while (bytes.len() as u64) < most && !packed.fill_buf()?.is_empty() {
        match StreamingDecoder::new(&mut packed) {
            Ok(frame) => {
                frame.take(most - bytes.len() as u64).read_to_end(bytes)?;
            }
            Err(ReadFrameHeaderError(SkipFrame { length, .. })) => {
                std::io::copy(&mut (&mut packed).take(length.into()), &mut std::io::sink())?;
            }
            Err(error) => {
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, error));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of Zstandard that unpacks to `blocks` times 128 kB of one letter.
    fn unpacking_file(blocks: usize) -> Vec<u8> {
        let mut bytes = ZSTANDARD.to_vec();
        // No content size, no checksum; a window of 1 MB.
        bytes.extend([0x00, 0x50]);
        for at in 0..blocks {
            let (last, repeated, size) = (u32::from(at + 1 == blocks), 1 << 1, (128 << 10) << 3);
            let header: u32 = last | repeated | size;
            bytes.extend_from_slice(header.to_le_bytes().part(..3));
            bytes.push(b'x');
        }
        bytes
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn a_small_file_does_not_unpack_to_anything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl.zst");
        std::fs::write(&path, unpacking_file(500)).unwrap();
        assert_eq!(Store::default().load(&path, None).unwrap().bytes.len(), 500 * (128 << 10));
        std::fs::write(&path, unpacking_file(2_000)).unwrap();
        for part in [None, Some(0..1 << 40), Some(10..20)] {
            let error = Store::default().load(&path, part).unwrap_err();
            assert!(matches!(error, StoreError::Bomb { most: FLOOR, .. }), "{error}");
        }
        assert_eq!(
            Store::default().load(&path, Some(0..100)).unwrap().bytes.len(),
            100,
            "its start is read"
        );
        assert_eq!(most_of(10 << 20), MOST);
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn a_table_is_unpacked_once_for_all_clones_of_a_store() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        fn rows(_: &File, _: u64, bytes: &mut Vec<u8>) -> std::io::Result<()> {
            CALLS.fetch_add(1, Ordering::Relaxed);
            bytes.extend_from_slice(b"{\"row\":1}\n");
            Ok(())
        }
        let calls = || CALLS.load(Ordering::Relaxed);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.parquet");
        std::fs::write(&path, b"PAR1 and more").unwrap();
        let plain = Store::default();
        assert!(plain.load(&path, None).is_err(), "it has no reader of tables");
        let store = plain.clone().with_tables(rows);
        let loaded = store.load(&path, None).unwrap();
        assert_eq!(loaded.bytes, b"{\"row\":1}\n");
        assert_eq!(store.clone().load(&path, Some(2..5)).unwrap().bytes, b"row");
        let span = backstory_format::Span { offset: 2, length: 3 };
        assert_eq!(loaded.source(&path).open().unwrap().bytes(span).unwrap(), b"row");
        assert_eq!(calls(), 1);
        let other = Store::default().with_tables(rows);
        assert_eq!(other.load(&path, Some(2..5)).unwrap().bytes, b"row");
        assert_eq!(calls(), 2, "another store keeps a file of its own");
    }
}
