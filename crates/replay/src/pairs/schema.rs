//! Whether calls fit the definitions of their tools.

use backstory_export::canonical_json;
use backstory_export::normalise::Called;
use jsonschema::Validator;
use serde_json::Value;
use std::collections::HashMap;

/// What a check of a message's calls came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Fits,
    /// A tool that the model did not have.
    InvalidTool,
    /// An input that the definition does not allow, or that is not an object.
    InvalidArguments,
}

/// Schemas that were read already.
#[derive(Default)]
pub(super) struct Schemas {
    /// By their text; none for a schema that is none.
    known: HashMap<String, Option<Validator>>,
    pub(super) checked: u64,
    pub(super) without_schema: u64,
}

impl std::fmt::Debug for Schemas {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Schemas").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl Schemas {
    /// Checks calls by definitions as OpenAI has them. Where there are none, any tool may be called
    /// and any object be its input; such calls are counted.
    pub(super) fn check(&mut self, calls: &[Called], tools: &[&Value]) -> Fit {
        for call in calls {
            if !call.input.is_object() {
                return Fit::InvalidArguments;
            }
            if tools.is_empty() {
                self.without_schema += 1;
                continue;
            }
            let named = tools.iter().map(|tool| tool.get("function").unwrap_or(tool));
            let found = named
                .into_iter()
                .find(|tool| tool.get("name").and_then(Value::as_str) == Some(&*call.name));
            let Some(tool) = found else { return Fit::InvalidTool };
            let schema = tool.get("parameters").filter(|schema| schema.is_object());
            let validator = schema.and_then(|schema| {
                let made = self.known.entry(canonical_json(schema));
                made.or_insert_with(|| jsonschema::validator_for(schema).ok()).as_ref()
            });
            match validator {
                Some(validator) if validator.is_valid(&call.input) => self.checked += 1,
                Some(_) => return Fit::InvalidArguments,
                None => self.without_schema += 1,
            }
        }
        Fit::Fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_are_held_against_their_definitions() {
        let read = json!({"type": "function", "function": {"name": "Read", "parameters": {
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"file_path": {"type": "string"}}, "required": ["file_path"],
            "additionalProperties": false}}});
        let odd =
            json!({"type": "function", "function": {"name": "Odd", "parameters": {"type": 7}}});
        let far =
            json!({"function": {"name": "Far", "parameters": {"$ref": "http://127.0.0.1:9/x"}}});
        let tools = [&read, &odd, &far];
        let mut schemas = Schemas::default();
        let mut check = |name: &str, input: Value| {
            schemas.check(&[Called { name: name.to_owned(), input }], &tools)
        };
        assert_eq!(check("Read", json!({"file_path": "a"})), Fit::Fits);
        assert_eq!(check("Read", json!({"path": "a"})), Fit::InvalidArguments);
        assert_eq!(check("Read", json!({"file_path": 7})), Fit::InvalidArguments);
        assert_eq!(check("Read", json!("a")), Fit::InvalidArguments);
        assert_eq!(check("read", json!({"file_path": "a"})), Fit::InvalidTool);
        assert_eq!(check("Odd", json!({})), Fit::Fits);
        assert_eq!(check("Far", json!({})), Fit::Fits);
        assert_eq!((schemas.checked, schemas.without_schema), (1, 2));
        let call = Called { name: "Any".to_owned(), input: json!({}) };
        assert_eq!(schemas.check(&[call], &[]), Fit::Fits);
    }
}
