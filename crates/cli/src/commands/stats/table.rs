//! The table of `backstory stats`.

use crate::error::CliError;
use crate::input_sessions::InputSessions;
use crate::ui::{self, ACCENT, Align, BOLD, Column, DIM, Elastic, Table, WARN, short_model};
use backstory_agents::summary;
use backstory_format::slice::item;
use backstory_model::Money;
use backstory_session::stats::{Dimension, Figures, Ledger, Period, Prices, Report, Row};
use backstory_session::wire::zone_name;
use backstory_store::ReadContext;
use backstory_text::escape::terminal_line;
use backstory_text::figures::{compact, counted, grouped};
use std::io::Write;

/// What is shown.
pub(crate) struct Shown<'a> {
    pub(crate) report: &'a Report,
    pub(crate) ledger: &'a Ledger,
    pub(crate) inputs: &'a InputSessions,
    /// How many rows there are without a limit.
    pub(crate) all: usize,
}

const COLUMNS: usize = 8;
const WIDEST_NAME: usize = 46;
const BAR: usize = 20;

pub(crate) fn write(
    out: &mut impl Write,
    shown: &Shown<'_>,
    prices: &Prices,
    period: &Period,
) -> Result<(), CliError> {
    let report = shown.report;
    let count = if report.by == Dimension::Tool { "calls" } else { "messages" };
    let headings =
        [report.by.name(), count, "input", "write 5m", "write 1h", "cache read", "output", "cost"]
            .map(str::to_owned);
    let mut lines = vec![(headings, None)];
    let priced = report.total.cost.money > Money::ZERO;
    let weight = |figures: &Figures| {
        if priced { figures.cost.money.picos() } else { u128::from(figures.tokens()) }
    };
    let largest = report.rows.iter().map(|row| weight(&row.figures)).max().unwrap_or(0);
    for row in &report.rows {
        lines.push((cells(shown, name(shown, row), &row.figures), Some(weight(&row.figures))));
    }
    lines.push((cells(shown, "total".to_owned(), &report.total), None));
    let mut columns = [Column::new(Align::Right); COLUMNS];
    let [name, ..] = &mut columns;
    *name = Column::new(Align::Left);
    let mut table = Table::new(columns);
    lines.iter().for_each(|(cells, _)| table.measure(cells));
    if let Some(width) = ui::width() {
        table.share(width, Elastic { column: 0, readable: 16 }, &[4, 3, 2, 1, 5]);
    }
    let bars = ui::width().is_some_and(|width| width >= table.width() + BAR);
    let last = lines.len() - 1;
    for (at, (cells, weight)) in lines.iter().enumerate() {
        let style = if at == 0 || at == last { BOLD } else { anstyle::Style::new() };
        let bar = weight.filter(|_| bars).map(|weight| bar(weight, largest)).unwrap_or_default();
        writeln!(out, "{}{}", table.line(cells, style), coloured(&bar))?;
    }
    if report.rows.len() < shown.all {
        let more = shown.all - report.rows.len();
        writeln!(
            out,
            "{DIM}{} more; the total counts all{DIM:#}",
            counted(more as u64, "row", "rows")
        )?;
    }
    writeln!(out)?;
    notes(out, shown, prices, period)
}

fn coloured(bar: &str) -> String {
    if bar.is_empty() { String::new() } else { format!("  {ACCENT}{bar}{ACCENT:#}") }
}

/// A bar of eighths of a column.
fn bar(weight: u128, largest: u128) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if largest == 0 {
        return String::new();
    }
    let eighths = (weight as f64 / largest as f64 * (BAR * 8) as f64).round() as usize;
    let part = item(&PARTS, eighths % 8);
    format!("{}{part}", "█".repeat(eighths / 8))
}

fn cells(shown: &Shown<'_>, name: String, figures: &Figures) -> [String; COLUMNS] {
    let count = if shown.report.by == Dimension::Tool { figures.calls } else { figures.messages };
    let rest = figures.cache_write.saturating_sub(figures.cache_write_1h);
    let least = if figures.at_least() { "≥" } else { "" };
    let tokens =
        |count: u64| if figures.is_uncounted() { "–".to_owned() } else { compact(count) };
    [
        ui::fit(&name, WIDEST_NAME),
        grouped(count),
        tokens(figures.input),
        tokens(rest),
        tokens(figures.cache_write_1h),
        tokens(figures.cache_read),
        if figures.is_uncounted() {
            "–".to_owned()
        } else {
            format!("{least}{}", compact(figures.output))
        },
        cost(figures),
    ]
}

