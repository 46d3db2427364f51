//! `backstory redact --scan` and `--spans`: what would be taken out.

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::input_sessions::InputSessions;
use crate::redaction;
use crate::ui::{self, ACCENT, BOLD, DIM, ERROR, JsonLines, WARN};
use backstory_agents::{self as agents, Observed};
use backstory_format::slice::Part;
use backstory_model::Notice;
use backstory_redact::{Classes, Level, Reason, Redactor, Report};
use backstory_session::clear::{self, CopyError};
use backstory_session::parallel;
use backstory_session::parallel::Progress;
use backstory_session::select::SessionRef;
use backstory_store::{Store, open_file};
use backstory_text::escape::terminal_line;
use backstory_text::figures::counted;
use serde_json::json;
use std::io::{BufRead, Write};
use std::path::Path;

/// Counts what is in sessions.
pub(super) fn scan(
    inputs: &InputSessions,
    classes: Classes,
    as_json: bool,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let redactor = redaction::redactor(classes)?;
    let chosen = inputs.chosen();
    let size = |one: &SessionRef<'_>| match one {
        SessionRef::Session(files) => files.total_bytes(),
        SessionRef::Agent(file) => file.bytes,
    };
    let bar = ui::Bar::new("scanning");
    bar.begin(chosen.iter().map(size).sum());
    let reports = parallel::map(
        &chosen,
        size,
        || (),
        |_, one| {
            let report = study(one, &redactor, &inputs.store);
            bar.add(size(one));
            report
        },
    );
    bar.end();
    let mut notices = inputs.notices.clone();
    let mut found = Vec::new();
    for (one, report) in chosen.iter().zip(reports) {
        let (id, path) = match one {
            SessionRef::Session(files) => (&files.id, &files.path),
            SessionRef::Agent(file) => (&file.id, &file.path),
        };
        match report {
            Ok(report) => found.push((id, path, report)),
            Err(error) => notices.push(Notice::failed(path, error.to_string())),
        }
    }
    if !global.quiet {
        ui::notices(&notices);
    }
    let mut total = Report::default();
    found.iter().for_each(|(_, _, report)| total.add(report));
    if as_json {
        let mut out = JsonLines::new();
        for (id, path, report) in &found {
            out.write(&as_value(id, path, report))?;
        }
        out.finish()?;
    } else {
        write_text(&found, &total)?;
    }
    let outcome = if total.is_empty() { Outcome::Fine } else { Outcome::Findings };
    Ok(outcome.given(&notices))
}

fn study(chosen: &SessionRef<'_>, redactor: &Redactor, store: &Store) -> Result<Report, CopyError> {
    let mut scrubber = redactor.session();
    let subagents = match chosen {
        SessionRef::Session(files) => {
            let reader = agents::reader(files.agent);
            if reader.observed() == Observed::Nothing {
                clear::study_documents(&mut scrubber, files, store)?;
                return Ok(scrubber.report().clone());
            }
            clear::study(&mut scrubber, &files.path, reader.id_fields())?;
            files.agents.as_slice()
        }
        SessionRef::Agent(file) => std::slice::from_ref(*file),
    };
    for agent in subagents {
        let ids = agents::reader(agent.agent).id_fields();
        clear::study(&mut scrubber, &agent.path, ids)?;
        if let Some(meta) = &agent.meta {
            clear::study(&mut scrubber, meta, ids)?;
        }
    }
    Ok(scrubber.report().clone())
}

fn as_value(id: &str, path: &Path, report: &Report) -> serde_json::Value {
    let sensitivity = report.sensitivity();
    let findings = report.rules().map(|(class, rule, tally)| {
        json!({
            "rule": rule, "class": class.name(), "places": tally.places, "values": tally.values,
        })
    });
    json!({
        "schema": "backstory.redact/1",
        "session": id,
        "path": path.to_string_lossy(),
        "sensitivity": sensitivity.level.name(),
        "reasons": sensitivity.reasons.iter().map(as_text).collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
    })
}

fn as_text(reason: &Reason) -> String {
    let values = counted(reason.values, "value", "values");
    format!("{}: {}, {values}", reason.class.name(), reason.rule)
}

fn write_text(
    found: &[(&String, &std::path::PathBuf, Report)],
    total: &Report,
) -> Result<(), CliError> {
    let mut out = ui::stdout();
    let mut rows: Vec<_> = found.iter().filter(|(_, _, report)| !report.is_empty()).collect();
    rows.sort_by_key(|(id, _, report)| (std::cmp::Reverse(report.sensitivity().level), *id));
    for (id, _, report) in rows {
        let level = report.sensitivity().level;
        let style = match level {
            Level::High => ERROR,
            Level::Medium => WARN,
            Level::Low => DIM,
        };
        let rules = redaction::summary(report).unwrap_or_default();
        let id = terminal_line(id);
        writeln!(out, "{ACCENT}{id}{ACCENT:#}  {style}{:<6}{style:#}  {rules}", level.name())?;
    }
    if total.is_empty() {
        writeln!(out, "nothing found in {}", counted(found.len() as u64, "session", "sessions"))?;
    } else {
        writeln!(
            out,
            "\n{BOLD}{:<24}{BOLD:#}  {:<8}  {:>7}  {:>7}",
            "rule", "class", "values", "places"
        )?;
        for (class, rule, tally) in total.rules() {
            writeln!(
                out,
                "{rule:<24}  {:<8}  {:>7}  {:>7}",
                class.name(),
                tally.values,
                tally.places
            )?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Prints `{"spans": [[start, end], …]}` for each line of a file.
pub(super) fn spans(path: &Path, field: &str, classes: Classes) -> Result<Outcome, CliError> {
    let redactor = redaction::redactor(classes)?;
    let shown = path.display();
    let failed = |cause: std::io::Error| CliError::new(format!("`{shown}`: {cause}"));
    let file = open_file(path).map_err(failed)?;
    let mut out = JsonLines::new();
    for (number, line) in std::io::BufReader::new(file).lines().enumerate() {
        let line = line.map_err(failed)?;
        let wrong = |cause: &str| {
            CliError::new(format!("`{shown}`, line {}: {cause}", number + 1))
                .hint("each line is a JSON object with a text in the field named by --field")
        };
        let value: serde_json::Value =
            serde_json::from_str(&line).map_err(|error| wrong(&error.to_string()))?;
        let text = value.get(field).and_then(|value| value.as_str());
        let text = text.ok_or_else(|| wrong(&format!("no text in `{field}`")))?;
        let characters = |end: usize| text.part(..end).chars().count();
        let spans: Vec<[usize; 2]> = redactor
            .spans(text)
            .into_iter()
            .map(|(range, _)| [characters(range.start), characters(range.end)])
            .collect();
        out.write(&json!({ "spans": spans }))?;
    }
    out.finish()?;
    Ok(Outcome::Fine)
}
