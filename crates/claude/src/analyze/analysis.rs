//! Everything that was counted, added up.

use super::shape::Place;
use super::{Counts, Difference, DifferenceKind, Examined, Samples, Scope, Shapes, Type, Version};
use backstory_format::ProblemId;
use backstory_model::{Agent, Session};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// How many versions are distinguished.
const MAX_VERSIONS: usize = 1_000;
/// How many records are remembered to find those that other files name.
const MAX_UUIDS: usize = 8 << 20;
/// Ambiguous records that are listed.
const MAX_AMBIGUOUS: usize = 60;

/// What tables are split by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// All sessions as one group.
    #[default]
    None,
    /// By client version.
    Version,
    /// By project.
    Project,
    /// By agent.
    Agent,
}

impl Grouping {
    /// The group of a session or of a subagent without one; versions are always separate.
    pub(super) fn name_of(self, agent: Agent, project: Option<&str>) -> String {
        match self {
            Grouping::None | Grouping::Version => String::new(),
            Grouping::Project => project.unwrap_or("(no project)").to_owned(),
            Grouping::Agent => agent.name().to_owned(),
        }
    }
}

/// One session in the inventory.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// The session's id.
    pub id: String,
    /// The agent that wrote it.
    pub agent: Agent,
    /// Its file.
    pub path: PathBuf,
    /// Its project, if known.
    pub project: Option<Arc<str>>,
    /// Lines of the file.
    pub lines: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Records in the file.
    pub records: u64,
    /// Records by type.
    pub records_by_type: BTreeMap<Box<str>, u64>,
    /// Turns of the conversation.
    pub turns: u64,
    /// Answers with tool calls, which the client sends again with their results.
    pub loops: u64,
    /// Tool calls.
    pub calls: u64,
    /// Tool results.
    pub results: u64,
    /// Subagents.
    pub subagents: u64,
    /// Compactions.
    pub compactions: u64,
    /// Abandoned branches.
    pub left_branches: u64,
    /// Client versions, in order of appearance.
    pub versions: Vec<Arc<str>>,
    /// Models that answered.
    pub models: Vec<Arc<str>>,
    /// The first time in the file.
    pub started: Option<Timestamp>,
    /// The last time in the file.
    pub ended: Option<Timestamp>,
    /// Problems by kind.
    pub problems: BTreeMap<ProblemId, u64>,
    /// Whether it is a fork of another session.
    pub forked: bool,
    /// Whether it continues another session.
    pub continues: bool,
}

impl SessionRow {
    fn of(session: &Session) -> SessionRow {
        let loops = session.turns.iter().flat_map(|turn| &turn.steps);
        SessionRow {
            id: session.id.clone(),
            agent: session.agent,
            path: session.source.path().to_path_buf(),
            project: session.cwds.first().cloned(),
            lines: session.file.lines,
            bytes: session.file.bytes,
            records: session.file.records,
            records_by_type: session.counts.records_by_type.clone(),
            turns: session.counts.turns,
            loops: loops.filter(|step| step.calls().next().is_some()).count() as u64,
            calls: session.counts.calls,
            results: session.counts.results,
            subagents: session.walk().len() as u64 - 1,
            compactions: session.compactions.len() as u64,
            left_branches: session.abandoned.len() as u64,
            versions: session.versions.clone(),
            models: session.models.clone(),
            started: session.started,
            ended: session.ended,
            problems: session.problems.counts().clone(),
            forked: session.forked_from.is_some(),
            continues: !session.continues.is_empty(),
        }
    }
}

/// All counts of one client version (of one group).
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Shapes of the records.
    pub shapes: Shapes,
    /// Counts of the sessions' own files.
    pub main: Counts,
    /// Counts of subagents' files.
    pub agents: Counts,
}

impl Part {
    /// Adds another part; `place` translates its places.
    pub(super) fn merge(&mut self, other: &Part, place: &impl Fn(Place) -> Place) {
        self.shapes.merge(&other.shapes, place);
        self.main.merge(&other.main);
        self.agents.merge(&other.agents);
    }

