//! Which sessions a command is about.

use crate::args::GlobalArguments;
use crate::config;
use crate::environment;
use crate::error::CliError;
use crate::filter::Choice;
use crate::sample::Sample;
use crate::times;
use crate::ui;
use backstory_agents::session_folders;
use backstory_model::{AgentFile, Notice, NoticeKind, Session, SessionFiles};
use backstory_session::blame::EditedFiles;
use backstory_session::discover::{
    Found, NamedFile, ProjectScope, Root, discover, discover_sessions, named_file,
};
use backstory_session::select::{
    Filter, ResolveError, SessionRef, looks_like_path, matching, newest_first,
};
use backstory_store::Git;
use backstory_text::figures;
use std::path::{Path, PathBuf};

/// Sessions that were found, and where.
#[derive(Debug)]
pub(crate) struct Selection {
    pub(crate) roots: Vec<Root>,
    pub(crate) found: Found,
    /// Present when there was nothing on the machine and the sample stands in.
    pub(crate) sample: Option<Sample>,
}

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Sessions and their subagents.
    All,
    /// Sessions without their subagents.
    Sessions,
    /// Sessions and their subagents; the bundled sample where the machine has none.
    AllOrSample,
}

impl Selection {
    /// Looks in the roots the user named, else in the agents' own folders.
    pub(crate) fn find(
        global: &GlobalArguments,
        extra: &[Root],
        scope: Scope,
    ) -> Result<Selection, CliError> {
        let named: Vec<Root> = global
            .root
            .iter()
            .map(|path| Root { path: path.clone() })
            .chain(extra.iter().cloned())
            .collect();
        for root in &named {
            refuse_other_files(&root.path, global)?;
        }
        let roots = if named.is_empty() { places(global) } else { named.clone() };
        let existing: Vec<Root> =
            roots.iter().filter(|root| root.path.exists() || !named.is_empty()).cloned().collect();
        let found = match scope {
            Scope::Sessions => discover_sessions(&existing, &global.store),
            Scope::All | Scope::AllOrSample => discover(&existing, &global.store),
        };
        if found.sessions.is_empty()
            && found.stray_agents.is_empty()
            && named.is_empty()
            && scope == Scope::AllOrSample
        {
            let sample = Sample::unpack()?;
            let instead = discover(&[Root { path: sample.path().to_path_buf() }], &global.store);
            let found = Found { notices: found.notices, ..instead };
            let roots = environment::searched_places();
            return Ok(Selection { roots, found, sample: Some(sample) });
        }
        let is_usual = named.is_empty() && config::in_force().roots.is_none();
        let roots = if found.sessions.is_empty() && is_usual {
            environment::searched_places()
        } else if existing.is_empty() {
            roots
        } else {
            existing
        };
        Ok(Selection { roots, found, sample: None })
    }

    /// Reads every session with its subagents, in parallel, and keeps what `keep` makes of each.
    pub(crate) fn map_sessions<T: Send>(
        &self,
        keep: impl Fn(&Session) -> T + Sync,
    ) -> (Vec<T>, Vec<Notice>) {
        self.found.map_sessions(&ui::Bar::new("reading"), keep)
    }

    /// Leaves only the sessions that a filter keeps; adds what could not be read to the notices.
    pub(crate) fn retain(&mut self, filter: &Filter) {
        if filter.is_empty() {
            return;
        }
        let sessions = std::mem::take(&mut self.found.sessions);
        let (kept, notices) = matching(sessions.iter().collect(), filter, &self.found.store);
        self.found.sessions = kept.into_iter().cloned().collect();
        self.found.notices.extend(notices);
        let store = &self.found.store;
        let kept = |file: &AgentFile| filter.keeps_agent(file, store).unwrap_or(false);
        self.found.stray_agents.retain(kept);
    }

