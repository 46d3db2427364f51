//! What `backstory check` found, for people.

use crate::error::CliError;
use crate::ui::{self, ACCENT, BOLD, DIM, ERROR, WARN};
use anstyle::Style;
use backstory_claude::check::{Group, Id, Report, Verdict};
use backstory_format::Severity;
use backstory_text::escape::terminal_line;
use std::io::{self, Write};

/// How many places of one kind are shown.
const PLACES: usize = 3;

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARN,
        Severity::Info => DIM,
    }
}

/// One session, if there is something to say about it.
pub(crate) fn write_report(
    out: &mut impl Write,
    report: &Report,
    severity: Severity,
) -> io::Result<()> {
    if report.at_least(severity) == 0 {
        return Ok(());
    }
    let path = report.path().map(|path| ui::short_path(&path.to_string_lossy()));
    writeln!(out, "{BOLD}{}{BOLD:#}", path.unwrap_or_default())?;
    if let Some(text) = verdict(report) {
        writeln!(out, "  {text}")?;
    }
    for file in &report.files {
        let path = ui::short_path(&file.path.to_string_lossy());
        let mut groups: Vec<_> =
            file.findings.groups().filter(|(id, _)| id.severity() >= severity).collect();
        groups.sort_by_key(|(id, _)| std::cmp::Reverse(id.severity()));
        for (id, group) in groups {
            write_group(out, &path, id, group)?;
        }
    }
    writeln!(out)
}

/// Whether it resumes, when there is a doubt.
fn verdict(report: &Report) -> Option<String> {
    let because = report.resume.because.as_ref();
    let place = because.map(|finding| match finding.line {
        Some(line) => format!("{} in line {line}", finding.id),
        None => finding.id.to_string(),
    });
    let place = place.unwrap_or_default();
    match report.resume.verdict {
        Verdict::Yes => Some("would resume".to_owned()),
        Verdict::WithLoss => Some(format!("{WARN}would resume with loss{WARN:#}: {place}")),
        Verdict::No => Some(format!("{ERROR}would not resume{ERROR:#}: {place}")),
        Verdict::Nothing => Some("nothing to resume".to_owned()),
        Verdict::NotApplicable => None,
    }
}

fn write_group(out: &mut impl Write, path: &str, id: Id, group: &Group) -> io::Result<()> {
    let style = style(id.severity());
    let times = if group.count == 1 { String::new() } else { format!(" ({}×)", group.count) };
    writeln!(
        out,
        "  {style}{}{style:#} {ACCENT}{id}{ACCENT:#}{times}: {}",
        id.severity().name(),
        id.meaning()
    )?;
    for finding in group.listed.iter().take(PLACES) {
        let place = match finding.line {
            Some(line) => format!("{path}:{line}"),
            None => path.to_owned(),
        };
        let subject = finding.subject.as_deref().map(|text| ui::fit(&terminal_line(text), 60));
        let said = [subject.as_deref().unwrap_or_default(), &terminal_line(&finding.detail)]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": ");
        if said.is_empty() {
            writeln!(out, "    {place}")?;
        } else {
            writeln!(out, "    {place}  {DIM}{said}{DIM:#}")?;
        }
    }
    let shown = group.listed.len().min(PLACES) as u64;
    if group.count > shown {
        writeln!(out, "    {DIM}and {} more{DIM:#}", group.count - shown)?;
    }
    Ok(())
}

