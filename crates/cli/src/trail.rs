//! The history of files, as the commands about files need it.

use crate::args::GlobalArguments;
use crate::error::CliError;
use crate::select::{Seek, Selection};
use crate::ui;
use backstory_model::Notice;
use backstory_session::history::{
    Collected, Committed, Gathered, PathScope, ShellTouch, Target, Traced, collect, telling_part,
    trace,
};
use backstory_store::{Git, GitError};
use clap::Args;
use jiff::Timestamp;
use std::path::Path;

/// Options of every command about files.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrailArguments {
    /// The project lay in DIR when its sessions were recorded; repeatable
    #[arg(long, value_name = "DIR")]
    pub(crate) recorded_as: Vec<String>,

    /// Do not ask git for names the file had before
    #[arg(long)]
    pub(crate) no_follow: bool,
}

/// Commits that are looked into for one file.
const MOST_COMMITS: usize = 64;

/// Everything known of one file.
#[derive(Debug)]
pub(crate) struct FileTrail {
    pub(crate) gathered: Gathered,
    /// Paths that mean the file, its own first.
    pub(crate) names: Vec<String>,
    pub(crate) sessions_searched: usize,
    /// What could not be searched.
    pub(crate) notices: Vec<Notice>,
}

impl FileTrail {
    /// Reads what sessions say about the file at `path`.
    pub(crate) fn find(
        path: &Path,
        arguments: &TrailArguments,
        global: &GlobalArguments,
    ) -> Result<FileTrail, CliError> {
        let selection = Selection::find(global, &[], Seek::All)?;
        let mut scope = PathScope::new(path, &arguments.recorded_as);
        let mut collected = read(&selection, &scope);
        let mut unasked: Vec<Notice> = Vec::new();
        // A name the agent itself gave the file may lead to an earlier one.
        for _ in 0..8 {
            let names = scope.names();
            let earlier = names.iter().flat_map(|name| collected.gathered.earlier_names(name));
            let new = earlier.filter(|name| scope.add(name)).count();
            if new == 0 {
                break;
            }
            collected = read(&selection, &scope);
        }
        if !arguments.no_follow && needs_names(&collected.gathered, &scope) {
            let more = git_names(path, arguments).unwrap_or_else(|notice| {
                unasked.push(notice);
                Vec::new()
            });
            if more.iter().filter(|name| scope.add(name)).count() > 0 {
                collected = read(&selection, &scope);
            }
        }
        let mut notices = selection.missing(&collected.failures);
        notices.extend(unasked);
        if !global.quiet {
            ui::notices(&notices);
        }
        let mut names = scope.names();
        let known = collected.gathered.chains.keys().filter(|name| scope.is(name));
        for name in known {
            if !names.iter().any(|other| **other == **name) {
                names.push(name.to_string());
            }
        }
        let sessions_searched = selection.found.sessions.len();
        Ok(FileTrail { gathered: collected.gathered, names, sessions_searched, notices })
    }

    /// How many edits of the file are known, whenever they were made.
    pub(crate) fn edits(&self) -> u64 {
        let chains = self.names.iter().filter_map(|name| self.gathered.chains.get(name.as_str()));
        chains.map(|chain| chain.edits().count() as u64).sum()
    }

