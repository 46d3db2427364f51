//! Which sessions a command is about.

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::CliError;
use crate::sample::Sample;
use crate::times;
use crate::ui;
use backstory_agents as agents;
use backstory_format::Limits;
use backstory_model::{Agent, Session};
use backstory_model::{AgentFile, Notice, NoticeKind, SessionFiles};
use backstory_session::discover::{
    Found, NamedFile, ProjectScope, Root, discover, discover_sessions, named_file,
};
use backstory_session::history::{speaks_of, telling_part};
use backstory_session::listing::{Buffers, Summary, peek};
use backstory_session::parallel;
use backstory_store::{StoreError, plain_name, resolve};
use backstory_text::figures;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sessions that were found, and where.
#[derive(Debug)]
pub(crate) struct Selection {
    pub(crate) roots: Vec<Root>,
    pub(crate) found: Found,
    pub(crate) limits: Limits,
    /// Present when there was nothing on the machine and the sample stands in.
    pub(crate) sample: Option<Sample>,
}

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seek {
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
        seek: Seek,
    ) -> Result<Selection, CliError> {
        let limits = Limits { max_record: global.max_record, ..Limits::default() };
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
        let found = match seek {
            Seek::Sessions => discover_sessions(&existing),
            Seek::All | Seek::AllOrSample => discover(&existing),
        };
        if found.sessions.is_empty()
            && found.stray_agents.is_empty()
            && named.is_empty()
            && seek == Seek::AllOrSample
        {
            let sample = Sample::unpack()?;
            let instead = discover(&[Root { path: sample.path().to_path_buf() }]);
            let found = Found { notices: found.notices, ..instead };
            return Ok(Selection { roots, found, limits, sample: Some(sample) });
        }
        let roots = if existing.is_empty() { roots } else { existing };
        Ok(Selection { roots, found, limits, sample: None })
    }

    /// Reads every session with its subagents, in parallel, and keeps what `keep` makes of each.
    pub(crate) fn map_sessions<T: Send>(
        &self,
        keep: impl Fn(&Session) -> T + Sync,
    ) -> (Vec<T>, Vec<Notice>) {
        let chosen: Vec<Chosen<'_>> = self.found.sessions.iter().map(Chosen::Session).collect();
        for_each(
            &chosen,
            "reading",
            Vec::new,
            |kept, _, chosen, buffer| match chosen {
                Chosen::Session(files) => {
                    let (session, failures) = agents::read(files, self.limits, buffer)?;
                    kept.push(keep(&session));
                    Ok(failures)
                }
                Chosen::Agent(_) => Ok(Vec::new()),
            },
            |all, more| all.extend(more),
        )
    }

    /// The quick row of every session, in parallel.
    pub(crate) fn peek_sessions(&self) -> (Vec<Summary>, Vec<Notice>) {
        let results: Vec<Result<Summary, Notice>> = self
            .found
            .sessions
            .par_iter()
            .map_init(Buffers::default, |buffers, files| {
                peek(files, self.limits, buffers).map_err(|error| Notice::from(&error))
            })
            .collect();
        let mut rows = Vec::with_capacity(results.len());
        let mut notices = Vec::new();
        for result in results {
            match result {
                Ok(row) => rows.push(row),
                Err(failure) => notices.push(failure),
            }
        }
        (rows, notices)
    }

    /// The folder inside one of these that a session worked in, if it did. Only a reading of all of it
    /// knows every folder; what does not even hold a folder's name is not read.
    pub(crate) fn folder_inside(
        &self,
        files: &SessionFiles,
        scopes: &[ProjectScope],
        buffer: &mut Vec<u8>,
    ) -> Option<Arc<str>> {
        let roots = scopes.iter().flat_map(ProjectScope::roots);
        let names: Option<Vec<String>> =
            roots.map(|root| telling_part(root).map(str::to_owned)).collect();
        if files.agent == Agent::ClaudeCode && names.is_some_and(|names| !speaks_of(files, &names))
        {
            return None;
        }
        let session = agents::read_alone(files, self.limits, buffer).ok()?;
        session.cwds.into_iter().find(|cwd| scopes.iter().any(|scope| scope.holds(cwd)))
    }

    /// Sessions that worked inside one of these folders.
    pub(crate) fn worked_in(&self, scopes: &[ProjectScope]) -> Vec<&SessionFiles> {
        let holds = |cwd: &Arc<str>| scopes.iter().any(|scope| scope.holds(cwd));
        let inside = |(buffers, buffer): &mut (Buffers, Vec<u8>), files: &&SessionFiles| {
            let row = peek(files, self.limits, buffers);
            row.is_ok_and(|row| row.cwd.as_ref().is_some_and(holds))
                || self.folder_inside(files, scopes, buffer).is_some()
        };
        let all: Vec<&SessionFiles> = self.found.sessions.iter().collect();
        let told: Vec<bool> = all.par_iter().map_init(Default::default, inside).collect();
        all.into_iter().zip(told).filter(|(_, inside)| *inside).map(|(files, _)| files).collect()
    }

    /// Looks where SESSION may be and finds it, be it a path or a name.
    pub(crate) fn for_one(
        wanted: &str,
        global: &GlobalArguments,
    ) -> Result<(Selection, Option<Root>), CliError> {
        let path = as_path(wanted);
        let extra: Vec<_> = path.clone().into_iter().collect();
        Ok((Selection::find(global, &extra, Seek::All)?, path))
    }

    /// What SESSION stands for: the file at `path`, if it is one.
    pub(crate) fn one(&self, wanted: &str, path: Option<&Root>) -> Result<Chosen<'_>, CliError> {
        let Some(root) = path else { return self.resolve(wanted) };
        let place = resolve(&root.path);
        let is_it = |path: &Path| path == root.path || resolve(path) == place;
        let session = self.found.sessions.iter().find(|files| is_it(&files.path));
        let below = || self.found.sessions.iter().flat_map(|files| &files.agents);
        let agent =
            || self.found.stray_agents.iter().chain(below()).find(|agent| is_it(&agent.path));
        session.map(Chosen::Session).or_else(|| agent().map(Chosen::Agent)).ok_or_else(|| {
            CliError::new(format!("`{}`: not a session file", root.path.display()))
                .hint("backstory ls --root DIR lists what is in a folder")
        })
    }

    /// Finds what the user means by SESSION: an id, the start of one, `latest`, `latest~N`.
    pub(crate) fn resolve(&self, wanted: &str) -> Result<Chosen<'_>, CliError> {
        if let Some(back) = latest(wanted) {
            return self.nth_latest(wanted, back).map(Chosen::Session);
        }
        let sessions: Vec<&SessionFiles> =
            self.found.sessions.iter().filter(|files| files.id.starts_with(wanted)).collect();
        let exact = sessions.iter().filter(|files| files.id == wanted);
        match (exact.count(), sessions.as_slice()) {
            (1, _) => {
                let exact = sessions.into_iter().find(|files| files.id == wanted);
                exact.map(Chosen::Session).ok_or_else(|| self.unknown(wanted))
            }
            (0, [one]) => Ok(Chosen::Session(one)),
            (0, []) => match self.resolve_agent(wanted) {
                Ok(agent) => Ok(agent),
                Err(unknown) => self.resolve_told(wanted)?.ok_or(unknown),
            },
            _ => Err(self.ambiguous(wanted, &sessions)),
        }
    }

    /// Files of other agents may be named otherwise than the session in them, which is what lists
    /// show; only reading them tells.
    fn resolve_told(&self, wanted: &str) -> Result<Option<Chosen<'_>>, CliError> {
        let foreign = self.found.sessions.par_iter().filter(|f| f.agent != Agent::ClaudeCode);
        let told: Vec<(String, &SessionFiles)> = foreign
            .map_init(Buffers::default, |buffers, files| {
                let row = peek(files, self.limits, buffers).ok()?;
                row.id.starts_with(wanted).then_some((row.id, files))
            })
            .flatten()
            .collect();
        let exact = told.iter().any(|(id, _)| id == wanted);
        let meant = told.iter().filter(|(id, _)| !exact || id == wanted);
        let meant: Vec<&SessionFiles> = meant.map(|(_, files)| *files).collect();
        match meant.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(Chosen::Session(one))),
            several => Err(self.ambiguous(wanted, several)),
        }
    }

    fn resolve_agent(&self, wanted: &str) -> Result<Chosen<'_>, CliError> {
        let wanted = wanted.strip_prefix("agent-").unwrap_or(wanted);
        let all = self
            .found
            .sessions
            .iter()
            .flat_map(|files| &files.agents)
            .chain(&self.found.stray_agents);
        let agents: Vec<&AgentFile> = all.filter(|agent| agent.id.starts_with(wanted)).collect();
        match agents.as_slice() {
            [one] if !wanted.is_empty() => Ok(Chosen::Agent(one)),
            _ => Err(self.unknown(wanted)),
        }
    }

    fn nth_latest(&self, wanted: &str, back: usize) -> Result<&SessionFiles, CliError> {
        let (mut rows, failures) = self.peek_sessions();
        rows.sort_by(|a, b| a.newest_first().cmp(&b.newest_first()));
        let files = rows.get(back).and_then(|row| {
            let mut sessions = self.found.sessions.iter();
            sessions.find(|files| files.path == row.path && is_row_of(files, row))
        });
        files.ok_or_else(|| match (rows.len() as u64, failures.first()) {
            (0, Some(failure)) => CliError::new(format!("`{wanted}`: {}", failure.reason)),
            (0, None) => self.nothing(),
            (there, _) => {
                let are = if there == 1 { "is" } else { "are" };
                let there = figures::counted(there, "session", "sessions");
                CliError::not_found(format!("`{wanted}`: there {are} only {there}"))
                    .hint("backstory ls")
            }
        })
    }

    /// What is missing after all sessions were looked into, of which these could not be read.
    pub(crate) fn missing(&self, failures: &[StoreError]) -> Vec<Notice> {
        self.found.notices.iter().cloned().chain(failures.iter().map(Notice::from)).collect()
    }

    /// The error for there being none at all.
    pub(crate) fn nothing(&self) -> CliError {
        no_sessions(&self.roots, &self.found.notices)
    }

    fn unknown(&self, wanted: &str) -> CliError {
        if self.found.sessions.is_empty() {
            return self.nothing();
        }
        let error = CliError::not_found(format!("no session `{wanted}`"));
        let near: Vec<&SessionFiles> =
            self.found.sessions.iter().filter(|files| alike(&files.id, wanted)).collect();
        let list = if near.is_empty() { self.found.sessions.iter().collect() } else { near };
        error.hint(self.candidates("the newest are", &list))
    }

    fn ambiguous(&self, wanted: &str, sessions: &[&SessionFiles]) -> CliError {
        let message = format!("`{wanted}` matches {} sessions", sessions.len());
        CliError::not_found(message).hint(self.candidates("it could be", sessions))
    }

    fn candidates(&self, heading: &str, sessions: &[&SessionFiles]) -> String {
        let mut rows: Vec<Summary> = sessions
            .iter()
            .filter_map(|files| peek(files, self.limits, &mut Buffers::default()).ok())
            .collect();
        rows.sort_by(|a, b| a.newest_first().cmp(&b.newest_first()));
        let mut text = format!("{heading}:");
        for row in rows.iter().take(5) {
            let title = row.title.as_ref().map_or("(no title)", |title| title.text.as_str());
            let when = row.last_activity().map(times::minute).unwrap_or_default();
            text.push_str(&format!("\n{}  {when}  {}", row.id, ui::fit(title, 50)));
        }
        text
    }
}

