//! What the gate says: scores of states, and what a budget buys.

use super::plan::Plan;
use crate::error::CliError;
use crate::ui::{self, BOLD, DIM};
use backstory_export::gate::{GateReport, Score, ranked};
use backstory_replay::Money;
use backstory_text::escape::terminal_line;
use backstory_text::figures::{counted, grouped};
use std::io::Write;

/// How scores are spread and what budgets buy.
pub(super) fn report(plan: &Plan, budget: Option<Money>) -> Result<(), CliError> {
    let scores: Vec<Score> = plan.scored.iter().map(|one| one.score.clone()).collect();
    let report = GateReport::of(&scores, budget.map(Money::dollars));
    let mut out = ui::stdout();
    writeln!(
        out,
        "{}, {} to ask about all, {:.0} disagreements expected",
        counted(report.states, "state", "states"),
        dollars(report.cost),
        report.expected
    )?;
    writeln!(out, "\n{BOLD}chance        states        cost{BOLD:#}")?;
    for band in report.bands.iter().filter(|band| band.states > 0) {
        let chance = format!("{:.1} to {:.1}", band.from, band.from + 0.1);
        writeln!(out, "{chance:<12}{:>8}{:>12}", grouped(band.states), dollars(band.cost))?;
    }
    writeln!(out, "\n{BOLD}signal              states{BOLD:#}")?;
    for (signal, states) in &report.signals {
        writeln!(out, "{:<18}{:>8}", signal.name(), grouped(*states))?;
    }
    writeln!(out, "\n{BOLD}budget        states        cost    expected   by chance{BOLD:#}")?;
    for buys in &report.budgets {
        writeln!(
            out,
            "{:<12}{:>8}{:>12}{:>12.1}{:>12.1}",
            dollars(buys.budget),
            grouped(buys.states),
            dollars(buys.cost),
            buys.expected,
            buys.by_chance
        )?;
    }
    writeln!(out)?;
    Ok(out.flush()?)
}

/// The score of each state, the best for its cost first.
pub(super) fn explain(plan: &Plan) -> Result<(), CliError> {
    let scores: Vec<Score> = plan.scored.iter().map(|one| one.score.clone()).collect();
    let mut out = ui::stdout();
    for at in ranked(&scores) {
        let Some(one) = plan.scored.get(at) else { continue };
        let (mark, style) =
            if one.picked { ("ask ", anstyle::Style::new()) } else { ("skip", DIM) };
        let id = terminal_line(&one.state_id).into_owned();
        writeln!(out, "{style}{mark}  {id}  {}{style:#}", one.score.explain())?;
    }
    writeln!(out)?;
    Ok(out.flush()?)
}

fn dollars(amount: f64) -> String {
    if amount < 1.0 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}
