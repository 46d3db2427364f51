//! The text output of `clone`.

use crate::error::CliError;
use crate::ui::{self, ACCENT, BOLD, DIM, WARN};
use backstory_claude::clone::{Category, Counts, Proof, Reason, Report, Verified};
use backstory_text::escape::terminal_line;
use backstory_text::figures::{bytes, compact, counted, grouped};
use std::io::Write;

/// The clone that was made, or would be.
/// How a clone is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// By the client, which resumes it by its id.
    ByClient,
    ByPath,
}

pub(super) fn write_report(
    out: &mut dyn Write,
    report: &Report,
    found: Found,
) -> Result<(), CliError> {
    let what = if report.path.is_some() { "cloned" } else { "would clone" };
    writeln!(out, "{BOLD}{what}{BOLD:#} {} as {}", terminal_line(&report.source.id), report.id)?;
    writeln!(out, "  title   {}", ui::fit(&terminal_line(&report.title), 80))?;
    writeln!(out, "  file    {}", ui::short_path(&report.target.to_string_lossy()))?;
    let counts = &report.counts;
    writeln!(
        out,
        "  holds   {}, {}, {}",
        counted(counts.turns, "turn", "turns"),
        counted(report.after.messages, "message", "messages"),
        counted(counts.calls, "tool call", "tool calls")
    )?;
    writeln!(out)?;
    write_sizes(out, report)?;
    write_counts(out, counts)?;
    for failure in &report.failures {
        writeln!(out, "  {WARN}not compressed{WARN:#}: {}", terminal_line(failure))?;
    }
    if report.path.is_some() && found == Found::ByClient {
        write_command(out, report)?;
    }
    Ok(())
}

fn write_sizes(out: &mut dyn Write, report: &Report) -> Result<(), CliError> {
    let (before, after) = (&report.before, &report.after);
    let row = |out: &mut dyn Write, name: &str, was: &str, is: &str, change: String| {
        writeln!(out, "  {name:<14}{was:>10}{is:>10}  {DIM}{change}{DIM:#}")
    };
    writeln!(out, "  {DIM}{:<14}{:>10}{:>10}{DIM:#}", "", "before", "after")?;
    row(out, "size", &bytes(before.bytes), &bytes(after.bytes), change(before.bytes, after.bytes))?;
    let (was, is) = (before.estimate.tokens(), after.estimate.tokens());
    row(out, "tokens, about", &compact(was), &compact(is), change(was, is))?;
    for category in Category::ALL {
        let (was, is) = (before.estimate.of(category), after.estimate.of(category));
        if was.tokens > 0 || is.tokens > 0 {
            let name = format!("  {}", category.name().replace('-', " "));
            row(
                out,
                &name,
                &compact(was.tokens),
                &compact(is.tokens),
                change(was.tokens, is.tokens),
            )?;
        }
    }
    Ok(writeln!(out)?)
}

/// `-42 %`; nothing where there was nothing.
fn change(before: u64, after: u64) -> String {
    if before == after || before == 0 {
        return String::new();
    }
    format!("{:+.0}%", (after as f64 - before as f64) / before as f64 * 100.0)
}

fn write_counts(out: &mut dyn Write, counts: &Counts) -> Result<(), CliError> {
    let done = [
        (counts.calls_removed, "tool call removed", "tool calls removed"),
        (counts.calls_truncated, "tool call truncated", "tool calls truncated"),
        (counts.thinking_removed, "thinking block removed", "thinking blocks removed"),
        (counts.images_removed, "image removed", "images removed"),
        (counts.texts_compressed, "text compressed", "texts compressed"),
        (counts.texts_failed, "text not compressed", "texts not compressed"),
        (counts.subagents, "subagent copied", "subagents copied"),
        (counts.subagents_left, "subagent left", "subagents left"),
    ];
    let done = done.iter().filter(|(count, ..)| *count > 0);
    for (count, one, many) in done {
        writeln!(out, "  {}", counted(*count, one, many))?;
    }
    for (reason, count) in &counts.left_out {
        let records = counted(*count, "record", "records");
        writeln!(out, "  {DIM}{records} left out: {}{DIM:#}", why(*reason))?;
    }
    if counts.bad_lines > 0 {
        let lines = counted(counts.bad_lines, "line", "lines");
        writeln!(out, "  {DIM}{lines} left out: damaged{DIM:#}")?;
    }
    for (id, count) in &counts.repaired {
        writeln!(out, "  {DIM}{} × {id} of the source repaired{DIM:#}", grouped(*count))?;
    }
    Ok(())
}

fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::OtherBranch => "not part of the active conversation",
        Reason::Subagent => "a subagent's",
        Reason::Copy => "written twice",
        Reason::Tool => "of removed tool calls",
        Reason::Thinking => "thinking",
        Reason::Meta => "injected by the client",
        Reason::Progress => "progress",
        Reason::Snapshot => "snapshots of files",
        Reason::Superseded => "superseded by later ones",
        Reason::SourceOnly => "about the source's own process",
        Reason::Reference => "about records that are left out",
        Reason::Unsendable => "empty or unreadable",
        Reason::Nameless => "without uuid",
    }
}

fn write_command(out: &mut dyn Write, report: &Report) -> Result<(), CliError> {
    writeln!(out)?;
    let command = format!("claude --resume {}", report.id);
    match &report.folder {
        Some(folder) => {
            let folder = crate::quote::quoted(folder.as_ref());
            writeln!(out, "  {ACCENT}cd {} && {command}{ACCENT:#}", terminal_line(&folder))?;
        }
        None => writeln!(out, "  {ACCENT}{command}{ACCENT:#}")?,
    }
    Ok(())
}

/// The proof of a clone.
pub(super) fn write_proof(out: &mut impl Write, verified: &Verified) -> Result<(), CliError> {
    crate::commands::check::text::write_report(
        &mut *out,
        &verified.report,
        backstory_format::Severity::Warning,
    )?;
    let resume = &verified.report.resume;
    writeln!(out, "resumes   {}", resume.verdict.name())?;
    if let Some(lineage) = &verified.lineage {
        let source = &lineage.source;
        writeln!(out, "source    {}", terminal_line(&source.session))?;
        writeln!(
            out,
            "made      {} by {}",
            terminal_line(&lineage.made_at),
            terminal_line(&lineage.made_by)
        )?;
        for ancestor in source.ancestors.iter().rev() {
            writeln!(out, "before    {}", terminal_line(ancestor))?;
        }
    }
    let proof = match &verified.proof {
        Proof::Same => "made again from its source, it is the same byte for byte".to_owned(),
        Proof::SameAndMore(more) => format!(
            "made again from its source, it is the same; {} were added since",
            counted(*more, "byte", "bytes")
        ),
        Proof::Differs(at) => format!("made again from its source, it differs from byte {at} on"),
        Proof::NoLineage => "it does not say what it was made from".to_owned(),
        Proof::NoSource(why) => format!("its source cannot be compared: {why}"),
        Proof::NotRepeatable => {
            "texts were compressed by another program, so it cannot be made again".to_owned()
        }
    };
    Ok(writeln!(out, "proof     {}", terminal_line(&proof))?)
}