/// `$1.23`, `≥$1.23`, or `unknown`.
fn cost(figures: &Figures) -> String {
    let Some(cost) = figures.known_cost() else { return "unknown".to_owned() };
    let least = if figures.costs_at_least() { "≥" } else { "" };
    format!("{least}{}", cost.text())
}

fn name(shown: &Shown<'_>, row: &Row) -> String {
    let Some(key) = row.key.as_deref() else {
        return match shown.report.by {
            Dimension::Day | Dimension::Week | Dimension::Month => "(no time)",
            Dimension::Model => "(no model named)",
            Dimension::Tool => "(no call)",
            Dimension::AgentType => "(type not recorded)",
            _ => "(unknown)",
        }
        .to_owned();
    };
    match shown.report.by {
        Dimension::Project => ui::short_path(key),
        Dimension::Model => {
            let short = short_model(key);
            let keys = shown.report.rows.iter().filter_map(|row| row.key.as_deref());
            let alone = keys.filter(|key| short_model(key) == short).count() < 2;
            terminal_line(if alone { short } else { key }).into_owned()
        }
        Dimension::Session => {
            let id: String = key.chars().take(8).collect();
            let files =
                shown.inputs.sessions.iter().find(|files| Some(&files.path) == row.path.as_ref());
            let peeked = files
                .and_then(|files| summary(files, &mut ReadContext::new(&shown.inputs.store)).ok());
            let title = peeked.and_then(|row| row.title).map(|title| title.text);
            let title = title.unwrap_or_default();
            terminal_line(format!("{id}  {title}").trim_end()).into_owned()
        }
        Dimension::Subagent => {
            let session: String =
                row.session.as_deref().unwrap_or_default().chars().take(8).collect();
            let kind = row.agent_type.as_deref().unwrap_or_default();
            terminal_line(format!("{session} {key} {kind}").trim()).into_owned()
        }
        _ => terminal_line(key).into_owned(),
    }
}

fn note(out: &mut impl Write, style: anstyle::Style, text: &str) -> std::io::Result<()> {
    for line in ui::wrap(&terminal_line(text), ui::width().unwrap_or(usize::MAX)) {
        writeln!(out, "{style}{line}{style:#}")?;
    }
    Ok(())
}

fn notes(
    out: &mut impl Write,
    shown: &Shown<'_>,
    prices: &Prices,
    period: &Period,
) -> Result<(), CliError> {
    let report = shown.report;
    let total = &report.total;
    let mut say = |text: String| note(out, DIM, &text);
    say(format!(
        "{} in {}; days in {}",
        counted(total.messages, "message", "messages"),
        counted(report.sessions, "session", "sessions"),
        zone_name(period)
    ))?;
    say(format!("list prices of {} ({}), US dollars", prices.date, prices.source))?;
    if shown.ledger.repeated > 0 {
        say(format!(
            "{} in copies (resumes, forks, compactions) not counted again",
            counted(shown.ledger.repeated, "message", "messages")
        ))?;
    }
    if report.by == Dimension::Tool {
        say("a message's tokens are divided evenly among the calls it makes".to_owned())?;
    }
    if report.timeless > 0 {
        say(format!("{} without time left out", counted(report.timeless, "message", "messages")))?;
    }
    let mut warn = |text: String| note(out, WARN, &text);
    if total.incomplete > 0 {
        warn(format!(
            "≥ a lower bound: {} of {} never got the final count of output tokens",
            grouped(total.incomplete),
            counted(total.messages, "message", "messages")
        ))?;
    }
    if total.without_usage > 0 {
        warn(format!(
            "≥ a lower bound: {} without any count",
            counted(total.without_usage, "message", "messages")
        ))?;
    }
    if total.lost > 0 {
        warn(format!(
            "≥ a lower bound: {} of subagents whose files are gone",
            counted(total.lost, "message", "messages")
        ))?;
    }
    for (model, (messages, tokens)) in &report.unpriced {
        warn(format!(
            "no price for {model}: {}, {} tokens; --prices FILE adds one",
            counted(*messages, "message", "messages"),
            compact(*tokens)
        ))?;
    }
    Ok(())
}
