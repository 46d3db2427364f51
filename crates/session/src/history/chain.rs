//! Everything known of one path, in order.

use super::edit::{Edit, Event, EventKind, SightingSource};
use super::lazy_reads::{PendingRead, load};
use super::order::When;
use jiff::Timestamp;
use std::sync::OnceLock;

/// Everything known of one path. What agents read of the file is looked up when somebody asks: most
/// readings are of files that nobody edited, or of files that tell their history without them.
#[derive(Debug, Default)]
pub struct Chain {
    /// All but the readings, in order.
    events: Vec<Event>,
    pending: Vec<PendingRead>,
    readings: OnceLock<Vec<Event>>,
}

impl Chain {
    pub(super) fn add(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(super) fn add_reading(&mut self, reading: PendingRead) {
        self.pending.push(reading);
    }

    /// Puts what was added in order.
    pub(super) fn sort(&mut self) {
        self.events.sort_by_key(order);
    }

    /// Its edits in order.
    pub fn edits(&self) -> impl Iterator<Item = (&Event, &Edit)> {
        self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Edit(edit) => Some((event, edit.as_ref())),
            EventKind::Seen(_) | EventKind::PartialRead => None,
        })
    }

    /// Everything but the readings, in order.
    pub(super) fn recorded(&self) -> Vec<&Event> {
        self.events.iter().collect()
    }

    /// Everything, in order.
    pub(super) fn whole(&self) -> Vec<&Event> {
        let readings = self.readings.get_or_init(|| load(&self.pending));
        let mut all: Vec<&Event> = readings.iter().chain(&self.events).collect();
        all.sort_by_key(|event| order(event));
        all
    }

    /// Whether the agent read the file before some time, as far as that is known.
    pub(super) fn read_before(&self, time: Option<Timestamp>) -> bool {
        self.pending.iter().any(|read| time.is_none() || read.when.time <= time)
    }
}

/// Backups go before edits of the same moment, which they were made for.
fn order(event: &Event) -> (When, bool) {
    let backup =
        matches!(&event.kind, EventKind::Seen(seen) if seen.source == SightingSource::Backup);
    (event.when, !backup)
}
