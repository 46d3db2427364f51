//! Where a path leads.

use std::path::{Component, Path, PathBuf};

/// Where a path leads, links resolved as far as it exists, those that lead to nothing included; the
/// rest as it will be once its folders are made.
pub fn resolve(path: &Path) -> PathBuf {
    /// As many links as systems follow.
    const LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        let place = resolve_existing(&path);
        match std::fs::read_link(&place) {
            Ok(target) => path = place.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return place,
        }
    }
    resolve_existing(&path)
}

fn resolve_existing(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut missing = Vec::new();
    for folder in absolute.ancestors() {
        if let Ok(mut place) = std::fs::canonicalize(folder) {
            for part in missing.iter().rev() {
                match part {
                    Component::ParentDir => _ = place.pop(),
                    part => place.push(part),
                }
            }
            return place;
        }
        missing.extend(folder.components().next_back());
    }
    absolute
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    #[test]
    fn resolve_follows_folders_that_do_not_exist_yet() {
        let folder = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::write(folder.path().join("s"), b"").unwrap();
        for path in ["s", "new/../s", "new/more/../../s", "./new/.././s"] {
            assert_eq!(resolve(&folder.path().join(path)), real.join("s"), "{path}");
        }
        assert_eq!(resolve(&folder.path().join("new/../t/u")), real.join("t/u"));
    }

    #[test]
    #[cfg(unix)]
    fn resolve_follows_broken_links() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(folder.path()).unwrap();
        symlink("two", real.join("one")).unwrap();
        symlink("none/three", real.join("two")).unwrap();
        symlink("circle", real.join("circle")).unwrap();
        assert_eq!(resolve(&real.join("one")), real.join("none/three"));
        assert_eq!(resolve(&real.join("circle")), real.join("circle"));
    }
}
