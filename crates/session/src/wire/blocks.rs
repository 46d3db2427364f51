//! Blocks, calls and results as JSON.

use super::content::{Json, Reader, Text};
use backstory_model::{Block, Call, CallResult, Content};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

pub(super) struct BlockJson<'a>(pub(super) Reader<'a>, pub(super) &'a Block);

impl Serialize for BlockJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let BlockJson(reader, block) = self;
        let mut map = serializer.serialize_map(None)?;
        match block {
            Block::Text(text) => {
                map.serialize_entry("kind", "text")?;
                map.serialize_entry("text", &Text(reader, &[text]))?;
            }
            Block::Thinking { text, signed, redacted } => {
                map.serialize_entry("kind", "thinking")?;
                map.serialize_entry("text", &optional_text(reader, text).as_ref().map(Held::text))?;
                map.serialize_entry("signature", signed)?;
                map.serialize_entry("redacted", redacted)?;
            }
            Block::Call(call) => call_entries(&mut map, reader, call)?,
            Block::Image { media_type, data } | Block::Document { media_type, data } => {
                let image = matches!(block, Block::Image { .. });
                map.serialize_entry("kind", if image { "image" } else { "document" })?;
                map.serialize_entry("media_type", media_type)?;
                map.serialize_entry("bytes", &data.as_ref().map(|data| data.size() / 4 * 3))?;
            }
            Block::Other { type_name, value } => {
                map.serialize_entry("kind", "other")?;
                map.serialize_entry("type", type_name)?;
                map.serialize_entry("value", &Json(reader, value))?;
            }
        }
        map.end()
    }
}

/// Keeps the one-element list alive that [`Text`] borrows.
struct Held<'a>(Reader<'a>, [&'a Content; 1]);

impl<'a> Held<'a> {
    fn text(&'a self) -> Text<'a> {
        Text(self.0, &self.1)
    }
}

fn optional_text<'a>(reader: Reader<'a>, content: &'a Option<Content>) -> Option<Held<'a>> {
    content.as_ref().map(|content| Held(reader, [content]))
}

fn call_entries<M: SerializeMap>(
    map: &mut M,
    reader: Reader<'_>,
    call: &Call,
) -> Result<(), M::Error> {
    map.serialize_entry("kind", "call")?;
    map.serialize_entry("id", &call.id)?;
    map.serialize_entry("name", &call.name)?;
    map.serialize_entry("input", &call.input.as_ref().map(|input| Json(reader, input)))?;
    map.serialize_entry("result", &call.result.as_ref().map(|result| ResultJson(reader, result)))?;
    map.serialize_entry("subagent", &call.subagent)
}

struct ResultJson<'a>(Reader<'a>, &'a CallResult);

impl Serialize for ResultJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ResultJson(reader, result) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("status", result.outcome.name())?;
        map.serialize_entry("uuid", &result.uuid)?;
        map.serialize_entry("line", &result.line)?;
        map.serialize_entry("timestamp", &result.timestamp)?;
        let parts: Vec<&Content> = result.text.iter().collect();
        map.serialize_entry("text", &Text(reader, &parts))?;
        let blocks: Vec<_> = result.blocks.iter().map(|block| BlockJson(reader, block)).collect();
        map.serialize_entry("blocks", &blocks)?;
        let structured = result.structured.as_ref().map(|value| Json(reader, value));
        map.serialize_entry("structured", &structured)?;
        let persisted = optional_text(reader, &result.persisted);
        map.serialize_entry("persisted", &persisted.as_ref().map(Held::text))?;
        map.end()
    }
}
