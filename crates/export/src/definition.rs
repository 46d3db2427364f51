//! Definitions of tools as OpenAI has them.

use crate::json::CanonicalWriter;
use backstory_format::json::{Kind, Value};

/// Whether a definition is in `{"type": "function", "function": …}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapped {
    Yes,
    No,
}

/// The object with name, description and schema, also where it is inside of `function`.
pub(super) fn defined(tool: Value<'_>) -> Value<'_> {
    match tool.get("function") {
        Some(function) if tool.get("name").is_none() && function.kind() == Kind::Object => function,
        _ => tool,
    }
}

/// What a definition says of its input.
pub(super) fn input_schema<'v>(tool: &Value<'v>) -> Option<Value<'v>> {
    ["input_schema", "schema", "parameters"].iter().find_map(|name| tool.get(name))
}

/// Writes the definition that a request carried, under another name perhaps.
pub(super) fn write_definition(
    canon: &mut CanonicalWriter<'_>,
    tool: Value<'_>,
    name: &str,
    wrapped: Wrapped,
) {
    canon.open();
    if wrapped == Wrapped::Yes {
        canon.key("type");
        canon.plain("function");
        canon.key("function");
        canon.open();
    }
    canon.key("name");
    canon.text(name);
    canon.key("description");
    canon.text(&tool.get_text("description").unwrap_or_default());
    canon.key("parameters");
    match input_schema(&tool) {
        Some(schema) if schema.get("properties").is_some() => canon.json(schema),
        // LLaMA-Factory cannot do without them.
        schema => {
            canon.open();
            for (key, value) in schema.iter().flat_map(|schema| schema.fields()) {
                let name = canon.clear(&key.text()).into_owned();
                canon.key(&name);
                canon.json(value);
            }
            canon.key("properties");
            canon.empty();
            canon.close();
        }
    }
    if wrapped == Wrapped::Yes {
        canon.close();
    }
    canon.close();
}
