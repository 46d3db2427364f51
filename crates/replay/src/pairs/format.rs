//! Rows as trainers load them.

use super::turns::{Done, History, Style};
use backstory_export::{SftFormat, canonical_json, plain_json};
use serde_json::{Map, Value, json};

/// Whose rows, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairFormat {
    /// `state_id`, `state_messages`, `chosen`, `rejected`, `n_teachers_agreeing`.
    Native,
    /// TRL.
    Trl,
    /// LLaMA-Factory.
    LlamaFactory,
    /// Axolotl.
    Axolotl,
    /// OpenAI.
    OpenAi,
    /// Single answers, wanted or not, as TRL has them.
    Kto,
    /// Answers that teachers agree with, as TRL has them.
    Sft,
}

/// What a row teaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One answer rather than another.
    Preference,
    /// An answer that is wanted, or one that is not.
    Judged,
    /// An answer that is wanted.
    Wanted,
}

impl PairFormat {
    /// Whether a row prefers one action or judges one.
    pub fn kind(self) -> Kind {
        match self {
            PairFormat::Kto => Kind::Judged,
            PairFormat::Sft => Kind::Wanted,
            _ => Kind::Preference,
        }
    }

    pub(super) fn style(self) -> Style {
        match self {
            PairFormat::Native | PairFormat::Trl | PairFormat::Kto | PairFormat::Sft => Style::Chat,
            PairFormat::LlamaFactory => Style::ShareGpt,
            PairFormat::Axolotl => Style::Words,
            PairFormat::OpenAi => Style::OpenAi,
        }
    }
}

/// What every row of a state has.
#[derive(Debug, Clone)]
pub(super) struct Place<'s> {
    pub(super) state_id: &'s str,
    pub(super) history: History,
    /// Definitions as OpenAI has them.
    pub(super) tools: Vec<&'s Value>,
    pub(super) agreeing: u64,
    pub(super) meta: Value,
}

impl Place<'_> {
    /// A row that prefers one answer to another.
    pub(super) fn preference(self, format: PairFormat, chosen: &Done, rejected: &Done) -> String {
        let style = format.style();
        let (chosen, rejected) = (chosen.message(style), rejected.message(style));
        let tools = self.tools(format);
        let row = match format {
            PairFormat::Native => json!({
                "state_id": self.state_id, "state_messages": self.history.into_messages(),
                "chosen": [chosen], "rejected": [rejected], "n_teachers_agreeing": self.agreeing,
                "tools": tools, "meta": self.meta,
            }),
            PairFormat::LlamaFactory => json!({
                "system": self.history.system.unwrap_or_default(), "conversations": self.history.messages,
                "chosen": chosen, "rejected": rejected, "tools": tools, "meta": self.meta,
            }),
            PairFormat::Axolotl => json!({
                "messages": self.history.into_messages(), "chosen": chosen, "rejected": rejected,
                "meta": self.meta,
            }),
            PairFormat::OpenAi => {
                let mut input = Map::new();
                input.insert("messages".to_owned(), self.history.into_messages().into());
                // Unknown and empty fields are refused there.
                if !self.tools.is_empty() {
                    input.insert("tools".to_owned(), tools);
                    input.insert("parallel_tool_calls".to_owned(), true.into());
                }
                json!({"input": input, "preferred_output": [chosen], "non_preferred_output": [rejected]})
            }
            PairFormat::Trl | PairFormat::Kto | PairFormat::Sft => json!({
                "prompt": self.history.into_messages(), "chosen": [chosen], "rejected": [rejected],
                "tools": tools, "meta": self.meta,
            }),
        };
        line(&row)
    }

    /// A row of one answer; with a label where it is not only wanted ones that are learnt.
    pub(super) fn single(self, answer: &Done, label: Option<bool>) -> String {
        let completion = answer.message(Style::Chat);
        let tools = self.tools(PairFormat::Trl);
        let mut row = json!({
            "prompt": self.history.into_messages(), "completion": [completion], "tools": tools, "meta": self.meta,
        });
        if let (Value::Object(fields), Some(label)) = (&mut row, label) {
            fields.insert("label".to_owned(), label.into());
        }
        line(&row)
    }

    fn tools(&self, format: PairFormat) -> Value {
        let fitting = |tool: &Value, whose: SftFormat| {
            let mut function = tool.get("function").unwrap_or(tool).clone();
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Value::Object(fields) = &mut function {
                fields.insert("name".to_owned(), whose.fitting(&name).into());
            }
            function
        };
        let tools = self.tools.iter();
        match format {
            PairFormat::LlamaFactory if self.tools.is_empty() => "".into(),
            PairFormat::LlamaFactory => {
                let tools: Vec<Value> = tools.map(|tool| fitting(tool, SftFormat::LlamaFactory)).collect();
                plain_json(&Value::Array(tools)).into()
            }
            PairFormat::OpenAi => tools
                .map(|tool| json!({"type": "function", "function": fitting(tool, SftFormat::OpenAi)}))
                .collect(),
            _ => tools.map(|tool| (*tool).clone()).collect(),
        }
    }
}

fn line(row: &Value) -> String {
    let mut line = canonical_json(row);
    line.push('\n');
    line
}
