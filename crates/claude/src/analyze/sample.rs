//! One example of each kind of object, with everything personal taken out.
//!
//! Strings are replaced by what they are (`<uuid>`, `<text, 312 characters>`); only words that
//! belong to the format stay. So a sample contains no user data.

use super::values::{Format, is_choice};
use backstory_format::json::{Kind, Value};
use hashbrown::HashMap;

/// Fields and items shown of one object or list.
const MAX_FIELDS: usize = 40;
const MAX_ITEMS: usize = 2;
const MAX_DEPTH: u32 = 5;

/// The fullest example of each kind.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    by_kind: HashMap<Box<str>, Sample>,
}

#[derive(Debug, Clone)]
struct Sample {
    fields: usize,
    text: String,
}

impl Samples {
    /// Whether this object would show more than the sample there is.
    pub(super) fn wants(&self, kind: &str, value: &Value<'_>) -> bool {
        let fields = value.fields().take(MAX_FIELDS).count();
        self.by_kind.get(kind).is_none_or(|sample| sample.fields < fields)
    }

    /// Takes the object as the sample of its kind if it has more fields than the one there is.
    pub(super) fn offer(&mut self, kind: &str, value: &Value<'_>) {
        if !self.wants(kind, value) {
            return;
        }
        let mut text = String::new();
        write(value, "", 0, &mut text);
        let fields = value.fields().take(MAX_FIELDS).count();
        self.by_kind.insert(kind.into(), Sample { fields, text });
    }

    pub(super) fn merge(&mut self, other: &Samples) {
        for (kind, sample) in &other.by_kind {
            let better = |mine: &Sample| (mine.fields, &mine.text) < (sample.fields, &sample.text);
            if self.by_kind.get(kind).is_none_or(better) {
                self.by_kind.insert(kind.clone(), sample.clone());
            }
        }
    }

    /// The sample of a kind as indented JSON.
    pub fn get(&self, kind: &str) -> Option<&str> {
        self.by_kind.get(kind).map(|sample| sample.text.as_str())
    }
}

fn write(value: &Value<'_>, key: &str, depth: u32, out: &mut String) {
    match value.kind() {
        Kind::Object if depth >= MAX_DEPTH => out.push_str("{…}"),
        Kind::Array if depth >= MAX_DEPTH => out.push_str("[…]"),
        Kind::Object => {
            let more = value.fields().count().saturating_sub(MAX_FIELDS);
            members(value.fields().take(MAX_FIELDS), more, ['{', '}'], depth, out, |field, out| {
                let (key, value) = field;
                let name = key.text();
                let name = if is_name(&name) { super::clean_name(&name) } else { "<key>".into() };
                out.push_str(&format!("\"{name}\": "));
                write(&value, &name, depth + 1, out);
            });
        }
        Kind::Array => {
            let more = value.items().count().saturating_sub(MAX_ITEMS);
            members(value.items().take(MAX_ITEMS), more, ['[', ']'], depth, out, |item, out| {
                write(&item, key, depth + 1, out);
            });
        }
        Kind::String => out.push_str(&describe(value.raw_text().unwrap_or_default(), key)),
        Kind::Number if value.raw().len() <= 20 => {
            out.push_str(&String::from_utf8_lossy(value.raw()));
        }
        Kind::Number => out.push_str("<number>"),
        Kind::True => out.push_str("true"),
        Kind::False => out.push_str("false"),
        Kind::Null => out.push_str("null"),
    }
}

/// Fields or items, each on a line, and how many are left out.
fn members<T>(
    members: impl Iterator<Item = T>,
    more: usize,
    brackets: [char; 2],
    depth: u32,
    out: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    let indent = |depth: u32, out: &mut String| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth as usize));
    };
    let [open, close] = brackets;
    out.push(open);
    let mut any = false;
    for member in members {
        out.push_str(if any { "," } else { "" });
        indent(depth + 1, out);
        write(member, out);
        any = true;
    }
    if more > 0 {
        indent(depth + 1, out);
        out.push_str(&format!("… {more} more"));
    }
    if any {
        indent(depth, out);
    }
    out.push(close);
}

fn is_name(key: &str) -> bool {
    key.len() <= 48
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && key.bytes().filter(u8::is_ascii_digit).count() <= 4
}

fn describe(raw: &[u8], key: &str) -> String {
    let format = Format::of(raw);
    let text = String::from_utf8_lossy(raw);
    match format {
        Format::Empty => "\"\"".to_owned(),
        Format::Word if is_choice(key) || key == "version" => {
            format!("\"{}\"", super::clean_name(&text))
        }
        Format::Text | Format::Word => {
            format!("\"<text, {} characters>\"", text.chars().count())
        }
        other => format!("\"<{}>\"", other.name()),
    }
}
