//! Fields of tool inputs and of the client's structured results.

use super::edit::{Change, Hunk, Replacement};
use super::lines::unix;
use backstory_format::json::{Kind, Value};

/// The path a call names.
pub(super) fn path(input: &Value<'_>) -> Option<String> {
    let named = input.get_text("file_path").or_else(|| input.get_text("notebook_path"))?;
    (!named.is_empty()).then(|| named.into_owned())
}

/// What the model asked for.
pub(super) fn asked(tool: &str, input: &Value<'_>) -> Option<Change> {
    match tool {
        "Write" => Some(Change::Write { content: text(input, "content")?, created: false }),
        "Edit" => Some(Change::Replace(vec![replacement(input)?])),
        "MultiEdit" => Some(Change::Replace(replacements(&input.get("edits")?)?)),
        "NotebookEdit" => {
            let deletes = input.get("edit_mode").is_some_and(|mode| mode.is_text("delete"));
            let source = if deletes { String::new() } else { text(input, "new_source")? };
            Some(Change::Cell { source })
        }
        _ => None,
    }
}

/// What the client says it did; `None` where it does not say.
fn done(tool: &str, told: &Value<'_>) -> Option<Change> {
    match tool {
        "Write" => {
            let created = told.get("type").is_some_and(|kind| kind.is_text("create"));
            Some(Change::Write { content: text(told, "content")?, created })
        }
        "Edit" => {
            let all = flag(told, "replaceAll");
            let (old, new) = (text(told, "oldString")?, text(told, "newString")?);
            Some(Change::Replace(vec![Replacement { old, new, all }]))
        }
        "MultiEdit" => Some(Change::Replace(replacements(&told.get("edits")?)?)),
        _ => None,
    }
}

/// The client's structured result of an edit.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) done: Option<Change>,
    pub(super) original: Option<String>,
    pub(super) updated: Option<String>,
    pub(super) hunks: Vec<Hunk>,
    /// Numbers of the lines that the patch adds.
    pub(super) added: Vec<u32>,
    /// A person changed the edit in review.
    pub(super) reviewed: bool,
}

impl Told {
    pub(super) fn read(tool: &str, told: &Value<'_>) -> Told {
        let (hunks, added) = patch(told);
        Told {
            done: done(tool, told),
            original: original(told),
            updated: text(told, "updated_file"),
            hunks,
            added,
            reviewed: flag(told, "userModified"),
        }
    }
}

fn replacement(value: &Value<'_>) -> Option<Replacement> {
    let (old, new) = (text(value, "old_string")?, text(value, "new_string")?);
    Some(Replacement { old, new, all: flag(value, "replace_all") })
}

fn replacements(list: &Value<'_>) -> Option<Vec<Replacement>> {
    list.items().map(|item| replacement(&item)).collect()
}

/// The whole file before, where the client wrote it down.
fn original(told: &Value<'_>) -> Option<String> {
    let names = ["originalFile", "originalFileContents", "original_file"];
    names.iter().find_map(|name| text(told, name))
}

/// Hunks of the patch and the numbers of the lines it adds.
fn patch(told: &Value<'_>) -> (Vec<Hunk>, Vec<u32>) {
    let Some(patch) = told.get("structuredPatch") else { return Default::default() };
    let number = |hunk: &Value<'_>, name: &str| {
        hunk.get(name).and_then(|value| value.unsigned()).and_then(|n| u32::try_from(n).ok())
    };
    let mut added = Vec::new();
    let mut hunks = Vec::new();
    for item in patch.items() {
        let starts = number(&item, "oldStart").zip(number(&item, "newStart"));
        let counts = number(&item, "oldLines").zip(number(&item, "newLines"));
        let (Some((old_start, new_start)), Some((old_lines, new_lines))) = (starts, counts) else {
            continue;
        };
        let mut old = String::new();
        let mut at = new_start;
        for line in item.get("lines").iter().flat_map(|lines| lines.items()) {
            // What is added is only counted, so it need not be decoded.
            let plus = line.raw_text().is_some_and(|raw| raw.first() == Some(&b'+'));
            let line = if plus { Some("+".into()) } else { line.text() };
            let Some(line) = line else { continue };
            let text = line.get(1..).unwrap_or_default();
            match line.as_bytes().first() {
                Some(b'+') => {
                    added.push(at);
                    at += 1;
                }
                Some(b'\\') => {}
                sign => {
                    old.push_str(text);
                    old.push('\n');
                    at += u32::from(sign != Some(&b'-'));
                }
            }
        }
        hunks.push(Hunk { old_start, old_lines, new_start, new_lines, old });
    }
    (hunks, added)
}

/// The path and the whole content of a file, when a `Read` saw all of it.
pub(super) fn read_whole(told: &Value<'_>) -> Option<String> {
    let file = told.get("file").filter(|_| told.get("type").is_some_and(|t| t.is_text("text")))?;
    let number = |name: &str| file.get(name).and_then(|value| value.unsigned());
    let whole = number("startLine")? == 1 && number("numLines")? == number("totalLines")?;
    let cut = file.get("truncatedByTokenCap").and_then(|cut| cut.boolean()).unwrap_or(false);
    if whole && !cut { text(&file, "content") } else { None }
}

/// The text of a `Read` as the model saw it, with its line numbers taken off. Only for a reading
/// without bounds that shows the file from its first line and leaves nothing out.
pub(super) fn read_from_text(shown: &str, input: &Value<'_>) -> Option<String> {
    const LONGEST: usize = 2_000;
    let bounded = ["offset", "limit", "pages"].iter().any(|name| input.get(name).is_some());
    let shown = shown.split("\n\n<system-reminder>").next().unwrap_or(shown);
    let mut content = String::with_capacity(shown.len());
    let mut count = 0;
    for line in shown.lines() {
        let number_end = line.find(['→', '\t'])?;
        let (number, rest) = (line.get(..number_end)?, line.get(number_end..)?);
        let rest = rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t'))?;
        count += 1;
        if number.trim().parse() != Ok(count) || rest.len() >= LONGEST {
            return None;
        }
        content.push_str(rest);
        content.push('\n');
    }
    (!bounded && count > 0 && count < LONGEST).then(|| unix(content))
}

fn text(value: &Value<'_>, name: &str) -> Option<String> {
    let field = value.get(name).filter(|field| field.kind() == Kind::String)?;
    field.text().map(unix)
}

fn flag(value: &Value<'_>, name: &str) -> bool {
    value.get(name).and_then(|flag| flag.boolean()).unwrap_or(false)
}