/// One line over all of them.
pub(crate) fn write_summary(
    out: &mut impl Write,
    reports: &[Report],
    severity: Severity,
) -> io::Result<()> {
    let sessions: Vec<&Report> =
        reports.iter().filter(|report| report.resume.verdict != Verdict::NotApplicable).collect();
    let stray = reports.len() - sessions.len();
    let count = |test: &dyn Fn(&Report) -> bool| sessions.iter().filter(|one| test(one)).count();
    let stops = |report: &Report| report.resume.verdict == Verdict::No;
    let loses = |report: &Report| {
        report.resume.verdict == Verdict::WithLoss && report.at_least(severity) > 0
    };
    let errors =
        |report: &Report| !stops(report) && !loses(report) && report.at_least(Severity::Error) > 0;
    let clean = |report: &Report| report.at_least(severity) == 0 && !stops(report);
    let warned =
        |report: &Report| !stops(report) && !loses(report) && !errors(report) && !clean(report);
    let lesser =
        if severity == Severity::Info { "with notes or warnings" } else { "with warnings" };
    let parts = [
        (count(&clean), "clean"),
        (count(&warned), lesser),
        (count(&errors), "with errors"),
        (count(&loses), "would resume with loss"),
        (count(&stops), "would not resume"),
    ];
    let listed: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let noun = if sessions.len() == 1 { "session" } else { "sessions" };
    write!(out, "{} {noun}", sessions.len())?;
    if !listed.is_empty() {
        write!(out, ": {}", listed.join(", "))?;
    }
    if stray > 0 {
        let faulty = reports
            .iter()
            .filter(|one| one.resume.verdict == Verdict::NotApplicable)
            .filter(|one| one.at_least(severity) > 0)
            .count();
        let noun = if stray == 1 { "subagent" } else { "subagents" };
        write!(out, "; {stray} {noun} without a session, {faulty} with findings")?;
    }
    writeln!(out)
}

/// All ids with their meaning.
pub(crate) fn write_ids(out: &mut impl Write) -> io::Result<()> {
    let widest = Id::all().map(|id| id.name().len()).max().unwrap_or(0);
    let width = ui::width().unwrap_or(100).saturating_sub(widest + 12).max(40);
    for id in Id::all() {
        let (style, severity) = (style(id.severity()), id.severity().name());
        for (number, line) in ui::wrap(id.meaning(), width).iter().enumerate() {
            if number == 0 {
                writeln!(
                    out,
                    "{style}{severity:8}{style:#} {ACCENT}{:widest$}{ACCENT:#}  {line}",
                    id.name()
                )?;
            } else {
                writeln!(out, "{:9}{:widest$}  {line}", "", "")?;
            }
        }
    }
    Ok(())
}

/// Everything about one id.
pub(crate) fn write_explanation(out: &mut impl Write, id: Id) -> io::Result<()> {
    let style = style(id.severity());
    let width = ui::width().unwrap_or(100).clamp(40, 100);
    writeln!(out, "{ACCENT}{id}{ACCENT:#} ({style}{}{style:#})", id.severity().name())?;
    if let Some(invariant) = id.invariant() {
        writeln!(out, "{DIM}resume invariant {invariant} of 15{DIM:#}")?;
    }
    writeln!(out)?;
    for line in ui::wrap(id.meaning(), width) {
        writeln!(out, "{line}")?;
    }
    let long = id.explain();
    for (heading, text) in
        [("Why it matters", long.why), ("Evidence", long.evidence), ("What to do", long.remedy)]
    {
        if text.is_empty() {
            continue;
        }
        writeln!(out, "\n{BOLD}{heading}{BOLD:#}")?;
        for line in ui::wrap(text, width - 2) {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

/// An id that is none, with those it may have been.
pub(crate) fn unknown_id(name: &str) -> CliError {
    let mut near: Vec<(usize, &str)> =
        Id::all().map(|id| (distance(name, id.name()), id.name())).collect();
    near.sort();
    let words: Vec<&str> = name.split('-').filter(|word| word.len() > 2).collect();
    let shares = |id: &str| words.iter().any(|word| id.split('-').any(|part| part == *word));
    let close = |distance: usize, id: &str| distance * 3 <= name.chars().count() || shares(id);
    let close: Vec<&str> = near
        .iter()
        .filter(|(distance, id)| close(*distance, id))
        .take(5)
        .map(|(_, id)| *id)
        .collect();
    let error = CliError::new(format!("no finding is called `{name}`"));
    if close.is_empty() {
        error.hint("backstory check --explain lists all")
    } else {
        error.hint(format!("did you mean {}?", close.join(", ")))
    }
}

/// Edits that turn one name into the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, character) in one.chars().take(100).enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (column, candidate) in other.iter().enumerate() {
            let above = row.get(column + 1).copied().unwrap_or(usize::MAX - 1);
            let cost = diagonal + usize::from(character != *candidate);
            let best = cost.min(above + 1).min(left + 1);
            if let Some(slot) = row.get_mut(column) {
                *slot = left;
            }
            diagonal = above;
            left = best;
        }
        if let Some(slot) = row.get_mut(other.len()) {
            *slot = left;
        }
    }
    row.get(other.len()).copied().unwrap_or(usize::MAX)
}
