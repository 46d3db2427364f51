//! The index of a folder of sessions: sums, every session with the newest first, and projects.

use super::page;
use crate::render::IndexRow;
use crate::render::index_row::{Totals, heading_of, newest_first, project_name, projects};
use crate::render::view::View;
use backstory_text::escape::html;
use backstory_text::figures::{compact, grouped};
use std::io::{self, Write};

/// Writes the index of sessions whose pages are next to it.
pub fn write_index(rows: &[IndexRow], view: &View, mut out: impl Write) -> io::Result<()> {
    let title = heading_of(rows);
    let projects = projects(rows);
    page::begin(&title, &mut out)?;
    writeln!(out, "<header><h1>{title}</h1>\n<dl class=\"totals\">")?;
    for (label, value) in Totals::of(rows).facts(projects.len(), view) {
        writeln!(out, "<div><dt>{label}</dt><dd>{}</dd></div>", html(&value))?;
    }
    writeln!(out, "</dl></header>\n<main id=\"content\">")?;
    writeln!(
        out,
        "<section>\n<h2>Sessions</h2>\n<table class=\"cards\">\n<tr><th>Session</th><th>Last</th><th class=\"n\">Duration</th><th class=\"n\">Turns</th><th class=\"n\">Calls</th><th class=\"n\">Failed</th><th class=\"n\">Tokens</th><th class=\"n\">Cost</th></tr>"
    )?;
    for row in newest_first(rows) {
        session(row, view, &mut out)?;
    }
    writeln!(out, "</table>\n</section>")?;
    if projects.len() > 1 {
        writeln!(
            out,
            "<section>\n<h2>Projects</h2>\n<table class=\"cards\">\n<tr><th>Project</th><th>Last</th><th class=\"n\">Sessions</th><th class=\"n\">Turns</th><th class=\"n\">Tokens</th><th class=\"n\">Cost</th></tr>"
        )?;
        for (project, totals) in &projects {
            let last = totals.last.map(|time| view.minute(time)).unwrap_or_default();
            writeln!(out, "<tr><td>{}</td>", html(project_name(project)))?;
            cell(&mut out, "Last", "t", &last)?;
            cell(&mut out, "Sessions", "n", &grouped(totals.sessions))?;
            cell(&mut out, "Turns", "n", &grouped(totals.turns))?;
            cell(&mut out, "Tokens", "n", &compact(totals.tokens))?;
            cell(&mut out, "Cost", "n", &totals.cost())?;
            writeln!(out, "</tr>")?;
        }
        writeln!(out, "</table>\n</section>")?;
    }
    writeln!(out, "</main>")?;
    page::end(&mut out)?;
    out.flush()
}

fn session(row: &IndexRow, view: &View, out: &mut impl Write) -> io::Result<()> {
    let models = row.models.join(", ");
    let about = [project_name(&row.project), &row.agent, &models];
    let about: Vec<&str> = about.into_iter().filter(|part| !part.is_empty()).collect();
    writeln!(
        out,
        "<tr><td><a href=\"{}\">{}</a><p class=\"state\">{}</p></td>",
        html(&row.file),
        html(&row.title),
        html(&about.join(" · ")),
    )?;
    let last = row.ended.map(|time| view.minute(time)).unwrap_or_default();
    cell(out, "Last", "t", &last)?;
    cell(out, "Duration", "n", &row.lasted())?;
    cell(out, "Turns", "n", &grouped(row.turns))?;
    cell(out, "Calls", "n", &grouped(row.calls))?;
    let failed = if row.errors > 0 { grouped(row.errors) } else { String::new() };
    cell(out, "Failed", "n", &failed)?;
    cell(out, "Tokens", "n", &compact(row.tokens))?;
    cell(out, "Cost", "n", &row.cost())?;
    writeln!(out, "</tr>")
}

/// A figure; its label is shown where the table is laid out as cards.
fn cell(out: &mut impl Write, label: &str, class: &str, value: &str) -> io::Result<()> {
    let class = if value.is_empty() { format!("{class} none") } else { class.to_owned() };
    write!(out, "<td class=\"{class}\" data-label=\"{label}\">{}</td>", html(value))
}
