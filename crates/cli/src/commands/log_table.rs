//! The tables of `backstory log`.

use super::log::{By, Log, LogArguments, LogFile};
use super::ls_table::short_model;
use crate::figures;
use crate::times;
use crate::ui::{ACCENT, BOLD, DIM, WARN, fit};
use backstory_session::escape::terminal_line;
use backstory_session::history::{Change, Sum, TracedEdit, line_diff};
use backstory_session::wire::fetched;
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) fn render(log: &Log<'_>, arguments: &LogArguments) -> String {
    let mut out = String::new();
    if arguments.report {
        report(&mut out, log, arguments.by);
        return out;
    }
    match arguments.by {
        By::File => {
            for file in &log.files {
                head(&mut out, file);
                for edit in edits(file) {
                    row(&mut out, edit, None, arguments.diff);
                }
                touches(&mut out, log, file);
                out.push('\n');
            }
        }
        By::Session | By::Model => grouped(&mut out, log, arguments),
    }
    totals(&mut out, log);
    out
}

fn edits<'f>(file: &'f LogFile<'_>) -> impl Iterator<Item = &'f TracedEdit<'f>> {
    file.shown.iter().filter_map(|at| file.traced.edits.get(*at))
}

fn head(out: &mut String, file: &LogFile<'_>) {
    let left: u64 = file.traced.edits.iter().map(|edit| edit.surviving).sum();
    let now = match file.file.exists() {
        true => format!("{left} of {} lines are agents'", file.traced.marks.len()),
        false => "not there any more".to_owned(),
    };
    let shown = terminal_line(&file.file.shown);
    let _ = writeln!(out, "{BOLD}{shown}{BOLD:#}  {DIM}{now}{DIM:#}");
}

fn row(out: &mut String, edit: &TracedEdit<'_>, path: Option<&str>, diff: bool) {
    let by = &edit.edit.by;
    let when = edit.event.time.map(times::minute).unwrap_or_default();
    let model =
        terminal_line(by.model.as_deref().map_or("unknown model", short_model)).into_owned();
    let session: String = by.session.chars().take(8).collect();
    let agent = if by.subagent.is_some() { "+" } else { " " };
    let turn = by.turn.map_or_else(String::new, |turn| format!("#{turn}"));
    let change = format!("+{} -{}", edit.added, edit.removed);
    let left = match (edit.placed, edit.surviving) {
        (false, _) => "place unknown".to_owned(),
        (true, 0) => "none left".to_owned(),
        (true, left) => format!("{left} left"),
    };
    let path = path.map_or_else(String::new, |path| format!("  {}", terminal_line(path)));
    let _ = writeln!(
        out,
        "  {DIM}{when:<16}{DIM:#}  {ACCENT}{model:<12}{ACCENT:#}  {}{agent} {DIM}{turn:<5}{DIM:#} {:<9} {change:>11}  {left}{path}",
        terminal_line(&session),
        edit.edit.action().name(),
    );
    if diff {
        patch(out, edit);
    }
}

/// What an edit itself says it changed.
fn patch(out: &mut String, edit: &TracedEdit<'_>) {
    let mut show = |before: &str, after: &str| {
        for line in line_diff(before, after, 3).lines {
            let text = terminal_line(&line.replace('\t', "    ")).into_owned();
            let _ = match line.as_bytes().first() {
                Some(b'+') => writeln!(out, "    {ACCENT}{text}{ACCENT:#}"),
                Some(b'-') => writeln!(out, "    {WARN}{text}{WARN:#}"),
                _ => writeln!(out, "    {DIM}{text}{DIM:#}"),
            };
        }
    };
    match &edit.edit.change {
        Change::Write { content, .. } => show(edit.edit.original.as_deref().unwrap_or(""), content),
        Change::Replace(list) => {
            for replacement in list {
                show(&replacement.old, &replacement.new);
            }
        }
        Change::Cell { source } => show("", source),
    }
}

