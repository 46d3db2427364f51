//! What columns hold.

use crate::TableError;
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field as ArrowField, Fields};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What a column holds. Everything may be absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// UTF-8 text.
    Text,
    /// Signed, of 64 bits.
    Integer,
    /// A float of 64 bits.
    Number,
    /// True or false.
    Flag,
    /// Any JSON value, stored as text and marked as JSON.
    Json,
    /// Any JSON value, stored as plain text.
    JsonText,
    /// Any number of values of one column.
    List(Box<Column>),
    /// Named fields; a row that has others is refused.
    Record(Vec<Field>),
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// As rows name it.
    pub name: &'static str,
    /// What it holds.
    pub column: Column,
}

impl Field {
    /// A column called `name`.
    pub fn new(name: &'static str, column: Column) -> Field {
        Field { name, column }
    }

    fn arrow(&self) -> ArrowField {
        self.column.arrow(self.name)
    }
}

pub(crate) fn schema(fields: &[Field]) -> Fields {
    fields.iter().map(Field::arrow).collect()
}

impl Column {
    fn arrow(&self, name: &str) -> ArrowField {
        let kind = match self {
            Column::Text | Column::Json | Column::JsonText => DataType::Utf8,
            Column::Integer => DataType::Int64,
            Column::Number => DataType::Float64,
            Column::Flag => DataType::Boolean,
            Column::List(item) => DataType::List(Arc::new(item.arrow("element"))),
            Column::Record(fields) => DataType::Struct(schema(fields)),
        };
        let field = ArrowField::new(name, kind, true);
        match self {
            Column::Json => field.with_metadata(HashMap::from([
                (EXTENSION_TYPE_NAME_KEY.to_owned(), "arrow.json".to_owned()),
                (EXTENSION_TYPE_METADATA_KEY.to_owned(), String::new()),
            ])),
            _ => field,
        }
    }

    /// A value as the column stores it. A field that no column has is an error, not lost.
    pub(crate) fn stored(&self, value: &RawValue) -> Result<Value, TableError> {
        let text = value.get();
        if text == "null" {
            return Ok(Value::Null);
        }
        Ok(match self {
            // As it is: fields keep their order, numbers their digits.
            Column::Json => Value::String(text.to_owned()),
            Column::JsonText if !text.starts_with('"') => Value::String(text.to_owned()),
            Column::List(item) if text.starts_with('[') => {
                let values: Vec<&RawValue> = serde_json::from_str(text)?;
                let stored: Result<Vec<Value>, _> =
                    values.into_iter().map(|value| item.stored(value)).collect();
                Value::Array(stored?)
            }
            Column::Record(fields) if text.starts_with('{') => record(fields, text.as_bytes())?,
            _ => serde_json::from_str(text)?,
        })
    }
}

/// An object as the columns store it.
pub(crate) fn record(fields: &[Field], object: &[u8]) -> Result<Value, TableError> {
    let values: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(object)?;
    let mut stored = serde_json::Map::new();
    for (name, value) in values {
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            return Err(TableError::UnknownField(name.into_owned()));
        };
        stored.insert(name.into_owned(), field.column.stored(value)?);
    }
    Ok(Value::Object(stored))
}
