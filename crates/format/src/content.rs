//! Where a piece of content is.

/// A range of bytes in the session's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Bytes before it in the file.
    pub offset: u64,
    /// How many bytes it takes.
    pub length: u32,
}

/// Text or a JSON value, by reference into the session's file or owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The inside of a JSON string, still escaped.
    Text(Span),
    /// A JSON value.
    Json(Span),
    /// Text that is in no file of its own, or in another file.
    Owned(Box<str>),
}

impl Content {
    /// Bytes it takes in its place; a cheap measure of size.
    pub fn size(&self) -> u64 {
        match self {
            Content::Text(span) | Content::Json(span) => u64::from(span.length),
            Content::Owned(text) => text.len() as u64,
        }
    }
}
