//! Rows go in and come out as they were, whatever their shape; what is not a table says so.

use backstory_table::{Column, Field, TableError, TableWriter, rows_as_json};
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;

fn messages() -> Vec<Field> {
    let call = vec![Field::new("name", Column::Text), Field::new("arguments", Column::Json)];
    let message = vec![
        Field::new("role", Column::Text),
        Field::new("content", Column::Text),
        Field::new("tool_calls", Column::List(Box::new(Column::Record(call)))),
    ];
    vec![
        Field::new("messages", Column::List(Box::new(Column::Record(message)))),
        Field::new("any", Column::List(Box::new(Column::Json))),
        Field::new("count", Column::Integer),
        Field::new("share", Column::Number),
        Field::new("flag", Column::Flag),
    ]
}

fn write(path: &Path, rows: &[Value], chunk: usize) -> Result<u64, TableError> {
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let mut table = TableWriter::new(File::create(path).unwrap(), messages())?;
    for part in text.as_bytes().chunks(chunk) {
        table.push(part)?;
    }
    table.finish()
}

#[test]
fn rows_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    let rows: Vec<Value> = (0..2500)
        .map(|at| {
            let arguments = match at % 3 {
                0 => json!({"command": "ls \u{e9}\n\"", "timeout": at}),
                1 => json!({"command": ["a", {"b": null}]}),
                _ => json!({}),
            };
            json!({
                "messages": [
                    {"role": "user", "content": ""},
                    {"role": "assistant", "content": "x".repeat(at % 50), "tool_calls": [
                        {"name": "Bash", "arguments": arguments},
                    ]},
                ],
                "any": [{"a": 1}, "text", 7],
                "count": at,
                "share": 0.5,
                "flag": at % 2 == 0,
            })
        })
        .collect();
    for chunk in [7, 1 << 20] {
        assert_eq!(write(&path, &rows, chunk).unwrap(), 2500);
        let back: Vec<Value> = rows_as_json(&path)
            .unwrap()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect();
        assert_eq!(back.len(), rows.len());
        for (mut back, row) in back.into_iter().zip(&rows) {
            // What is JSON is text in the file.
            let decode = |value: &mut Value| {
                *value = serde_json::from_str(value.as_str().unwrap()).unwrap();
            };
            decode(&mut back["messages"][1]["tool_calls"][0]["arguments"]);
            back["any"].as_array_mut().unwrap().iter_mut().for_each(decode);
            assert_eq!(&back, row);
        }
    }
}

#[test]
fn writing_refuses_fields_without_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    let unknown = json!({"messages": [{"role": "user", "weight": 0}]});
    let error = write(&path, &[unknown], 100).unwrap_err();
    assert!(matches!(&error, TableError::UnknownField(name) if name == "weight"), "{error}");
    assert!(write(&path, &[json!({"count": "no number"})], 100).is_err());
    assert!(write(&path, &[json!([])], 100).is_err());
    assert_eq!(write(&path, &[], 100).unwrap(), 0);
    assert_eq!(rows_as_json(&path).unwrap().count(), 0);
}

#[test]
fn reading_refuses_files_that_are_not_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    assert!(matches!(rows_as_json(&path), Err(TableError::Open { .. })));
    write(&path, &[json!({"count": 1})], 100).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for cut in [0, 3, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(rows_as_json(&path).is_err(), "{cut}");
    }
    // Damage anywhere ends in an error or in rows, never in a panic.
    for at in 4..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x5a;
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(rows) = rows_as_json(&path) {
            assert!(rows.count() < 100_000, "{at}");
        }
    }
}