    /// Looks where SESSION may be and finds it, be it a path or a name.
    pub(crate) fn for_one(
        wanted: &str,
        global: &GlobalArguments,
    ) -> Result<(Selection, Option<Root>), CliError> {
        let path = as_path(wanted);
        let extra: Vec<_> = path.clone().into_iter().collect();
        Ok((Selection::find(global, &extra, Scope::All)?, path))
    }

    /// What SESSION stands for: the file at `path`, if it is one.
    pub(crate) fn one(
        &self,
        wanted: &str,
        path: Option<&Root>,
        choice: &Choice,
        global: &GlobalArguments,
    ) -> Result<SessionRef<'_>, CliError> {
        let Some(root) = path else { return self.resolve(wanted, choice, global) };
        self.found.at_path(&root.path).ok_or_else(|| {
            CliError::new(format!("`{}`: not a session file", root.path.display()))
                .hint("backstory ls --root DIR lists what is in a folder")
        })
    }

    /// Finds what the user means by SESSION: an id, the start of one, `latest`, `latest~N`.
    pub(crate) fn resolve(
        &self,
        wanted: &str,
        choice: &Choice,
        global: &GlobalArguments,
    ) -> Result<SessionRef<'_>, CliError> {
        if wanted.starts_with("latest") {
            choice.tell(global);
        }
        let filter = choice.of_latest();
        self.found.resolve(wanted, &filter).map_err(|error| match error {
            ResolveError::NoSessions => self.nothing(),
            ResolveError::Unknown(near) => CliError::not_found(format!("no session `{wanted}`"))
                .hint(self.candidates("the newest are", &near)),
            ResolveError::Ambiguous(several) => {
                let message = format!("`{wanted}` matches {} sessions", several.len());
                CliError::not_found(message).hint(self.candidates("it could be", &several))
            }
            ResolveError::Unreadable(failure) => {
                CliError::new(format!("`{wanted}`: {}", failure.reason))
            }
            ResolveError::TooFew(0) => {
                choice.none_of(self.found.sessions.len()).about(&format!("`{wanted}`"))
            }
            ResolveError::TooFew(there) => {
                let are = if there == 1 { "is" } else { "are" };
                let there = figures::counted(there as u64, "session", "sessions");
                CliError::not_found(format!("`{wanted}`: there {are} only {there}"))
                    .hint("backstory ls")
            }
        })
    }

    /// The error for there being none at all.
    pub(crate) fn nothing(&self) -> CliError {
        no_sessions(&self.roots, &self.found.notices)
    }

    fn candidates(&self, heading: &str, sessions: &[&SessionFiles]) -> String {
        let mut text = format!("{heading}:");
        for row in newest_first(sessions, &self.found.store).iter().take(5) {
            let title = row.title.as_ref().map_or("(no title)", |title| title.text.as_str());
            let when = row.last_activity().map(times::minute).unwrap_or_default();
            text.push_str(&format!("\n{}  {when}  {}", row.id, ui::fit(title, 50)));
        }
        text
    }
}

/// Where sessions are looked for: the places that the user named, else those of the settings, else
/// those of the agents.
pub(crate) fn places(global: &GlobalArguments) -> Vec<Root> {
    let configured = config::in_force().roots.as_ref().map(|roots| roots.value.as_slice());
    let named = if global.root.is_empty() { configured } else { Some(global.root.as_slice()) };
    let root = |path: &PathBuf| Root { path: path.clone() };
    named.map_or_else(environment::default_roots, |paths| paths.iter().map(root).collect())
}

/// Other clones of a repository that sessions worked in; says which they are.
pub(crate) fn other_clones(
    selection: &Selection,
    git: Option<&Git>,
    global: &GlobalArguments,
) -> Vec<ProjectScope> {
    let Some(git) = git else { return Vec::new() };
    let clones = selection.found.other_clones(git);
    if !clones.is_empty() && !global.quiet {
        let tops = clones.iter().filter_map(|clone| clone.roots().first());
        let tops: Vec<String> = tops.map(|top| ui::short_path(top)).collect();
        let are = if tops.len() == 1 { "another clone" } else { "other clones" };
        ui::say(&format!("included: sessions of {}, {are} of this repository", tops.join(", ")));
    }
    clones
}