fn touches(out: &mut String, log: &Log<'_>, file: &LogFile<'_>) {
    for touch in log.project.touches(file.file) {
        let when = touch.time.map(times::minute).unwrap_or_default();
        let session: String = touch.session.chars().take(8).collect();
        let command = fit(&terminal_line(&touch.command), 70);
        let _ = writeln!(
            out,
            "  {DIM}{when:<16}  possibly changed  {}  {command}{DIM:#}",
            terminal_line(&session)
        );
    }
}

/// Edits of all files in order of time, under their session or model.
fn grouped(out: &mut String, log: &Log<'_>, arguments: &LogArguments) {
    let mut groups: BTreeMap<String, Vec<(&LogFile<'_>, &TracedEdit<'_>)>> = BTreeMap::new();
    for file in &log.files {
        for edit in edits(file) {
            let by = &edit.edit.by;
            let key = match arguments.by {
                By::Session => by.session.to_string(),
                _ => by.model.as_deref().unwrap_or("unknown model").to_owned(),
            };
            groups.entry(key).or_default().push((file, edit));
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    for (_, list) in &mut groups {
        list.sort_by_key(|(_, edit)| edit.event.time);
    }
    groups.sort_by_key(|(_, list)| list.first().map(|(_, edit)| edit.event.time));
    for (key, list) in &groups {
        let _ = writeln!(out, "{BOLD}{}{BOLD:#}", terminal_line(key));
        let mut prompt = None;
        for (file, edit) in list {
            let by = &edit.edit.by;
            if arguments.by == By::Session && by.turn.is_some() && by.turn != prompt {
                prompt = by.turn;
                if let Some(text) = fetched(by.prompt.as_ref()) {
                    let _ =
                        writeln!(out, "  {DIM}“{}”{DIM:#}", fit(&terminal_line(text.trim()), 100));
                }
            }
            row(out, edit, Some(&file.file.shown), arguments.diff);
        }
        out.push('\n');
    }
}

fn report(out: &mut String, log: &Log<'_>, by: By) {
    let mut sums: BTreeMap<(String, String, String), Sum> = BTreeMap::new();
    for file in &log.files {
        for edit in edits(file) {
            let origin = &edit.edit.by;
            let model = origin.model.as_deref().map_or("unknown model", short_model).to_owned();
            let session: String = origin.session.chars().take(8).collect();
            let key = match by {
                By::File => (file.file.shown.clone(), model, session),
                By::Session => (session, model, String::new()),
                By::Model => (model, String::new(), String::new()),
            };
            sums.entry(key).or_default().add(edit);
        }
    }
    let wide = |pick: fn(&(String, String, String)) -> &String| {
        sums.keys().map(|key| pick(key).chars().count()).max().unwrap_or(0).min(60)
    };
    let widths = [wide(|key| &key.0), wide(|key| &key.1), wide(|key| &key.2)];
    let _ = writeln!(
        out,
        "{DIM}{:1$}edits    added  removed  still there{DIM:#}",
        "",
        widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum::<usize>()
    );
    for (key, sum) in &sums {
        for (text, width) in [&key.0, &key.1, &key.2].into_iter().zip(widths) {
            if width > 0 {
                let _ = write!(out, "{:<width$}  ", fit(&terminal_line(text), width));
            }
        }
        let _ = writeln!(
            out,
            "{:>5} {:>8} {:>8} {:>12}",
            sum.edits, sum.added, sum.removed, sum.surviving
        );
    }
    out.push('\n');
    totals(out, log);
}

fn totals(out: &mut String, log: &Log<'_>) {
    let mut sum = Sum::default();
    for edit in log.files.iter().flat_map(edits) {
        sum.add(edit);
    }
    let _ = writeln!(
        out,
        "{} in {}: {} added, {} removed, {} still there",
        figures::counted(sum.edits, "edit", "edits"),
        figures::counted(log.files.len() as u64, "file", "files"),
        figures::counted(sum.added, "line", "lines"),
        figures::grouped(sum.removed),
        figures::grouped(sum.surviving),
    );
}
