//! `backstory stats`

mod table;

use crate::args::GlobalArguments;
use crate::config;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::input_sessions::InputSessions;
use crate::pager;
use crate::prices;
use crate::times;
use crate::ui::{self, JsonLines};
use backstory_model::Notice;
use backstory_session::parallel::Progress;
use backstory_session::stats::{Dimension, Period, agent_types, gather, report};
use backstory_session::wire::stats_json;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::tz::TimeZone;
use std::path::PathBuf;

/// Count tokens and what they cost, each message once
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory stats                            by day, this repository\n  backstory stats -a --by model --since 30d  all projects, last month\n  backstory stats --by tool --json           tokens by tool, as data\n\nCosts are list prices of the day of the price table, not what a subscription charges."
)]
pub(crate) struct StatsArguments {
    /// Sessions, files, folders or projects; the repository if none is named
    #[arg(value_name = "PATH|SESSION")]
    names: Vec<String>,

    /// What to group by
    #[arg(long, value_name = "WHAT", default_value = "day", value_parser = dimensions())]
    by: Dimension,

    /// The time zone days begin in (Europe/Berlin); that of this machine if not named
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,

    /// Prices from a file of the same form as the bundled one
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,

    /// At most this many rows: the newest, or the largest
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// One JSON object (backstory.stats/1)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    filters: FilterArguments,
}

/// The words of the library, so that there is one list of them.
fn dimensions() -> impl TypedValueParser<Value = Dimension> {
    PossibleValuesParser::new(Dimension::ALL.map(Dimension::name))
        .try_map(|word| Dimension::named(&word).ok_or("no such group"))
}

pub(crate) fn run(
    arguments: &StatsArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    let by = arguments.by;
    let period = period(arguments)?;
    let prices = prices::read(arguments.prices.as_deref())?;
    let mut choice = arguments.filters.choice(global)?;
    // Days begin in the named zone, and a session that went on may hold messages of the period.
    (choice.filter.since, choice.filter.until) = (period.since, None);
    let inputs = InputSessions::named(&arguments.names, &choice, global)?;
    if inputs.is_empty() {
        return Err(inputs.nothing());
    }
    let bytes = inputs.sessions.iter().map(|files| files.total_bytes()).sum::<u64>()
        + inputs.agents.iter().map(|file| file.bytes).sum::<u64>();
    let bar = ui::Bar::new("counting");
    bar.begin(bytes);
    let ledger =
        gather(&inputs.sessions, &inputs.agents, by, &inputs.store, |bytes| bar.add(bytes));
    bar.end();
    let types = match by {
        Dimension::Subagent | Dimension::AgentType => {
            agent_types(&ledger, &inputs.sessions, &inputs.store)
        }
        _ => Default::default(),
    };
    let mut report = report(&ledger, by, &prices, &period, &types);
    let failed = ledger.failures.iter().map(Notice::from);
    let notices: Vec<Notice> = inputs.notices.iter().cloned().chain(failed).collect();
    if !global.quiet {
        ui::notices(&notices);
    }
    let all = report.rows.len();
    if let Some(limit) = arguments.limit {
        let time = matches!(by, Dimension::Day | Dimension::Week | Dimension::Month);
        let newest = if time { all.saturating_sub(limit) } else { 0 };
        report.rows.drain(..newest);
        report.rows.truncate(limit);
    }
    if arguments.json {
        let mut out = JsonLines::new();
        out.write(&stats_json(&report, &ledger, &prices, &period))?;
        out.finish()?;
    } else if report.total.messages == 0 && !ledger.failures.is_empty() {
        return Err(CliError::new("no session could be read"));
    } else if report.total.messages == 0 {
        let outside = backstory_text::figures::counted(report.outside, "message", "messages");
        return Err(CliError::not_found("no message of a model in this period")
            .hint(format!("{outside} outside it; leave out --since or --until"))
            .given(&notices));
    } else {
        let shown = table::Shown { report: &report, ledger: &ledger, inputs: &inputs, all };
        pager::show_written(|out| table::write(out, &shown, &prices, &period))?;
    }
    let outcome = if report.total.messages == 0 { Outcome::Nothing } else { Outcome::Fine };
    Ok(outcome.given(&notices))
}

fn period(arguments: &StatsArguments) -> Result<Period, CliError> {
    let now = environment::now();
    let zone = match &arguments.timezone {
        Some(name) => TimeZone::get(name).map_err(|_| {
            CliError::new(format!("--timezone `{name}`: no such time zone"))
                .hint("name one of the zone database, such as Europe/Berlin or UTC")
        })?,
        None => config::zone(),
    };
    let since = arguments.filters.since.as_ref().map(|text| {
        times::parse_in(text, now, &zone).map_err(|cause| times::wrong("--since", text, cause))
    });
    let until = arguments.filters.until.as_ref().map(|text| {
        times::parse_until_in(text, now, &zone)
            .map_err(|cause| times::wrong("--until", text, cause))
    });
    Ok(Period { since: since.transpose()?, until: until.transpose()?, zone })
}
