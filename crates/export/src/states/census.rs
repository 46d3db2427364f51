//! The fate of every record of the files behind an export, so that what was skipped can be named and
//! the numbers add up to the input.
//!
//! The files are read once more for this: what a message is made of is known from the model, but why a
//! record is part of no message is not. Only for sessions of Claude Code, whose records these are.

use super::Disposition;
use super::figures::add_counts;
use crate::context::Context;
use crate::timeline::Entry;
use backstory_agents::{Observed, reader};
use backstory_format::claude::{RecordKind, is_transcript};
use backstory_format::{Problem, ProblemId, Record, Visitor};
use backstory_model::{CompactionKind, Session, UsageTotal};
use backstory_store::{ReadContext, StoreError, read_file};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::path::Path;

/// What the files held and what became of it. `answers`, `history` and `skipped` are all records.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Census {
    pub files: u64,
    pub bytes: u64,
    pub lines: u64,
    pub blank_lines: u64,
    pub bad_lines: u64,
    pub non_object: u64,
    pub records: u64,
    pub records_by_type: BTreeMap<String, u64>,
    pub unknown_types: BTreeMap<String, u64>,
    /// Records of the messages that are answers.
    pub answers: u64,
    /// Records of prompts and results that stand in the conversation.
    pub history: u64,
    /// Others, by reason.
    pub skipped: BTreeMap<String, u64>,
    pub turns: u64,
    pub orphan_calls: u64,
    pub orphan_results: u64,
    pub duplicate_uuids: u64,
    pub missing_parents: u64,
    pub forks: u64,
    pub compactions: u64,
    pub tokens: UsageTotal,
}

impl Census {
    pub fn add(&mut self, other: &Census) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.blank_lines += other.blank_lines;
        self.bad_lines += other.bad_lines;
        self.non_object += other.non_object;
        self.records += other.records;
        add_counts(&mut self.records_by_type, &other.records_by_type);
        add_counts(&mut self.unknown_types, &other.unknown_types);
        self.answers += other.answers;
        self.history += other.history;
        add_counts(&mut self.skipped, &other.skipped);
        self.turns += other.turns;
        self.orphan_calls += other.orphan_calls;
        self.orphan_results += other.orphan_results;
        self.duplicate_uuids += other.duplicate_uuids;
        self.missing_parents += other.missing_parents;
        self.forks += other.forks;
        self.compactions += other.compactions;
        self.tokens.add(&other.tokens);
    }

    /// Whether every record has one fate.
    pub fn adds_up(&self) -> bool {
        let by_type: u64 = self.records_by_type.values().sum();
        let fates = self.answers + self.history + self.skipped.values().sum::<u64>();
        self.records == by_type && self.records == fates
    }

    fn session(&mut self, session: &Session) {
        self.turns += session.counts.turns;
        self.orphan_calls += session.counts.orphan_calls;
        self.orphan_results += session.orphan_results.len() as u64;
        let problems = session.problems.counts();
        let problem = |id: ProblemId| problems.get(&id).copied().unwrap_or(0);
        self.duplicate_uuids += problem(ProblemId::DuplicateUuid);
        self.missing_parents += problem(ProblemId::MissingParent);
        self.forks += session.abandoned.len() as u64;
        let whole = |kind: CompactionKind| kind == CompactionKind::Full;
        self.compactions +=
            session.compactions.iter().filter(|compaction| whole(compaction.kind)).count() as u64;
        self.tokens.add(&session.usage);
    }
}

/// What is known of a line before it is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Answer,
    History,
    Reason(&'static str),
}

/// A file and what is known of its lines.
struct File<'p> {
    path: &'p Path,
    known: HashMap<u64, Known>,
    /// Why nothing else of it is seen.
    otherwise: Option<&'static str>,
}

/// Counts the records of a session's files; none if they are not records.
pub(crate) fn count(
    context: &Context<'_>,
    fates: &[Disposition],
) -> Result<Option<Census>, StoreError> {
    if reader(context.session.agent).observed() == Observed::Nothing {
        return Ok(None);
    }
    let mut census = Census::default();
    let mut reading = ReadContext::new(context.session.source.store());
    let seen: HashSet<usize> = seen_members(context, fates);
    let mut files: Vec<File<'_>> = Vec::new();
    for session in context.session.walk() {
        census.session(session);
        let member = context.timeline.members.iter().position(|one| std::ptr::eq(*one, session));
        let otherwise = match member {
            _ if session.kind.is_housekeeping() => Some("housekeeping_agent"),
            Some(member) if seen.contains(&member) => None,
            _ => Some("subagent"),
        };
        let known = match member {
            Some(member) => known_lines(context, member, fates, otherwise),
            None => HashMap::new(),
        };
        let path = session.source.path();
        // Old clients wrote subagents into the session's own file.
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => {
                for (line, fate) in known {
                    file.known.entry(line).or_insert(fate);
                }
            }
            None => files.push(File { path, known, otherwise }),
        }
    }
    census.files = files.len() as u64;
    for file in &files {
        let read = read_file(file.path, &mut reading, || Counter {
            known: &file.known,
            otherwise: file.otherwise,
            census: Census::default(),
            uuids: HashSet::new(),
        })?;
        census.add(&read.visitor.census);
        census.bytes += read.totals.bytes;
        census.lines += read.totals.lines;
        census.blank_lines += read.totals.blank_lines;
        census.bad_lines += read.totals.bad_lines;
        census.records += read.totals.records;
    }
    Ok(Some(census))
}

