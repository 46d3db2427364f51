//! Edits as differences between lines.
//!
//! The client writes its own patch beside an edit, with line numbers and context, but it shows
//! every leading tab as two spaces. Where that happened, the lines are taken from the file's text
//! instead. Without a patch (a refused or failed edit) the edit's two strings are compared.

use crate::compare::{self, Placing};
use backstory_format::json::{Kind, Tape, Value, scan, string_end, text};
use backstory_format::slice::{Part, item};
use backstory_model::{Call, Effect};
use hashbrown::HashMap;
use imara_diff::{IndentLevel, Token};
use std::borrow::Cow;
use std::ops::Range;

/// What an edit did to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileDiff {
    pub path: String,
    /// The file did not exist before.
    pub created: bool,
    /// Every occurrence was replaced.
    pub everywhere: bool,
    pub hunks: Vec<Hunk>,
}

/// Neighbouring lines that changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The first line before and after, where it is known.
    pub start: Option<(u64, u64)>,
    /// Lines with their sign (space, `-`, `+`, `\`) in front, each ended by a newline.
    pub lines: String,
}

impl FileDiff {
    /// How many lines were added and removed.
    pub fn counts(&self) -> (usize, usize) {
        let signs = |sign: char| {
            let lines = self.hunks.iter().flat_map(|hunk| hunk.lines.split('\n'));
            lines.filter(|line| line.starts_with(sign)).count()
        };
        (signs('+'), signs('-'))
    }
}

/// Whether a call changes files by what it is given: by the tools of Claude Code, or as the reader of
/// another agent's traces says.
pub(super) fn is_edit(call: &Call) -> bool {
    matches!(call.name.as_deref(), Some("Edit" | "MultiEdit" | "Write" | "NotebookEdit"))
        || call.effects.iter().any(|effect| matches!(effect, Effect::Edit(_)))
}

/// The change a call made or wanted to make.
pub(super) fn of_call(
    tool: &str,
    input: Value<'_>,
    structured: Option<Structured<'_>>,
) -> Option<FileDiff> {
    let named = |names: &[&str]| names.iter().find_map(|name| input.get_text(name));
    let path = named(&["file_path", "notebook_path", "path"])?.into_owned();
    let mut diff = FileDiff { path, ..FileDiff::default() };
    let replaces_all = |edit: Value<'_>| {
        edit.get("replace_all").and_then(|value| value.boolean()).unwrap_or(false)
    };
    match tool {
        "Write" => {
            let content = input.get_text("content")?;
            diff.created = structured.is_some_and(|structured| structured.created());
            match structured.and_then(patch) {
                Some(hunks) => diff.hunks = hunks,
                None if structured.is_some() && !diff.created => {}
                None => diff.hunks.extend(compare("", &content)),
            }
        }
        "NotebookEdit" => diff.hunks.extend(compare("", &input.get_text("new_source")?)),
        "MultiEdit" => {
            let edits = input.get("edits").filter(|edits| edits.kind() == Kind::Array)?;
            match structured.and_then(patch) {
                Some(hunks) => diff.hunks = hunks,
                None => {
                    for edit in edits.items() {
                        let old = edit.get_text("old_string").unwrap_or_default();
                        let new = edit.get_text("new_string").unwrap_or_default();
                        diff.hunks.extend(compare(&old, &new));
                    }
                }
            }
            diff.everywhere = edits.items().any(replaces_all);
        }
        _ => {
            let old = input.get_text("old_string")?;
            let new = input.get_text("new_string")?;
            diff.everywhere = replaces_all(input);
            match structured.and_then(patch) {
                Some(hunks) => diff.hunks = hunks,
                None => diff.hunks.extend(compare(&old, &new)),
            }
        }
    }
    Some(diff)
}

/// The lines in which two texts differ, with what surrounds them.
pub(super) fn compare<'t>(old: &'t str, new: &'t str) -> Option<Hunk> {
    let mut lines = String::with_capacity(old.len() + new.len());
    if old.is_empty() || new.is_empty() {
        push_all(&mut lines, '-', old);
        push_all(&mut lines, '+', new);
        return (!lines.is_empty()).then_some(Hunk { start: None, lines });
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut numbers: HashMap<&str, Token> = HashMap::new();
    let mut distinct: Vec<&str> = Vec::new();
    let mut number = |line: &&'t str| {
        *numbers.entry(line).or_insert_with(|| {
            distinct.push(line);
            Token(distinct.len() as u32 - 1)
        })
    };
    let before: Vec<Token> = old.iter().map(&mut number).collect();
    let after: Vec<Token> = new.iter().map(&mut number).collect();
    let indent = |token: Token| {
        let line = item(&distinct, token.0 as usize);
        IndentLevel::for_ascii_line(line.bytes(), 8)
    };
    let mut take = |sign: char, side: &[&str], range: Range<usize>| {
        for line in side.get(range).unwrap_or_default() {
            push(&mut lines, sign, line);
        }
    };
    let mut at = 0;
    for hunk in compare::compare(&before, &after, Placing::ByIndent(&indent)).hunks {
        take(' ', &old, at..hunk.before.start);
        take('-', &old, hunk.before.clone());
        take('+', &new, hunk.after.clone());
        at = hunk.before.end;
    }
    take(' ', &old, at..old.len());
    Some(Hunk { start: None, lines })
}

