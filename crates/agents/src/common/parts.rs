//! Parts of a message's content: texts, and whatever else stands between them.

use super::Cite;
use backstory_format::json::{Kind, Value};
use backstory_model::{Block, Content};
use std::sync::Arc;

/// A part of some content.
#[derive(Debug)]
pub(crate) enum Part {
    Text(Content),
    /// A picture, or anything that has no place of its own.
    Block(Block),
}

impl Part {
    /// As a block of a message.
    pub(crate) fn block(self) -> Block {
        match self {
            Part::Text(text) => Block::Text(text),
            Part::Block(block) => block,
        }
    }
}

/// The content of a block, where only texts can be kept.
pub(crate) fn content_of(block: Block) -> Option<Content> {
    match block {
        Block::Text(text) => Some(text),
        Block::Image { data, .. } => data,
        Block::Other { value, .. } => Some(value),
        _ => None,
    }
}

/// The parts of a content, be it one text or a list. Empty texts are left out.
pub(crate) fn parts(content: Option<&Value<'_>>, cite: Cite) -> Vec<Part> {
    let Some(content) = content else { return Vec::new() };
    match content.kind() {
        Kind::Array => content.items().filter_map(|part| one(&part, cite)).collect(),
        _ => one(content, cite).into_iter().collect(),
    }
}

fn one(part: &Value<'_>, cite: Cite) -> Option<Part> {
    let text = if part.kind() == Kind::String { Some(*part) } else { part.get("text") };
    match text.and_then(|text| cite.text(&text)) {
        Some(text) => (text.size() > 0).then_some(Part::Text(text)),
        None => (!part.is_null()).then(|| Part::Block(other(part, cite))),
    }
}

/// A part that is no text: a picture in one of the forms that APIs have, else the part as it is.
pub(crate) fn other(part: &Value<'_>, cite: Cite) -> Block {
    let address = part.get("image_url");
    let url = address.as_ref().and_then(|url| url.get_text("url").or_else(|| url.text()));
    let inline = url.as_deref().and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
    if let Some((media_type, data)) = inline {
        let data = Some(Content::Owned(data.into()));
        return Block::Image { media_type: Some(media_type.into()), data };
    }
    let source = part.get("source");
    let data = source.as_ref().and_then(|source| cite.field(source, "data"));
    if data.is_some() && part.get_text("type").is_some_and(|kind| kind == "image") {
        let media_type = source.and_then(|source| source.get_text("media_type").map(Arc::from));
        return Block::Image { media_type, data };
    }
    Block::Other { type_name: part.get_text("type").map(Arc::from), value: cite.json(part) }
}
