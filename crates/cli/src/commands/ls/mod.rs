//! `backstory ls`

mod table;

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::select::{Scope, Selection, holds_sessions};
use crate::times;
use crate::ui::{self, JsonLines};
use backstory_agents as agents;
use backstory_model::Agent;
use backstory_model::Notice;
use backstory_model::{FullSummary, Summary};
use backstory_session::discover::{ProjectScope, Root};
use backstory_session::select::{folder_inside, short_ids};
use backstory_session::wire::ListDocument;
use backstory_store::ReadContext;
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use std::io::Write;
use std::path::PathBuf;

/// List sessions, the newest first
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory ls . --since 7d             this project, last week\n  backstory ls --model opus --sort tokens --limit 10"
)]
pub(crate) struct LsArguments {
    /// Projects (folders that sessions worked in), session files, or folders that hold them
    paths: Vec<PathBuf>,

    /// Only sessions that worked in this folder or its worktrees; repeatable
    #[arg(long, value_name = "PATH")]
    project: Vec<PathBuf>,

    /// Only sessions active since then (2026-01-31, 7d, yesterday)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Only sessions active before then; a date includes that day
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// Only sessions in which a model with this in its name answered
    #[arg(long, value_name = "TEXT", conflicts_with = "fast")]
    model: Option<String>,

    /// Only sessions that ended on this git branch
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,

    /// Only sessions of this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_names())]
    agent: Option<String>,

    /// Only sessions with this in their title (case does not matter)
    #[arg(long, value_name = "TEXT")]
    grep_title: Option<String>,

    /// What to sort by
    #[arg(long, value_name = "KEY", default_value = "last")]
    sort: SortKey,

    /// Turn the order round
    #[arg(long)]
    reverse: bool,

    /// At most this many
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Subagents too
    #[arg(long, short, conflicts_with = "fast")]
    all: bool,

    /// Read only the ends of each file; leaves out what that cannot tell
    #[arg(long)]
    fast: bool,

    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SortKey {
    /// Last activity
    Last,
    /// First activity
    Started,
    Turns,
    Calls,
    Tokens,
    Duration,
    /// Bytes of the file
    Size,
    Title,
    Project,
}

pub(crate) fn run(arguments: &LsArguments, global: &GlobalArguments) -> Result<Outcome, CliError> {
    let now = environment::now();
    let (roots, projects): (Vec<&PathBuf>, Vec<&PathBuf>) =
        arguments.paths.iter().partition(|path| holds_sessions(path));
    let extra: Vec<Root> = roots.into_iter().map(|path| Root { path: path.clone() }).collect();
    let scopes: Vec<ProjectScope> =
        arguments.project.iter().chain(projects).map(|path| ProjectScope::new(path)).collect();
    let filter = Filter::new(arguments, scopes, now)?;
    let scope = if arguments.fast { Scope::Sessions } else { Scope::All };
    let selection = Selection::find(global, &extra, scope)?;
    let (mut rows, mut notices) = if arguments.fast {
        selection.found.summaries()
    } else {
        full_rows(&selection, arguments.all)
    };
    if arguments.fast && !filter.scopes.is_empty() {
        let mut context = ReadContext::new(&selection.found.store);
        for row in &mut rows {
            let known = row.cwd.as_deref().is_some_and(|cwd| filter.in_scope(cwd));
            let files = selection.found.files_of(row);
            if let Some(files) = files.filter(|_| !known) {
                let scopes = &filter.scopes;
                let inside = folder_inside(files, scopes, &mut context);
                row.cwd = inside.or(row.cwd.take());
            }
        }
    }
    let unreadable = notices.len();
    notices.splice(0..0, selection.found.notices.iter().cloned());
    if !global.quiet {
        ui::notices(&notices);
    }
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    rows.retain(|row| filter.keeps(row));
    sort(&mut rows, arguments.sort);
    if arguments.reverse {
        rows.reverse();
    }
    rows.truncate(arguments.limit.unwrap_or(usize::MAX));
    if arguments.json {
        let mut out = JsonLines::new();
        for row in &rows {
            out.write(&ListDocument::of(row))?;
        }
        out.finish()?;
    } else if rows.is_empty() {
        let error = if unreadable > 0 && unreadable == selection.found.sessions.len() {
            CliError::new("no session could be read")
        } else {
            nothing(&selection, arguments)
        };
        return Err(error.given(&notices));
    } else {
        let mut out = ui::stdout();
        let ids = short_ids(ids.iter().map(String::as_str));
        table::write_table(&mut out, &rows, &ids, arguments.all, now)?;
        out.flush()?;
    }
    let outcome = if rows.is_empty() { Outcome::Nothing } else { Outcome::Fine };
    Ok(outcome.given(&notices))
}

fn full_rows(selection: &Selection, all: bool) -> (Vec<Summary>, Vec<Notice>) {
    let (groups, mut notices) = selection.map_sessions(|session| {
        if all {
            session.walk().into_iter().map(Summary::of).collect()
        } else {
            vec![Summary::of(session)]
        }
    });
    let mut rows: Vec<Summary> = groups.into_iter().flatten().collect();
    if all {
        for file in &selection.found.stray_agents {
            match agents::read_stray(file, &mut ReadContext::new(&selection.found.store)) {
                Ok(agent) => rows.push(Summary::of(&agent)),
                Err(error) => notices.push(Notice::from(&error)),
            }
        }
    }
    (rows, notices)
}

fn agent_names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(agents::all().map(Agent::name))
}

