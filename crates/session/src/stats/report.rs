//! Messages in groups, with sums.

use super::gather::{Ledger, Message, Origin};
use super::prices::Prices;
use super::spent::Figures;
use super::split::share;
use hashbrown::HashMap;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What to group by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Days.
    Day,
    /// ISO weeks.
    Week,
    /// Months.
    Month,
    /// Projects.
    Project,
    /// Models.
    Model,
    /// Sessions.
    Session,
    /// Tools that messages call.
    Tool,
    /// Subagents, and the sessions themselves as one group.
    Subagent,
    /// Types of subagents.
    AgentType,
}

impl Dimension {
    /// All of them.
    pub const ALL: [Dimension; 9] = [
        Dimension::Day,
        Dimension::Week,
        Dimension::Month,
        Dimension::Project,
        Dimension::Model,
        Dimension::Session,
        Dimension::Tool,
        Dimension::Subagent,
        Dimension::AgentType,
    ];

    /// The one of that name.
    pub fn named(name: &str) -> Option<Dimension> {
        Dimension::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The word used in output and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Day => "day",
            Dimension::Week => "week",
            Dimension::Month => "month",
            Dimension::Project => "project",
            Dimension::Model => "model",
            Dimension::Session => "session",
            Dimension::Tool => "tool",
            Dimension::Subagent => "subagent",
            Dimension::AgentType => "agent-type",
        }
    }

    fn is_time(self) -> bool {
        matches!(self, Dimension::Day | Dimension::Week | Dimension::Month)
    }
}

/// From when to when, and in which zone a day begins.
#[derive(Debug, Clone)]
pub struct Period {
    /// The first moment.
    pub since: Option<Timestamp>,
    /// The first moment after it.
    pub until: Option<Timestamp>,
    /// The zone in which days begin.
    pub zone: TimeZone,
}

/// One group.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Row {
    /// What its messages have in common; none where they do not say.
    pub key: Option<String>,
    /// The file, where a group is one.
    pub path: Option<PathBuf>,
    /// The session a subagent belongs to.
    pub session: Option<String>,
    /// A subagent's type.
    pub agent_type: Option<String>,
    /// Sums over its messages.
    pub figures: Figures,
}

/// All groups.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// What its rows group by.
    pub by: Dimension,
    /// One for each group.
    pub rows: Vec<Row>,
    /// Every message once, however rows divide it.
    pub total: Figures,
    /// Sessions that have a message in the period.
    pub sessions: u64,
    /// Messages outside the period.
    pub outside: u64,
    /// Messages without time, which no period can hold.
    pub timeless: u64,
    /// Models without a price: messages and tokens.
    pub unpriced: BTreeMap<String, (u64, u64)>,
}

/// Groups messages; `types` names the types of agents by their file.
pub fn report(
    ledger: &Ledger,
    by: Dimension,
    prices: &Prices,
    period: &Period,
    types: &HashMap<PathBuf, String>,
) -> Report {
    let mut report = Report {
        by,
        rows: Vec::new(),
        total: Figures::default(),
        sessions: 0,
        outside: 0,
        timeless: 0,
        unpriced: BTreeMap::new(),
    };
    let mut groups = Groups { rows: Vec::new(), by_key: HashMap::new() };
    let mut sessions = hashbrown::HashSet::new();
    let grouping = Grouping { ledger, by, period, types };
    for message in &ledger.messages {
        let bounded = period.since.is_some() || period.until.is_some();
        match message.time {
            Some(time)
                if period.since.is_some_and(|since| time < since)
                    || period.until.is_some_and(|until| time >= until) =>
            {
                report.outside += 1;
                continue;
            }
            None if bounded => {
                report.timeless += 1;
                continue;
            }
            _ => {}
        }
        let figures = Figures::of(message, prices);
        report.total.add(&figures);
        if figures.cost.unpriced > 0 {
            let model = message.model.as_deref().unwrap_or("(no model named)");
            let unpriced = report.unpriced.entry(model.to_owned()).or_default();
            unpriced.0 += 1;
            unpriced.1 = unpriced.1.saturating_add(figures.tokens());
        }
        sessions.insert(ledger.sources.get(message.source).map(|source| &source.session));
        let calls = message.calls.len() as u64;
        if by == Dimension::Tool && calls > 0 {
            let mut seen: Vec<&str> = Vec::new();
            for (at, tool) in message.calls.iter().enumerate() {
                let mut part = share(&figures, calls, at as u64);
                if seen.contains(&tool.as_ref()) {
                    // The message itself counts once in each row.
                    (part.messages, part.incomplete, part.without_usage) = (0, 0, 0);
                    (part.cost.priced, part.cost.unpriced) = (0, 0);
                }
                seen.push(tool);
                groups.row(Some(tool.to_string()), None).figures.add(&part);
            }
        } else {
            grouping.row(&mut groups, message).figures.add(&figures);
        }
    }
    report.total.lost = ledger.lost;
    report.sessions = sessions.len() as u64;
    report.rows = groups.rows;
    sort(&mut report.rows, by);
    report
}

