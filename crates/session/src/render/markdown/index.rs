//! The index of a folder of sessions: sums, and every session, the newest first.

use crate::render::IndexRow;
use crate::render::index_row::{Totals, heading_of, newest_first, project_name, projects};
use crate::render::view::View;
use backstory_text::escape::{markdown_inline, markdown_line};
use backstory_text::figures::{compact, grouped};
use std::io::{self, Write};

/// Writes the index of sessions whose documents are next to it.
pub fn write_index(rows: &[IndexRow], view: &View, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "# {}\n", heading_of(rows))?;
    let projects = projects(rows);
    for (label, value) in Totals::of(rows).facts(projects.len(), view) {
        writeln!(out, "- **{label}:** {}", markdown_line(&value))?;
    }
    if projects.len() > 1 {
        writeln!(out, "\n## Projects\n\n| Project | Sessions | Turns | Tokens | Cost |")?;
        writeln!(out, "|---|---:|---:|---:|---:|")?;
        for (project, totals) in &projects {
            writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                markdown_inline(project_name(project)),
                grouped(totals.sessions),
                grouped(totals.turns),
                compact(totals.tokens),
                totals.cost()
            )?;
        }
    }
    writeln!(
        out,
        "\n## Sessions\n\n| Session | Project | Last | Duration | Turns | Calls | Tokens | Cost |"
    )?;
    writeln!(out, "|---|---|---|---:|---:|---:|---:|---:|")?;
    for row in newest_first(rows) {
        writeln!(
            out,
            "| [{}]({}) | {} | {} | {} | {} | {} | {} | {} |",
            markdown_inline(row.title.trim()),
            row.file,
            markdown_inline(project_name(&row.project)),
            row.ended.map(|time| view.minute(time)).unwrap_or_default(),
            row.lasted(),
            grouped(row.turns),
            grouped(row.calls),
            compact(row.tokens),
            row.cost()
        )?;
    }
    out.flush()
}
