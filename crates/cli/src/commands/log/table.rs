//! The tables of `backstory log`.

use super::{By, Log, LogArguments, LogFile};
use crate::times;
use crate::ui::{
    self, ACCENT, Align, BOLD, Column, Cut, DIM, Elastic, Table, WARN, fit, fit_end, short_model,
};
use anstyle::Style;
use backstory_model::Change;
use backstory_session::history::{DiffLine, Sum, TracedEdit, line_diff};
use backstory_session::wire::fetched;
use backstory_text::escape::terminal_line;
use backstory_text::figures;
use std::collections::BTreeMap;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

pub(crate) fn render(log: &Log<'_>, arguments: &LogArguments) -> String {
    let mut out = String::new();
    if arguments.report {
        report(&mut out, log, arguments.by);
        return out;
    }
    match arguments.by {
        By::File => {
            let table = columns(log, arguments.by);
            for file in &log.files {
                head(&mut out, file);
                for edit in edits(file) {
                    row(&mut out, &table, edit, None);
                    if arguments.diff {
                        patch(&mut out, edit);
                    }
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
    let left = file.traced.marks.iter().filter(|mark| mark.edit().is_some()).count();
    let now = if file.file.exists() {
        format!(
            "{left} of {} by agents",
            figures::counted(file.traced.marks.len() as u64, "line", "lines")
        )
    } else {
        "not there any more".to_owned()
    };
    let room = room(now.width() + 2);
    let shown = fit_end(&terminal_line(&file.file.shown), room);
    let _ = writeln!(out, "{BOLD}{shown}{BOLD:#}  {DIM}{now}{DIM:#}");
}

/// Columns that are left of the terminal when so many are taken; there is always some room.
fn room(taken: usize) -> usize {
    ui::width().map_or(usize::MAX, |width| width.saturating_sub(taken).max(20))
}

/// Time, model, session, turn, action, change, what is left of it, and a path.
const COLUMNS: usize = 8;
const STYLES: [Style; COLUMNS] =
    [DIM, ACCENT, Style::new(), DIM, Style::new(), Style::new(), Style::new(), Style::new()];
const PATH: usize = COLUMNS - 1;
/// Any time: all are of one width.
const WHEN: &str = "2026-01-31 09:30";

fn cells(edit: &TracedEdit<'_>, when: String, path: Option<&str>) -> [String; COLUMNS] {
    let by = &edit.edit.by;
    let model = terminal_line(by.model.as_deref().map_or("unknown model", short_model));
    let session: String = by.session.chars().take(8).collect();
    let agent = if by.subagent.is_some() { "+" } else { "" };
    let left = match (edit.placed, edit.surviving) {
        (false, _) => "place unknown".to_owned(),
        (true, 0) => "none left".to_owned(),
        (true, left) => format!("{left} left"),
    };
    [
        when,
        model.into_owned(),
        format!("{}{agent}", terminal_line(&session)),
        by.turn.map_or_else(String::new, |turn| format!("#{turn}")),
        edit.edit.action().name().to_owned(),
        format!("+{} -{}", edit.added, edit.removed),
        left,
        path.map_or_else(String::new, |path| terminal_line(path).into_owned()),
    ]
}

/// The columns, the same for all rows.
fn columns(log: &Log<'_>, by: By) -> Table<COLUMNS> {
    const TEXT: Column = Column::new(Align::Left);
    const CHANGE: Column = Column::new(Align::Right);
    let path = TEXT.cut(Cut::Start);
    let mut table = Table::new([TEXT, TEXT, TEXT, TEXT, TEXT, CHANGE, TEXT, path]);
    for file in &log.files {
        let path = (by != By::File).then_some(file.file.shown.as_str());
        for edit in edits(file) {
            table.measure(&cells(edit, WHEN.to_owned(), path));
        }
    }
    if let Some(width) = ui::width() {
        // Words that are in the heading come last.
        let leave_out = match by {
            By::File => [3, 4, 2, 6, 1],
            By::Session => [2, 3, 4, 6, 1],
            By::Model => [1, 3, 4, 2, 6],
        };
        let path = Elastic { column: PATH, readable: 20 };
        table.share(width.saturating_sub(2), path, &leave_out);
    }
    table
}

fn row(out: &mut String, table: &Table<COLUMNS>, edit: &TracedEdit<'_>, path: Option<&str>) {
    let when = edit.event.time.map(times::minute).unwrap_or_default();
    let row = table.row(&cells(edit, when, path), &STYLES);
    let _ = writeln!(out, "  {}", row.trim_end());
}

/// What an edit itself says it changed.
fn patch(out: &mut String, edit: &TracedEdit<'_>) {
    let mut show = |before: &str, after: &str| {
        for hunk in line_diff(before, after, 3).hunks {
            patch_line(out, DIM, &hunk.heading());
            for line in hunk.lines {
                let style = match line {
                    DiffLine::Added(_) => ACCENT,
                    DiffLine::Removed(_) => WARN,
                    DiffLine::Same(_) => DIM,
                };
                patch_line(out, style, &line.to_string());
            }
        }
    };
    match &edit.edit.change {
        Change::Write { content, .. } => show(edit.edit.original.as_deref().unwrap_or(""), content),
        Change::Replace(list) => {
            for replacement in list {
                show(&replacement.old, &replacement.new);
            }
        }
        Change::Cell { source } => show("", source.as_deref().unwrap_or("")),
        Change::Delete | Change::Move { .. } => {}
    }
}

fn patch_line(out: &mut String, style: Style, line: &str) {
    let text = terminal_line(&line.replace('\t', "    ")).into_owned();
    let _ = writeln!(out, "    {style}{text}{style:#}");
}

fn touches(out: &mut String, log: &Log<'_>, file: &LogFile<'_>) {
    for touch in log.project.touches(file.file) {
        let when = touch.time.map(times::minute).unwrap_or_default();
        let session: String = touch.session.chars().take(8).collect();
        let command = fit(&terminal_line(&touch.command), room(48).min(70));
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
        list.sort_by_key(|(_, edit)| edit.event.when);
    }
    groups.sort_by_key(|(_, list)| list.first().map(|(_, edit)| edit.event.when));
    let table = columns(log, arguments.by);
    for (key, list) in &groups {
        let _ = writeln!(out, "{BOLD}{}{BOLD:#}", terminal_line(key));
        let mut prompt = None;
        for (file, edit) in list {
            let by = &edit.edit.by;
            if arguments.by == By::Session && by.turn.is_some() && by.turn != prompt {
                prompt = by.turn;
                if let Some(text) = fetched(by.prompt.as_ref()) {
                    let text = fit(&terminal_line(text.trim()), room(4).min(100));
                    let _ = writeln!(out, "  {DIM}“{text}”{DIM:#}");
                }
            }
            row(out, &table, edit, Some(&file.file.shown));
            if arguments.diff {
                patch(out, edit);
            }
        }
        out.push('\n');
    }
}

/// Columns that the figures of a report take.
const FIGURES: usize = 38;

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
    let cut = if by == By::File { Cut::Start } else { Cut::End };
    let mut table = Table::new([Column::new(Align::Left).cut(cut).at_most(60); 3]);
    let cells = |(first, second, third): &(String, String, String)| {
        [first, second, third].map(|text| terminal_line(text).into_owned())
    };
    sums.keys().for_each(|key| table.measure(&cells(key)));
    if let Some(width) = ui::width() {
        let first = Elastic { column: 0, readable: 12 };
        table.share(width.saturating_sub(FIGURES), first, &[2, 1]);
    }
    let _ =
        writeln!(out, "{DIM}{:1$}edits    added  removed  still there{DIM:#}", "", table.width());
    for (key, sum) in &sums {
        let _ = writeln!(
            out,
            "{}{:>5} {:>8} {:>8} {:>12}",
            table.row(&cells(key), &[Style::new(); 3]),
            sum.edits,
            sum.added,
            sum.removed,
            sum.surviving
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
