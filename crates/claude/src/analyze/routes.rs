//! From a record to the kinds of objects it holds.
//!
//! A record is counted under its type and sub-type. Content blocks, tool inputs and structured
//! results differ by their own type or tool more than by the record that holds them, so each is a
//! kind of its own: `block/text`, `input/Bash`, `result/Bash`.

use super::sample::Samples;
use super::shape::{Place, Route, Shapes};
use backstory_format::Record;
use backstory_format::claude::RecordKind;
use backstory_format::json::{Kind, Value};
use hashbrown::HashMap;
use std::hash::BuildHasher;

/// The tool of each call of one file, by a hash of the call's id.
pub(super) type Tools = HashMap<u64, Box<str>, foldhash::fast::FixedState>;

/// How many calls of one file are remembered.
const MAX_TOOLS: usize = 1 << 20;

/// Counts one record.
pub(super) fn record(
    shapes: &mut Shapes,
    samples: &mut Samples,
    tools: &mut Tools,
    record: &Record<'_>,
    place: Place,
) {
    let value = record.value();
    let name = kind_name(record);
    samples.offer(&name, &value);
    let kind = shapes.kind(&name);
    let mut found = Found::default();
    shapes.object(kind, &value, place, &mut |depth, value, key| found.route(depth, value, key));
    let Found { blocks, results } = found;
    let answered = blocks.iter().find_map(|block| tool_of_result(tools, block));
    for block in &blocks {
        count_block(shapes, samples, tools, "block", block, place);
    }
    for result in &results {
        let tool = answered.as_deref().unwrap_or(NO_TOOL);
        let name = format!("result/{tool}");
        samples.offer(&name, result);
        let kind = shapes.kind(&name);
        let known = !is_foreign(tool);
        shapes.object(kind, result, place, &mut |depth, _, key| follow(depth, key, known));
    }
}

/// `type`, or `type/sub-type` where the client has them.
fn kind_name(record: &Record<'_>) -> String {
    let value = record.value();
    let below = |field: &str| value.get(field).and_then(|inner| inner.get_text("type"));
    let sub = match record.kind() {
        RecordKind::System => value.get_text("subtype"),
        RecordKind::Attachment => below("attachment"),
        RecordKind::Progress => below("data"),
        _ => None,
    };
    let name = record.type_name().unwrap_or("(no type)".into());
    let name = super::clean_name(&name);
    match sub {
        Some(sub) => format!("{name}/{}", super::clean_name(&sub)),
        None => name,
    }
}

/// What a record holds that is counted by itself.
#[derive(Default)]
struct Found<'a> {
    blocks: Vec<Value<'a>>,
    results: Vec<Value<'a>>,
}

impl<'a> Found<'a> {
    fn route(&mut self, depth: usize, value: &Value<'a>, key: &str) -> Route {
        match (depth, key) {
            // `message.content`
            (2, "content") if value.kind() == Kind::Array => {
                self.blocks.extend(value.items().filter(|item| item.kind() == Kind::Object));
                Route::Stop
            }
            (1, "toolUseResult") => {
                self.results.push(*value);
                Route::Stop
            }
            _ => follow(depth, key, true),
        }
    }
}

/// Copies of whole messages, inputs and schemas inside a record are counted, not followed.
fn follow(depth: usize, key: &str, known: bool) -> Route {
    let opaque = matches!(
        key,
        "input"
            | "normalizedMessages"
            | "input_schema"
            | "inputSchema"
            | "schema"
            | "mcpMeta"
            | "structuredContent"
    );
    if opaque || (!known && depth >= 1) { Route::Stop } else { Route::Follow }
}

fn count_block(
    shapes: &mut Shapes,
    samples: &mut Samples,
    tools: &mut Tools,
    prefix: &str,
    block: &Value<'_>,
    place: Place,
) {
    let kind = block.get_text("type").map_or("(no type)".into(), |kind| super::clean_name(&kind));
    let name = format!("{prefix}/{kind}");
    let id = shapes.kind(&name);
    samples.offer(&name, block);
    let mut nested = Vec::new();
    shapes.object(id, block, place, &mut |depth, value, key| match key {
        "input" if depth == 1 => Route::Stop,
        "content" if depth == 1 && value.kind() == Kind::Array => {
            nested.extend(value.items().filter(|item| item.kind() == Kind::Object));
            Route::Stop
        }
        _ => follow(depth, key, true),
    });
    if prefix == "block" {
        for inner in &nested {
            count_block(shapes, samples, tools, "result-block", inner, place);
        }
    }
    let Some(tool) = block.get_text("name").filter(|_| kind.ends_with("tool_use")) else { return };
    let tool = tool_name(&tool);
    if let Some(input) = block.get("input") {
        let kind = shapes.kind(&format!("input/{tool}"));
        let known = !is_foreign(tool);
        shapes.object(kind, &input, place, &mut |depth, _, key| follow(depth, key, known));
    }
    if let Some(id) = block.get("id").and_then(|id| id.raw_text())
        && tools.len() < MAX_TOOLS
    {
        tools.insert(tools.hasher().hash_one(id), tool.into());
    }
}

fn tool_of_result(tools: &Tools, block: &Value<'_>) -> Option<Box<str>> {
    let id = block.get("tool_use_id")?.raw_text()?;
    tools.get(&tools.hasher().hash_one(id)).cloned()
}

/// Tools that are not the client's own: their fields are another format.
fn is_foreign(tool: &str) -> bool {
    tool == FOREIGN || tool == NO_TOOL
}

const FOREIGN: &str = "mcp__*";

/// Models sometimes call things that are no tool; those have no format.
const NO_TOOL: &str = "unknown tool";

fn tool_name(name: &str) -> &str {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.starts_with("mcp__") {
        FOREIGN
    } else if (1..=40).contains(&name.len()) && name.bytes().all(plain) {
        name
    } else {
        NO_TOOL
    }
}
