//! The sessions of a file that holds several, and what they are called.

use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_format::line::split;
use backstory_store::Store;
use hashbrown::HashMap;
use std::ops::Range;
use std::path::Path;

/// How sessions are arranged in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The file is one session.
    One,
    /// One on each line.
    Lines,
    /// One in each item of a JSON array, or the only one.
    Items,
    /// Several, in a way that only the agent's reader knows.
    Own,
}

/// A session's place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is called.
    pub id: String,
    /// None when it is the whole file.
    pub range: Option<Range<u64>>,
}

/// The sessions of a file that is called `name`.
pub(crate) fn sessions(path: &Path, layout: Layout, name: &str, store: &Store) -> Vec<Part> {
    let find = match layout {
        Layout::One | Layout::Own => return whole(name),
        Layout::Lines => lines,
        Layout::Items => items,
    };
    match store.load(path, None) {
        Ok(loaded) => named(find(&loaded.bytes), name, name),
        Err(_) => whole(name),
    }
}

/// The file is one session.
pub(crate) fn whole(name: &str) -> Vec<Part> {
    vec![Part { id: name.to_owned(), range: None }]
}

/// Gives a name to parts without one, and different names to parts with the same. `stem` is what a
/// file with only one of them is named after.
pub(crate) fn named(mut parts: Vec<Part>, name: &str, stem: &str) -> Vec<Part> {
    if let [only] = parts.as_mut_slice() {
        name_only(only, stem);
    }
    for (number, part) in parts.iter_mut().enumerate() {
        if part.id.is_empty() {
            part.id = format!("{name}-{}", number + 1);
        }
    }
    // Two sessions may begin in the same second, or be runs of the same task.
    let mut seen: HashMap<String, usize> = HashMap::new();
    for part in &mut parts {
        let count = seen.entry(part.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            part.id.push_str(&format!("-{count}"));
        }
    }
    parts
}

/// A session that was copied out of a file with others, into one that is named after it, keeps its
/// name: its number, where its id alone is not unique.
fn name_only(part: &mut Part, stem: &str) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbered = |text: &str| text.strip_prefix('-').is_some_and(is_number);
    if part.id.is_empty() {
        let (_, number) = stem.rsplit_once('-').unwrap_or_default();
        if is_number(number) {
            part.id = stem.to_owned();
        }
    } else if let Some(rest) = stem.strip_prefix(&part.id.replace(':', "-"))
        && numbered(rest)
    {
        part.id.push_str(rest);
    }
}

fn lines(bytes: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut tape = Tape::new();
    let mut at = 0;
    for line in split(bytes) {
        let start = at;
        at += line.width() as u64;
        if line.content.trim_ascii().is_empty() {
            continue;
        }
        let end = scan(line.content, 0, 1024, &mut tape).ok();
        let value = end.and_then(|_| tape.root(line.content));
        let id = value.and_then(|value| row_id(&value)).unwrap_or_default();
        parts.push(Part { id, range: Some(start..start + line.content.len() as u64) });
    }
    parts
}

fn items(bytes: &[u8]) -> Vec<Part> {
    let mut tape = Tape::new();
    let start = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let Some(list) = scan(bytes, start, 1024, &mut tape).ok().and_then(|_| tape.root(bytes)) else {
        return Vec::new();
    };
    let part = |item: Value<'_>| {
        let span = item.span();
        let range = Some(span.start as u64..span.end as u64);
        Part { id: row_id(&item).unwrap_or_default(), range }
    };
    match list.kind() {
        Kind::Object => vec![part(list)],
        _ => list.items().map(part).collect(),
    }
}

/// What a row of a benchmark calls itself.
fn row_id(row: &Value<'_>) -> Option<String> {
    let named = ["traj_id", "instance_id"].iter().find_map(|name| row.get_text(name));
    let number = || row.get("issue")?.get("number")?.unsigned().map(|n| format!("issue-{n}"));
    named.map(|id| id.into_owned()).or_else(number)
}