    /// Follows the lines of `text`.
    pub(crate) fn trace(&self, text: &str, until: Option<Timestamp>) -> Traced<'_> {
        let path = self.names.first().map_or("", String::as_str);
        trace(&self.gathered, &self.names, Some(Target { path, text, until }))
    }

    /// Looks into the commits of the file for edits whose place no session tells; gives what could
    /// not be looked into.
    pub(crate) fn add_commits(
        &mut self,
        git: &Git,
        path: &Path,
        commit: &str,
        traced: &[Timestamp],
    ) -> Vec<Notice> {
        let Some(inside) = git.relative(path) else { return Vec::new() };
        let mut unasked = Vec::new();
        let mut tell = |error: &GitError| {
            let notice = error.is_refusal().then(|| Notice::failed(git.top(), error.to_string()));
            unasked.extend(notice.filter(|notice| !self.notices.contains(notice)));
        };
        let changes = git.changes(commit, &inside).inspect_err(&mut tell).unwrap_or_default();
        let newest = |time: &Timestamp| changes.iter().find(|(_, made)| made <= time);
        let mut wanted: Vec<&(String, Timestamp)> = traced.iter().filter_map(newest).collect();
        wanted.sort_by_key(|(_, time)| *time);
        wanted.dedup();
        for (id, time) in wanted.into_iter().take(MOST_COMMITS) {
            // The file may be missing there: it was removed.
            let Ok(bytes) = git.file(id, &inside).inspect_err(&mut tell) else { continue };
            let content = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            self.gathered.committed.push(Committed { time: *time, content });
        }
        self.notices.extend(unasked.iter().cloned());
        unasked
    }

    /// Commands that may have changed the file in a span of time: those that name it, else those
    /// that may change any file.
    pub(crate) fn commands(
        &self,
        after: Option<Timestamp>,
        before: Option<Timestamp>,
    ) -> Vec<&ShellTouch> {
        let inside = |touch: &&ShellTouch| {
            touch.when.time.is_some_and(|time| {
                after.is_none_or(|after| time >= after)
                    && before.is_none_or(|before| time <= before)
            })
        };
        let named: Vec<&ShellTouch> = self
            .gathered
            .shell
            .iter()
            .filter(inside)
            .filter(|touch| !touch.paths.is_empty())
            .collect();
        if !named.is_empty() {
            return named;
        }
        // A formatter or a checkout counts where it ran between two known states.
        let bounded = after.is_some() && before.is_some();
        let any = self.gathered.shell.iter().filter(inside);
        any.filter(|touch| bounded && touch.any_file).take(5).collect()
    }
}

fn read(selection: &Selection, scope: &PathScope) -> Collected {
    let names = scope.names();
    let mut parts: Option<Vec<String>> = Some(Vec::new());
    for name in &names {
        // A name without a telling part cannot be searched for.
        parts = parts.zip(telling_part(name)).map(|(mut parts, part)| {
            if !parts.iter().any(|known| known == part) {
                parts.push(part.to_owned());
            }
            parts
        });
    }
    let bytes = selection.found.sessions.iter().map(|files| files.bytes).sum();
    let progress = ui::Progress::new(bytes, "reading");
    let wanted = |path: &str| scope.is(path);
    let collected =
        collect(&selection.found, selection.limits, &wanted, parts.as_deref(), &|bytes| {
            progress.add(bytes);
        });
    progress.finish();
    collected
}

/// Whether an earlier name could explain something: the file's beginning is not known.
fn needs_names(gathered: &Gathered, scope: &PathScope) -> bool {
    use backstory_session::history::EditAction;
    let mut own = gathered.chains.iter().filter(|(name, _)| scope.is(name));
    !own.any(|(_, chain)| {
        chain.edits().next().is_some_and(|(_, edit)| edit.action() == EditAction::Create)
    })
}

/// Names the file had before, as git tells them; a notice if it could not be asked.
fn git_names(path: &Path, arguments: &TrailArguments) -> Result<Vec<String>, Notice> {
    let Some(git) = Git::holding(path) else { return Ok(Vec::new()) };
    let Some(inside) = git.relative(path) else { return Ok(Vec::new()) };
    let names = match git.earlier_names("HEAD", &inside) {
        Ok(names) => names,
        Err(error) if error.is_refusal() => {
            return Err(Notice::failed(git.top(), error.to_string()));
        }
        Err(_) => Vec::new(),
    };
    let top = git.top().to_string_lossy().into_owned();
    let places: Vec<&str> = std::iter::once(top.as_str())
        .chain(arguments.recorded_as.iter().map(String::as_str))
        .collect();
    let full =
        |name: &String| places.iter().map(|place| format!("{place}/{name}")).collect::<Vec<_>>();
    Ok(names.iter().flat_map(full).collect())
}
