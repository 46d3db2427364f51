//! Exports as Parquet: which columns a format has, and lines on their way into them.
//!
//! Messages are JSON values, one for each element, because their fields differ: readers that know the
//! `arrow.json` type (`datasets` from 4.7) hand back what stands in the JSONL file, without fields that
//! are null. verl reads with pandas, which does not, so its messages are records and inputs are text.

use crate::error::CliError;
use backstory_export::{Document, Format, Layout, Per, SftFormat};
use backstory_table::{Column, Field, TableError, TableWriter};
use std::io::{self, Write};

/// The columns of a format; none if it has no table.
pub(crate) fn columns(format: &Format<'_>) -> Option<Vec<Field>> {
    let values = || Column::List(Box::new(Column::Json));
    let meta = Field::new("meta", Column::Json);
    let tools = Field::new("tools", values());
    match format {
        Format::TraceState(states) if states.layout == Layout::Full => Some(vec![
            Field::new("state_id", Column::Text),
            Field::new("messages", values()),
            Field::new("student_action", Column::Text),
            meta,
            Field::new("teacher_id", Column::Text),
            Field::new("reward", Column::Number),
            Field::new("hint_text", Column::Text),
        ]),
        Format::Sft(sft) => Some(match (sft.format, sft.per) {
            (SftFormat::Trl, Per::Step) => vec![
                Field::new("prompt", values()),
                Field::new("completion", values()),
                tools,
                meta,
            ],
            (SftFormat::LlamaFactory, _) => {
                let turn =
                    vec![Field::new("from", Column::Text), Field::new("value", Column::Text)];
                vec![
                    Field::new("system", Column::Text),
                    Field::new("conversations", Column::List(Box::new(Column::Record(turn)))),
                    Field::new("tools", Column::Text),
                    meta,
                ]
            }
            (SftFormat::Verl, _) => vec![Field::new("messages", records()), tools_of_verl(), meta],
            _ => vec![Field::new("messages", values()), tools, meta],
        }),
        _ => None,
    }
}

fn records() -> Column {
    let function =
        vec![Field::new("name", Column::Text), Field::new("arguments", Column::JsonText)];
    let call = vec![
        Field::new("id", Column::Text),
        Field::new("type", Column::Text),
        Field::new("function", Column::Record(function)),
    ];
    Column::List(Box::new(Column::Record(vec![
        Field::new("role", Column::Text),
        Field::new("content", Column::Text),
        Field::new("reasoning_content", Column::Text),
        Field::new("tool_calls", Column::List(Box::new(Column::Record(call)))),
        Field::new("tool_call_id", Column::Text),
        Field::new("name", Column::Text),
    ])))
}

fn tools_of_verl() -> Field {
    let function = vec![
        Field::new("name", Column::Text),
        Field::new("description", Column::Text),
        Field::new("parameters", Column::JsonText),
    ];
    let tool =
        vec![Field::new("type", Column::Text), Field::new("function", Column::Record(function))];
    Field::new("tools", Column::List(Box::new(Column::Record(tool))))
}

/// What is said where a table is to go to standard output.
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
        self.told(copied)
    }

    /// What writing into it came to; the table's own failure says more than that of who wrote.
    pub(crate) fn told<T>(&mut self, done: Result<T, CliError>) -> Result<T, CliError> {
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
