//! `message`: role, content blocks, and token usage.

use crate::json::{Kind, Value};

/// The parts of a `message` object that readers need; absent when missing or of another type.
#[derive(Debug, Clone, Copy, Default)]
pub struct Message<'a> {
    /// The id that the API gave; several records may share it.
    pub id: Option<Value<'a>>,
    /// `user` or `assistant`.
    pub role: Option<Value<'a>>,
    /// The model's name, as the API gave it.
    pub model: Option<Value<'a>>,
    /// Why the model stopped; null while it was still streaming.
    pub stop_reason: Option<Value<'a>>,
    /// What the answer took. A trimmed clone states less, and here what its source stated.
    pub usage: Option<Value<'a>>,
    /// A string or a list.
    pub content: Option<Value<'a>>,
}

impl<'a> Message<'a> {
    /// Reads `message`, or `None` when its `content` has a shape no version writes.
    pub fn read(message: Value<'a>) -> (Message<'a>, bool) {
        let mut out = Message::default();
        let (mut well_shaped, mut source_usage) = (true, None);
        for (key, value) in message.fields() {
            let name = key.name();
            let (slot, fits) = match name.as_ref() {
                b"id" => (&mut out.id, value.kind() == Kind::String),
                b"role" => (&mut out.role, value.kind() == Kind::String),
                b"model" => (&mut out.model, value.kind() == Kind::String),
                b"stop_reason" => (&mut out.stop_reason, value.kind() == Kind::String),
                b"usage" => (&mut out.usage, value.kind() == Kind::Object),
                b"sourceUsage" => (&mut source_usage, value.kind() == Kind::Object),
                b"content" => {
                    (&mut out.content, matches!(value.kind(), Kind::String | Kind::Array))
                }
                _ => continue,
            };
            *slot = fits.then_some(value);
            well_shaped &= fits || value.is_null();
        }
        out.usage = source_usage.or(out.usage);
        (out, well_shaped)
    }
}

/// What sort of content a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Words of the message.
    Text,
    /// Reasoning, readable or only signed.
    Thinking,
    /// Reasoning that the API encrypted.
    RedactedThinking,
    /// `tool_use`, or a tool the API runs itself (`server_tool_use`, `mcp_tool_use`).
    ToolUse,
    /// `tool_result`, or the result of a tool the API runs itself.
    ToolResult,
    /// A picture, usually as Base64.
    Image,
    /// A file such as a PDF.
    Document,
    /// A `type` this version does not know, or an item that is not an object.
    Other,
}

/// One item of `content`.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// By its `type`.
    pub kind: BlockKind,
    /// The block as written; for string content the string itself.
    pub value: Value<'a>,
}

impl<'a> Block<'a> {
    fn read(value: Value<'a>) -> Block<'a> {
        let name = value.get("type").and_then(|kind| kind.raw_text()).unwrap_or_default();
        let kind = match name {
            b"text" => BlockKind::Text,
            b"thinking" => BlockKind::Thinking,
            b"redacted_thinking" => BlockKind::RedactedThinking,
            b"tool_use" | b"server_tool_use" | b"mcp_tool_use" => BlockKind::ToolUse,
            b"image" => BlockKind::Image,
            b"document" => BlockKind::Document,
            name if name.ends_with(b"tool_result") => BlockKind::ToolResult,
            _ => BlockKind::Other,
        };
        Block { kind, value }
    }

    /// The text of a text or thinking block, or string content.
    pub fn text(&self) -> Option<Value<'a>> {
        match self.kind {
            BlockKind::Text if self.value.kind() == Kind::String => Some(self.value),
            BlockKind::Text => self.string("text"),
            BlockKind::Thinking => self.string("thinking"),
            _ => None,
        }
    }

    /// A field of the block, if it is a string.
    pub fn string(&self, name: &str) -> Option<Value<'a>> {
        self.value.get(name).filter(|value| value.kind() == Kind::String)
    }
}

/// The blocks of a `content`; string content is one text block.
pub fn blocks<'a>(content: Option<Value<'a>>) -> impl Iterator<Item = Block<'a>> {
    let text = content
        .filter(|value| value.kind() == Kind::String)
        .map(|value| Block { kind: BlockKind::Text, value });
    text.into_iter().chain(content.into_iter().flat_map(|value| value.items()).map(Block::read))
}

/// Token counts of one message as one record states them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt outside any cache.
    pub input: u64,
    /// Tokens that the model wrote.
    pub output: u64,
    /// Tokens of the prompt that a cache held.
    pub cache_read: u64,
    /// Tokens of the prompt that were put into a cache.
    pub cache_write: u64,
    /// Split of `cache_write` by lifetime; from 1.0.90.
    pub cache_write_5m: Option<u64>,
    /// The part of `cache_write` that is kept for an hour.
    pub cache_write_1h: Option<u64>,
    /// A count was negative, fractional or too large, and was taken as 0.
    pub odd: bool,
}

impl Usage {
    /// Reads a `usage` object.
    pub fn read(usage: Value<'_>) -> Usage {
        let mut out = Usage::default();
        for (key, value) in usage.fields() {
            match key.name().as_ref() {
                b"input_tokens" => out.input = count(value, &mut out.odd),
                b"output_tokens" => out.output = count(value, &mut out.odd),
                b"cache_read_input_tokens" => out.cache_read = count(value, &mut out.odd),
                b"cache_creation_input_tokens" => out.cache_write = count(value, &mut out.odd),
                b"cache_creation" => {
                    let mut part = |name| value.get(name).map(|value| count(value, &mut out.odd));
                    out.cache_write_5m = part("ephemeral_5m_input_tokens");
                    out.cache_write_1h = part("ephemeral_1h_input_tokens");
                }
                _ => {}
            }
        }
        out
    }
}

/// Gateways write `null` for counts they do not know.
fn count(value: Value<'_>, odd: &mut bool) -> u64 {
    if value.is_null() {
        return 0;
    }
    // Past 2^53 a JSON writer in JavaScript has lost the number anyway.
    let read = value.unsigned().filter(|count| *count <= 1 << 53);
    *odd |= read.is_none();
    read.unwrap_or(0)
}