/// What SESSION stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Chosen<'a> {
    Session(&'a SessionFiles),
    Agent(&'a AgentFile),
}

impl<'a> Chosen<'a> {
    pub(crate) fn id(&self) -> &str {
        match self {
            Chosen::Session(files) => &files.id,
            Chosen::Agent(file) => &file.id,
        }
    }

    pub(crate) fn path(&self) -> &'a Path {
        match self {
            Chosen::Session(files) => &files.path,
            Chosen::Agent(file) => &file.path,
        }
    }

    /// The files it is read from, and the folder of what is kept in one.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let (own, subagents) = match self {
            Chosen::Session(files) => {
                let parts = agents::files_of(files).into_iter().map(|file| file.path);
                (std::iter::once(files.path.clone()).chain(parts).collect(), &*files.agents)
            }
            Chosen::Agent(file) => (Vec::new(), std::slice::from_ref(*file)),
        };
        let theirs = subagents.iter().flat_map(|one| [Some(&one.path), one.meta.as_ref()]);
        own.into_iter().chain(theirs.flatten().cloned()).collect()
    }

    /// A name for a file made of it that no other session's has: by its path, and by its id where
    /// its file holds several.
    fn own_name(&self) -> String {
        let path = self.path().to_string_lossy();
        match self {
            Chosen::Session(files) if files.part.is_some() => {
                plain_name(&format!("{path}/{}", files.id))
            }
            _ => plain_name(&path),
        }
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        match self {
            Chosen::Session(files) => files.total_bytes(),
            Chosen::Agent(file) => file.bytes,
        }
    }
}

