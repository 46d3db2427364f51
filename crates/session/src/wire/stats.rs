//! Tokens and costs as JSON, documented in `docs/stats-json.md`.

use crate::stats::{Figures, Ledger, Period, Prices, Report, Row};
use serde_json::{Value, json};

/// Name and version of the JSON form.
pub const STATS_SCHEMA: &str = "backstory.stats/1";

/// A report as one JSON object.
pub fn stats_json(report: &Report, ledger: &Ledger, prices: &Prices, period: &Period) -> Value {
    let unpriced: Vec<Value> = report
        .unpriced
        .iter()
        .map(|(model, (messages, tokens))| {
            json!({ "model": model, "messages": messages, "tokens": tokens })
        })
        .collect();
    json!({
        "schema": STATS_SCHEMA,
        "by": report.by.name(),
        "timezone": zone_name(period),
        "since": period.since,
        "until": period.until,
        "prices": { "date": prices.date, "source": prices.source, "currency": "USD" },
        "files": ledger.sources.len(),
        "sessions": report.sessions,
        "repeated_messages": ledger.repeated,
        "outside_period": report.outside,
        "without_time": report.timeless,
        "unpriced": unpriced,
        "skipped": ledger.failures.len(),
        "total": figures(&report.total),
        "rows": report.rows.iter().map(row).collect::<Vec<_>>(),
    })
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

fn row(row: &Row) -> Value {
    let mut value = figures(&row.figures);
    if let Some(map) = value.as_object_mut() {
        map.insert("key".to_owned(), json!(row.key));
        map.insert("path".to_owned(), json!(row.path.as_ref().map(|path| path.to_string_lossy())));
        map.insert("session".to_owned(), json!(row.session));
        map.insert("agent_type".to_owned(), json!(row.agent_type));
    }
    value
}

fn figures(figures: &Figures) -> Value {
    json!({
        "messages": figures.messages,
        "incomplete_messages": figures.incomplete,
        "messages_without_usage": figures.without_usage,
        "lost_messages": figures.lost,
        "calls": figures.calls,
        "tokens": {
            "input": figures.input,
            "output": figures.output,
            "cache_read": figures.cache_read,
            "cache_write": figures.cache_write,
            "cache_write_5m": figures.cache_write_5m,
            "cache_write_1h": figures.cache_write_1h,
            "total": figures.tokens(),
            "lower_bound": figures.at_least(),
        },
        "web_searches": figures.web_searches,
        "cost": {
            "usd": figures.known_cost().map(|cost| cost.dollars()),
            "lower_bound": figures.costs_at_least(),
            "unpriced_messages": figures.cost.unpriced,
        },
    })
}
