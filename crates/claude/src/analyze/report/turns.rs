//! Turn boundaries: the rules, and how often each decided.

use super::View;
use super::entries::count_table;
use super::figures::{cell, count, percent};
use backstory_text::document::{Column, Document, Line, Table};

const RULES: &str = "\
for each record of the story, in order:
  if it is not `user`: it belongs to the turn that is open
  has a tool_result block              -> no boundary        (tool-result)
  isCompactSummary                     -> turn `compact`     (compact-summary)
  isMeta                               -> no boundary        (meta)
  no text, image or document           -> no boundary        (empty)
  first words of its text, editor context left out:
    <command-name>, <command-message>  -> turn `command`, if the model answers (command)
    <local-command-stdout|stderr>      -> no boundary        (command-output)
    <bash-input>                       -> turn `bash`        (bash-input)
    <bash-stdout|stderr>               -> no boundary        (bash-output)
    [Request interrupted by user…]     -> closes the turn    (interrupted)
    <task-notification>                -> turn `task-notification`
    <teammate-message                  -> turn `teammate`
    <system-reminder>, hooks, ticks    -> no boundary        (harness-markup)
    anything else                      -> turn `human` or `queued` (prompt)
a turn ends where the next one starts; stop_reason `end_turn` is a hint only
prompts typed while the model works are queue-operations or attachments: part of the open turn";

pub(super) fn write(view: &View<'_>, document: &mut Document) {
    document.code("text", RULES);
    document.heading(3, "Evidence: which rule decided");
    document.paragraph("`user` records by the rule that applied, subagents included:");
    document.table(count_table(view, "rule", "turns.rule"), "No user records.");
    document.heading(3, "Turns");
    let all = view.all.get("turns.all");
    document.paragraph(&format!(
        "{} turns, {} model messages in them, {} of which call tools, {} calls. Section 2 has the turns and loops of each session.",
        count(all),
        count(view.all.get("turns.steps")),
        count(view.all.get("turns.loops")),
        count(view.all.get("turns.calls")),
    ));
    document.table(count_table(view, "started by", "turns.kind"), "No turns.");
    document.table(count_table(view, "ended", "turns.outcome"), "");
    document.heading(3, "The last message of a completed turn");
    document.paragraph("`stop_reason` of the last model message of turns that were answered:");
    document.table(count_table(view, "stop_reason", "turns.completed-with"), "No completed turns.");
    document.heading(3, "Prompts typed while the model worked");
    document.table(count_table(view, "found in", "turns.mid-turn-prompts"), "None.");
    document.heading(3, "Ambiguous records");
    ambiguous(view, document);
}

fn ambiguous(view: &View<'_>, document: &mut Document) {
    let analysis = view.analysis;
    let mut table = Table {
        columns: vec![Column::text("file"), Column::number("line"), Column::text("why")],
        rows: Vec::new(),
    };
    for found in &analysis.ambiguous {
        let name = analysis.files.get(&found.place.file).and_then(|path| path.file_name());
        let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        table.rows.push(vec![
            Line::code(crate::analyze::clean_name(&name)),
            cell(u64::from(found.place.line.get())),
            Line::from(found.why),
        ]);
    }
    let listed = table.rows.len() as u64;
    document.table(table, "None.");
    if listed < analysis.ambiguous_count {
        let all = analysis.ambiguous_count;
        document.paragraph(&format!(
            "{} of {} listed ({}).",
            count(listed),
            count(all),
            percent(listed, all)
        ));
    }
}
