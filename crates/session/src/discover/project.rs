//! Which sessions belong to a folder on disk.
//!
//! The name of a project's folder is a lossy form of its path, so it can be computed from a path
//! but never turned back into one; what decides is the `cwd` that records name.

use backstory_store::read_range;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use unicode_normalization::UnicodeNormalization;

/// A folder and the same folder in every other worktree of its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectScope {
    roots: Vec<String>,
}

impl ProjectScope {
    /// The scope of `path`, which need not exist.
    pub fn new(path: &Path) -> ProjectScope {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let canonical = std::fs::canonicalize(path).unwrap_or_else(|_| absolute.clone());
        let mut roots = vec![text(&absolute)];
        for folder in std::iter::once(canonical.clone()).chain(in_other_worktrees(&canonical)) {
            let folder = text(&folder);
            if !roots.contains(&folder) {
                roots.push(folder);
            }
        }
        ProjectScope { roots }
    }

    /// The scope of the repository that contains `path`: all its worktrees. None outside one.
    pub fn repository(path: &Path) -> Option<ProjectScope> {
        repository_top(path).map(|top| ProjectScope::new(&top))
    }

    /// The worktree that `path` is in, without the others of its repository.
    pub fn worktree(path: &Path) -> ProjectScope {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let canonical = std::fs::canonicalize(path).unwrap_or_else(|_| absolute.clone());
        let mut roots = Vec::new();
        for folder in [absolute, canonical] {
            let top = text(&top_of(&folder).unwrap_or(folder));
            if !roots.contains(&top) {
                roots.push(top);
            }
        }
        ProjectScope { roots }
    }

    /// Whether a `cwd` is in the scope.
    pub fn holds(&self, cwd: &str) -> bool {
        self.roots.iter().any(|root| is_inside(cwd, root))
    }

    /// The paths it consists of.
    pub fn roots(&self) -> &[String] {
        &self.roots
    }
}

/// The top folder of the worktree that contains `path`, which need not exist; as the user names
/// it, links not resolved. None outside a repository.
pub fn repository_top(path: &Path) -> Option<PathBuf> {
    let absolute = without_dots(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
    let resolved = || std::fs::canonicalize(path).ok();
    top_of(&absolute).or_else(|| resolved().and_then(|path| top_of(&path)))
}

fn top_of(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_path_buf)
}

fn is_inside(cwd: &str, root: &str) -> bool {
    let cwd = normal_drive(cwd);
    let root = normal_drive(root);
    let root = root.trim_end_matches(['/', '\\']);
    match cwd.strip_prefix(root) {
        Some(rest) => rest.is_empty() || rest.starts_with(['/', '\\']),
        None => false,
    }
}

/// Windows writes the same drive as `c:` and `C:`.
fn normal_drive(path: &str) -> String {
    let mut path: String = path.nfc().collect();
    if path.as_bytes().get(1) == Some(&b':') {
        path.get_mut(..1).map(str::make_ascii_uppercase);
    }
    path
}

fn text(path: &Path) -> String {
    path.to_string_lossy().nfc().collect()
}

/// The same folder in the repository's other worktrees. Reads git's own files; runs nothing,
/// because a repository's configuration can start programs.
fn in_other_worktrees(folder: &Path) -> Vec<PathBuf> {
    let Some(top) = top_of(folder) else { return Vec::new() };
    let Some(common) = common_git_folder(&top.join(".git")) else { return Vec::new() };
    let inside = folder.strip_prefix(&top).unwrap_or(Path::new(""));
    let mut tops: Vec<PathBuf> = Vec::new();
    if common.file_name() == Some(OsStr::new(".git")) {
        tops.extend(common.parent().map(Path::to_path_buf));
    }
    let worktrees = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    for worktree in worktrees {
        let link = small_file(&worktree.path().join("gitdir")).unwrap_or_default();
        tops.extend(Path::new(link.trim()).parent().map(Path::to_path_buf));
    }
    tops.sort();
    let others = tops.into_iter().filter(|other| *other != top && !other.as_os_str().is_empty());
    others
        .map(|other| if inside.as_os_str().is_empty() { other } else { other.join(inside) })
        .collect()
}

/// The folder shared by all worktrees, given a worktree's `.git` (a folder, or a file naming one).
fn common_git_folder(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_path_buf());
    }
    let link = small_file(git)?;
    let folder = git.parent()?.join(link.strip_prefix("gitdir:")?.trim());
    let common = small_file(&folder.join("commondir"));
    Some(match common {
        Some(common) => without_dots(&folder.join(common.trim())),
        None => folder,
    })
}

/// The text of a file that names a path. Anything else in its place, such as a pipe, is not
/// read.
fn small_file(path: &Path) -> Option<String> {
    let (bytes, _) = read_range(path, 0, 64 << 10).ok()?;
    String::from_utf8(bytes).ok()
}

/// Resolves `..` by name; the folders are git's own and hold no links.
fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_is_by_whole_components() {
        let scope = ProjectScope { roots: vec!["/w/app".into()] };
        assert!(scope.holds("/w/app") && scope.holds("/w/app/src"));
        assert!(!scope.holds("/w/app2") && !scope.holds("/w"));
        let windows = ProjectScope { roots: vec!["C:\\w".into()] };
        assert!(windows.holds("c:\\w\\x"));
    }
}
