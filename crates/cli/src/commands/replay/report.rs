//! What a run would take, and what it took.

use super::ReplayArguments;
use super::plan::Plan;
use super::progress::dollars;
use crate::error::CliError;
use crate::ui::{self, Align, BOLD, Column, DIM, Table, WARN};
use backstory_replay::Money;
use backstory_replay::journal::Known;
use backstory_replay::run::{Account, Tally};
use backstory_replay::teacher::Teacher;
use backstory_text::escape::terminal_line;
use backstory_text::figures::{compact, counted, duration, grouped};
use std::io::Write;

/// Columns of both tables.
const COLUMNS: usize = 10;

fn money(amount: Option<Money>) -> String {
    amount.map_or_else(|| "unknown".to_owned(), dollars)
}

/// What it would take; nothing is sent.
pub(super) fn dry_run(
    plan: &Plan,
    teachers: &[Teacher],
    known: &Known,
    arguments: &ReplayArguments,
) -> Result<(), CliError> {
    let mut out = ui::stdout();
    table(&mut out, &expected_rows(plan, teachers), 2)?;
    writeln!(out)?;
    let mut say = |text: String| writeln!(out, "{DIM}{}{DIM:#}", terminal_line(&text));
    say(format!(
        "{} of {}; tokens estimated, a quarter of the bytes; answers as long as the student's",
        counted(plan.states, "state", "states"),
        counted(plan.conversations, "conversation", "conversations"),
    ))?;
    if plan.gated > 0 {
        let left = counted(plan.gated, "state", "states");
        say(format!("{left} not selected; --explain shows why"))?;
    }
    if let Some(first) = plan.first.and_then(|first| teachers.get(first)) {
        say(format!("the others are asked only where `{}` does not agree: the most", first.id))?;
    }
    if !known.is_empty() {
        say(format!(
            "the journal has {} already, for {}",
            counted(known.len() as u64, "call", "calls"),
            dollars(known.spent)
        ))?;
    }
    for teacher in teachers.iter().filter(|teacher| !teacher.price.is_known()) {
        let text = format!("no price for `{}`: give teacher `{}` one", teacher.model, teacher.id);
        writeln!(out, "{WARN}{}{WARN:#}", terminal_line(&text))?;
    }
    if let (Some(budget), Some(expected)) = (arguments.budget, plan.expected())
        && expected > budget
    {
        let text = format!(
            "more than --budget {}; --select worth-asking picks what is worth it",
            dollars(budget)
        );
        writeln!(out, "{WARN}{text}{WARN:#}")?;
    }
    writeln!(out, "nothing was sent; --send sends")?;
    Ok(out.flush()?)
}

fn expected_rows(plan: &Plan, teachers: &[Teacher]) -> Vec<[String; COLUMNS]> {
    let headings = [
        "teacher",
        "model",
        "calls",
        "known",
        "tokens in",
        "cacheable",
        "out",
        "uncached",
        "cached",
        "at most",
    ];
    let mut rows = vec![headings.map(str::to_owned)];
    for ((teacher, estimate), known) in teachers.iter().zip(&plan.estimates).zip(&plan.known) {
        rows.push([
            terminal_line(&teacher.id).into_owned(),
            terminal_line(&teacher.model).into_owned(),
            grouped(estimate.calls),
            grouped(*known),
            compact(estimate.prompt_tokens),
            compact(estimate.cached_tokens),
            compact(estimate.completion_tokens),
            money(estimate.uncached),
            money(estimate.cached),
            money(estimate.most),
        ]);
    }
    if plan.estimates.len() > 1 {
        let sum = |pick: fn(&backstory_replay::estimate::Estimate) -> Option<Money>| {
            money(plan.estimates.iter().map(pick).sum())
        };
        let count = |pick: fn(&backstory_replay::estimate::Estimate) -> u64| {
            plan.estimates.iter().map(pick).sum::<u64>()
        };
        rows.push([
            "total".to_owned(),
            String::new(),
            grouped(count(|one| one.calls)),
            grouped(plan.known.iter().sum()),
            compact(count(|one| one.prompt_tokens)),
            compact(count(|one| one.cached_tokens)),
            compact(count(|one| one.completion_tokens)),
            sum(|one| one.uncached),
            sum(|one| one.cached),
            sum(|one| one.most),
        ]);
    }
    rows
}

/// What it took.
pub(super) fn results(
    teachers: &[Teacher],
    tallies: &[Tally],
    account: &Account,
    arguments: &ReplayArguments,
) -> Result<(), CliError> {
    let headings = [
        "teacher",
        "answers",
        "failed",
        "known",
        "retries",
        "tokens in",
        "cached",
        "out",
        "cost",
        "latency",
    ];
    let mut rows = vec![headings.map(str::to_owned)];
    for (teacher, tally) in teachers.iter().zip(tallies) {
        let made = tally.answered + tally.failed;
        let share = match tally.prompt_tokens {
            0 => "-".to_owned(),
            all => format!("{:.0}%", 100.0 * tally.cached_tokens as f64 / all as f64),
        };
        let cost = match (tally.unpriced, tally.spent) {
            (0, spent) => dollars(spent),
            (_, Money::ZERO) => "unknown".to_owned(),
            (_, spent) => format!("\u{2265}{}", dollars(spent)),
        };
        rows.push([
            terminal_line(&teacher.id).into_owned(),
            grouped(tally.answered),
            grouped(tally.failed),
            grouped(tally.known),
            grouped(tally.retries),
            compact(tally.prompt_tokens),
            share,
            compact(tally.completion_tokens),
            cost,
            tally.milliseconds.checked_div(made).map_or_else(|| "-".to_owned(), latency),
        ]);
    }
    let mut out = ui::stdout();
    table(&mut out, &rows, 1)?;
    writeln!(out)?;
    let mut text = format!("{} spent, earlier runs included", dollars(account.spent));
    if account.unsure > Money::ZERO {
        text.push_str(&format!(
            "; at most {} more for calls of which nothing was heard",
            dollars(account.unsure)
        ));
    }
    writeln!(out, "{DIM}{text}{DIM:#}")?;
    let journal = terminal_line(&arguments.journal.to_string_lossy()).into_owned();
    writeln!(out, "{DIM}next: backstory pairs {journal}{DIM:#}")?;
    Ok(out.flush()?)
}

fn latency(milliseconds: u64) -> String {
    if milliseconds < 10_000 { format!("{milliseconds} ms") } else { duration(milliseconds) }
}

/// Columns as wide as they need; the names to the left, the others to the right.
fn table(out: &mut impl Write, rows: &[[String; COLUMNS]], names: usize) -> Result<(), CliError> {
    let mut columns = [Column::new(Align::Right); COLUMNS];
    columns.iter_mut().take(names).for_each(|column| *column = Column::new(Align::Left));
    let mut table = Table::new(columns);
    rows.iter().for_each(|row| table.measure(row));
    for (at, row) in rows.iter().enumerate() {
        let style = if at == 0 { BOLD } else { anstyle::Style::new() };
        writeln!(out, "{}", table.line(row, style))?;
    }
    Ok(())
}