/// Members whose conversation was walked.
fn seen_members(context: &Context<'_>, fates: &[Disposition]) -> HashSet<usize> {
    let walked = context.timeline.items.iter().zip(fates).filter(|(_, fate)| match fate {
        Disposition::Skipped(reason) => *reason != super::Skipped::Subagent,
        Disposition::Answer => true,
        Disposition::Unseen => false,
    });
    let mut seen: HashSet<usize> = walked.map(|(item, _)| item.member).collect();
    seen.insert(0);
    seen
}

fn known_lines(
    context: &Context<'_>,
    member: usize,
    fates: &[Disposition],
    otherwise: Option<&'static str>,
) -> HashMap<u64, Known> {
    let mut known = HashMap::new();
    let history = otherwise.map_or(Known::History, Known::Reason);
    for (item, fate) in context.timeline.items.iter().zip(fates) {
        if item.member != member {
            continue;
        }
        match item.what {
            Entry::Prompt(turn) => {
                known.extend(turn.line.map(|line| (line, history)));
            }
            Entry::Interjection(typed) => {
                known.entry(typed.line).or_insert(history);
            }
            Entry::Step(step) => {
                let answer = match fate {
                    Disposition::Answer => Known::Answer,
                    Disposition::Skipped(reason) => Known::Reason(reason.name()),
                    Disposition::Unseen => history,
                };
                known.extend(step.lines.iter().map(|line| (*line, answer)));
                for result in step.calls().filter_map(|call| call.result.as_ref()) {
                    known.entry(result.line).or_insert(history);
                }
            }
        }
    }
    known
}

#[derive(Debug)]
struct Counter<'k> {
    known: &'k HashMap<u64, Known>,
    /// Why nothing of the file is seen.
    otherwise: Option<&'static str>,
    census: Census,
    uuids: HashSet<Box<str>>,
}

const LONGEST_TYPE: usize = 40;
const MOST_TYPES: usize = 100;

impl Counter<'_> {
    fn reason(&mut self, record: &Record<'_>, new: bool) -> &'static str {
        let value = record.value();
        let is = |name| value.get(name).and_then(|value| value.boolean()) == Some(true);
        match record.kind() {
            RecordKind::Other | RecordKind::Missing => "unknown_type",
            kind if !is_transcript(kind) => "not_conversation",
            RecordKind::User | RecordKind::Assistant => match () {
                () if self.otherwise.is_some() => self.otherwise.unwrap_or_default(),
                () if value.get("uuid").is_none() => "no_uuid",
                () if !new => "duplicate_uuid",
                () if is("isSidechain") => "sidechain",
                () if is("isMeta") => "meta",
                () if is("isCompactSummary") => "compact_summary",
                () => "off_chain",
            },
            _ => "not_conversation",
        }
    }
}

impl Visitor for Counter<'_> {
    fn record(&mut self, record: &Record<'_>) {
        let name = match record.kind().name() {
            Some(name) => name.to_owned(),
            None => {
                let name = record.type_name().map(|name| name.into_owned()).unwrap_or_default();
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
                let fits = name.len() <= LONGEST_TYPE && name.bytes().all(plain);
                let room = self.census.unknown_types.len() < MOST_TYPES;
                let name = match name {
                    name if name.is_empty() => "(none)".to_owned(),
                    name if fits && room => name,
                    _ => "(other)".to_owned(),
                };
                *self.census.unknown_types.entry(name.clone()).or_default() += 1;
                name
            }
        };
        *self.census.records_by_type.entry(name).or_default() += 1;
        let uuid = record.value().get_text("uuid").map(|uuid| uuid.into());
        let new = uuid.is_none_or(|uuid| self.uuids.insert(uuid));
        let conversation = matches!(
            record.kind(),
            RecordKind::User
                | RecordKind::Assistant
                | RecordKind::Attachment
                | RecordKind::QueueOperation
        );
        let known = self.known.get(&record.line).filter(|_| conversation);
        match known {
            Some(Known::Answer) => self.census.answers += 1,
            Some(Known::History) => self.census.history += 1,
            Some(Known::Reason(reason)) => self.skip(reason),
            None => {
                let reason = self.reason(record, new);
                self.skip(reason);
            }
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.census.non_object += u64::from(problem.id == ProblemId::NotAnObject);
    }
}

impl Counter<'_> {
    fn skip(&mut self, reason: &str) {
        match self.census.skipped.get_mut(reason) {
            Some(count) => *count += 1,
            None => {
                self.census.skipped.insert(reason.to_owned(), 1);
            }
        }
    }
}