fn push_all(lines: &mut String, sign: char, text: &str) {
    if !text.is_empty() {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            push(lines, sign, line);
        }
    }
}

fn push(lines: &mut String, sign: char, line: &str) {
    lines.push(sign);
    lines.push_str(line.strip_suffix('\n').unwrap_or(line));
    lines.push('\n');
}

/// The client's account of an edit. It holds whole files, so it is not indexed as a whole: only
/// the patch is, and texts are looked up when they are needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Structured<'a> {
    bytes: &'a [u8],
    patch: Option<Value<'a>>,
}

const MAX_DEPTH: u32 = 1024;

impl<'a> Structured<'a> {
    pub(super) fn open(bytes: &'a [u8], tape: &'a mut Tape) -> Option<Structured<'a>> {
        if bytes.first() != Some(&b'{') {
            return None;
        }
        let at = value_of(bytes, b"\"structuredPatch\":");
        let scanned = at.and_then(|at| scan(bytes, at, MAX_DEPTH, tape).ok());
        let patch = scanned.and_then(|_| tape.root(bytes));
        Some(Structured { bytes, patch })
    }

    fn created(&self) -> bool {
        let head = self.bytes.part(..self.bytes.len().min(40));
        memchr::memmem::find(head, b"\"create\"").is_some()
    }

    /// The inside of a string, still escaped.
    fn raw_text(&self, key: &[u8]) -> Option<&'a [u8]> {
        let at = value_of(self.bytes, key)?;
        let start = at + 1;
        if self.bytes.get(at) != Some(&b'"') {
            return None;
        }
        self.bytes.get(start..string_end(self.bytes, start)?)
    }

    fn text(&self, key: &[u8]) -> Option<Cow<'a, str>> {
        self.raw_text(key).map(text::decode)
    }

    fn is_true(&self, key: &[u8]) -> bool {
        let value = value_of(self.bytes, key).and_then(|at| self.bytes.get(at..at + 4));
        value == Some(b"true")
    }
}

/// Where the value of a key stands. Inside a string the key's quotes would be escaped, so what is
/// found is a key.
fn value_of(bytes: &[u8], key: &[u8]) -> Option<usize> {
    let at = memchr::memmem::find(bytes, key)? + key.len();
    Some(at + bytes.get(at..)?.iter().take_while(|byte| **byte == b' ').count())
}

/// Whether a text has a tab at its start or at the start of a line, as JSON writes it.
fn has_tabs(raw: &[u8]) -> bool {
    raw.starts_with(b"\\t") || memchr::memmem::find(raw, b"\\n\\t").is_some()
}

/// The client's patch, tabs put back.
fn patch(structured: Structured<'_>) -> Option<Vec<Hunk>> {
    let patch = structured.patch.filter(|value| value.kind() == Kind::Array)?;
    let texts = Texts::of(structured);
    let (before, after) = texts.as_ref().map_or(("", ""), |texts| (&texts.before, &texts.after));
    let (mut before, mut after) = (Lines::new(before), Lines::new(after));
    let mut hunks = Vec::new();
    for hunk in patch.items() {
        let number = |name: &str| hunk.get(name).and_then(|value| value.unsigned());
        let start = number("oldStart").zip(number("newStart"));
        let (mut old, mut new) = start.unwrap_or((1, 1));
        let mut lines = String::new();
        for line in hunk.get("lines").into_iter().flat_map(|lines| lines.items()) {
            let line = line.text().unwrap_or_default();
            let mut characters = line.chars();
            let sign = characters.next().unwrap_or(' ');
            let text = characters.as_str();
            let original = match sign {
                _ if texts.is_none() => None,
                '+' => after.line(new),
                _ => before.line(old),
            };
            let restored = original.filter(|original| same_but_for_tabs(original, text));
            push(&mut lines, sign, restored.unwrap_or(text));
            old += u64::from(matches!(sign, ' ' | '-'));
            new += u64::from(matches!(sign, ' ' | '+'));
        }
        hunks.push(Hunk { start, lines });
    }
    (!hunks.is_empty()).then_some(hunks)
}

