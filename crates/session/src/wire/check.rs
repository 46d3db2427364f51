//! What a check found as JSON.

use super::CHECK_SCHEMA;
use backstory_claude::check::{FileReport, Finding, Report};
use backstory_format::Severity;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

/// A report to be written as `backstory.check/1`, with findings of at least a severity.
#[derive(Debug)]
pub struct CheckJson<'a>(pub &'a Report, pub Severity);

impl Serialize for CheckJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let CheckJson(report, severity) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", CHECK_SCHEMA)?;
        map.serialize_entry("agent", "claude-code")?;
        map.serialize_entry("id", &report.id)?;
        map.serialize_entry("kind", report.kind.name())?;
        map.serialize_entry("path", &report.path().map(|path| path.to_string_lossy()))?;
        map.serialize_entry("clean", &(report.at_least(*severity) == 0))?;
        let because = report.resume.because.as_ref();
        map.serialize_entry(
            "resume",
            &json!({
                "verdict": report.resume.verdict.name(),
                "because": because.map(finding),
            }),
        )?;
        let files: Vec<_> = report.files.iter().map(|file| one_file(file, *severity)).collect();
        map.serialize_entry("files", &files)?;
        map.end()
    }
}

fn one_file(file: &FileReport, severity: Severity) -> serde_json::Value {
    let groups = file.findings.groups().filter(|(id, _)| id.severity() >= severity);
    let groups: Vec<_> = groups
        .map(|(id, group)| {
            json!({
                "id": id.name(),
                "severity": id.severity().name(),
                "invariant": id.invariant(),
                "meaning": id.meaning(),
                "count": group.count,
                "listed": group.listed.iter().map(finding).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "path": file.path.to_string_lossy(),
        "bytes": file.bytes,
        "records": file.records,
        "findings": groups,
    })
}

fn finding(finding: &Finding) -> serde_json::Value {
    json!({
        "id": finding.id.name(),
        "line": finding.line,
        "offset": finding.offset,
        "uuid": finding.uuid,
        "subject": finding.subject,
        "detail": finding.detail,
        "effect": finding.effect.name(),
    })
}
