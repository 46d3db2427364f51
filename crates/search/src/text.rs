//! The texts of a unit, decoded: what was said, not how the file writes it.

use crate::ansi;
use crate::query::{Field, Fields};
use crate::raw::Finder;
use crate::unit::{Text, Unit};
use backstory_agents as agents;
use backstory_format::Limits;
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_model::{Action, Agent, Call, Change, Content, FileEdit, Span};
use backstory_session::render::difference;
use backstory_store::{SourceReader, StoreError};

/// A text that is searched by itself: no phrase goes from one into the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) field: Field,
    pub(crate) text: String,
    /// Where it begins in the session file.
    pub(crate) offset: Option<u64>,
}

/// The texts of some fields.
pub(crate) fn segments(
    unit: &Unit<'_>,
    fields: Fields,
    agent: Agent,
    reader: &mut SourceReader,
) -> Result<Vec<Segment>, StoreError> {
    let mut found = Vec::new();
    for (field, text) in unit.texts.iter().filter(|(field, _)| fields.has(*field)) {
        let mut push = |text: String, offset: Option<u64>| {
            if !text.trim().is_empty() {
                let text = ansi::strip(text.into()).into_owned();
                found.push(Segment { field: *field, text, offset });
            }
        };
        match text {
            Text::Plain(content) => push(reader.text(content)?.into_owned(), offset(content)),
            Text::Values(content) => {
                for value in values(content, reader)? {
                    push(value, offset(content));
                }
            }
            Text::Known(text) => push((*text).to_owned(), None),
            Text::Paths(call) => {
                for path in paths(call, agent, reader)? {
                    push(path, call.input.as_ref().and_then(offset));
                }
            }
            Text::Input(call) => {
                for value in input(call, agent, reader)? {
                    push(value, call.input.as_ref().and_then(offset));
                }
            }
        }
    }
    Ok(found)
}

