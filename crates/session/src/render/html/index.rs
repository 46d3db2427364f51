//! The index of a folder of sessions.

use super::page;
use crate::render::view::View;
use crate::render::{IndexRow, by_project};
use backstory_text::escape::html;
use backstory_text::figures::{compact, counted};
use std::io::{self, Write};

/// Writes the index of sessions whose pages lie next to it.
pub fn write_index(rows: &[IndexRow], view: &View, mut out: impl Write) -> io::Result<()> {
    let title = counted(rows.len() as u64, "session", "sessions");
    page::begin(&title, &mut out)?;
    writeln!(out, "<header><h1>{title}</h1></header>\n<main id=\"content\">")?;
    for (project, rows) in by_project(rows) {
        let project = if project.is_empty() { "(no folder)" } else { project };
        writeln!(out, "<section>\n<h2>{}</h2>\n<table>", html(project))?;
        writeln!(
            out,
            "<tr><th>Session</th><th>Last</th><th>Turns</th><th>Calls</th><th>Tokens</th></tr>"
        )?;
        for row in rows {
            writeln!(
                out,
                "<tr><td><a href=\"{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                html(&row.file),
                html(&row.title),
                row.ended.map(|time| view.short_time(time)).unwrap_or_default(),
                row.turns,
                row.calls,
                compact(row.tokens),
            )?;
        }
        writeln!(out, "</table>\n</section>")?;
    }
    writeln!(out, "</main>")?;
    page::end(&mut out)?;
    out.flush()
}
