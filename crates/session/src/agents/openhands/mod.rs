//! OpenHands: events of its first generation (a folder, a downloaded array, or the history of an
//! evaluation's row), and conversations of the SDK (a folder of events with a state beside them).

mod first;
mod sdk;

use super::common::{Cite, Draft, document};
use crate::model::{Agent, Benchmark, Session};
use crate::store::{SessionFiles, Source, StoreError};
use backstory_format::Limits;
use backstory_format::json::{Kind, Value};
use std::path::PathBuf;

/// What events cannot tell.
pub(super) const UNREAD: [&str; 3] = [
    "edits made by shell commands",
    "time zone of the first generation's times",
    "delegated agents",
];

pub(super) fn read(files: &SessionFiles, limits: Limits) -> Result<Session, StoreError> {
    if files.path.is_dir() {
        return folder(files, limits);
    }
    let mut document = document(&files.path, files.part.clone(), limits)?;
    let draft = document.draft(Agent::OpenHands, files);
    let cite = document.cite();
    let Some(value) = document.value() else {
        // Events of the SDK, one on each line.
        return lines(files, limits);
    };
    if value.kind() == Kind::Array {
        let mut events = first::Events::new(draft, cite);
        events.list(&value);
        return Ok(events.finish());
    }
    match value.get("history") {
        Some(history) => {
            let mut events = first::Events::new(draft, cite);
            row(&value, &mut events.draft, cite);
            events.list(&history);
            Ok(events.finish())
        }
        None => lines(files, limits),
    }
}

/// What an evaluation says of a run.
fn row(row: &Value<'_>, draft: &mut Draft, cite: Cite) {
    let result = row.get("test_result");
    let result = result.as_ref();
    let report = result.and_then(|result| result.get("report")).or_else(|| row.get("report"));
    let resolved = report.and_then(|report| report.get("resolved")?.boolean());
    let success = || row.get("success").and_then(|success| success.boolean());
    let patch = result.and_then(|result| cite.field(result, "git_patch"));
    let metrics = row.get("metrics");
    let cost = metrics.as_ref().and_then(|metrics| metrics.get("accumulated_cost")?.float());
    draft.session.reported_cost = cost;
    draft.session.benchmark = Some(Benchmark {
        instance: row.get_text("instance_id").map(Into::into),
        resolved: resolved.or_else(success),
        exit_status: row.get_text("error").map(Into::into),
        patch: patch.or_else(|| cite.field(row, "git_patch")),
    });
    let config = row.get("metadata").and_then(|metadata| metadata.get("llm_config"));
    let model = config.as_ref().and_then(|config| config.get_text("model"));
    draft.model = model.map(|model| std::sync::Arc::from(&*model));
}

/// A conversation in a folder: `events/<n>.json`, or `events/event-<n>-<id>.json`.
fn folder(files: &SessionFiles, limits: Limits) -> Result<Session, StoreError> {
    let source = Source::new(&files.path, None);
    let mut draft = Draft::new(Agent::OpenHands, files.id.clone(), source);
    draft.session.file.modified = files.modified;
    let cite = Cite::copied();
    let state = files.path.join("base_state.json");
    let is_sdk = state.is_file();
    let mut documents = Vec::new();
    for path in event_files(&files.path) {
        let mut document = document(&path, None, limits)?;
        let read = document.draft(Agent::OpenHands, files).session;
        draft.session.file.bytes += read.file.bytes;
        draft.session.file.bad_lines += read.file.bad_lines;
        for problem in read.problems.listed() {
            draft.session.problems.push(problem.clone());
        }
        documents.push(document);
    }
    let values = documents.iter().filter_map(|document| document.value());
    if is_sdk {
        let state = document(&state, None, limits)?;
        let mut events = sdk::Events::new(draft, cite);
        events.state(state.value());
        events.list(&values.collect::<Vec<_>>());
        return Ok(events.finish());
    }
    let mut events = first::Events::new(draft, cite);
    for value in values {
        events.event(&value);
    }
    Ok(events.finish())
}

/// Every file of a conversation's folder that is read.
pub(super) fn files_of(folder: &std::path::Path) -> Vec<PathBuf> {
    let state = folder.join("base_state.json");
    let events = event_files(folder);
    Some(state).filter(|state| state.is_file()).into_iter().chain(events).collect()
}

/// Files of events in the order of their numbers.
fn event_files(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("events")).into_iter().flatten().flatten();
    let mut files: Vec<(u64, PathBuf)> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| {
            let name = entry.file_name();
            let name = name.to_str()?.strip_suffix(".json")?;
            let number = name.strip_prefix("event-").unwrap_or(name);
            let number = number.split('-').next()?.parse().ok()?;
            Some((number, entry.path()))
        })
        .collect();
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

/// Events of the SDK in one file, a line each.
fn lines(files: &SessionFiles, limits: Limits) -> Result<Session, StoreError> {
    let mut documents = Vec::new();
    let loaded = crate::store::load(&files.path, None)?;
    let mut draft = Draft::new(Agent::OpenHands, files.id.clone(), loaded.source(&files.path));
    let mut at = 0;
    for line in backstory_format::line::split(&loaded.bytes) {
        let range = at..at + line.content.len() as u64;
        at += line.width() as u64;
        draft.session.file.lines += 1;
        if line.content.trim_ascii().is_empty() {
            draft.session.file.blank_lines += 1;
            continue;
        }
        let mut document = document(&files.path, Some(range), limits)?;
        let read = document.draft(Agent::OpenHands, files).session;
        draft.session.file.bad_lines += read.file.bad_lines;
        for problem in read.problems.listed() {
            let line = draft.session.file.lines;
            draft.session.problems.push(backstory_format::Problem { line, ..problem.clone() });
        }
        documents.push(document);
    }
    draft.session.file.bytes = at;
    draft.session.file.modified = loaded.state.modified;
    let mut events = sdk::Events::new(draft, Cite::copied());
    let values = documents.iter().filter_map(|document| document.value());
    events.list(&values.collect::<Vec<_>>());
    Ok(events.finish())
}
