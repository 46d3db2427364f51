//! Which sessions belong to a folder on disk.
//!
//! The name of a project's folder is a lossy form of its path, so it can be computed from a path
//! but never turned back into one; what decides is the `cwd` that records name.

use super::open::read_range;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use unicode_normalization::UnicodeNormalization;

const LONGEST_KEY: usize = 200;

/// The folder name the client uses for `path`: every UTF-16 unit that is not an ASCII letter or
/// digit becomes `-`; past 200 units the rest is replaced by a hash.
pub fn project_key(path: &str) -> String {
    let units: Vec<u16> = path.nfc().collect::<String>().encode_utf16().collect();
    let plain = |unit: &u16| u8::try_from(*unit).ok().filter(u8::is_ascii_alphanumeric);
    let mut key: String = units.iter().map(|unit| plain(unit).map_or('-', char::from)).collect();
    if key.len() > LONGEST_KEY {
        key.truncate(LONGEST_KEY);
        key.push('-');
        key.push_str(&hash(&units));
    }
    key
}

/// The client's 32-bit string hash in base 36.
fn hash(units: &[u16]) -> String {
    let value =
        units.iter().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(*unit)));
    let mut rest = value.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(rest % 36, 36).unwrap_or('0'));
        rest /= 36;
        if rest == 0 {
            return digits.iter().rev().collect();
        }
    }
}

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

    /// The worktree that `path` lies in, without the others of its repository.
    pub fn worktree(path: &Path) -> ProjectScope {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let canonical = std::fs::canonicalize(path).unwrap_or_else(|_| absolute.clone());
        let mut roots = Vec::new();
        for folder in [absolute, canonical] {
            let top = folder.ancestors().find(|folder| folder.join(".git").exists());
            let top = text(top.unwrap_or(&folder));
            if !roots.contains(&top) {
                roots.push(top);
            }
        }
        ProjectScope { roots }
    }

    /// Whether a `cwd` lies in the scope.
    pub fn holds(&self, cwd: &str) -> bool {
        self.roots.iter().any(|root| is_inside(cwd, root))
    }

    /// The paths it consists of.
    pub fn roots(&self) -> &[String] {
        &self.roots
    }
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
    let Some(top) = folder.ancestors().find(|folder| folder.join(".git").exists()) else {
        return Vec::new();
    };
    let Some(common) = common_git_folder(&top.join(".git")) else { return Vec::new() };
    let inside = folder.strip_prefix(top).unwrap_or(Path::new(""));
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
    let others = tops.into_iter().filter(|other| other != top && !other.as_os_str().is_empty());
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

/// The text of a file that names a path. Whatever else somebody put there, such as a pipe, is not
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
    fn keys_follow_the_clients_rule() {
        assert_eq!(project_key("/home/u/my.app_v2 x"), "-home-u-my-app-v2-x");
        assert_eq!(project_key("E:\\道友"), "E----");
        assert_eq!(project_key("/a/🚀"), "-a---", "two UTF-16 units, two dashes");
        let long = format!("/{}", "a".repeat(300));
        let key = project_key(&long);
        assert!(key.starts_with(&format!("-{}-", "a".repeat(199))), "{key}");
        // Checked against the official SDK's implementation of the same hash.
        assert_eq!(hash(&"hello".encode_utf16().collect::<Vec<_>>()), "1n1e4y");
    }

    #[test]
    fn scope_is_by_whole_components() {
        let scope = ProjectScope { roots: vec!["/w/app".into()] };
        assert!(scope.holds("/w/app") && scope.holds("/w/app/src"));
        assert!(!scope.holds("/w/app2") && !scope.holds("/w"));
        let windows = ProjectScope { roots: vec!["C:\\w".into()] };
        assert!(windows.holds("c:\\w\\x"));
    }
}
