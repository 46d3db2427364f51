//! Rows of JSON as Parquet, and Parquet as rows of JSON.
//!
//! Only the program uses this: the Arrow crates are large, and reading sessions needs none of them.
//! Values whose shape differs from row to row (inputs of calls, tool definitions) are stored as JSON
//! text with the `arrow.json` extension type, which readers such as `datasets` hand back as values. Not
//! here: what the columns of a format are called.

mod column;
mod read;
mod write;

pub use column::{Column, Field};
pub use read::{Rows, rows_as_json, write_rows};
pub use write::TableWriter;

use std::io;
use std::path::PathBuf;

/// Why a table cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum TableError {
    /// The file could not be opened.
    #[error("`{}`: {cause}", path.display())]
    Open { path: PathBuf, cause: io::Error },
    /// The file is damaged, encrypted or something else.
    #[error("no Parquet that can be read: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// A value does not fit its column.
    #[error("table: {0}")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A line is not JSON, or not an object.
    #[error("a row is not a JSON object: {0}")]
    Row(#[from] serde_json::Error),
    /// A row has a field that would be lost.
    #[error("field `{0}` is in no column")]
    UnknownField(String),
}
