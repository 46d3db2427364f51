//! The summary: what a reader must know, with the numbers that say so.

use super::View;
use super::figures::{count, percent, plural, size, times};
use backstory_text::document::{Document, Line};

pub(super) fn write(view: &View<'_>, document: &mut Document) {
    let mut bullets = vec![extent(view)];
    bullets.extend(types(view));
    bullets.extend(turns(view));
    bullets.extend(entries_per_message(view));
    bullets.extend(stop_reasons(view));
    bullets.extend(tokens(view));
    bullets.extend(pairs(view));
    bullets.extend(chain(view));
    bullets.extend(faults(view));
    document.bullets(bullets.iter().map(|text| Line::marked(text)).collect());
}

fn extent(view: &View<'_>) -> String {
    let sessions = &view.analysis.sessions;
    let bytes = sessions.iter().map(|row| row.bytes).sum();
    let records: u64 = sessions.iter().map(|row| row.records).sum();
    let versions: Vec<&str> = view
        .all
        .versions
        .keys()
        .filter(|version| version.is_known())
        .map(|version| version.as_str())
        .collect();
    let span = match (versions.first(), versions.last()) {
        (Some(first), Some(last)) if first != last => {
            format!("{} of the client, {first} to {last}", plural(versions.len() as u64, "version"))
        }
        (Some(only), _) => format!("client version {only}"),
        _ => "no client version named".to_owned(),
    };
    format!(
        "**{}** ({}, {}) and {}; {span}.",
        plural(sessions.len() as u64, "session"),
        plural(records, "record"),
        size(bytes),
        plural(view.analysis.agent_files, "subagent file"),
    )
}

fn types(view: &View<'_>) -> Option<String> {
    let kinds = view.all.shapes.kinds();
    let mut records: Vec<(&str, u64)> = kinds
        .iter()
        .filter(|(name, _)| super::entries::is_record(name))
        .map(|(name, node)| (*name, node.count))
        .collect();
    let all: u64 = records.iter().map(|(_, count)| count).sum();
    records.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let top: Vec<String> = records
        .iter()
        .take(3)
        .map(|(name, count)| format!("`{name}` {}", percent(*count, all)))
        .collect();
    let without = without_uuid(view);
    (!records.is_empty()).then(|| {
        format!(
            "**{}** of record, sub-types included; the most frequent are {}. {} of all records have no `uuid` and are not part of the conversation.",
            plural(records.len() as u64, "type"),
            top.join(", "),
            percent(without, all),
        )
    })
}

fn without_uuid(view: &View<'_>) -> u64 {
    let shapes = &view.all.shapes;
    let kinds = shapes.kinds();
    let records = kinds.iter().filter(|(name, _)| super::entries::is_record(name));
    records
        .map(|(_, node)| {
            let with = shapes.children(node).find(|field| &*field.key == "uuid");
            node.count - with.map_or(0, |field| field.count).min(node.count)
        })
        .sum()
}

fn turns(view: &View<'_>) -> Option<String> {
    let all = view.all.get("turns.all");
    let human = view
        .all
        .counts
        .list("turns.kind")
        .iter()
        .find(|(name, _)| *name == "human")
        .map_or(0, |found| found.1);
    (all > 0).then(|| {
        format!(
            "**{}**, {} of them started by a person; {} call tools, {:.1} per turn on average.",
            plural(all, "turn"),
            count(human),
            plural(view.all.get("turns.loops"), "model message%"),
            view.all.get("turns.loops") as f64 / all as f64,
        )
    })
}

fn entries_per_message(view: &View<'_>) -> Option<String> {
    let messages = view.all.get("streaming.messages");
    let entries = view.all.get("streaming.entries");
    let one = view.all.get("streaming.blocks-per-entry.1");
    (messages > 0).then(|| {
        format!(
            "**One entry is one content block** in {} of assistant entries; a model message is {:.1} entries on average, joined by `message.id`, and tool results come between the entries of {} of split messages.",
            percent(one, entries),
            entries as f64 / messages as f64,
            percent(view.all.get("streaming.interleaved"), view.all.get("streaming.split-messages")),
        )
    })
}

fn stop_reasons(view: &View<'_>) -> Option<String> {
    let messages = view.all.get("streaming.messages");
    let nowhere = view.all.get("streaming.stop-reason.nowhere");
    (messages > 0).then(|| {
        format!(
            "**`stop_reason` does not mark the end**: {} of messages have it on no entry, {} on the last only, {} on every entry.",
            percent(nowhere, messages),
            percent(view.all.get("streaming.stop-reason.last-entry-only"), messages),
            percent(view.all.get("streaming.stop-reason.every-entry"), messages),
        )
    })
}

fn tokens(view: &View<'_>) -> Option<String> {
    let naive = view.all.get("streaming.output.sum-over-entries");
    let largest = view.all.get("streaming.output.largest");
    (largest > 0).then(|| {
        format!(
            "**Adding up `usage` over entries is wrong**: output tokens come out {} the true sum ({} instead of {}); {} never got a final count, so even the right sum is a lower bound there.",
            times(naive, largest),
            count(naive),
            count(largest),
            plural(view.all.get("streaming.incomplete"), "message"),
        )
    })
}

fn pairs(view: &View<'_>) -> Option<String> {
    let calls = view.all.get("pairing.calls");
    let one = view.all.get("pairing.one-to-one");
    let orphans: u64 =
        view.all.counts.list("pairing.orphan-call").iter().map(|found| found.1).sum();
    (calls > 0).then(|| {
        format!(
            "**{}**, {} answered exactly once; {} without a result, {} without a call.",
            plural(calls, "tool call"),
            percent(one, calls),
            plural(orphans, "call"),
            plural(view.all.get("pairing.orphan-result"), "result"),
        )
    })
}

fn chain(view: &View<'_>) -> Option<String> {
    let records = view.all.get("chain.records");
    let next = view.all.get("chain.distance.1");
    (records > 0).then(|| {
        format!(
            "**The chain is a tree**: {} of records name the record before them as parent, {} have several children ({} because a prompt was edited), {} name a parent that is not in the file.",
            percent(next, records),
            count(view.all.get("chain.branches")),
            count(view.all.get("chain.branch.prompt-edited")),
            count(view.all.get("chain.parent.missing")),
        )
    })
}

fn faults(view: &View<'_>) -> Option<String> {
    let mut kinds: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for row in &view.analysis.sessions {
        for (id, count) in &row.problems {
            if id.severity() >= backstory_format::Severity::Warning {
                *kinds.entry(id.name()).or_default() += count;
            }
        }
    }
    let list: Vec<String> =
        kinds.iter().map(|(name, found)| format!("`{name}` {}", count(*found))).collect();
    (!list.is_empty())
        .then(|| format!("**Faults**: {}. `backstory check` says what they mean.", list.join(", ")))
}