#[derive(Debug)]
struct Groups {
    rows: Vec<Row>,
    by_key: HashMap<(Option<String>, Option<PathBuf>), usize>,
}

impl Groups {
    fn row(&mut self, key: Option<String>, path: Option<PathBuf>) -> &mut Row {
        let next = self.rows.len();
        let at = *self.by_key.entry((key.clone(), path.clone())).or_insert(next);
        if at == next {
            let figures = Figures::default();
            self.rows.push(Row { key, path, session: None, agent_type: None, figures });
        }
        #[expect(clippy::indexing_slicing, reason = "every index in the map was pushed")]
        &mut self.rows[at]
    }
}

#[derive(Debug, Clone, Copy)]
struct Grouping<'a> {
    ledger: &'a Ledger,
    by: Dimension,
    period: &'a Period,
    types: &'a HashMap<PathBuf, String>,
}

impl Grouping<'_> {
    fn row<'g>(&self, groups: &'g mut Groups, message: &Message) -> &'g mut Row {
        let source = self.ledger.sources.get(message.source);
        let path = source.map(|source| source.path.clone());
        let date = || message.time.map(|time| time.to_zoned(self.period.zone.clone()).date());
        let session = source.and_then(|source| source.session.clone());
        match self.by {
            Dimension::Day => groups.row(date().map(|date| date.to_string()), None),
            Dimension::Week => {
                let week = date().map(|date| {
                    let week = date.iso_week_date();
                    format!("{:04}-W{:02}", week.year(), week.week())
                });
                groups.row(week, None)
            }
            Dimension::Month => groups
                .row(date().map(|date| format!("{:04}-{:02}", date.year(), date.month())), None),
            Dimension::Project => {
                let project = source.and_then(|source| source.project.as_deref());
                groups.row(project.map(str::to_owned), None)
            }
            Dimension::Model => groups.row(message.model.as_deref().map(str::to_owned), None),
            Dimension::Session => {
                let main = source.filter(|source| source.origin == Origin::Session);
                let row = groups.row(session, None);
                row.path = row.path.take().or(main.map(|source| source.path.clone()));
                row
            }
            Dimension::Tool => groups.row(None, None),
            Dimension::Subagent => {
                let agent = source.and_then(|source| source.agent.clone());
                if agent.is_none() && !message.sidechain {
                    return groups.row(Some(MAIN.to_owned()), None);
                }
                let kind = path.as_ref().and_then(|path| self.types.get(path)).cloned();
                let key = agent.or_else(|| Some(INLINE.to_owned()));
                let row = groups.row(key, path);
                row.session = session;
                row.agent_type = kind;
                row
            }
            Dimension::AgentType => {
                let kind = match source.map(|source| source.origin) {
                    Some(Origin::Session) if !message.sidechain => Some(MAIN.to_owned()),
                    Some(Origin::Session) => Some(INLINE.to_owned()),
                    _ => path.and_then(|path| self.types.get(&path)).cloned(),
                };
                groups.row(kind, None)
            }
        }
    }
}

/// The conversation itself, in the table of subagents.
const MAIN: &str = "(the session itself)";
/// Subagents of 1.0, which are in the session's file.
const INLINE: &str = "(inside the session's file)";

fn sort(rows: &mut [Row], by: Dimension) {
    if by.is_time() {
        rows.sort_by(|a, b| (a.key.is_none(), &a.key).cmp(&(b.key.is_none(), &b.key)));
        return;
    }
    rows.sort_by(|a, b| {
        let size = |row: &Row| (row.figures.cost.money, row.figures.tokens());
        (size(b), &a.key, &a.path).cmp(&(size(a), &b.key, &b.path))
    });
}
