//! OpenHands: events of its first generation (a folder, a downloaded array, or the history of an
//! evaluation's row), and conversations of the SDK (a folder of events with a state beside them).

mod agent;
mod sdk;
mod v0;

use crate::common::{Cite, Draft, document, json_lines, problem};
use agent::AGENT;
pub(crate) use agent::{OpenHands, is_evaluation};
use backstory_format::ProblemId;
use backstory_format::json::{Kind, Value};
use backstory_model::SessionFiles;
use backstory_model::{Benchmark, Session};
use backstory_store::{Source, Store, StoreError, read_range};
use memchr::memmem;
use sdk::NumberedEvent;
use std::path::{Path, PathBuf};

fn read(files: &SessionFiles, store: &Store) -> Result<Session, StoreError> {
    if files.path.is_dir() {
        return folder(files, store);
    }
    let mut document = document(&files.path, files.part.clone(), store)?;
    let draft = document.draft(AGENT, files);
    let cite = document.cite();
    let Some(value) = document.value() else {
        // Events of the SDK, one on each line.
        return lines(files, store);
    };
    if value.kind() == Kind::Array {
        let mut events = v0::Events::new(draft, cite);
        events.list(&value);
        return Ok(events.finish());
    }
    match value.get("history") {
        Some(history) => {
            let mut events = v0::Events::new(draft, cite);
            row(&value, &mut events.draft, cite);
            events.list(&history);
            Ok(events.finish())
        }
        None => lines(files, store),
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

/// A conversation in a folder: `events/<n>.json`, or `events/event-<n>-<id>.json`. A file that is
/// broken or cannot be read hides no other.
fn folder(files: &SessionFiles, store: &Store) -> Result<Session, StoreError> {
    let source = Source::new(&files.path, None, store);
    let mut draft = Draft::new(AGENT, files.id.clone(), source);
    draft.session.file.modified = files.modified;
    let cite = Cite::copied();
    let read = |path: &Path, number: u64, draft: &mut Draft| {
        let session = &mut draft.session;
        match document(path, None, store) {
            Ok(document) => {
                session.file.bytes += document.facts().bytes;
                session.file.bad_lines += document.facts().bad_lines;
                session.problems.add(document.problems());
                Some(document)
            }
            Err(_) => {
                session.problems.push(problem(ProblemId::UnreadFile, number));
                None
            }
        }
    };
    let mut documents = Vec::new();
    for (path, number) in event_files(&files.path).iter().zip(1..) {
        documents.extend(read(path, number, &mut draft).map(|document| (number, document)));
    }
    let numbered = documents.iter().filter_map(|(number, document)| {
        document.value().map(|event| NumberedEvent { number: *number, event })
    });
    let numbered: Vec<NumberedEvent<'_>> = numbered.collect();
    let state = files.path.join("base_state.json");
    if state.is_file() {
        let state = read(&state, 0, &mut draft);
        let mut events = sdk::Events::new(draft, cite);
        events.state(state.as_ref().and_then(|state| state.value()));
        events.list(&numbered);
        return Ok(events.finish());
    }
    let mut events = v0::Events::new(draft, cite);
    for NumberedEvent { number, event } in numbered {
        events.event_at(number, &event);
    }
    Ok(events.finish())
}

/// Every file of a conversation's folder that is read.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let state = folder.join("base_state.json");
    let events = event_files(folder);
    Some(state).filter(|state| state.is_file()).into_iter().chain(events).collect()
}

/// Whether a folder is one conversation: a state or events that read like the agent's.
fn is_conversation(folder: &Path) -> bool {
    /// So many files are looked into: the first may be broken.
    const LOOKED_INTO: usize = 16;
    const HEAD: u64 = 64 << 10;
    let holds = |path: &Path, keys: &[&str]| {
        read_range(path, 0, HEAD).is_ok_and(|(head, _)| {
            keys.iter().all(|key| memmem::find(&head, format!("\"{key}\"").as_bytes()).is_some())
        })
    };
    let is_event = |path: &Path| {
        let kinds = ["kind", "action", "observation"];
        kinds.iter().any(|kind| holds(path, &["source", kind]))
    };
    folder.join("events").is_dir()
        && (holds(&folder.join("base_state.json"), &["agent", "workspace"])
            || event_files(folder).iter().take(LOOKED_INTO).any(|path| is_event(path)))
}

/// Files of events in the order of their numbers.
fn event_files(folder: &Path) -> Vec<PathBuf> {
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
fn lines(files: &SessionFiles, store: &Store) -> Result<Session, StoreError> {
    let loaded = store.load(&files.path, None)?;
    let mut draft = Draft::new(AGENT, files.id.clone(), loaded.source(&files.path));
    let lines = json_lines(&loaded, store.limits(), &mut draft.session);
    let numbered = lines
        .iter()
        .filter_map(|line| Some(NumberedEvent { number: line.number, event: line.value()? }));
    let mut events = sdk::Events::new(draft, Cite::copied());
    events.list(&numbered.collect::<Vec<_>>());
    Ok(events.finish())
}
