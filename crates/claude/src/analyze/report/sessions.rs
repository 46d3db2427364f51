//! The inventory.

use super::View;
use super::figures::{cell, count, plural};
use crate::analyze::SessionRow;
use backstory_format::ProblemId;
use backstory_text::document::{Column, Document, Line};

/// Sessions listed in the document; the rest is only counted.
const MAX_LISTED: usize = 200;
/// Types named in a row.
const MAX_TYPES: usize = 6;

pub(super) fn write(view: &View<'_>, document: &mut Document) {
    let columns = [
        Column::text("session"),
        Column::number("lines"),
        Column::text("entry types"),
        Column::number("turns"),
        Column::number("tool loops"),
        Column::number("tool calls"),
        Column::text("notable"),
    ];
    let all = view.analysis.sessions.len();
    let table = view.table(&columns, |group| {
        let listed = group.sessions.iter().take(MAX_LISTED.div_ceil(view.split().len().max(1)));
        listed.map(|row| cells(row)).collect()
    });
    let shown = table.rows.len();
    document.table(table, "No sessions.");
    if shown < all {
        document.paragraph(&format!(
            "{} more are counted below but not listed; `--format json` lists all.",
            count((all - shown) as u64)
        ));
    }
}

fn cells(row: &SessionRow) -> Vec<Line> {
    vec![
        Line::code(crate::analyze::clean_name(&row.id)),
        cell(row.lines),
        Line::from(types(row)),
        cell(row.turns),
        cell(row.loops),
        cell(row.calls),
        Line::from(notable(row).join("; ")),
    ]
}

fn types(row: &SessionRow) -> String {
    let mut types: Vec<(&str, u64)> =
        row.records_by_type.iter().map(|(name, count)| (&**name, *count)).collect();
    types.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut text: Vec<String> = types
        .iter()
        .take(MAX_TYPES)
        .map(|(name, found)| format!("{} {}", crate::analyze::clean_name(name), count(*found)))
        .collect();
    if types.len() > MAX_TYPES {
        text.push(format!("{} more types", types.len() - MAX_TYPES));
    }
    text.join(", ")
}

/// What sets a session apart.
pub(super) fn notable(row: &SessionRow) -> Vec<String> {
    let problem = |id| row.problems.get(&id).copied().unwrap_or(0);
    let torn = problem(ProblemId::TornLine)
        + problem(ProblemId::GluedRecords)
        + problem(ProblemId::InvalidJson);
    let mut notable = Vec::new();
    let mut note = |number: u64, word: &str| {
        if number > 0 {
            notable.push(plural(number, word));
        }
    };
    note(row.compactions, "compaction");
    note(row.left_branches, "left branch");
    note(row.subagents, "subagent");
    note(torn, "damaged line");
    note(problem(ProblemId::OrphanCall), "call% without result");
    note(problem(ProblemId::MissingParent), "lost parent");
    note(problem(ProblemId::ParentCycle), "cycle");
    note(problem(ProblemId::DuplicateUuid), "repeated uuid");
    if row.versions.len() > 1 {
        note(row.versions.len() as u64, "version");
    }
    if problem(ProblemId::TornTail) > 0 {
        notable.push("incomplete last line".to_owned());
    }
    if row.forked {
        notable.push("fork".to_owned());
    }
    if row.continues {
        notable.push("continues another session".to_owned());
    }
    notable
}
