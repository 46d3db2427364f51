//! What a check found, as plain data.

use super::ids::Id;
use backstory_format::{Problem, Severity};
use backstory_model::SessionKind;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many findings of one kind are kept with their place.
const LISTED_PER_ID: u64 = 100;

/// What a finding does to a resume with the newest client that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Nothing, or the client repairs it.
    None,
    /// It resumes, but something that the file holds is not in the conversation.
    Loss,
    /// The client finds no conversation, or the API refuses what it sends.
    Stops,
}

impl Effect {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::Loss => "loss",
            Effect::Stops => "stops",
        }
    }
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which check failed.
    pub id: Id,
    /// 1-based; none when it is about the file as a whole.
    pub line: Option<u64>,
    /// Byte offset in the file.
    pub offset: Option<u64>,
    /// The record concerned.
    pub uuid: Option<Box<str>>,
    /// Call id, message id or the like: what else is needed to find the place.
    pub subject: Option<Box<str>>,
    /// A detail for people. Never content of a message.
    pub detail: Cow<'static, str>,
    /// The consequence for a resume.
    pub effect: Effect,
}

impl Finding {
    /// A finding about a whole file.
    pub fn of_file(id: impl Into<Id>, detail: impl Into<Cow<'static, str>>) -> Finding {
        let id = id.into();
        let (detail, effect) = (detail.into(), id.effect());
        Finding { id, line: None, offset: None, uuid: None, subject: None, detail, effect }
    }
}

impl From<&Problem> for Finding {
    fn from(problem: &Problem) -> Finding {
        Finding {
            line: Some(problem.line),
            offset: Some(problem.offset),
            ..Finding::of_file(problem.id, problem.detail.clone())
        }
    }
}

/// All findings of one id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// How many findings there are.
    pub count: u64,
    /// The first of them, in file order.
    pub listed: Vec<Finding>,
}

/// A bounded list with exact counts, so that a million faults cost no memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    groups: BTreeMap<Id, Group>,
    /// The worst effect, and the first finding that has it.
    worst: Option<Finding>,
}

impl Findings {
    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        let graver = |known: &Finding| {
            let weight = |finding: &Finding| (finding.effect, finding.id.severity());
            weight(&finding) > weight(known)
                || (weight(&finding) == weight(known) && finding.line < known.line)
        };
        if finding.effect > Effect::None && self.worst.as_ref().is_none_or(graver) {
            self.worst = Some(finding.clone());
        }
        let group = self.groups.entry(finding.id).or_default();
        group.count += 1;
        if group.count <= LISTED_PER_ID {
            group.listed.push(finding);
        }
    }

    /// Counts more of a kind than were listed.
    pub(crate) fn count_unlisted(&mut self, id: Id, count: u64) {
        if count > 0 {
            self.groups.entry(id).or_default().count += count;
        }
    }

    /// By id, in the order of the lists of ids.
    pub fn groups(&self) -> impl Iterator<Item = (Id, &Group)> {
        self.groups.iter().map(|(id, group)| (*id, group))
    }

    /// Whether there is one of this id.
    pub fn has(&self, id: impl Into<Id>) -> bool {
        self.groups.contains_key(&id.into())
    }

    /// How many there are at this severity or above.
    pub fn at_least(&self, severity: Severity) -> u64 {
        let groups = self.groups.iter().filter(|(id, _)| id.severity() >= severity);
        groups.map(|(_, group)| group.count).sum()
    }

    /// The finding that decides about a resume.
    pub fn worst(&self) -> Option<&Finding> {
        self.worst.as_ref()
    }

    pub(crate) fn sort(&mut self) {
        for group in self.groups.values_mut() {
            group.listed.sort_by_key(|finding| (finding.line, finding.offset));
        }
    }
}

/// Whether the client would resume a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It resumes.
    Yes,
    /// It resumes without some of what the file holds.
    WithLoss,
    /// It does not resume.
    No,
    /// It holds no conversation: there is nothing to resume, and nothing wrong with that.
    Nothing,
    /// Subagents are not resumed by themselves.
    NotApplicable,
}

impl Verdict {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Yes => "yes",
            Verdict::WithLoss => "with-loss",
            Verdict::No => "no",
            Verdict::Nothing => "nothing",
            Verdict::NotApplicable => "not-applicable",
        }
    }
}

/// The judgement about a resume, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// Whether the session resumes.
    pub verdict: Verdict,
    /// The first finding that stops it or loses something.
    pub because: Option<Finding>,
}

/// Findings in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// The file.
    pub path: PathBuf,
    /// Bytes of the file.
    pub bytes: u64,
    /// Records in the file.
    pub records: u64,
    /// What was found.
    pub findings: Findings,
}

/// What a check of one session found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The session's id.
    pub id: String,
    /// Session or subagent.
    pub kind: SessionKind,
    /// Whether it would resume.
    pub resume: Resume,
    /// The session's own file first, then its subagents'.
    pub files: Vec<FileReport>,
}

impl Report {
    /// The session's own file.
    pub fn path(&self) -> Option<&std::path::Path> {
        self.files.first().map(|file| file.path.as_path())
    }

    /// How many findings there are at this severity or above.
    pub fn at_least(&self, severity: Severity) -> u64 {
        self.files.iter().map(|file| file.findings.at_least(severity)).sum()
    }
}
