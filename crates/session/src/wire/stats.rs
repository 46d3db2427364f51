//! Tokens and costs as JSON, documented in `docs/stats-json.md`.

use crate::stats::{Figures, Ledger, Period, Prices, Report, Row};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Name and version of the JSON form.
pub const STATS_SCHEMA: &str = "backstory.stats/1";

/// What `backstory stats --json` prints. Fields are in the order in which they are printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsDocument {
    /// The dimension that rows group by.
    pub by: String,
    /// How many files were read.
    pub files: u64,
    /// Messages outside the period.
    pub outside_period: u64,
    /// The price table.
    pub prices: StatsPrices,
    /// Messages found again in another file.
    pub repeated_messages: u64,
    /// One for each group.
    pub rows: Vec<StatsRow>,
    /// `backstory.stats/1`
    pub schema: String,
    /// Sessions that have a message in the period.
    pub sessions: u64,
    /// The start of the period.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub since: Option<Timestamp>,
    /// Files that could not be read.
    pub skipped: u64,
    /// The zone in which days begin.
    pub timezone: String,
    /// Every message once, however rows divide it.
    pub total: StatsFigures,
    /// Models that the price table does not have.
    pub unpriced: Vec<UnpricedModel>,
    /// The end of the period.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub until: Option<Timestamp>,
    /// Messages without a time, which no period contains.
    pub without_time: u64,
}

/// The price table that costs were computed with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsPrices {
    /// `USD`
    pub currency: String,
    /// The day of the prices.
    pub date: String,
    /// Where the prices come from.
    pub source: String,
}

/// A model without a price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnpricedModel {
    /// How many messages it wrote.
    pub messages: u64,
    /// The model.
    pub model: String,
    /// Tokens of these messages.
    pub tokens: u64,
}

/// Sums over messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsFigures {
    /// Tool calls.
    pub calls: u64,
    /// List prices of the tokens.
    pub cost: StatsCost,
    /// Messages without a final count: their output is a lower bound.
    pub incomplete_messages: u64,
    /// Messages of subagents whose file is gone. They are not counted.
    pub lost_messages: u64,
    /// Messages of models.
    pub messages: u64,
    /// Messages without any count.
    pub messages_without_usage: u64,
    /// Tokens.
    pub tokens: StatsTokens,
    /// Web searches of the API.
    pub web_searches: u64,
}

/// One group, and the sums over its messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsRow {
    /// The subagent's type.
    pub agent_type: Option<String>,
    /// Tool calls.
    pub calls: u64,
    /// List prices of the tokens.
    pub cost: StatsCost,
    /// Messages without a final count: their output is a lower bound.
    pub incomplete_messages: u64,
    /// The day, model, project or whatever else the messages have in common.
    pub key: Option<String>,
    /// Messages of subagents whose file is gone. They are not counted.
    pub lost_messages: u64,
    /// Messages of models.
    pub messages: u64,
    /// Messages without any count.
    pub messages_without_usage: u64,
    /// The file, if a group is one file.
    pub path: Option<String>,
    /// The session that a subagent belongs to.
    pub session: Option<String>,
    /// Tokens.
    pub tokens: StatsTokens,
    /// Web searches of the API.
    pub web_searches: u64,
}

/// Token counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsTokens {
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache.
    pub cache_write: u64,
    /// Written to a cache for an hour.
    pub cache_write_1h: u64,
    /// Written to a cache for five minutes.
    pub cache_write_5m: u64,
    /// Of prompts, outside any cache.
    pub input: u64,
    /// Whether there may have been more.
    pub lower_bound: bool,
    /// Written by models.
    pub output: u64,
    /// All of them.
    pub total: u64,
}

/// Costs at list prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StatsCost {
    /// Whether it may have been more.
    pub lower_bound: bool,
    /// Messages of models without a price.
    pub unpriced_messages: u64,
    /// US dollars. Null if no message has a price.
    pub usd: Option<f64>,
}

/// A report as one JSON object.
pub fn stats_json(
    report: &Report,
    ledger: &Ledger,
    prices: &Prices,
    period: &Period,
) -> StatsDocument {
    let unpriced = report.unpriced.iter().map(|(model, (messages, tokens))| UnpricedModel {
        messages: *messages,
        model: model.clone(),
        tokens: *tokens,
    });
    StatsDocument {
        by: report.by.name().to_owned(),
        files: ledger.sources.len() as u64,
        outside_period: report.outside,
        prices: StatsPrices {
            currency: "USD".to_owned(),
            date: prices.date.clone(),
            source: prices.source.clone(),
        },
        repeated_messages: ledger.repeated,
        rows: report.rows.iter().map(row).collect(),
        schema: STATS_SCHEMA.to_owned(),
        sessions: report.sessions,
        since: period.since,
        skipped: ledger.failures.len() as u64,
        timezone: zone_name(period),
        total: figures(&report.total),
        unpriced: unpriced.collect(),
        until: period.until,
        without_time: report.timeless,
    }
}

/// The zone's name, or its distance from UTC.
pub fn zone_name(period: &Period) -> String {
    match period.zone.iana_name() {
        Some(name) => name.to_owned(),
        None => match period.zone.to_fixed_offset() {
            Ok(offset) => offset.to_string(),
            Err(_) => "of the system".to_owned(),
        },
    }
}

fn row(row: &Row) -> StatsRow {
    let StatsFigures {
        calls,
        cost,
        incomplete_messages,
        lost_messages,
        messages,
        messages_without_usage,
        tokens,
        web_searches,
    } = figures(&row.figures);
    StatsRow {
        agent_type: row.agent_type.clone(),
        calls,
        cost,
        incomplete_messages,
        key: row.key.clone(),
        lost_messages,
        messages,
        messages_without_usage,
        path: row.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
        session: row.session.clone(),
        tokens,
        web_searches,
    }
}

fn figures(figures: &Figures) -> StatsFigures {
    StatsFigures {
        calls: figures.calls,
        cost: StatsCost {
            lower_bound: figures.costs_at_least(),
            unpriced_messages: figures.cost.unpriced,
            usd: figures.known_cost().map(|cost| cost.dollars()),
        },
        incomplete_messages: figures.incomplete,
        lost_messages: figures.lost,
        messages: figures.messages,
        messages_without_usage: figures.without_usage,
        tokens: StatsTokens {
            cache_read: figures.cache_read,
            cache_write: figures.cache_write,
            cache_write_1h: figures.cache_write_1h,
            cache_write_5m: figures.cache_write_5m,
            input: figures.input,
            lower_bound: figures.at_least(),
            output: figures.output,
            total: figures.tokens(),
        },
        web_searches: figures.web_searches,
    }
}
