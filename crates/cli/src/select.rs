//! Which sessions a command is about.

use crate::args::GlobalArguments;
use crate::environment;
use crate::error::CliError;
use crate::sample::Sample;
use crate::times;
use crate::ui;
use backstory_format::Limits;
use backstory_session::agents;
use backstory_session::listing::{Buffers, Summary, peek};
use backstory_session::model::Session;
use backstory_session::parallel;
use backstory_session::store::{
    AgentFile, Found, Notice, Root, SessionFiles, StoreError, discover, discover_sessions,
    plain_name,
};
use rayon::prelude::*;
use std::path::Path;

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
            if std::fs::symlink_metadata(&root.path).is_err() {
                return Err(CliError::new(format!(
                    "`{}`: no such file or folder",
                    root.path.display()
                ))
                .hint("give a folder that holds sessions, such as ~/.claude"));
            }
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
            let found = discover(&[Root { path: sample.path().to_path_buf() }]);
            return Ok(Selection { roots, found, limits, sample: Some(sample) });
        }
        Ok(Selection { roots: existing, found, limits, sample: None })
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
                peek(files, self.limits, buffers).map_err(|error| notice(&files.path, &error))
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
        let session = self.found.sessions.iter().find(|files| files.path == root.path);
        let agent = || self.found.stray_agents.iter().find(|agent| agent.path == root.path);
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
            (0, []) => self.resolve_agent(wanted),
            _ => Err(self.ambiguous(wanted, &sessions)),
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
        let (mut rows, _) = self.peek_sessions();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.last_activity()), row.path.clone()));
        let files = rows.get(back).and_then(|row| {
            let mut sessions = self.found.sessions.iter();
            sessions.find(|files| files.path == row.path && self.is_row_of(files, row))
        });
        files.ok_or_else(|| {
            let there = self.found.sessions.len();
            CliError::not_found(format!("`{wanted}`: there are only {there} sessions"))
                .hint("backstory ls")
        })
    }

    /// Whether a row of the listing is this session's, given that their file is the same.
    pub(crate) fn is_row_of(&self, files: &SessionFiles, row: &Summary) -> bool {
        files.part.is_none() || files.id == row.id
    }

    fn unknown(&self, wanted: &str) -> CliError {
        if self.found.sessions.is_empty() {
            let places: Vec<String> =
                self.roots.iter().map(|root| format!("`{}`", root.path.display())).collect();
            return CliError::not_found(format!("no sessions in {}", places.join(", ")))
                .hint("name another place with --root DIR, or give the path of a session file");
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
        rows.sort_by_key(|row| (std::cmp::Reverse(row.last_activity()), row.path.clone()));
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

    /// A name for a file made of it that no other session's has: by its path, and by its id where
    /// its file holds several.
    pub(crate) fn own_name(&self) -> String {
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
                    notices.extend(failures.iter().map(|error| notice(chosen.path(), error)));
                }
                Err(error) => notices.push(notice(chosen.path(), &error)),
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

fn notice(path: &Path, error: &dyn std::error::Error) -> Notice {
    Notice { path: path.to_path_buf(), reason: error.to_string() }
}
