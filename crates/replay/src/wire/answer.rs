//! What an answer means: the action, the tokens, and the cost where the server says it.

use super::Names;
use crate::journal::Usage;
use crate::teacher::Api;
use backstory_export::{ActionBlock, action_text};
use backstory_model::Money;
use serde_json::{Value, json};

/// A teacher's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// In the form of a state's `student_action`; empty if the teacher did nothing.
    pub action: String,
    /// The body.
    pub raw: Value,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// Tokens, as the server counted them.
    pub usage: Option<Usage>,
    /// As the server says.
    pub cost: Option<Money>,
}

/// What stands in a body that is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    /// The server says what is wrong, under a status of its own perhaps.
    Refused(Option<u16>, String),
    /// The body is not an answer; what is wrong with it.
    Unreadable(String),
}

/// Reads the body of a good response.
pub fn read(body: &[u8], api: Api, names: &Names) -> Result<Answer, NoAnswer> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| NoAnswer::Unreadable(format!("no JSON: {error}")))?;
    let usage = value.get("usage").filter(|usage| usage.is_object());
    if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
        let code = error.get("code").and_then(Value::as_u64);
        let status = code.and_then(|code| u16::try_from(code).ok());
        return Err(NoAnswer::Refused(status, error_text(error)));
    }
    match api {
        Api::OpenAi => openai(&value, usage, names),
        Api::Anthropic => anthropic(&value, usage, names),
    }
}

/// What an error object or the body of a failed response says, in few words.
pub(crate) fn error_text(error: &Value) -> String {
    let said = error.get("message").or_else(|| error.get("error")?.get("message"));
    let said = said.and_then(Value::as_str).map(str::to_owned);
    let text = said.unwrap_or_else(|| match error {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    text.chars().take(500).collect()
}

fn number(value: Option<&Value>, name: &str) -> u64 {
    value.and_then(|value| value.get(name)).and_then(Value::as_u64).unwrap_or(0)
}

fn openai(value: &Value, usage: Option<&Value>, names: &Names) -> Result<Answer, NoAnswer> {
    let choice = value.get("choices").and_then(|choices| choices.get(0));
    let message = choice.and_then(|choice| choice.get("message"));
    let (Some(choice), Some(message)) = (choice, message) else {
        return Err(NoAnswer::Unreadable("an answer without choices".to_owned()));
    };
    let words = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    };
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let calls: Vec<(&str, Value)> = calls
        .into_iter()
        .flatten()
        .map(|call| {
            let function = call.get("function").unwrap_or(call);
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
            (names.original(name), input(function.get("arguments")))
        })
        .collect();
    let mut blocks = Vec::new();
    if !words.trim().is_empty() {
        blocks.push(ActionBlock::Words(&words));
    }
    blocks.extend(calls.iter().map(|(name, input)| ActionBlock::Call { name, input }));
    let read = usage.and_then(|usage| usage.get("prompt_tokens_details"));
    let written = usage.and_then(|usage| usage.get("completion_tokens_details"));
    Ok(Answer {
        action: action_text(&blocks),
        raw: choice.clone(),
        finish_reason: choice.get("finish_reason").and_then(Value::as_str).map(str::to_owned),
        usage: usage.map(|usage| Usage {
            prompt_tokens: number(Some(usage), "prompt_tokens"),
            completion_tokens: number(Some(usage), "completion_tokens"),
            cached_tokens: number(read, "cached_tokens"),
            cache_write_tokens: number(read, "cache_write_tokens"),
            reasoning_tokens: number(written, "reasoning_tokens"),
        }),
        cost: usage
            .and_then(|usage| usage.get("cost"))
            .and_then(Value::as_f64)
            .and_then(Money::from_dollars),
    })
}

/// The input of a call; what is no object stands in one, as in states.
fn input(arguments: Option<&Value>) -> Value {
    match arguments {
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(object @ Value::Object(_)) => object,
            Ok(_) | Err(_) if text.trim().is_empty() => json!({}),
            Ok(other) => json!({"input": other}),
            Err(_) => json!({"input": text}),
        },
        Some(object @ Value::Object(_)) => object.clone(),
        None | Some(Value::Null) => json!({}),
        Some(other) => json!({"input": other}),
    }
}

