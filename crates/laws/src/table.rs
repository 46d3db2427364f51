//! What must hold for tables: rows come back as they were written, and a damaged file gives lines
//! of JSON up to the limit, or an error.

use backstory_table::{Column, Field, TableWriter, write_rows};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

/// Bytes that may be read of a damaged file.
const MOST: u64 = 1 << 16;

/// Reads the data as rows, as damage to a table, or as a table; the first byte says which.
pub fn table(data: &[u8]) {
    let Some((how, content)) = data.split_first() else { return };
    match how % 3 {
        0 => {
            let rows = rows(content);
            let mut file = written(&rows);
            let mut read = lines(&mut file, u64::MAX).expect("written rows can be read");
            // What is JSON is text in the file.
            for row in &mut read {
                let text = row["any"].as_str().expect("text");
                row["any"] = serde_json::from_str(text).expect("JSON");
            }
            assert_eq!(read, rows);
        }
        1 => {
            let mut bytes = Vec::new();
            let rows =
                [json!({"text": "some words", "count": 3, "any": {"a": [1]}, "list": ["x"]})];
            let mut file = written(&rows);
            file.seek(SeekFrom::Start(0)).expect("a place");
            file.read_to_end(&mut bytes).expect("a file");
            // Places and the bytes that are put there.
            for change in content.chunks_exact(3) {
                let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
                bytes[at] = change[2];
            }
            damaged(&bytes);
        }
        _ => damaged(&[b"PAR1", content].concat()),
    }
}

fn damaged(bytes: &[u8]) {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("room");
    lines(&mut file, MOST);
}

/// One row for each line of the data.
fn rows(content: &[u8]) -> Vec<Value> {
    let row = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        let words: Vec<&str> = text.split(' ').collect();
        json!({"text": text, "count": line.len(), "any": {&*text: [words.len(), null]}, "list": words})
    };
    content.split(|byte| *byte == b'\n').map(row).collect()
}

fn written(rows: &[Value]) -> File {
    let fields = vec![
        Field::new("text", Column::Text),
        Field::new("count", Column::Integer),
        Field::new("any", Column::Json),
        Field::new("list", Column::List(Box::new(Column::Text))),
    ];
    let file = tempfile::tempfile().expect("a file");
    let out = file.try_clone().expect("a second handle");
    let mut table = TableWriter::new(out, fields).expect("a table");
    for row in rows {
        table.push(format!("{row}\n").as_bytes()).expect("a row");
    }
    assert_eq!(table.finish().expect("a table"), rows.len() as u64);
    file
}

/// The rows of a file, up to a limit that only the last line may pass.
fn lines(file: &mut File, most: u64) -> Option<Vec<Value>> {
    file.seek(SeekFrom::Start(0)).expect("a place");
    let mut bytes = Vec::new();
    write_rows(file, most, &mut bytes).ok()?;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let before: usize = lines.split_last().map_or(0, |(_, lines)| lines.concat().len());
    assert!(before as u64 <= most, "{before} bytes and one line more");
    let row = |line: &&[u8]| serde_json::from_slice(line).expect("a line of JSON");
    Some(lines.iter().map(row).collect())
}
