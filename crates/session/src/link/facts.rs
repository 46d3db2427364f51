//! What a session says that could tie it to commits.

use super::belonging::Belonging;
use super::blobs::{State, states};
use super::lines::Added;
use super::printed::{Printed, printed};
use crate::history::{Gathered, edit_states, extract};
use crate::model::Session;
use crate::store::Commit;
use hashbrown::{HashMap, HashSet};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Everything a session knows of commits, files and lines.
#[derive(Debug)]
pub struct SessionFacts {
    pub session: String,
    pub(super) printed: Vec<Printed>,
    pub(super) states: Vec<State>,
    /// Lines it added, by recorded path.
    pub(super) added: BTreeMap<String, Added>,
    /// Where recorded paths may lie in the repository.
    pub(super) places: BTreeMap<String, Vec<String>>,
    /// Recorded paths that a path of the repository may be.
    recorded: HashMap<String, Vec<String>>,
    pub(super) first_edit: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
}

impl SessionFacts {
    /// Reads them out of a session and its subagents.
    pub fn of(session: &Session, belonging: &Belonging) -> SessionFacts {
        let extracted = extract(session, &|_| true);
        let gathered = Gathered::new(vec![extracted]);
        let mut facts = SessionFacts {
            session: session.id.clone(),
            printed: printed(session),
            states: Vec::new(),
            added: BTreeMap::new(),
            places: BTreeMap::new(),
            recorded: HashMap::new(),
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
        facts
    }

    /// Whether there is nothing that a commit could hold.
    pub fn is_empty(&self) -> bool {
        self.printed.is_empty() && self.places.is_empty()
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
