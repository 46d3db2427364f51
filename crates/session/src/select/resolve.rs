//! Which session a name means.

use super::SessionRef;
use crate::discover::Found;
use backstory_agents::{IdSource, reader, summary};
use backstory_model::{AgentFile, Notice, SessionFiles};
use backstory_store::{ReadContext, resolve};
use rayon::prelude::*;
use std::path::Path;

/// Why a name means no session.
#[derive(Debug)]
pub enum ResolveError<'f> {
    /// There are no sessions at all.
    NoSessions,
    /// No id begins like this; these are close to it, or all there are if none is.
    Unknown(Vec<&'f SessionFiles>),
    /// Several ids begin like this.
    Ambiguous(Vec<&'f SessionFiles>),
    /// `latest~N` counts past the last of so many sessions.
    TooFew(usize),
    /// `latest`, and none could be read.
    Unreadable(Notice),
}

impl Found {
    /// Finds what is meant by an id, the start of one, `latest` or `latest~N`.
    pub fn resolve(&self, wanted: &str) -> Result<SessionRef<'_>, ResolveError<'_>> {
        if let Some(back) = latest(wanted) {
            return self.nth_latest(back).map(SessionRef::Session);
        }
        let sessions: Vec<&SessionFiles> =
            self.sessions.iter().filter(|files| files.id.starts_with(wanted)).collect();
        let exact: Vec<&SessionFiles> =
            sessions.iter().copied().filter(|files| files.id == wanted).collect();
        match (exact.as_slice(), sessions.as_slice()) {
            ([one], _) | ([], [one]) => Ok(SessionRef::Session(one)),
            ([], []) => match self.agent(wanted) {
                Some(agent) => Ok(SessionRef::Agent(agent)),
                None => self.resolve_recorded(wanted),
            },
            _ => Err(ResolveError::Ambiguous(sessions)),
        }
    }

    /// The session or subagent that is read from the file at `path`.
    pub fn at_path(&self, path: &Path) -> Option<SessionRef<'_>> {
        let place = resolve(path);
        let is_it = |other: &Path| other == path || resolve(other) == place;
        let session = self.sessions.iter().find(|files| is_it(&files.path));
        let below = || self.sessions.iter().flat_map(|files| &files.agents);
        let others = self.stray_agents.iter().chain(&self.inner_agents);
        let agent = || others.chain(below()).find(|agent| is_it(&agent.path));
        session.map(SessionRef::Session).or_else(|| agent().map(SessionRef::Agent))
    }

    /// Files of some agents may have another name than the session in them, which is the one that
    /// lists show; only reading them gives it.
    fn resolve_recorded(&self, wanted: &str) -> Result<SessionRef<'_>, ResolveError<'_>> {
        let may_differ =
            |files: &&SessionFiles| reader(files.agent).id_source() == IdSource::Content;
        let recorded: Vec<(String, &SessionFiles)> = self
            .sessions
            .par_iter()
            .filter(may_differ)
            .map_init(
                || ReadContext::new(&self.store),
                |context, files| {
                    let row = summary(files, context).ok()?;
                    row.id.starts_with(wanted).then_some((row.id, files))
                },
            )
            .flatten()
            .collect();
        let exact = recorded.iter().any(|(id, _)| id == wanted);
        let meant = recorded.iter().filter(|(id, _)| !exact || id == wanted);
        let meant: Vec<&SessionFiles> = meant.map(|(_, files)| *files).collect();
        match meant.as_slice() {
            [] => Err(self.unknown(wanted)),
            [one] => Ok(SessionRef::Session(one)),
            _ => Err(ResolveError::Ambiguous(meant)),
        }
    }

    fn agent(&self, wanted: &str) -> Option<&AgentFile> {
        let wanted = wanted.strip_prefix("agent-").unwrap_or(wanted);
        let all = self.sessions.iter().flat_map(|files| &files.agents);
        let all = all.chain(&self.stray_agents).chain(&self.inner_agents);
        let agents: Vec<&AgentFile> = all.filter(|agent| agent.id.starts_with(wanted)).collect();
        match agents.as_slice() {
            [one] if !wanted.is_empty() => Some(one),
            _ => None,
        }
    }

    fn nth_latest(&self, back: usize) -> Result<&SessionFiles, ResolveError<'_>> {
        let (mut rows, failures) = self.summaries();
        rows.sort_by(|a, b| a.newest_first().cmp(&b.newest_first()));
        let files = rows.get(back).and_then(|row| self.files_of(row));
        files.ok_or_else(|| match (rows.len(), failures.into_iter().next()) {
            (0, Some(failure)) => ResolveError::Unreadable(failure),
            (0, None) => ResolveError::NoSessions,
            (there, _) => ResolveError::TooFew(there),
        })
    }

    fn unknown(&self, wanted: &str) -> ResolveError<'_> {
        if self.sessions.is_empty() {
            return ResolveError::NoSessions;
        }
        let near: Vec<&SessionFiles> =
            self.sessions.iter().filter(|files| alike(&files.id, wanted)).collect();
        let all = || self.sessions.iter().collect();
        ResolveError::Unknown(if near.is_empty() { all() } else { near })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ids: &[&str]) -> Found {
        let files = |id: &&str| SessionFiles {
            id: (*id).to_owned(),
            path: format!("/nowhere/{id}.jsonl").into(),
            project_key: None,
            bytes: 0,
            modified: None,
            agents: Vec::new(),
            agent: backstory_agents::reader_of_unknown_lines().agent(),
            part: None,
        };
        Found { sessions: ids.iter().map(files).collect(), ..Found::default() }
    }

    fn id(found: &Found, wanted: &str) -> Option<String> {
        found.resolve(wanted).ok().map(|session| session.id().to_owned())
    }

    #[test]
    fn the_start_of_an_id_is_enough_and_a_whole_one_wins() {
        let found = found(&["abc", "abcd", "xyz"]);
        assert_eq!(id(&found, "x").as_deref(), Some("xyz"));
        assert_eq!(id(&found, "abc").as_deref(), Some("abc"));
        let ambiguous = found.resolve("ab");
        assert!(matches!(ambiguous, Err(ResolveError::Ambiguous(two)) if two.len() == 2));
    }

    #[test]
    fn resolve_suggests_ids_close_to_an_unknown_one() {
        let found = found(&["abcdef", "xyz"]);
        let unknown = found.resolve("abcx");
        assert!(matches!(unknown, Err(ResolveError::Unknown(near)) if near.len() == 1));
        let unknown = found.resolve("q");
        assert!(matches!(unknown, Err(ResolveError::Unknown(all)) if all.len() == 2));
        let none = Found::default();
        assert!(matches!(none.resolve("q"), Err(ResolveError::NoSessions)));
    }

    #[test]
    fn latest_counts_back() {
        assert_eq!(latest("latest"), Some(0));
        assert_eq!(latest("latest~2"), Some(2));
        assert_eq!(latest("latest~x"), None);
    }
}
