//! The table of `backstory ls`.

use crate::error::CliError;
use crate::times;
use crate::ui::{self, Align, BOLD, Column, Elastic, Table, short_model};
use backstory_model::Summary;
use backstory_model::UsageTotal;
use backstory_text::escape::terminal_line;
use backstory_text::figures::compact;
use jiff::Timestamp;
use std::collections::HashMap;
use std::io::Write;

const COLUMNS: usize = 10;
const HEADINGS: [&str; COLUMNS] =
    ["id", "title", "project", "branch", "model", "turns", "calls", "tokens", "time", "last"];
const TEXT: Column = Column::new(Align::Left);
const NUMBER: Column = Column::new(Align::Right);

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
    let cells: Vec<[String; COLUMNS]> =
        rows.iter().map(|row| cells(row, &short(row), all, now)).collect();
    let mut table = Table::new([
        TEXT,
        TEXT.at_most(72),
        TEXT.at_most(24),
        TEXT.at_most(18),
        TEXT.at_most(22),
        NUMBER.at_most(8),
        NUMBER.at_most(8),
        NUMBER.at_most(9),
        NUMBER.at_most(8),
        TEXT.at_most(16),
    ]);
    table.measure(&HEADINGS);
    cells.iter().for_each(|row| table.measure(row));
    table.share(width, Elastic { column: 1, readable: 24 }, &[3, 8, 6, 4, 2]);
    writeln!(out, "{}", table.line(&HEADINGS, BOLD))?;
    for row in &cells {
        writeln!(out, "{}", table.line(row, anstyle::Style::new()))?;
    }
    Ok(())
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