struct Filter<'a> {
    scopes: Vec<ProjectScope>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    model: Option<String>,
    branch: Option<&'a str>,
    agent: Option<Agent>,
    title: Option<String>,
}

impl<'a> Filter<'a> {
    fn new(
        arguments: &'a LsArguments,
        scopes: Vec<ProjectScope>,
        now: Timestamp,
    ) -> Result<Filter<'a>, CliError> {
        let since = arguments.since.as_ref().map(|text| {
            times::parse(text, now).map_err(|cause| times::wrong("--since", text, cause))
        });
        let until = arguments.until.as_ref().map(|text| {
            times::parse_until(text, now).map_err(|cause| times::wrong("--until", text, cause))
        });
        Ok(Filter {
            scopes,
            since: since.transpose()?,
            until: until.transpose()?,
            model: arguments.model.as_ref().map(|model| model.to_lowercase()),
            branch: arguments.branch.as_deref(),
            agent: arguments.agent.as_deref().and_then(agents::named),
            title: arguments.grep_title.as_ref().map(|title| title.to_lowercase()),
        })
    }

    fn in_scope(&self, cwd: &str) -> bool {
        self.scopes.iter().any(|scope| scope.holds(cwd))
    }

    fn keeps(&self, row: &Summary) -> bool {
        let time = row.last_activity();
        let full = row.full.as_ref();
        let cwds = full.map_or(&[][..], |full| &full.cwds).iter().chain(&row.cwd);
        (self.scopes.is_empty() || cwds.into_iter().any(|cwd| self.in_scope(cwd)))
            && self.since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| time.is_some_and(|time| time < until))
            && self.branch.is_none_or(|branch| row.branch.as_deref() == Some(branch))
            && self.agent.is_none_or(|agent| row.agent == agent)
            && self.model.as_ref().is_none_or(|model| {
                full.is_some_and(|full| {
                    full.models.iter().any(|name| name.to_lowercase().contains(model))
                })
            })
            && self.title.as_ref().is_none_or(|wanted| {
                row.title.as_ref().is_some_and(|title| title.text.to_lowercase().contains(wanted))
            })
    }
}

fn sort(rows: &mut [Summary], key: SortKey) {
    use std::cmp::Reverse;
    let full =
        |row: &Summary, value: fn(&FullSummary) -> Option<u64>| row.full.as_ref().and_then(value);
    rows.sort_by(|a, b| a.place().cmp(&b.place()));
    match key {
        SortKey::Last => rows.sort_by_key(|row| Reverse(row.last_activity())),
        SortKey::Started => rows.sort_by_key(|row| Reverse(row.started)),
        SortKey::Turns => rows.sort_by_key(|row| Reverse(full(row, |full| Some(full.turns)))),
        SortKey::Calls => rows.sort_by_key(|row| Reverse(full(row, |full| Some(full.calls)))),
        SortKey::Tokens => {
            let tokens = |full: &FullSummary| full.tokens.map(|tokens| tokens.total());
            rows.sort_by_key(|row| Reverse(full(row, tokens)));
        }
        SortKey::Duration => rows.sort_by_key(|row| Reverse(row.duration_ms())),
        SortKey::Size => rows.sort_by_key(|row| Reverse(row.bytes)),
        SortKey::Title => {
            rows.sort_by_key(|row| row.title.as_ref().map(|title| title.text.to_lowercase()));
        }
        SortKey::Project => rows.sort_by_key(|row| row.cwd.clone()),
    }
}

fn nothing(selection: &Selection, arguments: &LsArguments) -> CliError {
    let count = selection.found.sessions.len() as u64;
    if count == 0 {
        return selection.nothing();
    }
    let error = match count {
        1 => CliError::not_found("the one session does not match"),
        _ => CliError::not_found(format!("none of {count} sessions matches")),
    };
    match arguments.paths.iter().chain(&arguments.project).next() {
        Some(path) => error.hint(format!(
            "no session worked in `{}`; `backstory ls --sort project` shows where they did",
            path.display()
        )),
        None => error.hint("leave out a filter"),
    }
}
