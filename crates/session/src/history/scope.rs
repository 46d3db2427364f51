//! Which recorded paths mean a file.
//!
//! A file is known by its own path, by its path through links, by the same place in the
//! repository's other worktrees (also those the client made below `.claude/worktrees` and that are
//! gone), and by names it had before. Where a project was recorded in another place, the user says
//! so; a path that merely ends alike is never taken.

use super::path::normal_path;
use crate::discover::ProjectScope;
use backstory_store::{Git, Store};
use hashbrown::HashSet;
use std::path::Path;

/// Paths that mean one file or everything below one folder.
#[derive(Debug, Clone, Default)]
pub struct PathScope {
    /// The path that the user named, absolute.
    pub own: String,
    exact: HashSet<String>,
    /// What is before and after the name of a vanished worktree.
    worktrees: Vec<(String, String)>,
}

impl PathScope {
    /// The paths of the file or folder at `path`. `recorded` are places where its project was when
    /// sessions were recorded.
    pub fn new(path: &Path, recorded: &[String], store: &Store) -> PathScope {
        let own = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let own = normal_path(&own.to_string_lossy(), None);
        let mut scope = PathScope { own: own.clone(), ..PathScope::default() };
        scope.exact.insert(own);
        for root in ProjectScope::new(path).roots() {
            scope.exact.insert(normal_path(root, None));
        }
        // A folder may be the top of a repository itself.
        let git = if path.is_dir() {
            Git::holding(&path.join("x"), store)
        } else {
            Git::holding(path, store)
        };
        let inside = git.as_ref().and_then(|git| git.relative(path));
        if let (Some(git), Some(inside)) = (&git, &inside) {
            let top = normal_path(&git.top().to_string_lossy(), None);
            let tail = if inside.is_empty() { String::new() } else { format!("/{inside}") };
            scope.worktrees.push((format!("{top}/.claude/worktrees/"), tail));
        }
        for place in recorded {
            let inside = inside.clone().unwrap_or_else(|| {
                path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
            });
            scope.exact.insert(normal_path(&format!("{place}/{inside}"), None));
        }
        scope
    }

    /// Adds a name the file had before.
    pub fn add(&mut self, path: &str) -> bool {
        self.exact.insert(normal_path(path, None))
    }

    /// Whether a recorded path means this file.
    pub fn is(&self, path: &str) -> bool {
        self.exact.contains(path)
            || self.worktrees.iter().any(|(before, after)| {
                path.strip_prefix(before.as_str())
                    .and_then(|rest| rest.strip_suffix(after.as_str()))
                    .is_some_and(|name| !name.is_empty() && !name.contains('/'))
            })
    }

    /// Where a recorded path is below this folder: the part after the folder's name.
    pub fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        let roots = self.exact.iter().map(String::as_str);
        for root in roots {
            if let Some(rest) = path.strip_prefix(root.trim_end_matches('/')) {
                match rest.strip_prefix('/') {
                    Some(rest) if !rest.starts_with(".claude/worktrees/") => return Some(rest),
                    None if rest.is_empty() => return Some(""),
                    _ => {}
                }
            }
        }
        for (before, after) in &self.worktrees {
            let rest = path.strip_prefix(before.as_str()).and_then(|rest| rest.split_once('/'));
            let after = after.trim_start_matches('/');
            let rest = rest.and_then(|(_, rest)| rest.strip_prefix(after));
            if let Some(rest) = rest {
                return Some(rest.trim_start_matches('/'));
            }
        }
        None
    }

    /// The paths it knows, its own first.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.exact.iter().filter(|name| **name != self.own).cloned().collect();
        names.sort();
        names.insert(0, self.own.clone());
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_file_is_meant() {
        let scope = PathScope::new(
            Path::new("/nowhere/app/src/x.rs"),
            &["/old/app".into()],
            &Store::default(),
        );
        assert!(scope.is("/nowhere/app/src/x.rs"));
        assert!(scope.is("/old/app/x.rs"), "no repository: the name alone");
        assert!(!scope.is("/other/app/src/x.rs"));
        let folder = PathScope::new(Path::new("/nowhere/app"), &[], &Store::default());
        assert_eq!(folder.inside("/nowhere/app/src/x.rs"), Some("src/x.rs"));
        assert_eq!(folder.inside("/nowhere/app2/x.rs"), None);
    }
}
