//! What to call a session.

use crate::names::Name;
use crate::rows::Rows;
use backstory_format::claude::RecordKind;
use backstory_model::{SessionKind, Title, TitleSource};
use backstory_text::title::of_prompt;

/// The title by precedence: given by the user, made by a model, the newest prompt, a summary, the
/// first prompt, the first command. In 1.0 a `summary` often names *another* session of the
/// project, so one counts only when the record it points to is here.
pub(super) fn title(rows: &Rows, kind: SessionKind) -> Option<Title> {
    title_where(rows, kind, |leaf| rows.find(leaf).is_some())
}

/// The same for rows that are only a part of the file; `is_here` says whether it holds a record.
pub(super) fn title_where(
    rows: &Rows,
    kind: SessionKind,
    is_here: impl Fn(Name) -> bool,
) -> Option<Title> {
    let last = |kind| {
        let mut found = rows.titles.iter().rev().filter(|title| title.kind == kind);
        found.find(|title| {
            let own = kind != RecordKind::Summary || title.leaf.some().is_some_and(&is_here);
            own && !title.text.is_empty()
        })
    };
    let records = [
        (RecordKind::CustomTitle, TitleSource::Custom),
        (RecordKind::AiTitle, TitleSource::Ai),
        (RecordKind::LastPrompt, TitleSource::LastPrompt),
        (RecordKind::Summary, TitleSource::Summary),
    ];
    let recorded = records.into_iter().find_map(|(kind, source)| {
        let words = if source == TitleSource::LastPrompt { of_prompt } else { one_line };
        last(kind).map(|title| Title { text: words(&title.text), source })
    });
    let first = if kind == SessionKind::Session { &rows.first_prompt } else { &rows.first_task };
    let prompts = [(first, TitleSource::FirstPrompt), (&rows.first_command, TitleSource::Command)];
    recorded.or_else(|| {
        prompts.into_iter().find_map(|(text, source)| {
            text.as_ref().map(|text| Title { text: of_prompt(text), source })
        })
    })
}

/// Titles are shown on one line.
fn one_line(text: &str) -> String {
    text.split(['\n', '\r'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
