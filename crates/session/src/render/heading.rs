//! What is at the head of a document: facts about the session as a whole.

use super::view::View;
use crate::stats::Cost;
use backstory_format::Severity;
use backstory_model::{CompactionKind, Money, Session, UsageTotal};
use backstory_text::figures::{compact, counted, duration};
use backstory_text::title::short;
use std::sync::Arc;

/// What to call a session.
pub fn title(session: &Session) -> String {
    let title = session.title.as_ref().map(|title| title.text.trim()).unwrap_or_default();
    match title.split(['\n', '\r']).map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => short(line, 160),
        None => format!("{} {}", session.kind.name(), session.id),
    }
}

/// Labels and values, in the order in which they are shown.
pub(super) fn facts(session: &Session, view: &View) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut add = |label: &str, value: String| {
        if !value.is_empty() {
            facts.push((label.to_owned(), value));
        }
    };
    add("Session", session.id.clone());
    for (label, value) in &view.facts {
        add(label, value.clone());
    }
    add("Agent", join(session.agent.name(), &session.versions));
    add("Models", list(&session.models));
    let times = [session.started, session.ended].map(|time| time.map(|time| view.time(time)));
    if let [Some(started), Some(ended)] = times {
        let lasted = session.duration_ms().map(|ms| format!(" ({})", duration(ms)));
        add("Time", format!("{started} to {ended}{}", lasted.unwrap_or_default()));
    }
    add("Worktree", list(&session.cwds));
    add("Branch", list(&session.git_branches));
    add("Tokens", tokens(session));
    add("Cost", cost(session, view));
    add("Work", work(session));
    add("Compactions", compactions(session));
    let fork = session.forked_from.as_ref().map(|fork| fork.session.to_string());
    add("Forked from", fork.unwrap_or_default());
    add("Continues", session.continues.join(", "));
    let problems = session.problems.at_least(Severity::Warning);
    if problems > 0 {
        add("Problems", counted(problems, "fault in the file", "faults in the file"));
    }
    facts
}

fn join(name: &str, versions: &[Arc<str>]) -> String {
    if versions.is_empty() { name.to_owned() } else { format!("{name} {}", list(versions)) }
}

fn list(values: &[Arc<str>]) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<&str> = values.iter().take(SHOWN).map(AsRef::as_ref).collect();
    match values.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{}, {more} more", shown.join(", ")),
    }
}

fn tokens(session: &Session) -> String {
    let mut all = UsageTotal::default();
    for one in session.walk() {
        all.add(&one.usage);
    }
    if all.messages == 0 {
        return String::new();
    }
    let agents = if session.subagents.is_empty() { "" } else { ", subagents included" };
    format!("{}{agents}", usage(&all))
}

/// What the agent itself counted, else what the tokens cost at list prices.
fn cost(session: &Session, view: &View) -> String {
    if let Some(money) = session.reported_cost.and_then(Money::from_dollars) {
        let cost = Cost { money, ..Cost::default() };
        return format!("{}, as {} counted it", cost.text(), session.agent.name());
    }
    let Some(prices) = view.prices.as_deref() else { return String::new() };
    let all = session.walk();
    let mut cost = Cost::default();
    for one in &all {
        cost.add(Cost::of_messages(one.messages(), prices));
    }
    let incomplete = all.iter().any(|one| one.usage.incomplete);
    let text = money(cost, incomplete);
    text.map_or_else(String::new, |text| format!("{text}, list prices of {}", prices.date))
}

/// `$1.23`, `at least $1.23`; nothing where no message has a price.
pub(super) fn money(cost: Cost, incomplete: bool) -> Option<String> {
    let least = if cost.unpriced > 0 || incomplete { "at least " } else { "" };
    (cost.priced > 0).then(|| format!("{least}{}", cost.text()))
}

/// `1.2M read (97 % from cache), 4.8k written`
pub(super) fn usage(usage: &UsageTotal) -> String {
    let read = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let share = if read == 0 { 0.0 } else { usage.cache_read as f64 / read as f64 * 100.0 };
    let cached =
        if usage.cache_read == 0 { String::new() } else { format!(" ({share:.0}% from cache)") };
    let least = if usage.incomplete { "at least " } else { "" };
    format!("{} read{cached}, {least}{} written", compact(read), compact(usage.output))
}

fn work(session: &Session) -> String {
    let counts = &session.counts;
    let mut words = vec![
        counted(counts.turns, "turn", "turns"),
        counted(counts.calls, "tool call", "tool calls"),
    ];
    if counts.errors > 0 {
        words.push(format!("{} failed", counts.errors));
    }
    let agents = session.walk().iter().skip(1).filter(|one| !one.kind.is_housekeeping()).count();
    if agents > 0 {
        words.push(counted(agents as u64, "subagent", "subagents"));
    }
    words.join(", ")
}

fn compactions(session: &Session) -> String {
    let full = session.compactions.iter().filter(|one| one.kind == CompactionKind::Full).count();
    if full == 0 { String::new() } else { full.to_string() }
}
