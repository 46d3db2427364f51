//! The table of `backstory ls`.

use crate::error::CliError;
use crate::times;
use crate::ui::{self, BOLD, Elastic};
use backstory_model::UsageTotal;
use backstory_session::listing::Summary;
use backstory_text::escape::terminal_line;
use backstory_text::figures::compact;
use jiff::Timestamp;
use std::collections::HashMap;
use std::io::Write;
use unicode_width::UnicodeWidthStr;

const COLUMNS: usize = 10;
const HEADINGS: [&str; COLUMNS] =
    ["id", "title", "project", "branch", "model", "turns", "calls", "tokens", "time", "last"];
const WIDEST: [usize; COLUMNS] = [usize::MAX, 72, 24, 18, 22, 8, 8, 9, 8, 16];

/// Writes the table; `ids` has the short form of each id.
pub(crate) fn write_table(
    out: &mut impl Write,
    rows: &[Summary],
    ids: &HashMap<&str, &str>,
    all: bool,
    now: Timestamp,
) -> Result<(), CliError> {
    let width = ui::width().unwrap_or(160).max(60);
    let short = |row: &Summary| ids.get(row.id.as_str()).copied().unwrap_or(&row.id).to_owned();
    let mut cells: Vec<[String; COLUMNS]> =
        rows.iter().map(|row| cells(row, &short(row), all, now)).collect();
    for row in &mut cells {
        for (cell, limit) in row.iter_mut().zip(WIDEST) {
            *cell = ui::fit(cell, limit);
        }
    }
    let mut widths = HEADINGS.map(str::len);
    for row in &cells {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(cell.width());
        }
    }
    let title = Elastic { column: 1, readable: 24 };
    ui::share_width(&mut widths, width, title, &[3, 8, 6, 4, 2]);
    write_row(out, &HEADINGS.map(str::to_owned), &widths, BOLD)?;
    for row in &cells {
        write_row(out, row, &widths, anstyle::Style::new())?;
    }
    Ok(())
}

fn write_row(
    out: &mut impl Write,
    row: &[String; COLUMNS],
    widths: &[usize; COLUMNS],
    style: anstyle::Style,
) -> Result<(), CliError> {
    let mut line = String::new();
    for (at, (cell, width)) in
        row.iter().zip(widths).enumerate().filter(|(_, (_, width))| **width > 0)
    {
        let cell = ui::fit(cell, *width);
        let space = " ".repeat(width.saturating_sub(cell.width()));
        let numeric = (5..=8).contains(&at);
        line.push_str(if numeric { &space } else { &cell });
        line.push_str(if numeric { &cell } else { &space });
        line.push_str("  ");
    }
    Ok(writeln!(out, "{style}{}{style:#}", line.trim_end())?)
}

fn cells(row: &Summary, id: &str, all: bool, now: Timestamp) -> [String; COLUMNS] {
    let unknown = || "–".to_owned();
    let full = row.full.as_ref();
    let title = row.title.as_ref().map(|title| title.text.as_str()).unwrap_or("(no title)");
    let title = match (all, row.kind.name()) {
        (true, kind) if kind != "session" => format!("  {kind}: {title}"),
        _ => title.to_owned(),
    };
    [
        terminal_line(id).into_owned(),
        terminal_line(&title).into_owned(),
        project_name(row),
        row.branch.as_deref().map(|branch| terminal_line(branch).into_owned()).unwrap_or_default(),
        full.map_or_else(unknown, |full| models(&full.models)),
        full.map_or_else(unknown, |full| compact(full.turns)),
        full.map_or_else(unknown, |full| compact(full.calls)),
        full.and_then(|full| full.tokens).map_or_else(unknown, |usage| tokens(&usage)),
        row.duration_ms().map_or_else(unknown, times::duration),
        row.last_activity().map_or_else(unknown, |time| times::ago(time, now)),
    ]
}

fn tokens(usage: &UsageTotal) -> String {
    let mark = if usage.incomplete { "≥" } else { "" };
    format!("{mark}{}", compact(usage.total()))
}

/// The last part of the folder, as people call a project.
fn project_name(row: &Summary) -> String {
    let path = row.cwd.as_deref().or(row.project_key.as_deref()).unwrap_or_default();
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path);
    terminal_line(name).into_owned()
}

/// Models without the parts that are the same for all.
fn models(models: &[std::sync::Arc<str>]) -> String {
    let short = models.iter().map(|model| short_model(model));
    terminal_line(&short.collect::<Vec<_>>().join(", ")).into_owned()
}

pub(crate) fn short_model(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("claude-").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((rest, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest
        }
        _ => name,
    }
}
