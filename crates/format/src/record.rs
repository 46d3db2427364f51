//! One record: a JSON object, its kind, and the exact bytes it was read from.

use crate::json::Value;
use crate::record_kind::RecordKind;
use std::borrow::Cow;

/// A record as it is in the file; borrowed, so it lives only while it is visited.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    value: Value<'a>,
    kind: RecordKind,
    /// Byte offset of the record in the file.
    pub offset: u64,
    /// 1-based number of the line it is on.
    pub line: u64,
}

impl<'a> Record<'a> {
    pub(crate) fn new(value: Value<'a>, offset: u64, line: u64) -> Record<'a> {
        let kind = match value.get("type") {
            Some(name) => match name.text() {
                Some(name) => RecordKind::from_name(&name),
                None => RecordKind::Missing,
            },
            None => RecordKind::Missing,
        };
        Record { value, kind, offset, line }
    }

    /// What sort of record it is.
    pub fn kind(&self) -> RecordKind {
        self.kind
    }

    /// The `type` as written.
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        self.value.get_text("type")
    }

    /// The object.
    pub fn value(&self) -> Value<'a> {
        self.value
    }

    /// Its bytes.
    pub fn raw(&self) -> &'a [u8] {
        self.value.raw()
    }

    /// Length in bytes.
    pub fn length(&self) -> u32 {
        let span = self.value.span();
        (span.end - span.start) as u32
    }

    /// Offset in the file of a value inside this record.
    pub fn offset_of(&self, value: &Value<'_>) -> u64 {
        self.offset + (value.span().start - self.value.span().start) as u64
    }
}
