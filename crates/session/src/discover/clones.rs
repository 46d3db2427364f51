//! Other clones of a repository on this machine, in which sessions worked.
//!
//! Two folders are clones of the same repository if they have the same remote, if one is the remote
//! of the other, or if one has the other's first commit. Only folders that exist can be compared.

use super::{Found, ProjectScope, repository_top};
use backstory_agents as agents;
use backstory_store::{Git, ReadContext, Store, resolve};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Found {
    /// The other clones of a repository that sessions worked in, with all their worktrees.
    pub fn other_clones(&self, git: &Git) -> Vec<ProjectScope> {
        let own = ProjectScope::new(git.top());
        let context = || ReadContext::new(&self.store);
        let folder = |context: &mut ReadContext, files| agents::summary(files, context).ok()?.cwd;
        let folders: BTreeSet<Arc<str>> =
            self.sessions.par_iter().map_init(context, folder).flatten().collect();
        let tops: BTreeSet<PathBuf> = folders
            .iter()
            .filter(|folder| !own.holds(folder))
            .filter_map(|folder| repository_top(Path::new(&**folder)))
            .map(|top| resolve(&top))
            .filter(|top| !own.holds(&top.to_string_lossy()))
            .collect();
        if tops.is_empty() {
            return Vec::new();
        }
        let this = Identity::of(git);
        let others = tops.par_iter().filter(|top| this.is_of(top, &self.store));
        others.map(|top| ProjectScope::new(top)).collect()
    }
}

/// What clones of a repository have in common.
struct Identity {
    top: PathBuf,
    remote: Option<String>,
    roots: Vec<String>,
}

impl Identity {
    fn of(git: &Git) -> Identity {
        Identity {
            top: resolve(git.top()),
            remote: git.remote().map(|remote| address(&remote)),
            roots: git.root_commits().unwrap_or_default(),
        }
    }

    fn is_of(&self, top: &Path, store: &Store) -> bool {
        let Some(other) = Git::holding(&top.join("x"), store) else { return false };
        let remote = other.remote().map(|remote| address(&remote));
        let leads_to = |remote: &Option<String>, place: &Path| {
            remote.as_ref().is_some_and(|remote| resolve(Path::new(remote)) == place)
        };
        (remote.is_some() && remote == self.remote)
            || leads_to(&remote, &self.top)
            || leads_to(&self.remote, top)
            || self.roots.iter().any(|root| other.has_commit(root))
    }
}

/// The address of a repository without what differs between ways to reach it.
fn address(remote: &str) -> String {
    let plain = remote.trim_end_matches('/');
    let plain = plain.strip_suffix(".git").unwrap_or(plain).trim_end_matches('/');
    let without_user = |text: &str| match text.split_once('@') {
        Some((user, rest)) if !user.contains('/') => rest.to_owned(),
        _ => text.to_owned(),
    };
    if let Some(path) = plain.strip_prefix("file://") {
        return path.to_owned();
    }
    if let Some((_, rest)) = plain.split_once("://") {
        return without_user(rest);
    }
    match plain.split_once(':') {
        // host:path, but not C:\path
        Some((host, path)) if host.len() > 1 && !host.contains('/') => {
            format!("{}/{}", without_user(host), path.trim_start_matches('/'))
        }
        _ => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_is_the_same_however_it_is_reached() {
        for way in [
            "https://example.org/team/app.git",
            "https://me:key@example.org/team/app",
            "git@example.org:team/app.git",
            "ssh://git@example.org/team/app/",
        ] {
            assert_eq!(address(way), "example.org/team/app", "{way}");
        }
        assert_eq!(address("/srv/git/app.git/"), "/srv/git/app");
        assert_eq!(address("file:///srv/git/app"), "/srv/git/app");
        assert_eq!(address("C:\\git\\app"), "C:\\git\\app");
    }
}
