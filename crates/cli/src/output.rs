//! Where commands write: the file that the user named, and tables.

use crate::error::CliError;
use backstory_export::Document;
use backstory_store::{Access, Destination, write_file};
use backstory_table::{Field, TableError, TableWriter};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// The file or folder to write to; none for `-`, which is standard output.
pub(crate) fn named(out: Option<&Path>) -> Option<&Path> {
    out.filter(|out| out.as_os_str() != "-")
}

/// Writes a report of figures that only the user may read.
pub(crate) fn write_report(to: &Destination, report: &impl Serialize) -> Result<(), CliError> {
    write_file::<CliError>(to, Access::Private, |out| {
        serde_json::to_writer_pretty(&mut *out, report)?;
        out.write_all(b"\n")?;
        Ok(())
    })?;
    Ok(())
}

/// The error for a table that would go to standard output.
pub(crate) fn needs_file() -> CliError {
    CliError::new("Parquet: a table is written to a file").hint("name it with --out FILE.parquet")
}

/// A table that documents are put into.
pub(crate) struct Table<W: Write + Send> {
    writer: TableWriter<W>,
    failure: Option<TableError>,
}

impl<W: Write + Send> Table<W> {
    pub(crate) fn new(out: W, columns: &[Field]) -> Result<Table<W>, CliError> {
        let writer = TableWriter::new(out, columns.to_vec()).map_err(failed)?;
        Ok(Table { writer, failure: None })
    }

    pub(crate) fn put(&mut self, document: &mut Document) -> Result<(), CliError> {
        let copied = document.copy_to(self).map_err(CliError::from);
        self.with_failure(copied)
    }

    /// The result of writing into the table: if the table itself failed, that failure, which says more.
    pub(crate) fn with_failure<T>(&mut self, done: Result<T, CliError>) -> Result<T, CliError> {
        match self.failure.take() {
            Some(failure) => Err(failed(failure)),
            None => done,
        }
    }

    pub(crate) fn finish(self) -> Result<(), CliError> {
        self.writer.finish().map(drop).map_err(failed)
    }
}

impl<W: Write + Send> Write for Table<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.writer.push(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(failure) => {
                self.failure = Some(failure);
                Err(io::Error::other("table"))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failed(error: TableError) -> CliError {
    CliError::new(format!("Parquet: {error}"))
}
