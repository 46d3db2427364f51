//! `backstory.blame/1` and the shapes it shares with `backstory.log/1`. See `docs/files-json.md`.

use crate::blame::BlameLine;
use crate::history::{LineOrigin, Mark, OutsideSpan, ShellTouch, Traced, TracedEdit};
use backstory_model::Content;
use backstory_store::Source;
use serde_json::{Value, json};

/// The name of the shape.
pub const BLAME_SCHEMA: &str = "backstory.blame/1";

/// The name of the shape of `backstory log --json`.
pub const LOG_SCHEMA: &str = "backstory.log/1";

/// Text that stands in a session's file.
pub fn fetched(place: Option<&(Source, Content)>) -> Option<String> {
    let (source, content) = place?;
    let mut reader = source.open().ok()?;
    reader.text(content).ok().map(|text| text.into_owned())
}

/// An edit with who made it and what is left of it.
pub fn edit_json(index: usize, edit: &TracedEdit<'_>) -> Value {
    let by = &edit.edit.by;
    json!({
        "index": index,
        "path": &*edit.event.path,
        "time": edit.event.time,
        "action": edit.edit.action().name(),
        "agent": by.agent.name(),
        "tool": &*by.tool,
        "model": by.model.as_deref(),
        "session": &*by.session,
        "subagent": by.subagent.as_deref(),
        "turn": by.turn,
        "abandoned": by.abandoned,
        "version": by.version.as_deref(),
        "prompt": fetched(by.prompt.as_ref()),
        "task": fetched(by.task.as_ref()),
        "call": by.call.as_deref(),
        "also_in": by.also_in.iter().map(|session| &**session).collect::<Vec<_>>(),
        "evidence": {
            "file": by.file.path().to_string_lossy(),
            "line": by.line,
            "uuid": by.uuid.as_deref(),
        },
        "placed": edit.placed,
        "added": edit.added,
        "removed": edit.removed,
        "surviving": edit.surviving,
    })
}

/// A change from outside with the commands that may have made it.
pub fn outside_json(span: &OutsideSpan, shell: &[&ShellTouch]) -> Value {
    json!({
        "after": span.after,
        "before": span.before,
        "possible_commands": shell.iter().map(|touch| touch_json(touch)).collect::<Vec<_>>(),
    })
}

/// A command that may have changed the file.
pub fn touch_json(touch: &ShellTouch) -> Value {
    json!({
        "command": &*touch.command,
        "session": &*touch.session,
        "time": touch.time,
        "names_the_file": !touch.paths.is_empty(),
    })
}

/// One line.
pub fn line_json(line: &BlameLine<'_>) -> Value {
    let (origin, edit, outside) = match line.mark.origin {
        LineOrigin::Edit(edit) => ("edit", Some(edit), None),
        LineOrigin::Before => ("before", None, None),
        LineOrigin::Outside(span) => ("outside", None, Some(span)),
    };
    json!({
        "line": line.number,
        "text": line.text,
        "origin": origin,
        "edit": edit,
        "outside": outside,
        "confidence": edit.map(|_| line.mark.confidence.name()),
        "why": line.mark.why.text(),
        "commit": line.git.as_ref().map(|git| json!({
            "id": &*git.commit,
            "line": git.original,
            "author": &*git.author,
            "author_mail": &*git.author_mail,
            "author_time": git.author_time,
            "summary": &*git.summary,
        })),
    })
}

/// How many lines each model wrote.
pub fn summary_json(traced: &Traced<'_>, marks: &[Mark]) -> Value {
    let mut models = std::collections::BTreeMap::<String, u64>::new();
    let mut confidences = std::collections::BTreeMap::<&str, u64>::new();
    let mut attributed = 0u64;
    for mark in marks {
        let edit = mark.edit().and_then(|edit| traced.edits.get(edit as usize));
        if let Some(edit) = edit {
            attributed += 1;
            let model = edit.edit.by.model.as_deref().unwrap_or("unknown model");
            *models.entry(model.to_owned()).or_default() += 1;
            *confidences.entry(mark.confidence.name()).or_default() += 1;
        }
    }
    json!({
        "lines": marks.len(),
        "attributed": attributed,
        "unattributed": marks.len() as u64 - attributed,
        "by_model": models,
        "by_confidence": confidences,
    })
}
