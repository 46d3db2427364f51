//! Lines of JSON into a Parquet file, a batch at a time.

use crate::column::{record, schema};
use crate::{Field, TableError};
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::sync::Arc;

/// Rows and bytes of JSON that are held before they are written; rows may be megabytes.
const BATCH_ROWS: usize = 1024;
const BATCH_BYTES: usize = 8 << 20;
/// Encoded bytes of a row group.
const GROUP_BYTES: usize = 32 << 20;

/// Writes one table. Rows are handed over as bytes of JSON lines, cut anywhere.
pub struct TableWriter<W: Write + Send> {
    fields: Vec<Field>,
    decoder: Decoder,
    writer: ArrowWriter<W>,
    /// A line that is not whole yet.
    line: Vec<u8>,
    rows: usize,
    bytes: usize,
    /// Rows in all.
    total: u64,
}

impl<W: Write + Send> std::fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").field("rows", &self.total).finish_non_exhaustive()
    }
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table; rows are pushed after that.
    pub fn new(out: W, fields: Vec<Field>) -> Result<TableWriter<W>, TableError> {
        let schema: SchemaRef = Arc::new(Schema::new(schema(&fields)));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("backstory ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let decoder =
            ReaderBuilder::new(schema.clone()).with_batch_size(BATCH_ROWS).build_decoder()?;
        let writer = ArrowWriter::try_new(out, schema, Some(properties))?;
        Ok(TableWriter { fields, decoder, writer, line: Vec::new(), rows: 0, bytes: 0, total: 0 })
    }

    /// More bytes of lines.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TableError> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, behind) = rest.split_at(at);
            if self.line.is_empty() {
                self.row(line)?;
            } else {
                self.line.extend_from_slice(line);
                let line = std::mem::take(&mut self.line);
                self.row(&line)?;
            }
            rest = behind.get(1..).unwrap_or_default();
        }
        self.line.extend_from_slice(rest);
        Ok(())
    }

    fn row(&mut self, line: &[u8]) -> Result<(), TableError> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let row = record(&self.fields, line)?;
        self.decoder.serialize(&[row])?;
        self.rows += 1;
        self.total += 1;
        self.bytes += line.len();
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TableError> {
        (self.rows, self.bytes) = (0, 0);
        if let Some(batch) = self.decoder.flush()? {
            self.writer.write(&batch)?;
        }
        if self.writer.in_progress_size() >= GROUP_BYTES {
            self.writer.flush()?;
        }
        Ok(())
    }

    /// Writes the end of the file; how many rows it has.
    pub fn finish(mut self) -> Result<u64, TableError> {
        let line = std::mem::take(&mut self.line);
        self.row(&line)?;
        self.flush()?;
        self.writer.close()?;
        Ok(self.total)
    }
}