fn anthropic(value: &Value, usage: Option<&Value>, names: &Names) -> Result<Answer, NoAnswer> {
    let Some(content) = value.get("content").and_then(Value::as_array) else {
        return Err(NoAnswer::Unreadable("an answer without content".to_owned()));
    };
    let empty = json!({});
    let blocks: Vec<ActionBlock<'_>> = content
        .iter()
        .filter_map(|block| match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let words = block.get("text").and_then(Value::as_str).unwrap_or_default();
                (!words.trim().is_empty()).then_some(ActionBlock::Words(words))
            }
            Some("tool_use") => {
                let name = block.get("name").and_then(Value::as_str).unwrap_or_default();
                let input = block.get("input").filter(|input| input.is_object());
                Some(ActionBlock::Call {
                    name: names.original(name),
                    input: input.unwrap_or(&empty),
                })
            }
            _ => None,
        })
        .collect();
    let (cached, written) =
        (number(usage, "cache_read_input_tokens"), number(usage, "cache_creation_input_tokens"));
    Ok(Answer {
        action: action_text(&blocks),
        raw: json!({"content": content, "stop_reason": value.get("stop_reason")}),
        finish_reason: value.get("stop_reason").and_then(Value::as_str).map(str::to_owned),
        usage: usage.map(|usage| Usage {
            // Here the cache is not part of the input.
            prompt_tokens: number(Some(usage), "input_tokens")
                .saturating_add(cached)
                .saturating_add(written),
            completion_tokens: number(Some(usage), "output_tokens"),
            cached_tokens: cached,
            cache_write_tokens: written,
            reasoning_tokens: 0,
        }),
        cost: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(api: Api, body: &Value) -> Result<Answer, NoAnswer> {
        let mut names = Names::default();
        names.fit("mcp.tool");
        read(body.to_string().as_bytes(), api, &names)
    }

    #[test]
    fn both_protocols_mean_the_same() {
        let openai = answer(
            Api::OpenAi,
            &json!({"choices": [{"finish_reason": "tool_calls", "message": {"content": "Now.",
                "tool_calls": [{"id": "x", "function":
                    {"name": "mcp_tool", "arguments": "{\"b\": 1, \"a\": 2}"}}]}}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 5, "cost": 0.25,
                    "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}}}),
        )
        .unwrap();
        let anthropic = answer(
            Api::Anthropic,
            &json!({"content": [{"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Now."},
                {"type": "tool_use", "id": "x", "name": "mcp_tool", "input": {"a": 2, "b": 1}}],
                "stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5,
                    "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30}}),
        )
        .unwrap();
        assert_eq!(openai.action, anthropic.action);
        assert!(openai.action.contains("\"name\": \"mcp.tool\""), "{}", openai.action);
        assert_eq!(openai.usage, anthropic.usage);
        assert_eq!(openai.cost, Some(Money::from_nanos(250_000_000)));
    }

    #[test]
    fn answer_reports_a_response_without_one() {
        let refused = answer(Api::OpenAi, &json!({"error": {"code": 429, "message": "slow down"}}));
        assert_eq!(refused.unwrap_err(), NoAnswer::Refused(Some(429), "slow down".to_owned()));
        let names = Names::default();
        for body in ["", "{", "[]", "{\"choices\":[]}", "\"x\"", "{\"content\":3}"] {
            for api in [Api::OpenAi, Api::Anthropic] {
                let answer = read(body.as_bytes(), api, &names);
                assert!(matches!(answer, Err(NoAnswer::Unreadable(_))), "{body}: {answer:?}");
            }
        }
        let silent = answer(Api::OpenAi, &json!({"choices": [{"message": {"content": null}}]}));
        assert_eq!(silent.unwrap().action, "");
    }
}