/// Folders that a project was in when it was recorded: those that the user names, and clones.
pub(crate) fn recorded_places(named: &[String], clones: &[ProjectScope]) -> Vec<String> {
    named.iter().chain(clones.iter().flat_map(ProjectScope::roots)).cloned().collect()
}

/// What sessions say about files below `paths`, what is missing told; about all files if there are
/// none.
pub(crate) fn edited_files(
    paths: &[PathBuf],
    recorded_as: &[String],
    filter: &Filter,
    global: &GlobalArguments,
) -> Result<EditedFiles, CliError> {
    let mut selection = Selection::find(global, &[], Scope::All)?;
    selection.retain(filter);
    let first = paths.first().map(|path| path.join("x"));
    let git = first.as_deref().and_then(|path| Git::holding(path, &global.store));
    let recorded_as = recorded_places(recorded_as, &other_clones(&selection, git.as_ref(), global));
    let Selection { found, .. } = selection;
    let bar = ui::Bar::new("reading");
    let files = EditedFiles::read(paths, &recorded_as, &found, &bar);
    if !global.quiet {
        ui::notices(&files.notices);
    }
    Ok(files)
}

/// Whether a path is where sessions lie, rather than where they worked.
pub(crate) fn holds_sessions(path: &Path) -> bool {
    let ends_jsonl = |path: &Path| path.extension().is_some_and(|end| end == "jsonl");
    if path.is_file() {
        return true;
    }
    let is_own = session_folders(path).is_some_and(|inside| !inside.is_empty());
    let entries = || std::fs::read_dir(path).into_iter().flatten().flatten();
    is_own || entries().any(|entry| ends_jsonl(&entry.path()) && entry.path().is_file())
}

/// The error for there being no session in any of these places, in which this is missing.
pub(crate) fn no_sessions(roots: &[Root], missing: &[Notice]) -> CliError {
    let place = |root: &Root| format!("`{}`", ui::short_path(&root.path.to_string_lossy()));
    let places: Vec<String> = roots.iter().map(place).collect();
    let message = match places.as_slice() {
        [] => "no sessions in what was named".to_owned(),
        [_] => format!("no sessions in {}", places.join(", ")),
        _ => "no sessions on this machine".to_owned(),
    };
    let message = match missing.iter().find(|notice| notice.kind == NoticeKind::Failed) {
        None => message,
        Some(notice) => format!("{message}; `{}`: {}", notice.path.display(), notice.reason),
    };
    CliError::not_found(message)
        .hint("name another place with --root DIR, or give the path of a session file")
        .hint("--sample takes the bundled sample; `backstory` lists the places that were searched")
        .given(missing)
}

/// An error for what was named and is no session: nothing, or another file. An empty file is one
/// without anything in it, and said to be.
pub(crate) fn refuse_other_files(path: &Path, global: &GlobalArguments) -> Result<(), CliError> {
    let wrong = |cause: &str| {
        Err(CliError::new(format!("`{}`: {cause}", path.display()))
            .hint("give a session file, a folder that holds some, or an id from `backstory ls`"))
    };
    if std::fs::symlink_metadata(path).is_err() {
        return wrong("no such file or folder");
    }
    match path.is_file().then(|| named_file(path, &global.store)).transpose()? {
        None | Some(NamedFile::Session) => Ok(()),
        Some(NamedFile::Empty) => {
            if !global.quiet {
                ui::say(&format!("`{}`: the file is empty", path.display()));
            }
            Ok(())
        }
        Some(NamedFile::Other) => wrong("not a session file"),
    }
}

/// SESSION given as a path is a root of its own.
pub(crate) fn as_path(session: &str) -> Option<Root> {
    looks_like_path(session).then(|| Root { path: PathBuf::from(session) })
}
