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

/// Lines of JSON.
#[derive(Debug)]
pub struct Rows {
    reader: ParquetRecordBatchReader,
    /// Lines of the batch that was read last, in reverse.
    lines: Vec<String>,
    failed: bool,
}

/// The rows of a Parquet file, read as they are asked for. Absent values are left out.
pub fn rows_as_json(path: &Path) -> Result<Rows, TableError> {
    let file = File::open(path).map_err(|cause| TableError::Open { path: path.into(), cause })?;
    rows_of(file)
}

/// The rows of an open file as lines, until there are more bytes than `most`.
pub fn write_rows(file: &File, most: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let broken = |error: TableError| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
    for row in rows_of(file.try_clone()?).map_err(broken)? {
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
    Ok(Rows { reader, lines: Vec::new(), failed: false })
}

impl Iterator for Rows {
    type Item = Result<String, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.lines.is_empty() {
            if self.failed {
                return None;
            }
            let lines =
                self.reader.next()?.map_err(TableError::from).and_then(|batch| lines(&batch));
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

fn lines(batch: &RecordBatch) -> Result<Vec<String>, TableError> {
    let mut writer = LineDelimitedWriter::new(Vec::new());
    writer.write(batch)?;
    writer.finish()?;
    let bytes = writer.into_inner();
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().rev().map(str::to_owned).collect())
}
