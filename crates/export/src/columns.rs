//! Which columns a format has as Parquet.
//!
//! Messages are JSON values, one for each element, because their fields differ: readers that know the
//! `arrow.json` type (`datasets` from 4.7) hand back what is in the JSONL file, without fields that
//! are null. verl reads with pandas, which does not, so its messages are records and inputs are text.

use crate::options::{Format, Layout, Per, SftFormat};
use backstory_table::{Column, Field};

/// The columns of a format; none if it has no table.
pub fn columns(format: &Format<'_>) -> Option<Vec<Field>> {
    let values = || Column::List(Box::new(Column::Json));
    let meta = Field::new("meta", Column::Json);
    let tools = Field::new("tools", values());
    match format {
        Format::TraceState(states) if states.layout == Layout::Full => Some(vec![
            Field::new("state_id", Column::Text),
            Field::new("messages", values()),
            Field::new("student_action", Column::Text),
            meta,
            Field::new("teacher_id", Column::Text),
            Field::new("reward", Column::Number),
            Field::new("hint_text", Column::Text),
        ]),
        Format::Sft(sft) => Some(match (sft.format, sft.per) {
            (SftFormat::Trl, Per::Step) => vec![
                Field::new("prompt", values()),
                Field::new("completion", values()),
                tools,
                meta,
            ],
            (SftFormat::LlamaFactory, _) => {
                let turn =
                    vec![Field::new("from", Column::Text), Field::new("value", Column::Text)];
                vec![
                    Field::new("system", Column::Text),
                    Field::new("conversations", Column::List(Box::new(Column::Record(turn)))),
                    Field::new("tools", Column::Text),
                    meta,
                ]
            }
            (SftFormat::Verl, _) => vec![Field::new("messages", records()), tools_of_verl(), meta],
            _ => vec![Field::new("messages", values()), tools, meta],
        }),
        _ => None,
    }
}

fn records() -> Column {
    let function =
        vec![Field::new("name", Column::Text), Field::new("arguments", Column::JsonText)];
    let call = vec![
        Field::new("id", Column::Text),
        Field::new("type", Column::Text),
        Field::new("function", Column::Record(function)),
    ];
    Column::List(Box::new(Column::Record(vec![
        Field::new("role", Column::Text),
        Field::new("content", Column::Text),
        Field::new("reasoning_content", Column::Text),
        Field::new("tool_calls", Column::List(Box::new(Column::Record(call)))),
        Field::new("tool_call_id", Column::Text),
        Field::new("name", Column::Text),
    ])))
}

fn tools_of_verl() -> Field {
    let function = vec![
        Field::new("name", Column::Text),
        Field::new("description", Column::Text),
        Field::new("parameters", Column::JsonText),
    ];
    let tool =
        vec![Field::new("type", Column::Text), Field::new("function", Column::Record(function))];
    Field::new("tools", Column::List(Box::new(Column::Record(tool))))
}
