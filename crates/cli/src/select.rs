//! Which sessions a command is about.

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::CliError;
use crate::sample::Sample;
use crate::times;
use crate::ui;
use backstory_agents::session_folders;
use backstory_model::{Notice, NoticeKind, Session, SessionFiles};
use backstory_session::blame::EditedFiles;
use backstory_session::discover::{
    Found, NamedFile, Root, discover, discover_sessions, named_file,
};
use backstory_session::select::{ResolveError, SessionRef, looks_like_path, newest_first};
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
        let roots = if named.is_empty() { environment::default_roots() } else { named.clone() };
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
            return Ok(Selection { roots, found, sample: Some(sample) });
        }
        let roots = if existing.is_empty() { roots } else { existing };
        Ok(Selection { roots, found, sample: None })
    }

    /// Reads every session with its subagents, in parallel, and keeps what `keep` makes of each.
    pub(crate) fn map_sessions<T: Send>(
        &self,
        keep: impl Fn(&Session) -> T + Sync,
    ) -> (Vec<T>, Vec<Notice>) {
        self.found.map_sessions(&ui::Bar::new("reading"), keep)
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
    ) -> Result<SessionRef<'_>, CliError> {
        let Some(root) = path else { return self.resolve(wanted) };
        self.found.at_path(&root.path).ok_or_else(|| {
            CliError::new(format!("`{}`: not a session file", root.path.display()))
                .hint("backstory ls --root DIR lists what is in a folder")
        })
    }

    /// Finds what the user means by SESSION: an id, the start of one, `latest`, `latest~N`.
    pub(crate) fn resolve(&self, wanted: &str) -> Result<SessionRef<'_>, CliError> {
        self.found.resolve(wanted).map_err(|error| match error {
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

/// What sessions say about files below `paths`, what is missing told; about all files if there are
/// none.
pub(crate) fn edited_files(
    paths: &[PathBuf],
    recorded_as: &[String],
    global: &GlobalArguments,
) -> Result<EditedFiles, CliError> {
    let Selection { found, .. } = Selection::find(global, &[], Scope::All)?;
    let bar = ui::Bar::new("reading");
    let files = EditedFiles::read(paths, recorded_as, &found, &bar);
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
    let places: Vec<String> =
        roots.iter().map(|root| format!("`{}`", root.path.display())).collect();
    let message = if places.is_empty() {
        "no sessions in what was named".to_owned()
    } else {
        format!("no sessions in {}", places.join(", "))
    };
    let message = match missing.iter().find(|notice| notice.kind == NoticeKind::Failed) {
        None => message,
        Some(notice) => format!("{message}; `{}`: {}", notice.path.display(), notice.reason),
    };
    CliError::not_found(message)
        .hint("name another place with --root DIR, or give the path of a session file")
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
