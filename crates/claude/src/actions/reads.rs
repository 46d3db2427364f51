//! What calls that read a file saw of it.

use super::edits::{edited_path, string};
use super::with_object;
use backstory_format::json::Kind;
use backstory_model::{Content, Reading};
use backstory_store::{SourceReader, StoreError};
use std::borrow::Cow;

/// What the client's structured result says was read.
pub fn reading(
    structured: &Content,
    reader: &mut SourceReader,
) -> Result<Option<Reading<'static>>, StoreError> {
    with_object(structured, reader, |result, texts| {
        let file = result.get("file").filter(|file| file.kind() == Kind::Object)?;
        let number = |name: &str| file.get(name).and_then(|value| value.unsigned());
        let (first, lines) = (number("startLine"), number("numLines"));
        let all = first == Some(1) && lines.is_some() && lines == number("totalLines");
        let cut = file.get("truncatedByTokenCap").and_then(|cut| cut.boolean()).unwrap_or(false);
        let is_text = result.get("type").is_some_and(|kind| kind.is_text("text"));
        Some(Reading {
            path: Cow::Owned(file.get_text("filePath").unwrap_or_default().into_owned()),
            first,
            lines,
            content: Cow::Owned(texts(&string(&file, "content")?)),
            whole: all && !cut && is_text,
        })
    })
}

/// The whole file, from the text that the model got: older clients write nothing else down. Its line
/// numbers are taken off. None for a reading with bounds, or one that leaves something out.
pub fn reading_from_text(
    input: &Content,
    shown: &Content,
    reader: &mut SourceReader,
) -> Result<Option<Reading<'static>>, StoreError> {
    let read = with_object(input, reader, |input, _| {
        let bounds = ["offset", "limit", "pages"];
        let bounded = bounds.iter().any(|name| input.get(name).is_some());
        (!bounded).then(|| edited_path(input).unwrap_or_default())
    })?;
    let Some(path) = read else { return Ok(None) };
    let content = unnumbered(&reader.text(shown)?);
    Ok(content.map(|content| Reading {
        path: Cow::Owned(path),
        first: Some(1),
        lines: Some(content.lines().count() as u64),
        content: Cow::Owned(Content::Owned(content.into())),
        whole: true,
    }))
}

/// A text without the line numbers in front of its lines, which must begin at one.
fn unnumbered(shown: &str) -> Option<String> {
    const LONGEST: usize = 2_000;
    let shown = shown.split("\n\n<system-reminder>").next().unwrap_or(shown);
    let mut content = String::with_capacity(shown.len());
    let mut count = 0;
    for line in shown.lines() {
        let (number, rest) = line.split_once(['→', '\t'])?;
        count += 1;
        if number.trim().parse() != Ok(count) || rest.len() >= LONGEST {
            return None;
        }
        content.push_str(rest);
        content.push('\n');
    }
    (count > 0 && count < LONGEST).then_some(content)
}
