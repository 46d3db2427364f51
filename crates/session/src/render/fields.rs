//! The input of a tool call as text: one field per line, long ones as indented blocks.

use backstory_format::json::{Kind, Value, string_end, text};
use backstory_format::slice::Part;

/// Fields of `input` except those named, each as `name: value`.
pub(super) fn write_fields(input: Value<'_>, except: &[&str], out: &mut String) {
    if input.kind() != Kind::Object {
        write_value(input, 0, out);
        out.push('\n');
        return;
    }
    for (key, value) in input.fields() {
        if except.iter().any(|name| key.is(name)) {
            continue;
        }
        out.push_str(&key.text());
        out.push(':');
        match value.text() {
            Some(text) if text.contains('\n') => {
                for line in text.strip_suffix('\n').unwrap_or(&text).split('\n') {
                    out.push_str("\n    ");
                    out.push_str(line);
                }
            }
            Some(text) => {
                out.push(' ');
                out.push_str(&text);
            }
            None => {
                out.push(' ');
                write_value(value, 0, out);
            }
        }
        out.push('\n');
    }
}

/// Longest value that is left on one line.
const ONE_LINE: usize = 100;
const DEEPEST_INDENT: usize = 16;

/// A JSON value; broken into lines when it is long.
pub(super) fn write_value(value: Value<'_>, indent: usize, out: &mut String) {
    let raw = text::portable(value.raw());
    if raw.len() <= ONE_LINE || !matches!(value.kind(), Kind::Object | Kind::Array) {
        out.push_str(&raw);
    } else {
        indented(&raw, indent, out);
    }
}

/// Lays JSON out by its brackets and commas; strings stay as they are written.
fn indented(json: &str, base: usize, out: &mut String) {
    let bytes = json.as_bytes();
    let mut depth = base;
    let mut at = 0;
    let new_line = |depth: usize, out: &mut String| {
        out.push('\n');
        (0..depth.min(DEEPEST_INDENT)).for_each(|_| out.push_str("  "));
    };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at + 1).map_or(bytes.len(), |quote| quote + 1);
                out.push_str(json.part(at..end));
                at = end;
                continue;
            }
            b'{' | b'[' => {
                out.push(char::from(*byte));
                let rest = json.part(at + 1..);
                let empty = rest.len() - rest.trim_start().len();
                if let Some(close @ (b'}' | b']')) = bytes.get(at + 1 + empty) {
                    out.push(char::from(*close));
                    at += empty + 2;
                    continue;
                }
                depth += 1;
                new_line(depth, out);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                new_line(depth, out);
                out.push(char::from(*byte));
            }
            b',' => {
                out.push(',');
                new_line(depth, out);
            }
            b':' => out.push_str(": "),
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => out.push(char::from(*byte)),
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstory_format::json::{Tape, scan};

    fn fields(json: &str, except: &[&str]) -> String {
        let mut tape = Tape::new();
        scan(json.as_bytes(), 0, 64, &mut tape).unwrap();
        let mut out = String::new();
        write_fields(tape.root(json.as_bytes()).unwrap(), except, &mut out);
        out
    }

    #[test]
    fn fields_read_like_notes() {
        let json = r#"{"a":"x","b":"one\n  two\n","n":[1,{"k":null}],"skip":1}"#;
        assert_eq!(fields(json, &["skip"]), "a: x\nb:\n    one\n      two\nn: [1,{\"k\":null}]\n");
        assert_eq!(fields("[1, 2]", &[]), "[1, 2]\n");
    }

    #[test]
    fn long_values_are_laid_out() {
        let long = "x".repeat(90);
        let json = format!(r#"{{"todos":[{{"content":"{long} \"q\" {{","id":1}},{{}}]}}"#);
        assert_eq!(
            fields(&json, &[]),
            format!(
                "todos: [\n  {{\n    \"content\": \"{long} \\\"q\\\" {{\",\n    \"id\": 1\n  }},\n  {{}}\n]\n"
            )
        );
    }
}
