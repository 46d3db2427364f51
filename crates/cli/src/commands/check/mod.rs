//! `backstory check`

pub(crate) mod text;

use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::filter::FilterArguments;
use crate::input_sessions::InputSessions;
use crate::pager;
use crate::ui::{self, JsonLines};
use backstory_claude::check;
use backstory_claude::check::{Id, Report};
use backstory_format::Severity;
use backstory_model::Notice;
use backstory_session::select::{SessionRef, fold_sessions};
use backstory_session::wire::check_json;
use clap::{Args, ValueEnum};
use std::io::Write;

/// Check sessions for faults, and whether they would resume
///
/// Changes nothing. Exits with 0 when all is clean, 1 when there are findings, 2 when something
/// could not be read.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory check                       all sessions of this repository\n  backstory check latest --severity info\n  backstory check --explain stale-branch"
)]
pub(crate) struct CheckArguments {
    /// Ids or starts of ids, session files, folders that hold them, project folders, `latest`;
    /// those of the repository if none is given
    sessions: Vec<String>,

    /// Say what an id means, why it matters and what to do; without ID, list all
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with = "json")]
    explain: Option<Option<String>>,

    /// The least severity that is shown and that counts
    #[arg(long, value_name = "LEVEL", default_value = "warning")]
    severity: Level,

    /// One JSON object per session
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    filters: FilterArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Also what is odd but harmless
    Info,
    Warning,
    Error,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Severity {
        match level {
            Level::Info => Severity::Info,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        }
    }
}

pub(crate) fn run(
    arguments: &CheckArguments,
    global: &GlobalArguments,
) -> Result<Outcome, CliError> {
    if let Some(wanted) = &arguments.explain {
        return explain(wanted.as_deref());
    }
    let severity = Severity::from(arguments.severity);
    let choice = arguments.filters.choice(global)?.only([backstory_claude::AGENT]);
    let mut inputs = InputSessions::named(&arguments.sessions, &choice, global)?;
    inputs.keep_only(backstory_claude::AGENT, global).map_err(CliError::into_failure)?;
    let (reports, failures) = check_all(&inputs);
    let notices = [inputs.notices, failures].concat();
    if !global.quiet {
        ui::notices(&notices);
    }
    if arguments.json {
        let mut out = JsonLines::new();
        for report in &reports {
            out.write(&check_json(report, severity))?;
        }
        out.finish()?;
    } else {
        pager::show_written(|out| {
            for report in &reports {
                text::write_report(out, report, severity)?;
            }
            if !global.quiet {
                text::write_summary(out, &reports, severity)?;
            }
            Ok(())
        })?;
    }
    let found = reports.iter().any(|report| report.at_least(severity) > 0);
    Ok(if found { Outcome::Findings } else { Outcome::Fine }.given(&notices))
}

fn explain(wanted: Option<&str>) -> Result<Outcome, CliError> {
    let mut out = ui::stdout();
    match wanted {
        None => text::write_ids(&mut out)?,
        Some(name) => match Id::from_name(name.trim()) {
            Some(id) => text::write_explanation(&mut out, id)?,
            None => return Err(text::unknown_id(name)),
        },
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

/// Checks everything; reports come in order of paths.
fn check_all(inputs: &InputSessions) -> (Vec<Report>, Vec<Notice>) {
    let (mut reports, notices) = fold_sessions(
        &inputs.chosen(),
        &inputs.store,
        &ui::Bar::new("checking"),
        Vec::new,
        |reports, _, chosen, context| {
            let (report, failures) = match chosen {
                SessionRef::Session(files) => check::session(files, context)?,
                SessionRef::Agent(file) => (check::stray_agent(file, context)?, Vec::new()),
            };
            reports.push(report);
            Ok(failures)
        },
        |all, more| all.extend(more),
    );
    reports.sort_by(|a: &Report, b| a.path().cmp(&b.path()));
    (reports, notices)
}
