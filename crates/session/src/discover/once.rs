//! A file that is reached in several ways is one file.
//!
//! Roots may overlap, and one may name a folder by a link or a relative path that another names
//! directly. What is found does not depend on their order: of several names of a file the first in
//! the alphabet is kept, and subagents go to their session whichever way either was found.

use super::Found;
use backstory_model::{AgentFile, SessionFiles};
use hashbrown::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Where files really are.
#[derive(Debug, Default)]
pub(super) struct RealPlaces {
    /// Folders that were resolved already.
    folders: HashMap<PathBuf, PathBuf>,
}

impl RealPlaces {
    /// The path of a file without links.
    pub(super) fn of(&mut self, path: &Path) -> PathBuf {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let folder = self.folders.entry_ref(parent).or_insert_with(|| {
            std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_path_buf())
        });
        let place = folder.join(name);
        match std::fs::symlink_metadata(&place) {
            Ok(metadata) if metadata.is_symlink() => std::fs::canonicalize(&place).unwrap_or(place),
            _ => place,
        }
    }
}

/// Sorts sessions, and the subagents that belong to none of them, and leaves each in once.
pub fn once_each(sessions: &mut Vec<SessionFiles>, agents: &mut Vec<AgentFile>) {
    let mut places = RealPlaces::default();
    sessions_once(sessions, &mut places);
    let below = sessions.iter().flat_map(|files| &files.agents);
    let mut known: HashSet<PathBuf> = below.map(|agent| places.of(&agent.path)).collect();
    agents.sort_by(|a, b| a.path.cmp(&b.path));
    agents.retain(|agent| known.insert(places.of(&agent.path)));
}

fn sessions_once(sessions: &mut Vec<SessionFiles>, places: &mut RealPlaces) {
    sessions.sort_by(|a, b| a.place().cmp(&b.place()));
    let mut kept: Vec<SessionFiles> = Vec::with_capacity(sessions.len());
    let mut known: HashMap<(PathBuf, Option<u64>), usize> = HashMap::new();
    for files in sessions.drain(..) {
        let (path, start) = files.place();
        let key = (places.of(path), start);
        match known.get(&key).and_then(|at| kept.get_mut(*at)) {
            None => {
                known.insert(key, kept.len());
                kept.push(files);
            }
            Some(same) => {
                let mut theirs: HashSet<PathBuf> =
                    same.agents.iter().map(|agent| places.of(&agent.path)).collect();
                let new = |agent: &AgentFile| theirs.insert(places.of(&agent.path));
                same.agents.extend(files.agents.into_iter().filter(new));
                same.agents.sort_by(|a, b| a.path.cmp(&b.path));
            }
        }
    }
    *sessions = kept;
}

impl Found {
    /// Leaves everything in once.
    pub(super) fn once_each(&mut self, agents: &mut Vec<AgentFile>, places: &mut RealPlaces) {
        sessions_once(&mut self.sessions, places);
        agents.sort_by(|a, b| a.path.cmp(&b.path));
        let mut known = HashSet::new();
        agents.retain(|agent| known.insert(places.of(&agent.path)));
        // What one root would pass over another may have named.
        known.extend(self.sessions.iter().map(|files| places.of(&files.path)));
        self.notices.sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
        let mut reported = HashSet::new();
        self.notices.retain(|notice| {
            let place = places.of(&notice.path);
            !known.contains(&place) && reported.insert((place, notice.reason.clone()))
        });
        self.empty.sort();
        self.empty.retain(|path| known.insert(places.of(path)));
    }
}