    /// Main sessions and subagents together.
    pub fn counts(&self) -> Counts {
        let mut counts = self.main.clone();
        counts.merge(&self.agents);
        counts
    }
}

/// An ambiguous record and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousRecord {
    /// Where the record is.
    pub place: Place,
    /// Why it is ambiguous.
    pub why: &'static str,
}

/// What was found in a set of sessions.
#[derive(Debug, Default)]
pub struct Analysis {
    /// How sessions are grouped.
    pub grouping: Grouping,
    /// Files by number, as [`Place`] has them.
    pub files: BTreeMap<u32, PathBuf>,
    /// Files of subagents.
    pub agent_files: u64,
    /// A row for each session.
    pub sessions: Vec<SessionRow>,
    /// By group, then by version.
    pub groups: BTreeMap<String, BTreeMap<Version, Part>>,
    /// Example values of fields.
    pub samples: Samples,
    /// Ambiguous records, the first of them.
    pub ambiguous: Vec<AmbiguousRecord>,
    /// All ambiguous records.
    pub ambiguous_count: u64,
    /// Records that titles name and that are in the same file.
    pub leaves_here: u64,
    uuids: Vec<u64>,
    missing: Vec<u64>,
    leaves: Vec<u64>,
}

/// Where records lie that a file names but does not hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct References {
    /// In the same file.
    pub here: u64,
    /// In another of the files.
    pub in_another_file: u64,
    /// In none of them.
    pub nowhere: u64,
}

impl Analysis {
    /// An analysis without sessions.
    pub fn new(grouping: Grouping) -> Analysis {
        Analysis { grouping, ..Analysis::default() }
    }

    /// Adds a session and what was learnt from its files. `number` is that of the session's own
    /// file, its agents have the next ones: numbers in the order of the files' names make the
    /// result the same whichever thread was first.
    pub fn add(&mut self, number: u32, session: &Session, examined: Vec<Examined>) {
        self.agent_files += examined.len() as u64 - u64::from(!examined.is_empty());
        let row = SessionRow::of(session);
        let group = self.grouping.name_of(row.agent, row.project.as_deref());
        for (number, file) in (number..).zip(examined) {
            self.add_file(number, &group, file);
        }
        self.sessions.push(row);
    }

    /// Adds a subagent whose session is not there.
    pub fn add_stray(&mut self, number: u32, session: &Session, examined: Examined) {
        self.agent_files += 1;
        let project = session.cwds.first().map(|cwd| &**cwd);
        let group = self.grouping.name_of(session.agent, project);
        self.add_file(number, &group, examined);
    }

    fn add_file(&mut self, number: u32, group: &str, file: Examined) {
        self.files.insert(number, file.path);
        let place = |place: Place| Place { file: number, ..place };
        let parts = self.groups.entry(group.to_owned()).or_default();
        let (by_version, samples) = file.collector.finish();
        self.samples.merge(&samples);
        for (version, shapes) in by_version {
            part(parts, version).shapes.merge(&shapes, &place);
        }
        for (version, scope, counts) in &file.figures.counts {
            let part = part(parts, Version::new(version));
            match scope {
                Scope::Main => part.main.merge(counts),
                Scope::Agent => part.agents.merge(counts),
            }
        }
        self.ambiguous_count += file.figures.ambiguous_count;
        self.ambiguous.extend(file.figures.ambiguous.iter().map(|found| AmbiguousRecord {
            place: Place::new(number, found.line),
            why: found.why,
        }));
        self.leaves_here += file.figures.leaves_here;
        let room = MAX_UUIDS.saturating_sub(self.uuids.len());
        self.uuids.extend(file.figures.uuids.into_iter().take(room));
        self.missing.extend(file.figures.missing);
        self.leaves.extend(file.figures.leaves);
    }

