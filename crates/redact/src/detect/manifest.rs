//! Secrets of Kubernetes: in `data:` and `stringData:` every value is one, whatever it is called.
//!
//! A manifest is shown in YAML or JSON, and by tools that put a number or a bar before each line, so
//! columns are counted from where `data:` stands.

use crate::judge::value::{Form, is_secret};
use crate::strength::Strength;
use std::ops::Range;

/// Words that tell of a manifest.
pub(crate) const KEYWORDS: [&str; 3] = ["stringdata", "kind: secret", "\"kind\": \"secret\""];
/// How far from its kind the data of a manifest may stand.
const FAR: usize = 8 << 10;
/// What stands before a line of it: an indent, a number, a bar.
const LONGEST_MARGIN: usize = 200;
const MOST_VALUES: usize = 64;
/// A shorter value of `data:` is base64 of almost nothing.
const SHORTEST: usize = 8;

/// Finds manifests in one text; remembers how far it looked, so that many keywords cost nothing.
#[derive(Debug, Default)]
pub(crate) struct Manifests {
    /// By what was looked for: values as they are, and encoded ones.
    done: [usize; 2],
}

impl Manifests {
    /// The values of the manifest that the keyword at `place` belongs to.
    pub(crate) fn find(&mut self, text: &str, place: &Range<usize>) -> Vec<Range<usize>> {
        let first = text.as_bytes().get(place.start);
        let kind = if first.is_some_and(|byte| byte.eq_ignore_ascii_case(&b's')) {
            Kind::Plain
        } else {
            Kind::Encoded
        };
        let [plain, encoded] = &mut self.done;
        let done = if kind == Kind::Plain { plain } else { encoded };
        if place.start < *done {
            return Vec::new();
        }
        let (found, end) = values(text, place, kind, *done);
        *done = end;
        found
    }
}

/// The values, and where the search ended.
fn values(text: &str, place: &Range<usize>, kind: Kind, from: usize) -> (Vec<Range<usize>>, usize) {
    let mut found = Vec::new();
    if kind == Kind::Plain {
        let done = block(text, place.start, place.end, Kind::Plain, &mut found);
        return (found, done.max(place.end));
    }
    let start = boundary(text, place.start.saturating_sub(FAR).max(from));
    let end = boundary(text, place.end + FAR);
    let (Some(before), Some(after)) = (text.get(start..place.start), text.get(place.start..end))
    else {
        return (found, place.end);
    };
    // Not into the next document.
    let start = start + before.rfind("\n---").unwrap_or(0);
    let end = place.start + after.find("\n---").unwrap_or(after.len());
    let Some(near) = text.get(start..end) else { return (found, place.end) };
    for (at, _) in near.match_indices("data") {
        let before = start.checked_add(at).and_then(|at| at.checked_sub(1));
        let before = before.and_then(|at| text.as_bytes().get(at));
        let is_key = before.is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let at = start + at;
        if is_key && found.len() < MOST_VALUES {
            block(text, at, at + "data".len(), Kind::Encoded, &mut found);
        }
    }
    (found, end)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Encoded,
}

/// The values of the block whose name begins at `start` and ends at `end`; gives its end.
fn block(text: &str, start: usize, end: usize, kind: Kind, found: &mut Vec<Range<usize>>) -> usize {
    let Some(rest) = text.get(end..) else { return end };
    let behind = rest.trim_start_matches(['"', '\\', '\'']);
    let Some(behind) = behind.strip_prefix(':') else { return end };
    if behind.trim_start().starts_with('{') {
        object(text, text.len() - behind.len(), kind, found);
        return end;
    }
    let close = boundary(text, start.saturating_sub(LONGEST_MARGIN));
    let before = text.get(close..start).unwrap_or_default();
    let line = before.rfind('\n').map_or(close, |at| close + at + 1);
    let column = start - line;
    let near = behind.get(..boundary(behind, FAR)).unwrap_or(behind);
    let Some(first) = near.find('\n').filter(|at| near.get(..*at).is_some_and(is_blank)) else {
        return end;
    };
    let mut at = text.len() - behind.len() + first + 1;
    while found.len() < MOST_VALUES {
        let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let rest = rest.get(..boundary(rest, FAR)).unwrap_or(rest);
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = at..at + length;
        at += length + 1;
        let Some(inside) = text.get(line.start + column..line.end) else { break };
        let is_comment = inside.trim_start().starts_with('#');
        if !inside.starts_with([' ', '\t']) {
            break;
        }
        let Some((name, value)) = inside.split_once(':').filter(|_| !is_comment) else { continue };
        if name.trim().is_empty() || !value.starts_with(' ') {
            continue;
        }
        let bare = value.trim().trim_matches(['"', '\'']);
        let Some(offset) = value.find(bare) else { continue };
        let place = line.start + column + name.len() + 1 + offset;
        keep(text, place..place + bare.len(), kind, found);
    }
    at
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// The same where it is written in JSON.
fn object(text: &str, from: usize, kind: Kind, found: &mut Vec<Range<usize>>) {
    let end = boundary(text, from + FAR);
    let Some(inside) = text.get(from..end) else { return };
    let inside = inside.find('}').and_then(|close| inside.get(..close)).unwrap_or(inside);
    let mut at = 0;
    // Names and values by turns.
    for (number, part) in inside.split('"').enumerate() {
        if number % 4 == 3 && found.len() < MOST_VALUES {
            let part = part.trim_end_matches('\\');
            keep(text, from + at..from + at + part.len(), kind, found);
        }
        at += part.len() + 1;
    }
}

fn keep(text: &str, range: Range<usize>, kind: Kind, found: &mut Vec<Range<usize>>) {
    let Some(value) = text.get(range.clone()) else { return };
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let is_value = match kind {
        Kind::Plain => is_secret(value, Strength::Password, Form::Code),
        Kind::Encoded => {
            value.len() >= SHORTEST
                && value.len().is_multiple_of(4)
                && value.bytes().all(is_base64)
                && value.bytes().any(|byte| !byte.is_ascii_lowercase())
        }
    };
    if is_value {
        found.push(range);
    }
}

fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, keyword: &str) -> Vec<String> {
        let at = text.find(keyword).unwrap();
        let found = Manifests::default().find(text, &(at..at + keyword.len()));
        found.into_iter().map(|range| text[range].to_owned()).collect()
    }

    #[test]
    fn values_of_a_manifest_are_found_by_their_place() {
        let yaml = "kind: Secret\nmetadata:\n  name: app\ndata:\n  a: cTdSdzJrTHA5S2Q=\n  b: \"dGlnZXI3Nw==\"\ntype: Opaque\n";
        assert_eq!(found(yaml, "kind: Secret"), ["cTdSdzJrTHA5S2Q=", "dGlnZXI3Nw=="]);
        let numbered =
            "  1│stringData:\n  2│  url: q7Rw2kLp9Kd\n  3│  port: \"8080\"\n  4│type: Opaque\n";
        assert_eq!(found(numbered, "stringData"), ["q7Rw2kLp9Kd"]);
        let json = r#"{"kind": "Secret", "data": {"a": "cTdSdzJrTHA5S2Q=", "b": "dGlnZXI3Nw=="}}"#;
        assert_eq!(found(json, r#""kind": "Secret""#), ["cTdSdzJrTHA5S2Q=", "dGlnZXI3Nw=="]);
    }
}
