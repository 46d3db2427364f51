//! The shape of every record of one file, by client version.

use super::routes;
use super::routes::Tools;
use super::shape::{Place, Shapes};
use super::{FileFigures, Samples, Version};
use backstory_format::Record;
use std::path::PathBuf;

/// How many versions one file is split into.
const MAX_VERSIONS: usize = 64;

/// Counts shapes while a file is read.
#[derive(Debug, Default)]
pub struct Collector {
    by_version: Vec<(Version, Shapes)>,
    /// Index of the version of the newest record that names one.
    current: Option<usize>,
    /// Records before the first that names a version.
    before: Shapes,
    samples: Samples,
    tools: Tools,
}

/// What was learnt from one file.
#[derive(Debug, Default)]
pub struct Examined {
    /// The file.
    pub path: PathBuf,
    /// Shapes and values of its records.
    pub collector: Collector,
    /// Counts of its conversation.
    pub figures: FileFigures,
}

impl Collector {
    /// Counts one record. Records that name no version count for the one before them.
    pub fn record(&mut self, record: &Record<'_>) {
        if let Some(version) = record.value().get("version").and_then(|value| value.raw_text()) {
            self.enter(version);
        }
        let shapes = match self.current.and_then(|at| self.by_version.get_mut(at)) {
            Some((_, shapes)) => shapes,
            None => &mut self.before,
        };
        let place = Place::new(0, record.line);
        routes::record(shapes, &mut self.samples, &mut self.tools, record, place);
    }

    fn enter(&mut self, raw: &[u8]) {
        let is = |known: &Version| known.is_known() && known.as_str().as_bytes() == raw;
        if self.current.and_then(|at| self.by_version.get(at)).is_some_and(|(known, _)| is(known)) {
            return;
        }
        let version = Version::new(std::str::from_utf8(raw).unwrap_or_default());
        let found = self.by_version.iter().position(|(known, _)| *known == version);
        if found.is_none() && self.by_version.len() < MAX_VERSIONS {
            self.by_version.push((version, Shapes::default()));
        }
        self.current = found.or(Some(self.by_version.len() - 1));
    }

    /// The counts by version; what came before the first version belongs to it.
    pub(super) fn finish(mut self) -> (Vec<(Version, Shapes)>, Samples) {
        if self.by_version.is_empty() {
            self.by_version.push((Version::default(), Shapes::default()));
        }
        if let Some((_, first)) = self.by_version.first_mut() {
            first.merge(&self.before, &|place| place);
        }
        (self.by_version, self.samples)
    }
}
