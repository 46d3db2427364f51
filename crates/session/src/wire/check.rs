//! Findings of a check as JSON, documented in `docs/check-json.md`.

use super::CHECK_SCHEMA;
use backstory_claude::check::{FileReport, Finding, Report};
use backstory_format::Severity;
use serde::{Deserialize, Serialize};

/// What `backstory check --json` prints for a session. Fields are in the order in which they are
/// printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckDocument {
    /// `backstory.check/1`
    pub schema: String,
    /// The agent.
    pub agent: String,
    /// The session.
    pub id: String,
    /// The kind of session.
    pub kind: String,
    /// The session file.
    pub path: Option<String>,
    /// Whether there are no findings of the wanted severity.
    pub clean: bool,
    /// Whether the client would resume the session.
    pub resume: CheckResume,
    /// The session file and those of its subagents.
    pub files: Vec<CheckFile>,
}

/// Whether the client would resume a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckResume {
    /// The gravest finding that affects it.
    pub because: Option<CheckFinding>,
    /// The answer in one word.
    pub verdict: String,
}

/// Findings in one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckFile {
    /// Its length.
    pub bytes: u64,
    /// Findings by kind.
    pub findings: Vec<CheckGroup>,
    /// The file.
    pub path: String,
    /// How many records it has.
    pub records: u64,
}

/// Findings of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckGroup {
    /// How many there are.
    pub count: u64,
    /// The kind.
    pub id: String,
    /// The number of the invariant that is broken.
    pub invariant: Option<u8>,
    /// The first of them, in file order.
    pub listed: Vec<CheckFinding>,
    /// The kind in words.
    pub meaning: String,
    /// How grave it is.
    pub severity: String,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CheckFinding {
    /// A detail for people. Never content of a message.
    pub detail: String,
    /// The effect on a resume.
    pub effect: String,
    /// The kind.
    pub id: String,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// The offset in the file.
    pub offset: Option<u64>,
    /// A call id, a message id or the like.
    pub subject: Option<String>,
    /// The record.
    pub uuid: Option<String>,
}

/// A report with its findings of at least a severity.
pub fn check_json(report: &Report, severity: Severity) -> CheckDocument {
    CheckDocument {
        schema: CHECK_SCHEMA.to_owned(),
        agent: "claude-code".to_owned(),
        id: report.id.clone(),
        kind: report.kind.name().to_owned(),
        path: report.path().map(|path| path.to_string_lossy().into_owned()),
        clean: report.at_least(severity) == 0,
        resume: CheckResume {
            because: report.resume.because.as_ref().map(finding),
            verdict: report.resume.verdict.name().to_owned(),
        },
        files: report.files.iter().map(|file| one_file(file, severity)).collect(),
    }
}

fn one_file(file: &FileReport, severity: Severity) -> CheckFile {
    let groups = file.findings.groups().filter(|(id, _)| id.severity() >= severity);
    let groups = groups.map(|(id, group)| CheckGroup {
        count: group.count,
        id: id.name().to_owned(),
        invariant: id.invariant(),
        listed: group.listed.iter().map(finding).collect(),
        meaning: id.meaning().to_owned(),
        severity: id.severity().name().to_owned(),
    });
    CheckFile {
        bytes: file.bytes,
        findings: groups.collect(),
        path: file.path.to_string_lossy().into_owned(),
        records: file.records,
    }
}

fn finding(finding: &Finding) -> CheckFinding {
    CheckFinding {
        detail: finding.detail.clone().into_owned(),
        effect: finding.effect.name().to_owned(),
        id: finding.id.name().to_owned(),
        line: finding.line,
        offset: finding.offset,
        subject: finding.subject.as_deref().map(str::to_owned),
        uuid: finding.uuid.as_deref().map(str::to_owned),
    }
}
