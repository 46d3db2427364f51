//! `backstory check`

use super::check_text;
use crate::args::GlobalArguments;
use crate::error::{CliError, Outcome};
use crate::select::{Chosen, Seek, Selection};
use crate::ui::{self, JsonLines};
use backstory_format::Severity;
use backstory_session::check::{self, Id, Report};
use backstory_session::store::{
    AgentFile, Notice, ProjectScope, Root, SessionFiles, StoreError, discover,
};
use backstory_session::wire::CheckJson;
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Check sessions for faults, and whether they would resume
///
/// Changes nothing. Exits with 0 when all is clean, 1 when there are findings, 2 when something
/// could not be read.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory check                       all sessions of this machine\n  backstory check latest --severity info\n  backstory check --explain stale-branch"
)]
pub(crate) struct CheckArguments {
    /// Ids or starts of ids, session files, folders that hold them, project folders, `latest`;
    /// all sessions if none is given
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
    let (work, mut notices) = choose(&arguments.sessions, global)?;
    let (reports, failures) = work.check();
    let failed = !failures.is_empty();
    notices.extend(failures);
    if !global.quiet {
        ui::notices(&notices);
    }
    if arguments.json {
        let mut out = JsonLines::new();
        for report in &reports {
            out.write(&CheckJson(report, severity))?;
        }
        out.finish()?;
    } else {
        let mut out = ui::stdout();
        for report in &reports {
            check_text::write_report(&mut out, report, severity)?;
        }
        if !global.quiet {
            check_text::write_summary(&mut out, &reports, severity)?;
        }
        out.flush()?;
    }
    Ok(match reports.iter().any(|report| report.at_least(severity) > 0) {
        _ if failed => Outcome::Incomplete,
        true => Outcome::Findings,
        false => Outcome::Fine,
    })
}

