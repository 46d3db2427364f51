//! What an export held, left out and redacted: for people and as `backstory.export/1`.

use crate::error::CliError;
use crate::figures;
use crate::ui;
use backstory_session::export::{Document, Figures};
use backstory_session::redact::{Class, Report};
use backstory_session::store::{Access, write_file};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;

/// Sums over all sessions of an export.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) sessions: u64,
    /// Sessions in which nothing was said, for which nothing is written.
    pub(super) empty: u64,
    bytes: u64,
    figures: Figures,
    redacted: Report,
}

impl Totals {
    pub(super) fn add(&mut self, document: &Document) {
        self.sessions += 1;
        self.bytes += document.bytes();
        self.figures.add(&document.figures);
        self.redacted.add(&document.redacted);
    }

    /// One or two lines on standard error.
    pub(super) fn say(&self) {
        let mut parts = vec![
            figures::counted(self.sessions, "session", "sessions"),
            figures::counted(self.figures.steps, "step", "steps"),
            figures::bytes(self.bytes),
        ];
        for class in Class::ALL {
            let places = self.redacted.places(class);
            if places > 0 {
                parts.push(format!("{} {} taken out", figures::grouped(places), class.name()));
            }
        }
        ui::say(&format!("exported: {}", parts.join(", ")));
        let states = &self.figures.states;
        if states.messages > 0 {
            ui::say(&format!(
                "states: {} of {} messages; none for {} off the chain, {} of subagents, {} of the client, {} empty, {} too short, {} without id",
                figures::grouped(states.states),
                figures::grouped(states.messages),
                states.off_chain,
                states.subagent,
                states.synthetic,
                states.empty_action,
                states.short_action,
                states.without_uuid,
            ));
        }
        let left = [
            (self.empty, "empty session", "empty sessions"),
            (self.figures.abandoned_turns, "turn of a left branch", "turns of left branches"),
            (self.figures.housekeeping, "run of the client itself", "runs of the client itself"),
        ];
        let left: Vec<String> = left
            .iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| figures::counted(*count, one, many))
            .collect();
        if !left.is_empty() {
            ui::say(&format!("left out: {}", left.join(", ")));
        }
    }
}

pub(super) fn write_stats(path: &Path, totals: &Totals, failed: usize) -> Result<(), CliError> {
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
            "off_chain": states.off_chain,
            "synthetic": states.synthetic,
            "subagent": states.subagent,
            "empty_action": states.empty_action,
            "short_action": states.short_action,
            "without_uuid": states.without_uuid,
            "cut_histories": states.cut_histories,
            "after_error": states.after_error,
        },
        "redacted": redacted,
    });
    write_file::<CliError>(path, Access::Usual, |out| {
        serde_json::to_writer_pretty(&mut *out, &report)?;
        out.write_all(b"\n")?;
        Ok(())
    })?;
    Ok(())
}