/// Whether one of the texts of some fields may contain letters, as far as its bytes show.
pub(crate) fn may_contain(
    unit: &Unit<'_>,
    fields: Fields,
    finder: &Finder,
    reader: &mut SourceReader,
) -> Result<bool, StoreError> {
    for (_, text) in unit.texts.iter().filter(|(field, _)| fields.has(*field)) {
        let contents = match text {
            // What it did to files may be noted somewhere else than in its input.
            Text::Input(call) | Text::Paths(call) if !call.effects.is_empty() => return Ok(true),
            Text::Input(call) | Text::Paths(call) => call.input.as_ref(),
            Text::Plain(content) | Text::Values(content) => Some(*content),
            Text::Known(known) => {
                if finder.may_be_in(known.as_bytes()) {
                    return Ok(true);
                }
                None
            }
        };
        let found = match contents {
            Some(Content::Text(span) | Content::Json(span)) => {
                finder.may_be_in(reader.bytes(*span)?)
            }
            Some(Content::Owned(text)) => finder.may_be_in(text.as_bytes()),
            None => false,
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

fn offset(content: &Content) -> Option<u64> {
    match content {
        Content::Text(Span { offset, .. }) | Content::Json(Span { offset, .. }) => Some(*offset),
        Content::Owned(_) => None,
    }
}

/// Strings and numbers in some JSON, in order; all of it if it is none.
fn values(content: &Content, reader: &mut SourceReader) -> Result<Vec<String>, StoreError> {
    if let Content::Text(_) = content {
        return Ok(vec![reader.text(content)?.into_owned()]);
    }
    let json = reader.text(content)?;
    let mut tape = Tape::new();
    if scan(json.as_bytes(), 0, Limits::DEPTH, &mut tape).is_err() {
        return Ok(vec![json.into_owned()]);
    }
    let mut found = Vec::new();
    let mut waiting: Vec<Value<'_>> = tape.root(json.as_bytes()).into_iter().collect();
    while let Some(value) = waiting.pop() {
        let inside = waiting.len();
        match value.kind() {
            Kind::Object => waiting.extend(value.fields().map(|(_, value)| value)),
            Kind::Array => waiting.extend(value.items()),
            Kind::String => found.extend(value.text().map(|text| text.into_owned())),
            Kind::Number => found.push(String::from_utf8_lossy(value.raw()).into_owned()),
            _ => {}
        }
        // The last one is taken first.
        if let Some(inside) = waiting.get_mut(inside..) {
            inside.reverse();
        }
    }
    Ok(found)
}

/// Paths of files that a call is about.
pub(crate) fn paths(
    call: &Call,
    agent: Agent,
    reader: &mut SourceReader,
) -> Result<Vec<String>, StoreError> {
    let mut paths = Vec::new();
    for action in agents::actions(agent, call, reader)? {
        match action {
            Action::Edit(edit) => {
                paths.push(edit.path.to_string());
                if let Change::Move { to } = &edit.change {
                    paths.push(to.to_string());
                }
            }
            Action::Read { path } => paths.push(path.into_owned()),
            Action::Shell { .. } | Action::Subagent(_) => {}
        }
    }
    paths.dedup();
    Ok(paths)
}

/// What a call asks for: the values of its input. Of an edit, the lines it adds and removes take the
/// place of the values that hold them.
fn input(call: &Call, agent: Agent, reader: &mut SourceReader) -> Result<Vec<String>, StoreError> {
    let Some(content) = &call.input else { return Ok(Vec::new()) };
    let values = values(content, reader)?;
    let mut edits = Vec::new();
    for action in agents::actions(agent, call, reader)? {
        if let Action::Edit(edit) = action {
            edits.push(fetched(&edit, reader)?);
        }
    }
    if edits.is_empty() {
        return Ok(values);
    }
    let changed: Vec<String> = edits.iter().flat_map(changed_lines).collect();
    let whole: Vec<&str> = edits.iter().flat_map(edit_texts).collect();
    let line = |text: &String| text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned);
    let lines: Vec<String> = changed.iter().filter_map(line).collect();
    let holds_edit = |value: &String| {
        whole.contains(&value.as_str())
            || value.contains('\n') && lines.iter().any(|line| value.contains(line.as_str()))
    };
    let mut found: Vec<String> = values.into_iter().filter(|value| !holds_edit(value)).collect();
    found.extend(changed);
    Ok(found)
}

fn fetched(
    edit: &FileEdit,
    reader: &mut SourceReader,
) -> Result<(Change<String>, Vec<String>), StoreError> {
    let mut text = |content: &Content| Ok::<_, StoreError>(reader.text(content)?.into_owned());
    let hunks = edit.hunks.iter().flatten().map(|hunk| hunk.lines.clone());
    Ok((edit.change.with_texts(&mut text)?, hunks.collect()))
}

fn edit_texts((change, _): &(Change<String>, Vec<String>)) -> Vec<&str> {
    match change {
        Change::Write { content, .. } => vec![content],
        Change::Replace(parts) => {
            parts.iter().flat_map(|part| [part.old.as_str(), part.new.as_str()]).collect()
        }
        Change::Cell { source } => source.iter().map(String::as_str).collect(),
        Change::Delete | Change::Move { .. } => Vec::new(),
    }
}

/// Lines that are added or removed, each group of them as one text.
fn changed_lines((change, hunks): &(Change<String>, Vec<String>)) -> Vec<String> {
    match change {
        Change::Write { content, .. } => vec![content.clone()],
        Change::Cell { source } => source.iter().cloned().collect(),
        Change::Replace(parts) => {
            let lines = parts.iter().filter_map(|part| difference(&part.old, &part.new));
            lines.flat_map(|hunk| groups(&hunk.lines)).collect()
        }
        Change::Delete | Change::Move { .. } => {
            hunks.iter().flat_map(|lines| groups(lines)).collect()
        }
    }
}

/// Neighbouring lines with the same sign, without it.
fn groups(lines: &str) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    let mut sign = ' ';
    for line in lines.split_inclusive('\n') {
        let mut letters = line.chars();
        let first = letters.next().unwrap_or(' ');
        match groups.last_mut().filter(|_| first == sign) {
            Some(group) if first != ' ' => group.push_str(letters.as_str()),
            _ if matches!(first, '+' | '-') => groups.push(letters.as_str().to_owned()),
            _ => {}
        }
        // A note on a missing newline is between lines of the same side.
        if first != '\\' {
            sign = first;
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_an_edit_are_grouped_by_sign() {
        assert_eq!(groups("-a\n-b\n+c\n d\n+e\n"), ["a\nb\n", "c\n", "e\n"]);
        assert_eq!(groups(" same\n"), [""; 0]);
    }
}