/// Whether a row of the listing is this session's, given that their file is the same.
pub(crate) fn is_row_of(files: &SessionFiles, row: &Summary) -> bool {
    files.part.is_none() || files.id == row.id
}

/// The start of each id that no other has: at least eight letters, all of it where ids are equal.
pub(crate) fn short_ids<'r>(ids: impl Iterator<Item = &'r str>) -> HashMap<&'r str, &'r str> {
    const LEAST: usize = 8;
    let mut sorted: Vec<&str> = ids.collect();
    sorted.sort_unstable();
    sorted.dedup();
    let common = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let own = |at: usize, id: &str| {
        let before = at.checked_sub(1).and_then(|at| sorted.get(at));
        let around = before.into_iter().chain(sorted.get(at + 1));
        around.map(|other| common(id, other) + 1).max().unwrap_or(0).max(LEAST)
    };
    let short = |(at, id): (usize, &&'r str)| {
        let end = id.char_indices().nth(own(at, id)).map_or(id.len(), |(end, _)| end);
        (*id, id.get(..end).unwrap_or(id))
    };
    sorted.iter().enumerate().map(short).collect()
}

/// A name for a file made of each, all different: by its id, or by its path where ids are equal.
pub(crate) fn distinct_names(chosen: &[Chosen<'_>]) -> Vec<String> {
    // Some systems do not tell cases apart.
    let by_id = |chosen: &Chosen<'_>| plain_name(chosen.id()).to_ascii_lowercase();
    let mut uses: HashMap<String, u64> = HashMap::new();
    for chosen in chosen {
        *uses.entry(by_id(chosen)).or_default() += 1;
    }
    let name = |chosen: &Chosen<'_>| match uses.get(&by_id(chosen)) {
        Some(2..) => chosen.own_name(),
        _ => plain_name(chosen.id()),
    };
    chosen.iter().map(name).collect()
}

