//! The patch that the client writes next to an edit.
//!
//! It has line numbers and context, but shows every leading tab as two spaces. Where that happened,
//! lines are taken from the file's text instead.

use super::edits::{EditTool, PatchLines, asked, original, string};
use backstory_format::json::Value;
use backstory_model::{Change, Hunk, HunkPlace, Replacement};
use std::borrow::Cow;

/// Hunks of a structured result.
pub(super) fn patch(result: &Value<'_>, wanted: PatchLines) -> Vec<Hunk> {
    let Some(patch) = result.get("structuredPatch") else { return Vec::new() };
    let texts = match wanted {
        PatchLines::Shown => Texts::of(result),
        PatchLines::Old => None,
    };
    let (before, after) = texts.as_ref().map_or(("", ""), |texts| (&texts.before, &texts.after));
    let (mut before, mut after) = (Lines::new(before), Lines::new(after));
    let mut hunks = Vec::new();
    for hunk in patch.items() {
        let place = place(&hunk);
        let (mut old, mut new) = place.map_or((1, 1), |place| (place.old_start, place.new_start));
        let mut lines = String::new();
        for line in hunk.get("lines").iter().flat_map(|lines| lines.items()) {
            let plus = line.raw_text().is_some_and(|raw| raw.first() == Some(&b'+'));
            let line = match wanted {
                PatchLines::Old if plus => Cow::Borrowed("+"),
                _ => line.text().unwrap_or_default(),
            };
            let mut letters = line.chars();
            let sign = letters.next().unwrap_or(' ');
            let shown = letters.as_str();
            let restored = match sign {
                _ if texts.is_none() => None,
                '+' => after.line(new),
                _ => before.line(old),
            };
            let restored = restored.filter(|original| same_but_for_tabs(original, shown));
            lines.push(sign);
            lines.push_str(restored.unwrap_or(shown).trim_end_matches('\n'));
            lines.push('\n');
            old = old.saturating_add(u32::from(matches!(sign, ' ' | '-')));
            new = new.saturating_add(u32::from(matches!(sign, ' ' | '+')));
        }
        hunks.push(Hunk { place, lines });
    }
    hunks
}

fn place(hunk: &Value<'_>) -> Option<HunkPlace> {
    let number = |name| u32::try_from(hunk.get(name)?.unsigned()?).ok();
    Some(HunkPlace {
        old_start: number("oldStart")?,
        old_lines: number("oldLines")?,
        new_start: number("newStart")?,
        new_lines: number("newLines")?,
    })
}

/// Lines of a text by number, asked for in rising order.
struct Lines<'a> {
    rest: &'a str,
    number: u32,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        Lines { rest: text, number: 1 }
    }

    fn line(&mut self, number: u32) -> Option<&'a str> {
        while self.number < number {
            let end = memchr::memchr(b'\n', self.rest.as_bytes())?;
            self.rest = self.rest.get(end + 1..)?;
            self.number += 1;
        }
        if self.number > number {
            return None;
        }
        let end = memchr::memchr(b'\n', self.rest.as_bytes()).unwrap_or(self.rest.len());
        self.rest.get(..end)
    }
}

fn same_but_for_tabs(original: &str, shown: &str) -> bool {
    let rest = original.trim_start_matches('\t');
    let tabs = original.len() - rest.len();
    tabs > 0 && shown.len() == rest.len() + 2 * tabs && shown.ends_with(rest)
}

/// A file's text before and after, when the patch may have lost tabs.
struct Texts<'a> {
    before: Cow<'a, str>,
    after: String,
}

impl<'a> Texts<'a> {
    fn of(result: &Value<'a>) -> Option<Texts<'a>> {
        let before = original(result)?;
        let edits = result.get("edits");
        let edits = edits.iter().flat_map(|edits| edits.items());
        let mut added = ["newString", "content"]
            .iter()
            .filter_map(|name| string(result, name))
            .chain(edits.filter_map(|edit| string(&edit, "new_string")));
        if !has_tabs(&before) && !added.any(|text| has_tabs(&text)) {
            return None;
        }
        let before = before.text()?;
        let after = after(result, &before);
        Some(Texts { before, after })
    }
}

/// Whether a text has a tab at its start or at the start of a line, as JSON writes it.
fn has_tabs(value: &Value<'_>) -> bool {
    let raw = value.raw_text().unwrap_or_default();
    raw.starts_with(b"\\t") || memchr::memmem::find(raw, b"\\n\\t").is_some()
}

/// What the file held afterwards.
fn after(result: &Value<'_>, before: &str) -> String {
    if let Some(content) = string(result, "content").and_then(|content| content.text()) {
        return content.into_owned();
    }
    let texts = |value: &Value<'_>| value.text().unwrap_or_default().into_owned();
    let one = || {
        let (old, new) = (string(result, "oldString")?, string(result, "newString")?);
        let all = result.get("replaceAll").and_then(|all| all.boolean()).unwrap_or(false);
        Some(vec![Replacement { old: texts(&old), new: texts(&new), all }])
    };
    let many = || match asked(EditTool::MultiEdit, result, &texts)? {
        Change::Replace(list) => Some(list),
        _ => None,
    };
    let list = one().or_else(many).unwrap_or_default();
    list.iter().fold(before.to_owned(), |text, part| replace(&text, part))
}

/// The client's rule: deleting text that is a whole line takes its line end along.
fn replace(text: &str, Replacement { old, new, all }: &Replacement<String>) -> String {
    if old.is_empty() {
        return if text.is_empty() { new.clone() } else { text.to_owned() };
    }
    let with_end = format!("{old}\n");
    let takes_end = new.is_empty() && !old.ends_with('\n') && text.contains(&with_end);
    let old = if takes_end { &with_end } else { old };
    if *all { text.replace(old, new) } else { text.replacen(old, new, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstory_format::json::{Tape, scan};

    fn hunks(structured: &str, wanted: PatchLines) -> Vec<Hunk> {
        let mut tape = Tape::new();
        scan(structured.as_bytes(), 0, 64, &mut tape).unwrap();
        patch(&tape.root(structured.as_bytes()).unwrap(), wanted)
    }

    #[test]
    fn tabs_come_back_into_the_clients_patch() {
        let structured = r#"{"oldString":"\tx()","newString":"\t\ty()","replaceAll":false,
            "originalFile":"func a() {\n\tx()\n  z()\n}\n",
            "structuredPatch":[{"oldStart":1,"oldLines":4,"newStart":1,"newLines":4,
            "lines":[" func a() {","-  x()","+    y()","   z()"," }","\\ No newline at end of file"]}]}"#;
        let shown = &hunks(structured, PatchLines::Shown)[0];
        let place = HunkPlace { old_start: 1, old_lines: 4, new_start: 1, new_lines: 4 };
        assert_eq!(shown.place, Some(place));
        assert_eq!(
            shown.lines,
            " func a() {\n-\tx()\n+\t\ty()\n   z()\n }\n\\ No newline at end of file\n"
        );
        let old = &hunks(structured, PatchLines::Old)[0];
        assert_eq!(old.old().collect::<Vec<_>>(), ["func a() {", "  x()", "  z()", "}"]);
        assert_eq!(old.added().collect::<Vec<_>>(), [2]);
        assert_eq!(shown.added().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_deleted_line_takes_its_end_along() {
        let part =
            |old: &str, new: &str| Replacement { old: old.into(), new: new.into(), all: false };
        assert_eq!(replace("a\nb\nc\n", &part("b", "")), "a\nc\n");
        assert_eq!(replace("", &part("", "new")), "new");
    }
}
