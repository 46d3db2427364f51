//! Content by its place in the file.

use backstory_format::Record;
use backstory_format::json::{Kind, Value};
use backstory_model::{Content, Span};

/// Turns values of a buffer into content: spans of the session's file, or copies where the buffer
/// is another file's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cite {
    /// Where the buffer starts in the file; none when its content has to be copied.
    start: Option<u64>,
}

impl Cite {
    /// For a buffer that starts at this offset of the session's file.
    pub(crate) fn at(start: u64) -> Cite {
        Cite { start: Some(start) }
    }

    /// For values of a record of the session's file.
    pub(crate) fn record(record: &Record<'_>) -> Cite {
        let inside = record.value().span().start as u64;
        Cite { start: Some(record.offset.saturating_sub(inside)) }
    }

    /// For a buffer that is not the session's file.
    pub(crate) fn copied() -> Cite {
        Cite { start: None }
    }

    /// A string's text.
    pub(crate) fn text(self, value: &Value<'_>) -> Option<Content> {
        if value.kind() != Kind::String {
            return None;
        }
        match self.start.zip(value.text_span()) {
            Some((start, span)) => Some(Content::Text(Span {
                offset: start + span.start as u64,
                length: u32::try_from(span.len()).ok()?,
            })),
            None => value.text().map(|text| Content::Owned(text.into())),
        }
    }

    /// A value as JSON.
    pub(crate) fn json(self, value: &Value<'_>) -> Content {
        let span = value.span();
        match (self.start, u32::try_from(span.len())) {
            (Some(start), Ok(length)) => {
                Content::Json(Span { offset: start + span.start as u64, length })
            }
            _ => Content::Owned(String::from_utf8_lossy(value.raw()).into()),
        }
    }

    /// The text of field `name`, unless it is missing or empty.
    pub(crate) fn field(self, value: &Value<'_>, name: &str) -> Option<Content> {
        let content = self.text(&value.get(name)?)?;
        (content.size() > 0).then_some(content)
    }
}
