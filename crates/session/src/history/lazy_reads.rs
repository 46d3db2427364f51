//! Readings of files whose content is not looked at yet.

use super::edit::{Event, EventKind, Sighting, SightingSource};
use super::gather::once_each;
use super::lines::unix;
use super::order::When;
use backstory_claude::actions;
use backstory_model::Content;
use backstory_store::{Source, SourceReader};
use jiff::Timestamp;
use std::sync::Arc;

/// A `Read` by the agent.
#[derive(Debug)]
pub(super) struct PendingRead {
    pub(super) path: Arc<str>,
    pub(super) time: Option<Timestamp>,
    pub(super) when: When,
    pub(super) call: Option<Box<str>>,
    pub(super) source: Source,
    pub(super) input: Option<Content>,
    pub(super) structured: Option<Content>,
    pub(super) text: Option<Content>,
}

/// Looks at the content of readings, each once.
pub(super) fn load(reads: &[PendingRead]) -> Vec<Event> {
    let files = reads.chunk_by(|a, b| a.source.path() == b.source.path());
    once_each(files.flat_map(of_one_file).collect())
}

fn of_one_file(reads: &[PendingRead]) -> Vec<Event> {
    let reader = reads.first().and_then(|read| read.source.open().ok());
    let Some(mut reader) = reader.map(SourceReader::sparse) else { return Vec::new() };
    let mut events = Vec::with_capacity(reads.len());
    for read in reads {
        let content = content(read, &mut reader);
        let kind = match content {
            Some(content) => EventKind::Seen(Sighting { content, source: SightingSource::Read }),
            None => EventKind::PartialRead,
        };
        let (path, call) = (read.path.clone(), read.call.clone());
        events.push(Event { path, time: read.time, when: read.when, call, kind });
    }
    events
}

/// The whole file, where the agent saw all of it.
fn content(read: &PendingRead, reader: &mut SourceReader) -> Option<String> {
    let reading = match (&read.structured, &read.text, &read.input) {
        (Some(structured), ..) => actions::reading(structured, reader),
        (None, Some(text), Some(input)) => actions::reading_from_text(input, text, reader),
        _ => return None,
    };
    let reading = reading.ok()??;
    let content = reader.text(&reading.content).ok().filter(|_| reading.whole)?;
    Some(unix(content))
}
