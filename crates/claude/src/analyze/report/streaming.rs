//! Entries that share a message id, and what their token counts mean.

use super::View;
use super::entries::count_table;
use super::figures::{cell, percent, times};
use crate::analyze::Counts;
use backstory_text::document::{Column, Document, Line, Table};

const RULES: &str = "\
group assistant records by message.id (a record without one is a group of its own)
content of the message = blocks of all its records, in file order; they are parts, not versions
do not close a group when a user record appears: results arrive between its records
usage of the message   = that of the record with the largest output_tokens
complete               = some record of the group has a stop_reason; else the count is a lower bound
never add up usage over records; leave out model `<synthetic>`
count a message once over all files: forks, resumes and compactions copy it";

pub(super) fn write(view: &View<'_>, document: &mut Document) {
    document.code("text", RULES);
    document.heading(3, "Entries of a message");
    document.table(
        count_table(view, "entries per message", "streaming.entries-per-message"),
        "No messages.",
    );
    document
        .table(count_table(view, "blocks per entry", "streaming.blocks-per-entry"), "No entries.");
    document.heading(3, "Which entry is the final one, by version");
    document.paragraph("Share of messages with a `stop_reason` on no entry, on the last only, on every entry; share of split messages whose `usage` is the same on every entry or largest on the last. Sessions and subagents apart, since they can differ.");
    document.table(regimes(view), "No messages.");
    document.heading(3, "What adding up gives");
    document.paragraph("Output tokens, counted once per message by the rule above, then the sums over all entries and over first entries as multiples of that figure.");
    document.table(sums(view), "No usage.");
}

fn regimes(view: &View<'_>) -> Table {
    let columns = [
        Column::text("version"),
        Column::text("in"),
        Column::number("messages"),
        Column::number("stop nowhere"),
        Column::number("stop on last"),
        Column::number("stop on every"),
        Column::number("split"),
        Column::number("usage same"),
        Column::number("usage last"),
        Column::number("interleaved"),
    ];
    view.table(&columns, |group| {
        let mut rows = Vec::new();
        for (version, part) in &group.versions {
            for (scope, counts) in [("sessions", &part.main), ("subagents", &part.agents)] {
                let messages = counts.get("streaming.messages");
                if messages == 0 {
                    continue;
                }
                let split = counts.get("streaming.split-messages");
                let of = |name: &str, whole: u64| Line::from(percent(counts.get(name), whole));
                rows.push(vec![
                    Line::code(version.as_str()),
                    Line::from(scope),
                    cell(messages),
                    of("streaming.stop-reason.nowhere", messages),
                    of("streaming.stop-reason.last-entry-only", messages),
                    of("streaming.stop-reason.every-entry", messages),
                    cell(split),
                    of("streaming.usage.same-on-every-entry", split),
                    of("streaming.usage.last-is-largest", split),
                    of("streaming.interleaved", split),
                ]);
            }
        }
        rows
    })
}

fn sums(view: &View<'_>) -> Table {
    let columns = [
        Column::text("version"),
        Column::number("output tokens"),
        Column::number("sum over entries"),
        Column::number("first entries"),
        Column::number("incomplete messages"),
    ];
    let row = |name: &str, counts: &Counts| {
        let right = counts.get("streaming.output.largest");
        let messages = counts.get("streaming.messages");
        (right > 0).then(|| {
            vec![
                Line::code(name),
                cell(right),
                Line::from(times(counts.get("streaming.output.sum-over-entries"), right)),
                Line::from(times(counts.get("streaming.output.first-entry"), right)),
                Line::from(percent(counts.get("streaming.incomplete"), messages)),
            ]
        })
    };
    view.table(&columns, |group| {
        let versions = group.versions.iter();
        let each = versions.filter_map(|(version, part)| row(version.as_str(), &part.counts()));
        each.chain(row("all", &group.counts).filter(|_| group.versions.len() > 1)).collect()
    })
}