/// Works on sessions on all threads, with a bar for people: `step` gets what its thread has found
/// so far, the item's place in `chosen`, the item and a buffer; `join` puts two findings together.
/// What cannot be read is told in notices, by path.
pub(crate) fn for_each<A: Send>(
    chosen: &[Chosen<'_>],
    what: &'static str,
    new: impl Fn() -> A + Sync,
    step: impl Fn(&mut A, usize, Chosen<'_>, &mut Vec<u8>) -> Result<Vec<StoreError>, StoreError> + Sync,
    join: impl Fn(&mut A, A),
) -> (A, Vec<Notice>) {
    let items: Vec<(usize, Chosen<'_>)> = chosen.iter().copied().enumerate().collect();
    let total = items.iter().map(|(_, chosen)| chosen.total_bytes()).sum();
    let progress = ui::Progress::new(total, what);
    let threads = parallel::fold(
        &items,
        |(_, chosen)| chosen.total_bytes(),
        || (new(), Vec::new(), Vec::new()),
        |(found, notices, buffer), (at, chosen)| {
            match step(found, *at, *chosen, buffer) {
                Ok(failures) => {
                    notices.extend(failures.iter().map(Notice::from));
                }
                Err(error) => notices.push(Notice::from(&error)),
            }
            progress.add(chosen.total_bytes());
        },
    );
    progress.finish();
    let (mut all, mut notices) = (new(), Vec::new());
    for (found, more, _) in threads {
        join(&mut all, found);
        notices.extend(more);
    }
    notices.sort_by(|a: &Notice, b| a.path.cmp(&b.path));
    (all, notices)
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
    match path.is_file().then(|| named_file(path)).transpose()? {
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
    let path = Path::new(session);
    let looks_like_path =
        session.contains(['/', '\\']) || path.extension().is_some_and(|end| end == "jsonl");
    (looks_like_path || path.is_file()).then(|| Root { path: path.to_path_buf() })
}

fn latest(wanted: &str) -> Option<usize> {
    match wanted.strip_prefix("latest")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

/// Close enough to be a slip: half of the characters at the start agree.
fn alike(id: &str, wanted: &str) -> bool {
    let same = id.chars().zip(wanted.chars()).take_while(|(a, b)| a == b).count();
    same >= 3 && same * 2 >= wanted.chars().count()
}
