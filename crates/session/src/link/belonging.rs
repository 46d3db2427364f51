//! Where in a repository the files of a session lie.
//!
//! A path that a session recorded means a file of the repository if it is in one of its working
//! trees, or in a place that the user says it was in. Only if no folder the session worked in is
//! on this machine (it was recorded elsewhere, or the repository was moved) do paths that end alike
//! count; then bytes and lines must decide.

use crate::discover::ProjectScope;
use backstory_model::Session;
use backstory_store::Git;
use std::path::Path;

/// How recorded paths are read.
#[derive(Debug, Clone)]
pub enum Belonging {
    /// The repository was, or is, in these places.
    Places(Vec<String>),
    /// Unknown: paths are compared by their ends.
    Unknown,
    /// The session worked somewhere else.
    Elsewhere,
}

impl Belonging {
    /// What is known of a session; `recorded` are places the user names.
    pub fn of(session: &Session, repository: &Git, recorded: &[String]) -> Belonging {
        let mut places: Vec<String> = recorded.to_vec();
        let scope = ProjectScope::new(repository.top());
        let cwds = || session.walk().into_iter().flat_map(|part| part.cwds.iter());
        let mut here = !recorded.is_empty();
        for cwd in cwds().filter(|cwd| scope.holds(cwd)) {
            here = true;
            // The agent may work in a folder the client made for it.
            if let Some((top, rest)) = cwd.split_once("/.claude/worktrees/") {
                let name = rest.split('/').next().unwrap_or_default();
                places.push(format!("{top}/.claude/worktrees/{name}"));
            }
        }
        if here {
            places.extend(scope.roots().iter().cloned());
            // The longest first: a worktree may lie inside another.
            places.sort_by_key(|place| std::cmp::Reverse(place.len()));
            return Belonging::Places(places);
        }
        if cwds().any(|cwd| Path::new(&**cwd).is_dir()) {
            return Belonging::Elsewhere;
        }
        Belonging::Unknown
    }

    /// Paths in the repository that a recorded path may mean.
    pub(super) fn candidates(&self, recorded: &str) -> Vec<String> {
        match self {
            Belonging::Places(places) => places
                .iter()
                .find_map(|place| recorded.strip_prefix(place.as_str())?.strip_prefix('/'))
                .map(str::to_owned)
                .into_iter()
                .collect(),
            Belonging::Unknown => {
                let mut ends = Vec::new();
                let mut rest = recorded;
                while let Some((_, end)) = rest.split_once('/') {
                    if !end.is_empty() {
                        ends.push(end.to_owned());
                    }
                    rest = end;
                }
                ends
            }
            Belonging::Elsewhere => Vec::new(),
        }
    }
}
