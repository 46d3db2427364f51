//! Content fetched from its source while it is being written.

use backstory_format::json::text;
use backstory_model::Content;
use backstory_store::SourceReader;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::cell::RefCell;

/// The source of the session that is being written.
pub(super) type Reader<'a> = &'a RefCell<SourceReader>;

/// Decoded text of one or more contents, joined by newlines.
pub(super) struct Text<'a>(pub(super) Reader<'a>, pub(super) &'a [&'a Content]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            [one] => {
                let mut reader = self.0.borrow_mut();
                serializer.serialize_str(&reader.text(one).map_err(S::Error::custom)?)
            }
            several => {
                let mut whole = String::new();
                for (at, content) in several.iter().enumerate() {
                    if at > 0 {
                        whole.push('\n');
                    }
                    whole.push_str(&self.0.borrow_mut().text(content).map_err(S::Error::custom)?);
                }
                serializer.serialize_str(&whole)
            }
        }
    }
}

/// A JSON value as it is written in the file, or in a text of it.
pub(super) struct Json<'a>(pub(super) Reader<'a>, pub(super) &'a Content);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut reader = self.0.borrow_mut();
        let Content::Json(span) = self.1 else {
            let written = reader.text(self.1).map_err(S::Error::custom)?;
            return match serde_json::from_str::<&RawValue>(&written) {
                Ok(value) if written.starts_with(['{', '[']) => value.serialize(serializer),
                _ => serializer.serialize_str(&written),
            };
        };
        let raw = text::portable(reader.bytes(*span).map_err(S::Error::custom)?);
        let value: &RawValue = serde_json::from_str(&raw).map_err(S::Error::custom)?;
        value.serialize(serializer)
    }
}
