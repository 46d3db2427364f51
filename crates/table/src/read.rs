//! A Parquet file as lines of JSON, one for each row.

use crate::TableError;
use arrow_array::RecordBatch;
use arrow_json::LineDelimitedWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::fs::File;
use std::io;
use std::path::Path;

/// Few, because a row may hold a whole trajectory.
const BATCH_ROWS: usize = 16;

/// A table may unpack to this much, and beyond it to this many times its size.
const FLOOR: u64 = 64 << 20;
const RATIO: u64 = 500;

/// Lines of JSON.
#[derive(Debug)]
pub struct Rows {
    reader: ParquetRecordBatchReader,
    /// Lines of the batch that was read last, in reverse.
    lines: Vec<String>,
    failed: bool,
    /// The most bytes that the lines of a batch may have.
    most: u64,
}

/// The rows of a Parquet file, read as they are asked for. Absent values are left out.
pub fn rows_as_json(path: &Path) -> Result<Rows, TableError> {
    let file = File::open(path).map_err(|cause| TableError::Open { path: path.into(), cause })?;
    rows_of(file)
}

/// The rows of an open file as lines, until there are more bytes than `most`.
pub fn write_rows(file: &File, most: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let broken = |error: TableError| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
    let builder = ParquetRecordBatchReaderBuilder::try_new(file.try_clone()?);
    let builder = builder.map_err(|error| broken(error.into()))?;
    // What the file says of itself, before anything is unpacked.
    let groups = builder.metadata().row_groups().iter();
    let columns = groups.flat_map(|group| group.columns());
    let unpacked = columns.fold(0u64, |sum, column| {
        sum.saturating_add(u64::try_from(column.uncompressed_size()).unwrap_or(u64::MAX))
    });
    // The start of a table is read like the whole of it: what counts is how large the file is.
    let bound = file.metadata()?.len().saturating_mul(RATIO).max(FLOOR).max(most);
    if unpacked > bound {
        let cause = format!("unpacks to {unpacked} bytes, more than a table of its size may");
        return Err(io::Error::new(io::ErrorKind::InvalidData, cause));
    }
    let reader =
        builder.with_batch_size(BATCH_ROWS).build().map_err(|error| broken(error.into()))?;
    for row in (Rows { reader, lines: Vec::new(), failed: false, most: bound }) {
        bytes.extend_from_slice(row.map_err(broken)?.as_bytes());
        bytes.push(b'\n');
        if bytes.len() as u64 >= most {
            break;
        }
    }
    Ok(())
}

fn rows_of(file: File) -> Result<Rows, TableError> {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(BATCH_ROWS).build()?;
    Ok(Rows { reader, lines: Vec::new(), failed: false, most: u64::MAX })
}

impl Iterator for Rows {
    type Item = Result<String, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.lines.is_empty() {
            if self.failed {
                return None;
            }
            let lines = self.reader.next()?.map_err(TableError::from);
            let lines = lines.and_then(|batch| self::lines(&batch, self.most));
            match lines {
                Ok(lines) => self.lines = lines,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            }
        }
        self.lines.pop().map(Ok)
    }
}

/// Bytes, as long as they are not too many.
struct Bounded {
    bytes: Vec<u8>,
    most: u64,
}

impl io::Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + more.len()) as u64 > self.most {
            return Err(io::Error::other("a row is larger than a table of its size may hold"));
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lines(batch: &RecordBatch, most: u64) -> Result<Vec<String>, TableError> {
    let mut writer = LineDelimitedWriter::new(Bounded { bytes: Vec::new(), most });
    writer.write(batch)?;
    writer.finish()?;
    let bytes = writer.into_inner().bytes;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().rev().map(str::to_owned).collect())
}
