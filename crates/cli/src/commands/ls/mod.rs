//! `backstory ls`

mod table;

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::{CliError, Outcome};
use crate::filter::{Choice, FilterArguments, project_scope};
use crate::pager;
use crate::select::{Scope, Selection, holds_sessions};
use crate::ui::{self, JsonLines};
use backstory_agents as agents;
use backstory_model::{FullSummary, Notice, Summary};
use backstory_session::discover::Root;
use backstory_session::select::{Filter, SessionRef, fold_sessions, folder_inside, short_ids};
use backstory_session::wire::ListDocument;
use backstory_store::ReadContext;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// List sessions, the newest first
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  backstory ls . --since 7d             this project, last week\n  backstory ls --model opus --sort tokens --limit 10"
)]
pub(crate) struct LsArguments {
    /// Projects (folders that sessions worked in), session files, or folders that hold them
    paths: Vec<PathBuf>,

    /// What to sort by
    #[arg(long, value_name = "KEY", default_value = "last")]
    sort: SortKey,

    /// Reverse the order
    #[arg(long)]
    reverse: bool,

    /// At most this many
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Subagents too
    #[arg(long, conflicts_with = "fast")]
    all: bool,

    /// Read only the ends of each file; columns that need more stay empty
    #[arg(long, conflicts_with = "model")]
    fast: bool,

    /// One JSON object per line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    filters: FilterArguments,
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
    let mut choice = arguments.filters.choice(global)?;
    if !arguments.paths.is_empty() {
        choice = choice.everywhere();
    }
    choice.filter.scopes.extend(projects.into_iter().map(|path| project_scope(path)));
    let filter = choice.of_unnamed();
    let scope = if arguments.fast { Scope::Sessions } else { Scope::All };
    let selection = Selection::find(global, &extra, scope)?;
    choice.tell(global);
    let (mut rows, mut notices) = if arguments.fast {
        selection.found.summaries()
    } else {
        full_rows(&selection, &filter, arguments.all)
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
    let others = selection.found.sessions.iter().map(|files| files.id.clone());
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).chain(others).collect();
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
            nothing(&selection, &choice)
        };
        return Err(error.given(&notices));
    } else {
        let ids = short_ids(ids.iter().map(String::as_str));
        pager::show_written(|out| table::write_table(out, &rows, &ids, arguments.all, now))?;
    }
    let outcome = if rows.is_empty() { Outcome::Nothing } else { Outcome::Fine };
    Ok(outcome.given(&notices))
}

/// Rows of full readings. What the filter surely drops is not read, except subagents' sessions.
fn full_rows(selection: &Selection, filter: &Filter, all: bool) -> (Vec<Summary>, Vec<Notice>) {
    let found = &selection.found;
    let (sessions, mut notices) =
        if all { (found.sessions.iter().collect(), Vec::new()) } else { found.matching(filter) };
    let chosen: Vec<SessionRef<'_>> = sessions.into_iter().map(SessionRef::Session).collect();
    let (mut rows, more) = fold_sessions(
        &chosen,
        &selection.found.store,
        &ui::Bar::new("reading"),
        Vec::new,
        |rows: &mut Vec<Summary>, _, chosen, context| {
            let SessionRef::Session(files) = chosen else { return Ok(Vec::new()) };
            let (session, failures) = agents::read(files, context)?;
            if all {
                rows.extend(session.walk().into_iter().map(Summary::of));
            } else {
                rows.push(Summary::of(&session));
            }
            Ok(failures)
        },
        |all, more| all.extend(more),
    );
    notices.extend(more);
    if all {
        for file in &found.stray_agents {
            match agents::read_stray(file, &mut ReadContext::new(&selection.found.store)) {
                Ok(agent) => rows.push(Summary::of(&agent)),
                Err(error) => notices.push(Notice::from(&error)),
            }
        }
    }
    (rows, notices)
}

fn sort(rows: &mut [Summary], key: SortKey) {
    use std::cmp::Reverse;
    let full =
        |row: &Summary, value: fn(&FullSummary) -> Option<u64>| row.full.as_ref().and_then(value);
    rows.sort_by(|a, b| a.place().cmp(&b.place()));
    match key {
        SortKey::Last => rows.sort_by(|a, b| a.newest_first().cmp(&b.newest_first())),
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

fn nothing(selection: &Selection, choice: &Choice) -> CliError {
    match selection.found.sessions.len() {
        0 => selection.nothing(),
        count => choice.none_of(count),
    }
}