fn explain(wanted: Option<&str>) -> Result<Outcome, CliError> {
    let mut out = ui::stdout();
    match wanted {
        None => check_text::write_ids(&mut out)?,
        Some(name) => match Id::from_name(name.trim()) {
            Some(id) => check_text::write_explanation(&mut out, id)?,
            None => return Err(check_text::unknown_id(name)),
        },
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

/// What is to be checked.
#[derive(Debug, Default)]
struct Work {
    sessions: Vec<SessionFiles>,
    agents: Vec<AgentFile>,
    limits: backstory_format::Limits,
}

impl Work {
    fn add(&mut self, chosen: Chosen<'_>) {
        match chosen {
            Chosen::Session(files) => self.sessions.push(files.clone()),
            Chosen::Agent(file) => self.agents.push(file.clone()),
        }
    }

    /// Checks everything in parallel; reports come in order of paths.
    fn check(mut self) -> (Vec<Report>, Vec<Notice>) {
        self.sessions.sort_by(|a, b| a.path.cmp(&b.path));
        self.sessions.dedup_by(|a, b| a.path == b.path);
        self.agents.sort_by(|a, b| a.path.cmp(&b.path));
        self.agents.dedup_by(|a, b| a.path == b.path);
        let size = |files: &SessionFiles| {
            files.bytes + files.agents.iter().map(|agent| agent.bytes).sum::<u64>()
        };
        let stray: u64 = self.agents.iter().map(|agent| agent.bytes).sum();
        let all = self.sessions.iter().map(size).sum::<u64>() + stray;
        let progress = ui::Progress::new(all, "checking");
        let mut order: Vec<&SessionFiles> = self.sessions.iter().collect();
        // Large files first, so that no thread is left alone with one at the end.
        order.sort_by_key(|files| std::cmp::Reverse(size(files)));
        let limits = self.limits;
        type Checked = Result<(Report, Vec<StoreError>), (PathBuf, StoreError)>;
        let mut results: Vec<Checked> = order
            .par_iter()
            .with_max_len(1)
            .map_init(Vec::new, |buffer, files| {
                let checked = check::session(files, limits, buffer);
                progress.add(size(files));
                checked.map_err(|error| (files.path.clone(), error))
            })
            .collect();
        results.par_extend(self.agents.par_iter().map_init(Vec::new, |buffer, file| {
            let checked = check::stray_agent(file, limits, buffer);
            progress.add(file.bytes);
            checked.map(|report| (report, Vec::new())).map_err(|error| (file.path.clone(), error))
        }));
        progress.finish();
        let (mut reports, mut notices) = (Vec::with_capacity(results.len()), Vec::new());
        for result in results {
            match result {
                Ok((report, failures)) => {
                    let path = report.path().map(Path::to_path_buf).unwrap_or_default();
                    notices.extend(failures.iter().map(|error| notice(&path, error)));
                    reports.push(report);
                }
                Err((path, error)) => notices.push(notice(&path, &error)),
            }
        }
        reports.sort_by(|a, b| a.path().cmp(&b.path()));
        notices.sort_by(|a, b| a.path.cmp(&b.path));
        (reports, notices)
    }
}

fn notice(path: &Path, error: &StoreError) -> Notice {
    Notice { path: path.to_path_buf(), reason: error.to_string() }
}

/// Finds what the user named, or everything.
fn choose(named: &[String], global: &GlobalArguments) -> Result<(Work, Vec<Notice>), CliError> {
    let mut work = Work::default();
    let mut notices = Vec::new();
    let mut ids = Vec::new();
    let mut projects = Vec::new();
    for name in named {
        let path = Path::new(name);
        if path.exists() || crate::select::as_path(name).is_some() {
            let root = Root { path: path.to_path_buf() };
            if std::fs::symlink_metadata(path).is_err() {
                return Err(CliError::new(format!("`{name}`: no such file or folder"))
                    .hint("give a session file, a folder, or an id from `backstory ls`"));
            }
            let found = discover(&[root]);
            let nothing = found.sessions.is_empty() && found.stray_agents.is_empty();
            if nothing && path.is_dir() && found.notices.is_empty() {
                projects.push(path.to_path_buf());
                continue;
            }
            if nothing && !path.is_dir() {
                return Err(CliError::new(format!("`{name}`: not a session file")));
            }
            work.sessions.extend(found.sessions);
            work.agents.extend(found.stray_agents);
            notices.extend(found.notices);
        } else {
            ids.push(name);
        }
    }
    work.limits = backstory_format::Limits { max_record: global.max_record, ..Default::default() };
    if !named.is_empty() && ids.is_empty() && projects.is_empty() {
        return Ok((work, notices));
    }
    let selection = Selection::find(global, &[], Seek::All)?;
    for id in ids {
        work.add(selection.resolve(id)?);
    }
    for project in projects {
        add_project(&mut work, &selection, &project)?;
    }
    if named.is_empty() {
        if selection.found.sessions.is_empty() && selection.found.stray_agents.is_empty() {
            return Err(nothing(&selection));
        }
        work.sessions.extend(selection.found.sessions);
        work.agents.extend(selection.found.stray_agents);
        notices.extend(selection.found.notices);
    }
    Ok((work, notices))
}

/// The sessions of a folder that somebody worked in.
fn add_project(work: &mut Work, selection: &Selection, path: &Path) -> Result<(), CliError> {
    let scope = ProjectScope::new(path);
    let sessions = selection.found.sessions.iter();
    let inside: Vec<SessionFiles> = sessions
        .filter(|files| files.project_key.as_deref().is_some_and(|key| scope.may_have_key(key)))
        .cloned()
        .collect();
    if inside.is_empty() {
        return Err(CliError::not_found(format!("`{}`: no sessions", path.display()))
            .hint("`backstory ls --sort project` shows where sessions worked"));
    }
    work.sessions.extend(inside);
    Ok(())
}

fn nothing(selection: &Selection) -> CliError {
    let places: Vec<String> =
        selection.roots.iter().map(|root| format!("`{}`", root.path.display())).collect();
    let place = if places.is_empty() { "~/.claude".to_owned() } else { places.join(", ") };
    CliError::new(format!("no sessions in {place}"))
        .hint("name another place with --root DIR, or give the path of a session file")
}
