//! What sessions and commits say about one file, under every name that it had.

use super::FileText;
use crate::discover::Found;
use crate::history::{
    Collected, Committed, EditAction, Gathered, PathScope, ShellTouch, Target, Traced, collect,
    search_needle, trace,
};
use crate::parallel::Progress;
use backstory_model::Notice;
use backstory_store::{Git, GitError, Store};
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// Commits that are searched for one file.
const MOST_COMMITS: usize = 64;

/// Renames that are followed back through the agents' own moves.
const MOST_RENAMES: usize = 8;

/// Where other names of a file come from.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameSources<'a> {
    /// Folders that the project was in when its sessions were recorded.
    pub recorded_as: &'a [String],
    /// Whether git is asked, too.
    pub follow: Follow,
}

/// Whether git is asked for names that a file had before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Follow {
    /// It is, where no session saw the file begin.
    #[default]
    Renames,
    /// Only recorded names count.
    NoRenames,
}

/// Everything known of one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileHistory {
    /// Everything that the sessions say about these paths.
    pub gathered: Gathered,
    /// Paths that mean the file, its own first.
    pub names: Vec<String>,
    /// How many sessions could have said something.
    pub sessions_searched: usize,
    /// What could not be searched or asked.
    pub notices: Vec<Notice>,
    /// As it was asked for.
    pub(super) path: PathBuf,
}

impl FileHistory {
    /// Reads what the sessions in `found` say about the file at `path`.
    pub fn read(
        path: &Path,
        found: &Found,
        sources: NameSources<'_>,
        progress: &dyn Progress,
    ) -> FileHistory {
        let mut scope = PathScope::new(path, sources.recorded_as, &found.store);
        let read = |scope: &PathScope| read(found, scope, progress);
        let mut collected = read(&scope);
        let mut unasked = None;
        // A name the agent itself gave the file may lead to an earlier one.
        for _ in 0..MOST_RENAMES {
            let names = scope.names();
            let earlier = names.iter().flat_map(|name| collected.gathered.earlier_names(name));
            let new = earlier.filter(|name| scope.add(name)).count();
            if new == 0 {
                break;
            }
            collected = read(&scope);
        }
        if sources.follow == Follow::Renames && needs_names(&collected.gathered, &scope) {
            let more =
                git_names(path, sources.recorded_as, &found.store).unwrap_or_else(|notice| {
                    unasked = Some(notice);
                    Vec::new()
                });
            if more.iter().filter(|name| scope.add(name)).count() > 0 {
                collected = read(&scope);
            }
        }
        let mut notices = found.missing(&collected.failures);
        notices.extend(unasked);
        let mut names = scope.names();
        let known = collected.gathered.chains.keys().filter(|name| scope.is(name));
        for name in known {
            if !names.iter().any(|other| **other == **name) {
                names.push(name.to_string());
            }
        }
        FileHistory {
            gathered: collected.gathered,
            names,
            sessions_searched: found.sessions.len(),
            notices,
            path: path.to_path_buf(),
        }
    }

    /// How many edits of the file are known, whenever they were made.
    pub fn edits(&self) -> u64 {
        let chains = self.names.iter().filter_map(|name| self.gathered.chains.get(name.as_str()));
        chains.map(|chain| chain.edits().count() as u64).sum()
    }

    /// Follows the lines of `text`.
    pub(super) fn trace(&self, text: &FileText) -> Traced<'_> {
        let path = self.names.first().map_or("", String::as_str);
        let target = Target { path, text: &text.text, until: text.until };
        trace(&self.gathered, &self.names, Some(target))
    }

    /// Looks into the commits of the file for edits whose surroundings no session recorded. What
    /// git refuses is added to the notices.
    pub fn look_into_commits(&mut self, git: &Git, text: &FileText) {
        let traced = self.trace(text);
        let lost = traced.edits.iter().filter(|edit| !edit.placed);
        let times: Vec<Timestamp> = lost.filter_map(|edit| edit.event.time).collect();
        let Some(inside) = git.relative(&self.path).filter(|_| !times.is_empty()) else { return };
        let notices = &mut self.notices;
        let mut refused = |error: &GitError| {
            let notice = error.is_refusal().then(|| Notice::failed(git.top(), error.to_string()));
            if let Some(notice) = notice.filter(|notice| !notices.contains(notice)) {
                notices.push(notice);
            }
        };
        let changes = git.changes(text.commit_or_head(), &inside);
        let changes = changes.inspect_err(&mut refused).unwrap_or_default();
        let newest = |time: &Timestamp| changes.iter().find(|(_, made)| made <= time);
        let mut wanted: Vec<&(String, Timestamp)> = times.iter().filter_map(newest).collect();
        wanted.sort_by_key(|(_, time)| *time);
        wanted.dedup();
        for (id, time) in wanted.into_iter().take(MOST_COMMITS) {
            // The file may be missing there: it was removed.
            let Ok(bytes) = git.file(id, &inside).inspect_err(&mut refused) else { continue };
            let content = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            self.gathered.committed.push(Committed { time: *time, content });
        }
    }

    /// Commands that may have changed the file in a span of time: those that name it, else those
    /// that may change any file.
    pub fn commands(
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

fn read(found: &Found, scope: &PathScope, progress: &dyn Progress) -> Collected {
    let names = scope.names();
    let mut parts: Option<Vec<String>> = Some(Vec::new());
    for name in &names {
        // A name without a telling part cannot be searched for.
        parts = parts.zip(search_needle(name)).map(|(mut parts, part)| {
            if !parts.iter().any(|known| known == part) {
                parts.push(part.to_owned());
            }
            parts
        });
    }
    let wanted = |path: &str| scope.is(path);
    collect(found, &wanted, parts.as_deref(), progress)
}

/// Whether an earlier name could explain something: the file's beginning is not known.
fn needs_names(gathered: &Gathered, scope: &PathScope) -> bool {
    let mut own = gathered.chains.iter().filter(|(name, _)| scope.is(name));
    !own.any(|(_, chain)| {
        chain.edits().next().is_some_and(|(_, edit)| edit.action() == EditAction::Create)
    })
}

/// Names the file had before, according to git; a notice if it could not be asked.
fn git_names(path: &Path, recorded_as: &[String], store: &Store) -> Result<Vec<String>, Notice> {
    let Some(git) = Git::holding(path, store) else { return Ok(Vec::new()) };
    let Some(inside) = git.relative(path) else { return Ok(Vec::new()) };
    let names = match git.earlier_names("HEAD", &inside) {
        Ok(names) => names,
        Err(error) if error.is_refusal() => {
            return Err(Notice::failed(git.top(), error.to_string()));
        }
        Err(_) => Vec::new(),
    };
    let top = git.top().to_string_lossy().into_owned();
    let places: Vec<&str> =
        std::iter::once(top.as_str()).chain(recorded_as.iter().map(String::as_str)).collect();
    let full =
        |name: &String| places.iter().map(|place| format!("{place}/{name}")).collect::<Vec<_>>();
    Ok(names.iter().flat_map(full).collect())
}
