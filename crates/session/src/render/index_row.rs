//! What an index says of each session, and of all together.

use super::View;
use super::heading;
use crate::stats::Cost;
use backstory_model::Session;
use backstory_text::figures::{compact, counted, duration, grouped};
use backstory_text::title::short;
use hashbrown::HashMap;
use jiff::Timestamp;

/// Characters of a title in an index.
const LONGEST_TITLE: usize = 110;

/// A line of an index of sessions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct IndexRow {
    /// Name of the file next to the index.
    pub file: String,
    /// The session's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its project.
    pub project: String,
    /// Its first time.
    pub started: Option<Timestamp>,
    /// Its last time.
    pub ended: Option<Timestamp>,
    /// Turns.
    pub turns: u64,
    /// Tool calls.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Tokens, subagents included.
    pub tokens: u64,
    /// Models that answered.
    pub models: Vec<String>,
    /// The agent's name.
    #[serde(default)]
    pub agent: String,
    /// From the first record to the last.
    #[serde(default)]
    pub duration_ms: Option<u64>,
    /// Dollars at list prices, or as the agent counted them.
    #[serde(default)]
    pub dollars: Option<f64>,
    /// It cost more, by an amount that is unknown.
    #[serde(default)]
    pub at_least: bool,
}

impl IndexRow {
    /// The line of a session that was written to `file`.
    pub fn of(session: &Session, file: &str, view: &View) -> IndexRow {
        let project = session.cwds.first().map(ToString::to_string);
        let all = session.walk();
        let mut cost = Cost::default();
        if let Some(prices) = view.prices.as_deref() {
            all.iter().for_each(|one| cost.add(Cost::of_messages(one.messages(), prices)));
        }
        let counted = (cost.priced > 0).then(|| cost.dollars());
        let incomplete = cost.unpriced > 0 || all.iter().any(|one| one.usage.incomplete);
        IndexRow {
            file: file.to_owned(),
            id: session.id.clone(),
            title: short(&heading::title(session), LONGEST_TITLE),
            project: project.or_else(|| session.project_key.clone()).unwrap_or_default(),
            started: session.started,
            ended: session.ended,
            turns: session.counts.turns,
            calls: session.counts.calls,
            errors: session.counts.errors,
            tokens: all.iter().map(|one| one.usage.total()).fold(0, u64::saturating_add),
            models: session.models.iter().map(ToString::to_string).collect(),
            agent: session.agent.name().to_owned(),
            duration_ms: session.duration_ms(),
            dollars: session.reported_cost.or(counted),
            at_least: session.reported_cost.is_none() && incomplete,
        }
    }

    pub(super) fn cost(&self) -> String {
        money(self.dollars, self.at_least)
    }

    pub(super) fn lasted(&self) -> String {
        self.duration_ms.map(duration).unwrap_or_default()
    }
}

/// `$1.20`, `≥ $1.20`; nothing where the cost is unknown.
fn money(dollars: Option<f64>, at_least: bool) -> String {
    let Some(dollars) = dollars else { return String::new() };
    let least = if at_least { "≥ " } else { "" };
    if dollars > 0.0 && dollars < 0.005 && !at_least {
        return "< $0.01".to_owned();
    }
    let cents = (dollars * 100.0).round() as u64;
    format!("{least}${}.{:02}", grouped(cents / 100), cents % 100)
}

/// Rows, the newest first.
pub(super) fn newest_first(rows: &[IndexRow]) -> Vec<&IndexRow> {
    let mut sorted: Vec<&IndexRow> = rows.iter().collect();
    sorted.sort_by_key(|row| (std::cmp::Reverse(row.ended), row.file.as_str()));
    sorted
}

/// Sums of some rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Totals {
    pub(super) sessions: u64,
    pub(super) turns: u64,
    pub(super) calls: u64,
    pub(super) tokens: u64,
    pub(super) last: Option<Timestamp>,
    milliseconds: u64,
    dollars: Option<f64>,
    at_least: bool,
}

impl Totals {
    pub(super) fn of<'r>(rows: impl IntoIterator<Item = &'r IndexRow>) -> Totals {
        let mut totals = Totals::default();
        rows.into_iter().for_each(|row| totals.add(row));
        totals
    }

    fn add(&mut self, row: &IndexRow) {
        self.sessions += 1;
        self.turns = self.turns.saturating_add(row.turns);
        self.calls = self.calls.saturating_add(row.calls);
        self.tokens = self.tokens.saturating_add(row.tokens);
        self.milliseconds = self.milliseconds.saturating_add(row.duration_ms.unwrap_or(0));
        self.last = self.last.max(row.ended);
        self.at_least |= row.at_least || row.dollars.is_none() && row.tokens > 0;
        if let Some(dollars) = row.dollars {
            self.dollars = Some(self.dollars.unwrap_or(0.0) + dollars);
        }
    }

    pub(super) fn cost(&self) -> String {
        money(self.dollars, self.at_least)
    }

    /// Labels and values for the head of an index.
    pub(super) fn facts(&self, projects: usize, view: &View) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("Projects", grouped(projects as u64)),
            ("Turns", grouped(self.turns)),
            ("Tool calls", grouped(self.calls)),
            ("Tokens", compact(self.tokens)),
            ("Cost", self.cost()),
            ("Duration", duration(self.milliseconds)),
            ("Last", self.last.map(|time| view.minute(time)).unwrap_or_default()),
        ];
        facts.retain(|(_, value)| !value.is_empty());
        facts
    }
}

/// Projects with their sums, the one with the newest session first.
pub(super) fn projects(rows: &[IndexRow]) -> Vec<(&str, Totals)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut projects: Vec<(&str, Totals)> = Vec::new();
    for row in newest_first(rows) {
        let at = *places.entry(&row.project).or_insert_with(|| {
            projects.push((&row.project, Totals::default()));
            projects.len() - 1
        });
        if let Some((_, totals)) = projects.get_mut(at) {
            totals.add(row);
        }
    }
    projects
}

/// What a project is called: `(no folder)` where a session has none.
pub(super) fn project_name(project: &str) -> &str {
    if project.is_empty() { "(no folder)" } else { project }
}

/// `2 sessions`
pub(super) fn heading_of(rows: &[IndexRow]) -> String {
    counted(rows.len() as u64, "session", "sessions")
}

/// Where a document is in a folder of documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The index.
    pub index: String,
    /// The session before it in time, with its title.
    pub older: Option<(String, String)>,
    /// The session after it in time, with its title.
    pub newer: Option<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_two_digits() {
        assert_eq!(money(Some(1234.567), false), "$1,234.57");
        assert_eq!(money(Some(0.5), true), "≥ $0.50");
        assert_eq!(money(Some(0.001), false), "< $0.01");
        assert_eq!((money(Some(0.0), false), money(None, true)), ("$0.00".into(), String::new()));
    }
}
