//! What an export held, left out and redacted: for people and as `backstory.export/1`.

use crate::error::CliError;
use crate::output::write_report;
use crate::ui;
use backstory_export::{Census, Skipped, StateFigures, Totals};
use backstory_redact::Class;
use backstory_store::Destination;
use backstory_text::figures;
use serde_json::json;

/// Versions that are outside the range.
pub(super) fn warn_of_versions(totals: &Totals) {
    let outside = &totals.figures.states.outside;
    if outside.is_empty() {
        return;
    }
    let versions: Vec<String> =
        outside.iter().map(|(version, count)| format!("{version} ({count})")).collect();
    ui::warn(&format!("messages of versions outside the range: {}", versions.join(", ")));
}

/// One or two lines on standard error.
pub(super) fn say(totals: &Totals) {
    let figures = &totals.figures;
    let mut parts = vec![
        figures::counted(totals.sessions, "session", "sessions"),
        figures::counted(figures.steps, "step", "steps"),
        figures::bytes(totals.bytes),
    ];
    for class in Class::ALL {
        let places = totals.redacted.places(class);
        if places > 0 {
            parts.push(format!("{} {} taken out", figures::grouped(places), class.name()));
        }
    }
    ui::say(&format!("exported: {}", parts.join(", ")));
    if figures.states.messages > 0 {
        ui::say(&states_line(&figures.states));
        options_for(&figures.states).iter().for_each(|option| ui::hint(option));
    }
    if let Some(census) = &figures.census {
        ui::say(&records_line(census));
    }
    ui::say_left_out(&[
        (totals.empty, "empty session", "empty sessions"),
        (figures.abandoned_turns, "turn of a left branch", "turns of left branches"),
        (figures.housekeeping, "run of the client itself", "runs of the client itself"),
    ]);
}

/// Options that bring in messages without a state.
fn options_for(states: &StateFigures) -> Vec<String> {
    let option = |reason: Skipped| match reason {
        Skipped::OffChain => Some("--chain story takes messages from before a compaction"),
        Skipped::Synthetic => Some("--include-synthetic takes messages of the client"),
        Skipped::Subagent => Some("--subagents separate (or inline) takes messages of subagents"),
        Skipped::ShortAction => Some("--min-action-chars 0 takes short actions"),
        Skipped::Version => Some("--versions and --on-unknown choose other versions"),
        _ => None,
    };
    let skipped = Skipped::ALL.into_iter().filter(|reason| states.skipped(*reason) > 0);
    skipped.filter_map(option).map(str::to_owned).collect()
}

fn states_line(states: &StateFigures) -> String {
    let mut line = format!(
        "states: {} of {} messages of models in {}",
        figures::grouped(states.states),
        figures::grouped(states.messages),
        figures::counted(states.rows, "line", "lines"),
    );
    let skipped: Vec<String> = Skipped::ALL
        .into_iter()
        .filter(|reason| states.skipped(*reason) > 0)
        .map(|reason| format!("{} {}", figures::grouped(states.skipped(reason)), reason.words()))
        .collect();
    if !skipped.is_empty() {
        line.push_str(&format!("; none for {}", skipped.join(", ")));
    }
    for (count, what) in [
        (states.cut_histories, "histories cut"),
        (states.after_error, "after a failed call"),
        (states.left_out_words, "calls without the words before them"),
    ] {
        if count > 0 {
            line.push_str(&format!("; {} {what}", figures::grouped(count)));
        }
    }
    line
}

fn records_line(census: &Census) -> String {
    let skipped: Vec<String> = census
        .skipped
        .iter()
        .map(|(reason, count)| format!("{} {}", figures::grouped(*count), reason.replace('_', " ")))
        .collect();
    format!(
        "records: {} on {} lines ({} blank, {} bad): {} in answers, {} in histories, skipped {}",
        figures::grouped(census.records),
        figures::grouped(census.lines),
        figures::grouped(census.blank_lines),
        figures::grouped(census.bad_lines),
        figures::grouped(census.answers),
        figures::grouped(census.history),
        if skipped.is_empty() { "none".to_owned() } else { skipped.join(", ") },
    )
}

fn input(census: &Census) -> serde_json::Value {
    json!({
        "files": census.files,
        "bytes": census.bytes,
        "lines": census.lines,
        "blank": census.blank_lines,
        "bad_json": census.bad_lines,
        "non_object": census.non_object,
        "records": census.records,
        "records_by_type": census.records_by_type,
        "unknown_types": census.unknown_types,
        "answers": census.answers,
        "history": census.history,
        "skipped": census.skipped,
        "turns": census.turns,
        "orphans_use": census.orphan_calls,
        "orphans_result": census.orphan_results,
        "dup_uuid": census.duplicate_uuids,
        "dangling_parent": census.missing_parents,
        "forks": census.forks,
        "compact_boundaries": census.compactions,
        "tokens": {
            "in": census.tokens.input,
            "out": census.tokens.output,
            "cache_r": census.tokens.cache_read,
            "cache_w": census.tokens.cache_write,
        },
    })
}

pub(super) fn write_stats(
    path: &Destination,
    totals: &Totals,
    tokenizer: &str,
    failed: usize,
) -> Result<(), CliError> {
    let figures = &totals.figures;
    let states = &figures.states;
    let redacted: Vec<_> = totals
        .redacted
        .rules()
        .map(|(class, rule, tally)| {
            json!({
                "class": class.name(), "rule": rule, "places": tally.places, "values": tally.values,
            })
        })
        .collect();
    let report = json!({
        "schema": "backstory.export/1",
        "sessions": totals.sessions,
        "bytes": totals.bytes,
        "steps": figures.steps,
        "calls": figures.calls,
        "observations": figures.observations,
        "edits": figures.edits,
        "attributed_lines": figures.attributed_lines,
        "subagents": figures.subagents,
        "left_out": {
            "empty_sessions": totals.empty,
            "abandoned_turns": figures.abandoned_turns,
            "housekeeping_agents": figures.housekeeping,
            "unreadable": failed,
        },
        "states": {
            "messages": states.messages,
            "states": states.states,
            "extra_states": states.extra_states,
            "short_calls": states.short_calls,
            "rows": states.rows,
            "off_chain": states.skipped(Skipped::OffChain),
            "synthetic": states.skipped(Skipped::Synthetic),
            "subagent": states.skipped(Skipped::Subagent),
            "empty_action": states.skipped(Skipped::EmptyAction),
            "short_action": states.skipped(Skipped::ShortAction),
            "without_uuid": states.skipped(Skipped::WithoutUuid),
            "too_long": states.skipped(Skipped::TooLong),
            "version": states.skipped(Skipped::Version),
            "no_prompt": states.skipped(Skipped::NoPrompt),
            "client_run": states.skipped(Skipped::ClientRun),
            "cut_histories": states.cut_histories,
            "after_error": states.after_error,
            "left_out_words": states.left_out_words,
            "outside_versions": states.outside,
            "versions": states.versions,
            "models": states.models,
            "tokenizer": tokenizer,
        },
        "input": figures.census.as_ref().map(input),
        "redacted": redacted,
    });
    write_report(path, &report)
}