/// Lines of a text by number, asked for in rising order.
struct Lines<'a> {
    rest: &'a str,
    number: u64,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        Lines { rest: text, number: 1 }
    }

    fn line(&mut self, number: u64) -> Option<&'a str> {
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
    fn of(structured: Structured<'a>) -> Option<Texts<'a>> {
        let keys: [&[u8]; 2] = [b"\"originalFile\":", b"\"originalFileContents\":"];
        let original = keys.iter().find_map(|key| structured.raw_text(key))?;
        let added: [&[u8]; 3] = [b"\"newString\":", b"\"content\":", b"\"new_string\":"];
        let added = added.iter().filter_map(|key| structured.raw_text(key));
        if !has_tabs(original) && !added.into_iter().any(has_tabs) {
            return None;
        }
        let before = text::decode(original);
        let after = after(structured, &before);
        Some(Texts { before, after })
    }
}

/// What the file held afterwards.
fn after(structured: Structured<'_>, before: &str) -> String {
    if let Some(content) = structured.text(b"\"content\":") {
        return content.into_owned();
    }
    if let (Some(old), Some(new)) =
        (structured.text(b"\"oldString\":"), structured.text(b"\"newString\":"))
    {
        return replace(before, &old, &new, structured.is_true(b"\"replaceAll\":"));
    }
    let mut tape = Tape::new();
    let edits = value_of(structured.bytes, b"\"edits\":");
    let edits = edits.and_then(|at| scan(structured.bytes, at, MAX_DEPTH, &mut tape).ok());
    let edits = edits.and_then(|_| tape.root(structured.bytes));
    let mut text = before.to_owned();
    for edit in edits.into_iter().flat_map(|edits| edits.items()) {
        let old = edit.get_text("old_string").unwrap_or_default();
        let new = edit.get_text("new_string").unwrap_or_default();
        let all = edit.get("replace_all").and_then(|value| value.boolean()).unwrap_or(false);
        text = replace(&text, &old, &new, all);
    }
    text
}

/// The client's rule: deleting text that is a whole line takes its line end along.
fn replace(text: &str, old: &str, new: &str, all: bool) -> String {
    if old.is_empty() {
        return if text.is_empty() { new.to_owned() } else { text.to_owned() };
    }
    let with_end = format!("{old}\n");
    let takes_end = new.is_empty() && !old.ends_with('\n') && text.contains(&with_end);
    let old = if takes_end { with_end.as_str() } else { old };
    if all { text.replace(old, new) } else { text.replacen(old, new, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(tool: &str, input: &str, structured: Option<&str>) -> FileDiff {
        let (mut first, mut second) = (Tape::new(), Tape::new());
        scan(input.as_bytes(), 0, 64, &mut first).unwrap();
        let value = structured.and_then(|text| Structured::open(text.as_bytes(), &mut second));
        of_call(tool, first.root(input.as_bytes()).unwrap(), value).unwrap()
    }

    #[test]
    fn strings_are_compared_when_there_is_no_patch() {
        let input =
            r#"{"file_path":"a","old_string":"one\ntwo\nthree","new_string":"one\n2\nthree"}"#;
        let made = diff("Edit", input, Some("\"Error: no match\""));
        assert_eq!(made.hunks[0].lines, " one\n-two\n+2\n three\n");
        assert_eq!(made.counts(), (1, 1));
    }

    #[test]
    fn tabs_come_back_into_the_clients_patch() {
        let input = r#"{"file_path":"a.go","old_string":"\tx()","new_string":"\t\ty()"}"#;
        let structured = r#"{"oldString":"\tx()","newString":"\t\ty()","replaceAll":false,
            "originalFile":"func a() {\n\tx()\n  z()\n}\n",
            "structuredPatch":[{"oldStart":1,"oldLines":4,"newStart":1,"newLines":4,
            "lines":[" func a() {","-  x()","+    y()","   z()"," }","\\ No newline at end of file"]}]}"#;
        let made = diff("Edit", input, Some(structured));
        assert_eq!(made.hunks[0].start, Some((1, 1)));
        assert_eq!(
            made.hunks[0].lines,
            " func a() {\n-\tx()\n+\t\ty()\n   z()\n }\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn a_new_file_is_all_additions() {
        let input = r#"{"file_path":"n","content":"a\n\nb\n"}"#;
        let created = r#"{"type":"create","structuredPatch":[],"content":"a\n\nb\n"}"#;
        let made = diff("Write", input, Some(created));
        assert!(made.created);
        assert_eq!(made.hunks[0].lines, "+a\n+\n+b\n");
        let same = r#"{"type":"update","structuredPatch":[],"originalFile":"a\n\nb\n"}"#;
        assert_eq!(diff("Write", input, Some(same)).hunks, []);
        assert_eq!(diff("Write", input, None).hunks[0].lines, "+a\n+\n+b\n");
    }

    #[test]
    fn a_deleted_line_takes_its_end_along() {
        assert_eq!(replace("a\nb\nc\n", "b", "", false), "a\nc\n");
        assert_eq!(replace("", "", "new", false), "new");
    }
}
