//! Which columns the rows of a format have as Parquet.

use super::PairFormat;
use backstory_table::{Column, Field};

/// The columns of a format; none if it has no table. Values whose fields differ are JSON.
pub fn columns(format: PairFormat) -> Option<Vec<Field>> {
    let values = |name: &'static str| Field::new(name, Column::List(Box::new(Column::Json)));
    let json = |name: &'static str| Field::new(name, Column::Json);
    let text = |name: &'static str| Field::new(name, Column::Text);
    let turn = || Column::Record(vec![text("from"), text("value")]);
    Some(match format {
        PairFormat::Native => vec![
            text("state_id"),
            values("state_messages"),
            values("chosen"),
            values("rejected"),
            json("n_teachers_agreeing"),
            values("tools"),
            json("meta"),
        ],
        PairFormat::Trl => {
            vec![
                values("prompt"),
                values("chosen"),
                values("rejected"),
                values("tools"),
                json("meta"),
            ]
        }
        PairFormat::LlamaFactory => vec![
            text("system"),
            Field::new("conversations", Column::List(Box::new(turn()))),
            Field::new("chosen", turn()),
            Field::new("rejected", turn()),
            text("tools"),
            json("meta"),
        ],
        PairFormat::Axolotl => {
            vec![values("messages"), json("chosen"), json("rejected"), json("meta")]
        }
        PairFormat::Kto => {
            vec![
                values("prompt"),
                values("completion"),
                json("label"),
                values("tools"),
                json("meta"),
            ]
        }
        PairFormat::Sft => {
            vec![values("prompt"), values("completion"), values("tools"), json("meta")]
        }
        PairFormat::OpenAi => return None,
    })
}
