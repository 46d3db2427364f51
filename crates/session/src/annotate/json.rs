//! A key at the end of a JSON object, put in by splicing: every other byte stays.

use super::{Entry, KEY, Unfit, line_end};
use backstory_format::Limits;
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_format::slice::Part;

pub(super) fn append(text: &str, entries: &[Entry]) -> Result<String, Unfit> {
    let bytes = text.as_bytes();
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut tape = Tape::new();
    let end = scan(bytes, start, Limits::DEPTH, &mut tape).map_err(|_| Unfit::NotJson)?;
    let rest = text.part(end..);
    if !rest.trim().is_empty() {
        return Err(Unfit::NotJson);
    }
    let root = tape.root(bytes).ok_or(Unfit::NotJson)?;
    if root.kind() != Kind::Object {
        return Err(Unfit::NotAMapping);
    }
    let style = Style::of(text, &root);
    if let Some(old) = root.get(KEY) {
        let value = style.list(entries, &kept(&old, entries));
        let span = old.span();
        return Ok(splice(text, span.start, span.end, &value));
    }
    let value = style.list(entries, &[]);
    let last = root.fields().last().map(|(_, value)| value.span().end);
    Ok(match last {
        Some(last) => splice(
            text,
            last,
            last,
            &format!(",{}\"{KEY}\":{}{value}", style.before_key, style.after_colon),
        ),
        None => {
            let inside = root.span().start + 1..root.span().end - 1;
            let field = format!(
                "{}\"{KEY}\":{}{value}{}",
                style.before_key, style.after_colon, style.before_end
            );
            splice(text, inside.start, inside.end, &field)
        }
    })
}

fn splice(text: &str, from: usize, to: usize, new: &str) -> String {
    let (before, after) = (text.part(..from), text.part(to..));
    format!("{before}{new}{after}")
}

/// Items that speak of other edits, as they are written.
fn kept(old: &Value<'_>, entries: &[Entry]) -> Vec<String> {
    let known: Vec<String> = entries.iter().map(Entry::time).collect();
    let other = |item: &Value<'_>| {
        let time = item.get_text("timestamp").unwrap_or_default();
        !known.iter().any(|known| *known == time)
    };
    let items = old.items().filter(other);
    items.map(|item| String::from_utf8_lossy(item.raw()).into_owned()).collect()
}

/// How the file is laid out.
struct Style {
    before_key: String,
    before_end: String,
    after_colon: &'static str,
    /// One step of indentation; none where everything is on one line.
    indent: Option<String>,
    end: &'static str,
}

impl Style {
    fn of(text: &str, root: &Value<'_>) -> Style {
        let end = line_end(text);
        let open = root.span().start + 1;
        let inside = text.part(open..root.span().end - 1);
        let space: String = inside.chars().take_while(|letter| letter.is_whitespace()).collect();
        let empty = inside.trim().is_empty();
        let spaced = text.contains("\": ") || empty;
        let indent = match space.rsplit_once('\n') {
            Some((_, indent)) if !empty => Some(indent.to_owned()),
            _ if empty => Some("  ".to_owned()),
            _ => None,
        };
        let before_key = match &indent {
            Some(indent) => format!("{end}{indent}"),
            None if spaced => " ".to_owned(),
            None => String::new(),
        };
        let before_end = if indent.is_some() { end.to_owned() } else { String::new() };
        Style { before_key, before_end, after_colon: if spaced { " " } else { "" }, indent, end }
    }

    fn list(&self, entries: &[Entry], kept: &[String]) -> String {
        let mut items: Vec<String> = kept.to_vec();
        for entry in entries {
            let field = |(name, value): (&str, String)| {
                let number = name.starts_with("lines_");
                let value =
                    if number { value } else { serde_json::to_string(&value).unwrap_or_default() };
                format!("\"{name}\":{}{value}", self.after_colon)
            };
            let separator = if self.after_colon.is_empty() { "," } else { ", " };
            let fields: Vec<String> = entry.fields().into_iter().map(field).collect();
            items.push(format!("{{{}}}", fields.join(separator)));
        }
        match &self.indent {
            Some(indent) => {
                let deep = format!("{}{indent}{indent}", self.end);
                let items = items.join(&format!(",{deep}"));
                format!("[{deep}{items}{}{indent}]", self.end)
            }
            None => {
                format!("[{}]", items.join(if self.after_colon.is_empty() { "," } else { ", " }))
            }
        }
    }
}
