//! Readings of files whose content is not looked at yet.

use super::edit::{Event, Sighting, SightingSource, What};
use super::extract::MAX_DEPTH;
use super::fields;
use super::gather::once_each;
use super::order::When;
use backstory_format::json::{Tape, Value, scan};
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
    let mut tape = Tape::new();
    let mut events = Vec::with_capacity(reads.len());
    for read in reads {
        let content = match &read.structured {
            Some(told) => object(&mut reader, &mut tape, told, fields::read_whole),
            None => {
                let text = read.text.as_ref().and_then(|text| reader.text(text).ok());
                let shown = text.map(|text| text.into_owned());
                shown.zip(read.input.as_ref()).and_then(|(shown, input)| {
                    object(&mut reader, &mut tape, input, |input| {
                        fields::read_from_text(&shown, input)
                    })
                })
            }
        };
        let what = match content {
            Some(content) => What::Seen(Sighting { content, source: SightingSource::Read }),
            None => What::Glimpsed,
        };
        let (path, call) = (read.path.clone(), read.call.clone());
        events.push(Event { path, time: read.time, when: read.when, call, what });
    }
    events
}

fn object(
    reader: &mut SourceReader,
    tape: &mut Tape,
    content: &Content,
    read: impl FnOnce(&Value<'_>) -> Option<String>,
) -> Option<String> {
    let Content::Json(span) = content else { return None };
    let bytes = reader.bytes(*span).ok()?;
    scan(bytes, 0, MAX_DEPTH, tape).ok()?;
    read(&tape.root(bytes)?)
}
