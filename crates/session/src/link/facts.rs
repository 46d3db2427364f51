//! What a session says that could tie it to commits.

use super::belonging::Belonging;
use super::blobs::{State, states};
use super::lines::Added;
use super::printed::{Printed, printed};
use crate::history::{Gathered, edit_states, extract};
use backstory_model::{Agent, Session};
use backstory_store::{Commit, CommitLog, GitError};
use hashbrown::{HashMap, HashSet};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// The share of a session's files that must be the repository's: two of five.
const MOST: (u64, u64) = (2, 5);

/// Everything a session knows of commits, files and lines.
#[derive(Debug)]
pub struct SessionFacts {
    /// The session's id.
    pub session: String,
    pub(super) agent: Agent,
    pub(super) printed: Vec<Printed>,
    pub(super) states: Vec<State>,
    /// Lines it added, by recorded path.
    pub(super) added: BTreeMap<String, Added>,
    /// Where recorded paths may lie in the repository.
    pub(super) places: BTreeMap<String, Vec<String>>,
    /// Recorded paths that a path of the repository may be.
    recorded: HashMap<String, Vec<String>>,
    /// It is unknown where the repository was: paths are compared by their ends.
    pub(super) unplaced: bool,
    pub(super) first_edit: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
}

impl SessionFacts {
    /// Reads them out of a session and its subagents. If nothing shows the place of the
    /// repository, its commits are asked which of the places it could be in are likely.
    pub fn of(
        session: &Session,
        belonging: &Belonging,
        log: &CommitLog,
    ) -> Result<SessionFacts, GitError> {
        let extracted = extract(session, &|_| true);
        let gathered = Gathered::new(vec![extracted]);
        let mut facts = SessionFacts {
            session: session.id.clone(),
            agent: session.agent,
            printed: printed(session),
            states: Vec::new(),
            added: BTreeMap::new(),
            places: BTreeMap::new(),
            recorded: HashMap::new(),
            unplaced: matches!(belonging, Belonging::Unknown),
            first_edit: None,
            ended: session.walk().into_iter().filter_map(|part| part.ended).max(),
        };
        for (path, chain) in &gathered.chains {
            let places = belonging.candidates(path);
            let edits = edit_states(chain);
            if places.is_empty() || edits.is_empty() {
                continue;
            }
            let times = edits.iter().filter_map(|state| state.event.time);
            facts.first_edit = times.chain(facts.first_edit).min();
            facts.states.extend(states(path, &edits));
            let added = facts.added.entry(path.to_string()).or_default();
            for state in &edits {
                added.add(&state.added, state.event.time);
            }
            for place in &places {
                facts.recorded.entry(place.clone()).or_default().push(path.to_string());
            }
            facts.places.insert(path.to_string(), places);
        }
        if facts.unplaced {
            facts.keep_likely(log)?;
        }
        Ok(facts)
    }

    /// Keeps places whose repository has most of the files that the session edited there.
    fn keep_likely(&mut self, log: &CommitLog) -> Result<(), GitError> {
        let known = log.known(&self.candidate_paths(), self.since())?;
        let mut there: HashMap<&str, usize> = HashMap::new();
        for (recorded, places) in &self.places {
            for place in places.iter().filter(|place| known.contains(*place)) {
                let top = recorded.strip_suffix(place.as_str()).unwrap_or_default();
                *there.entry(top).or_default() += 1;
            }
        }
        let likely = |top: &&str| {
            let count = there.get(*top).copied().unwrap_or(0);
            count as u64 * MOST.1 >= self.below(top).count() as u64 * MOST.0
        };
        let likely: HashSet<String> =
            there.keys().copied().filter(likely).map(str::to_owned).collect();
        self.recorded.retain(|place, names| {
            names.retain(|name| name.strip_suffix(place).is_some_and(|top| likely.contains(top)));
            !names.is_empty()
        });
        Ok(())
    }

    /// Paths below a folder, given with a slash, that the session edited.
    pub(super) fn below<'f>(&'f self, top: &'f str) -> impl Iterator<Item = &'f str> {
        self.places.keys().filter_map(move |path| path.strip_prefix(top))
    }

    /// Whether there is nothing that a commit could hold.
    pub fn is_empty(&self) -> bool {
        self.printed.is_empty() && self.places.is_empty()
    }

    /// When commits that hold its work may begin: clocks may be wrong by a day.
    pub(super) fn since(&self) -> Option<Timestamp> {
        self.first_edit.map(|time| super::earlier(time, SignedDuration::from_hours(24)))
    }

    /// Every path in the repository that one of its files may be.
    pub(super) fn candidate_paths(&self) -> Vec<String> {
        let mut all: Vec<String> = self.recorded.keys().cloned().collect();
        all.sort();
        all
    }

    /// Those of them that some commits change.
    pub(super) fn paths_in(&self, commits: &[Commit]) -> Vec<String> {
        let changed: HashSet<&str> = commits
            .iter()
            .flat_map(|commit| &commit.files)
            .map(|file| file.path.as_str())
            .collect();
        let mut paths = self.candidate_paths();
        paths.retain(|path| changed.contains(path.as_str()));
        paths
    }

    /// Recorded paths that may be this path of the repository.
    pub(super) fn recorded_as(&self, path: &str) -> &[String] {
        self.recorded.get(path).map_or(&[], Vec::as_slice)
    }

    /// Whether a recorded path may be a path of the repository.
    pub(super) fn means(&self, recorded: &str, path: &str) -> bool {
        self.recorded_as(path).iter().any(|known| known == recorded)
    }
}
