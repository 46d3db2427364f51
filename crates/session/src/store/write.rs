//! Writing files: whole or not at all.
//!
//! Everything goes to a fresh file beside the target first and is renamed into place, so a reader
//! never sees half of it, and a link planted at the target's name is replaced, not followed.
#![expect(clippy::disallowed_methods, reason = "this is the one place that may")]

use super::open::StoreError;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Component, Path, PathBuf};
use tempfile::NamedTempFile;

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whoever the user's settings allow.
    Usual,
    /// The user alone.
    Private,
    /// Whoever the user's settings allow; they may run it, too.
    Program,
    /// Those who could read the file that is replaced; the user alone if there was none.
    AsBefore,
}

/// Writes a file in one step; gives its size.
pub fn write_file<E: From<StoreError>>(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<u64, E> {
    let failed = |cause: io::Error| StoreError::Io { path: path.to_path_buf(), cause };
    // A pipe or a device is written to, not replaced.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let file = File::options().write(true).open(path).map_err(failed)?;
        let mut out = BufWriter::with_capacity(64 << 10, file);
        write(&mut out)?;
        out.flush().map_err(failed)?;
        return Ok(0);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let fresh = hidden_file(folder.unwrap_or(Path::new(".")), access).map_err(failed)?;
    let (file, place) = fresh.into_parts();
    let mut out = BufWriter::with_capacity(64 << 10, file);
    write(&mut out)?;
    out.flush().map_err(failed)?;
    let size = out.get_ref().metadata().map_err(failed)?.len();
    if access == Access::AsBefore
        && let Ok(before) = std::fs::metadata(path)
    {
        out.get_ref().set_permissions(before.permissions()).map_err(failed)?;
    }
    drop(out);
    place.persist(path).map_err(|error| failed(error.error))?;
    Ok(size)
}

/// A new file with a hidden name that no agent takes for a session. Errors do not tell that name: it
/// is not what the user asked for.
pub(super) fn hidden_file(folder: &Path, access: Access) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".backstory-").suffix(".tmp").make_in(folder, |path| {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(match access {
                Access::Usual => 0o666,
                Access::Program => 0o777,
                Access::Private | Access::AsBefore => 0o600,
            });
        }
        #[cfg(not(unix))]
        let _ = access;
        options.open(path)
    })
}

/// Replaces a file as a whole; its permissions stay, and a link is written through.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let target = std::fs::canonicalize(path);
    let access = if target.is_ok() { Access::AsBefore } else { Access::Usual };
    let target = target.unwrap_or_else(|_| path.to_path_buf());
    write_file(&target, access, |out| {
        out.write_all(bytes).map_err(|cause| StoreError::Io { path: path.to_path_buf(), cause })
    })
    .map(drop)
}

/// Creates a folder and those above it.
pub fn create_folder(path: &Path) -> Result<(), StoreError> {
    std::fs::create_dir_all(path).map_err(|cause| StoreError::Io { path: path.into(), cause })
}

/// Removes a file that this program wrote.
pub fn remove_file(path: &Path) -> Result<(), StoreError> {
    std::fs::remove_file(path).map_err(|cause| StoreError::Io { path: path.into(), cause })
}

/// A file name made from an identifier that may hold anything: the identifier itself if it is
/// plain, else what is plain of it with a hash.
pub fn plain_name(identifier: &str) -> String {
    // The index has this name; some systems do not tell cases apart.
    let taken = identifier.eq_ignore_ascii_case("index");
    if is_plain(identifier) && identifier.len() <= 100 && !taken {
        return identifier.to_owned();
    }
    let kept = identifier.chars().filter(char::is_ascii_alphanumeric).take(40);
    format!("{}-{:016x}", kept.collect::<String>(), hash(identifier)).trim_matches('-').to_owned()
}

/// Letters, digits, `.`, `-`, `_`, and no dot in front: such a name stays in its folder.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['.', '-'])
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// FNV-1a: the same on every machine and in every version.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Where a path leads, links resolved as far as it exists; the rest as it will be once its folders
/// are made.
pub fn resolve(path: &Path) -> PathBuf {
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
mod tests {
    use super::*;

    #[test]
    fn paths_lead_where_they_will_once_their_folders_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(folder.path()).unwrap();
        replace_file(&folder.path().join("s"), b"").unwrap();
        for path in ["s", "new/../s", "new/more/../../s", "./new/.././s"] {
            assert_eq!(resolve(&folder.path().join(path)), real.join("s"), "{path}");
        }
        assert_eq!(resolve(&folder.path().join("new/../t/u")), real.join("t/u"));
    }

    #[test]
    fn names_stay_in_their_folder() {
        assert_eq!(plain_name("3f2a-b.c_d"), "3f2a-b.c_d");
        for odd in ["../../x", "/etc/passwd", "", ".", "..", "a\0b", "-rf", "C:\\x", "INDEX", ".x"]
        {
            let name = plain_name(odd);
            assert!(is_plain(&name) && !name.eq_ignore_ascii_case("index"), "{odd:?}: {name:?}");
        }
        assert_ne!(plain_name("a/b"), plain_name("a\\b"));
        assert!(plain_name(&"é".repeat(9_000)).len() < 100);
    }
}