    /// Adds what another thread found.
    pub fn merge(&mut self, other: Analysis) {
        for (group, theirs) in &other.groups {
            let parts = self.groups.entry(group.clone()).or_default();
            for (version, theirs) in theirs {
                part(parts, version.clone()).merge(theirs, &|place| place);
            }
        }
        self.files.extend(other.files);
        self.agent_files += other.agent_files;
        self.sessions.extend(other.sessions);
        self.samples.merge(&other.samples);
        self.ambiguous.extend(other.ambiguous);
        self.ambiguous_count += other.ambiguous_count;
        self.leaves_here += other.leaves_here;
        let room = MAX_UUIDS.saturating_sub(self.uuids.len());
        self.uuids.extend(other.uuids.into_iter().take(room));
        self.missing.extend(other.missing);
        self.leaves.extend(other.leaves);
    }

    /// Puts lists into an order that does not depend on threads.
    pub fn sort_lists(&mut self) {
        self.sessions.sort_by(|a, b| (a.started, &a.path).cmp(&(b.started, &b.path)));
        self.ambiguous.sort_by_key(|found| found.place);
        self.ambiguous.truncate(MAX_AMBIGUOUS);
        self.uuids.sort_unstable();
    }

    /// Parents that are not in the file of their child.
    pub fn missing_parents(&self) -> References {
        self.look_up(&self.missing, 0)
    }

    /// Records that titles name.
    pub fn title_records(&self) -> References {
        self.look_up(&self.leaves, self.leaves_here)
    }

    fn look_up(&self, wanted: &[u64], here: u64) -> References {
        let found = wanted.iter().filter(|hash| self.uuids.binary_search(hash).is_ok()).count();
        let found = found as u64;
        References { here, in_another_file: found, nowhere: wanted.len() as u64 - found }
    }

    /// Says how often and where differences of these sessions occur.
    pub fn locate(&self, found: &mut [Difference]) {
        let versions = self.versions(None);
        for difference in found {
            let parts =
                versions.iter().filter(|(version, _)| difference.versions.contains(version));
            for (_, part) in parts {
                let (count, place) = occurrence(&part.shapes, difference);
                difference.count += count;
                difference.place = [difference.place, place].into_iter().flatten().min();
            }
        }
    }

    /// Everything of one group by version; of all groups when `group` is none.
    pub fn versions(&self, group: Option<&str>) -> BTreeMap<Version, Part> {
        let mut all: BTreeMap<Version, Part> = BTreeMap::new();
        for (name, parts) in &self.groups {
            if group.is_none_or(|group| group == name) {
                for (version, found) in parts {
                    all.entry(version.clone()).or_default().merge(found, &|place| place);
                }
            }
        }
        all
    }
}

/// The part of a version; beyond the limit all share one.
fn part(parts: &mut BTreeMap<Version, Part>, version: Version) -> &mut Part {
    let full = parts.len() >= MAX_VERSIONS && !parts.contains_key(&version);
    parts.entry(if full { Version::default() } else { version }).or_default()
}

/// How often a difference occurs in some records, and where first.
fn occurrence(shapes: &Shapes, difference: &Difference) -> (u64, Option<Place>) {
    let Some(kind) = shapes.find_kind(&difference.of) else { return (0, None) };
    if difference.path.is_empty() || difference.kind == DifferenceKind::VanishedField {
        return (kind.count, kind.first_place());
    }
    let fields = shapes.fields(kind);
    let Some(field) = fields.iter().find(|field| field.path == difference.path) else {
        return (0, None);
    };
    match difference.kind {
        DifferenceKind::NewType => {
            let wanted = Type::from_name(&difference.detail);
            let at = wanted.map_or(usize::MAX, |wanted| wanted as usize);
            let count = field.node.types.get(at).copied().unwrap_or(0);
            (count, field.node.first.get(at).copied().flatten())
        }
        DifferenceKind::NewValue => {
            let listed = field.node.values.listed();
            let count = listed.iter().find(|(value, _)| *value == difference.detail);
            (count.map_or(0, |(_, count)| *count), field.node.first_place())
        }
        _ => (field.node.count, field.node.first_place()),
    }
}
