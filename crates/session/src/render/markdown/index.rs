//! The index of a folder of sessions.

use crate::render::view::View;
use crate::render::{IndexRow, by_project};
use backstory_text::escape::markdown_line;
use backstory_text::figures::{compact, counted};
use std::io::{self, Write};

/// Writes the index of sessions whose documents lie next to it.
pub fn write_index(rows: &[IndexRow], view: &View, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "# {}\n", counted(rows.len() as u64, "session", "sessions"))?;
    for (project, rows) in by_project(rows) {
        let project = if project.is_empty() { "(no folder)" } else { project };
        writeln!(out, "## {}\n", markdown_line(project))?;
        for row in rows {
            let title = markdown_line(&row.title);
            let ended = row.ended.map(|time| view.short_time(time)).unwrap_or_default();
            let turns = counted(row.turns, "turn", "turns");
            let calls = counted(row.calls, "tool call", "tool calls");
            let tokens = compact(row.tokens);
            writeln!(
                out,
                "- [{title}]({}) · {ended} · {turns}, {calls}, {tokens} tokens",
                row.file
            )?;
        }
        writeln!(out)?;
    }
    out.flush()
}
