//! `backstory replay`
//!
//! Without `--send` nothing leaves: the same states are made, cleared and counted, and the table says
//! what it would take.

mod gating;
mod plan;
mod prepare;
mod preview;
mod progress;
mod report;
mod send;
mod teachers;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::prices;
use crate::redaction::{classes_or, redactor};
use crate::ui;
use backstory_export::normalise::Level;
use backstory_redact::Classes;
use backstory_replay::Money;
use backstory_replay::journal::{Journal, Known};
use clap::{Args, ValueEnum};
use plan::Plan;
use std::path::PathBuf;

/// Ask other models what they would do at each state of sessions
///
/// Teachers are defined in `.backstory.toml` (docs/replay.md). States are always redacted. Nothing is
/// sent without `--send`: a table shows the number of calls and their cost. Answers go into a
/// journal, and a later run does not ask again. `backstory pairs` turns the journal into preference
/// data.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory replay latest                                what it would cost\n  backstory replay states.jsonl --preview requests.jsonl   what would be sent\n  backstory replay states.jsonl --send --budget 5          ask, and stop at five dollars\n  backstory replay ~/src/app --select worth-asking --budget 2 --send\n  backstory replay states.jsonl --select-report            what a budget buys"
)]
pub(crate) struct ReplayArguments {
    /// Files of `export --to trace-state`, or sessions: ids, files, folders, `latest`
    #[arg(required = true, value_name = "STATES|SESSION")]
    names: Vec<String>,

    /// Send the requests
    #[arg(long)]
    send: bool,

    /// Show the number of calls and their cost (the default)
    #[arg(long, conflicts_with = "send")]
    dry_run: bool,

    /// Write the requests, one line each, as they would be sent
    #[arg(long, value_name = "FILE", conflicts_with = "send")]
    preview: Option<PathBuf>,

    /// The journal; its states go to a file next to it
    #[arg(long, value_name = "FILE", default_value = "replay.jsonl")]
    journal: PathBuf,

    /// Ask only these teachers; repeatable
    #[arg(long = "teacher", value_name = "ID")]
    teachers: Vec<String>,

    /// Take teachers from this file instead of the nearest .backstory.toml
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    teachers_from: Option<PathBuf>,

    /// Spend at most USD, including everything in the journal
    #[arg(long, value_name = "USD", value_parser = parse_money)]
    budget: Option<Money>,

    /// Go on although the first states show that the budget will not be enough
    #[arg(long, requires = "budget", hide_short_help = true)]
    spend_all: bool,

    /// Ask about the first N states only
    #[arg(long, value_name = "N")]
    limit: Option<u64>,

    /// Ask only about some states; with --budget, about as many as it pays for
    #[arg(long, value_name = "WHICH")]
    select: Option<Choice>,

    /// Show the score of each state
    #[arg(long, requires = "select", conflicts_with = "send")]
    explain: bool,

    /// Show how scores are spread and what a budget buys
    #[arg(long, conflicts_with = "send")]
    select_report: bool,

    /// Ask the cheapest teacher first, the others only where it does not do what the student did
    #[arg(long)]
    tiers: bool,

    /// How much must be equal for that: exact, fuzzy, name+target, name
    #[arg(long, value_name = "LEVEL", default_value = "name+target", value_parser = parse_level, requires = "tiers", hide_short_help = true)]
    agree: Level,

    /// Retry a call at most N times
    #[arg(long, value_name = "N", default_value_t = 6, hide_short_help = true)]
    retries: u32,

    /// Ask again what failed in the end in an earlier run
    #[arg(long, hide_short_help = true)]
    retry_failed: bool,

    /// What to take out besides secrets: paths, people, or `secrets` for nothing else
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    redact: Vec<String>,

    /// Take prices from this file (TOML, in the form of the bundled table)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    prices: Option<PathBuf>,

    /// Of sessions: `auto` (the real one where the trace holds it), `none`, a text, or @FILE
    #[arg(long, value_name = "TEXT", default_value = "auto", hide_short_help = true)]
    system_prompt: String,

    /// Of sessions: drop the front of longer histories
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_history_tokens: Option<u64>,

    #[command(flatten)]
    filters: FilterArguments,
}

/// Which states are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// Where a disagreement is likely and valuable for its cost (docs/gate.md)
    WorthAsking,
}

fn parse_money(text: &str) -> Result<Money, String> {
    let dollars = text.trim().trim_start_matches('$').parse().ok();
    dollars
        .and_then(Money::from_dollars)
        .ok_or_else(|| "a number of dollars, such as 2.50".to_owned())
}

fn parse_level(text: &str) -> Result<Level, String> {
    Level::parse(text).ok_or_else(|| "exact, fuzzy, fuzzy:0.7, name+target or name".to_owned())
}

pub(crate) fn run(
    arguments: &ReplayArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let prices = prices::read(arguments.prices.as_deref())?;
    let teachers = teachers::read(arguments, prices)?;
    if arguments.budget.is_some()
        && let Some(teacher) = teachers.iter().find(|teacher| !teacher.price.is_known())
    {
        return Err(CliError::new(format!(
            "--budget: no price is known for `{}` of teacher `{}`",
            teacher.model, teacher.id
        ))
        .hint("give it one: price = { input = 3, output = 15 } (dollars for a million tokens)"));
    }
    let redactor = redactor(classes_or(&arguments.redact, Classes::ALL)?)?;
    let sources = prepare::Sources::find(arguments, global)?;
    let outputs = sources.outputs(arguments, global)?;
    let keys = if arguments.send { teachers::keys(&teachers)? } else { Vec::new() };
    // The journal is held before anything is written next to it.
    let journal = if arguments.send {
        Some(Journal::open(&outputs.journal).map_err(teachers::of_journal)?)
    } else {
        None
    };
    let known = Known::read(&arguments.journal).map_err(|cause| {
        CliError::new(format!("journal `{}`: {cause}", arguments.journal.display()))
    })?;
    if known.unreadable > 0 {
        let count = backstory_text::figures::counted(known.unreadable, "line", "lines");
        ui::warn(&format!("journal `{}`: {count} cannot be read", arguments.journal.display()));
    }
    let prepared = sources.prepare(arguments, global, &outputs, &redactor);
    if prepared.as_ref().map_or(true, |prepared| prepared.file.places().is_empty()) {
        prepare::discard_empty(&outputs);
    }
    let prepared = prepared?;
    if prepared.file.places().is_empty() {
        return Err(CliError::not_found("there is no state to ask about").hint(
            "`backstory export --to trace-state --stats FILE` says why messages become none",
        ));
    }
    let plan = Plan::make(arguments, &teachers, &prepared.file, &redactor, &known)?;
    if let Some(path) = &outputs.preview {
        preview::write(path, &plan, &teachers, &prepared.file, &redactor)?;
    }
    if arguments.select_report {
        gating::report(&plan, arguments.budget)?;
    }
    if arguments.explain {
        gating::explain(&plan)?;
    }
    let outcome = match &journal {
        None => {
            report::dry_run(&plan, &teachers, &known, arguments)?;
            Outcome::Fine
        }
        Some(journal) => {
            let setting = send::Setting {
                arguments,
                journal,
                known: &known,
                states: &prepared.file,
                redactor: &redactor,
                plan: &plan,
            };
            send::run(&setting, teachers, keys, global)?
        }
    };
    Ok(outcome.given(&prepared.notices))
}
