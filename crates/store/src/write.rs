//! Writing files: whole or not at all.
//!
//! Everything goes to a fresh file next to the target first, is brought to the disk and then
//! renamed into place. So a reader never sees half of it, not even after a loss of power, and a link
//! planted at the target's name is replaced, not followed.
#![expect(clippy::disallowed_methods, reason = "this is the one place that may")]

use crate::StoreError;
use crate::guard::Destination;
use crate::scratch::{hidden_file, private_folders};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Whoever the user's settings allow: for what holds no text of a session.
    Usual,
    /// The user alone.
    Private,
    /// Whoever the user's settings allow; they may run it, too.
    Program,
    /// Those who could read the file that is replaced; the user alone if there was none.
    AsBefore,
}

impl Access {
    /// The mode of a new file.
    pub(super) fn mode(self) -> u32 {
        match self {
            Access::Usual => 0o666,
            Access::Program => 0o777,
            Access::Private | Access::AsBefore => 0o600,
        }
    }
}

/// Whether a folder is brought to the disk after a file in it got its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderSync {
    Now,
    /// The caller does it for several files at once.
    Later,
}

/// Writes a file in one step; gives its size.
pub fn write_file<E: From<StoreError>>(
    to: &Destination,
    access: Access,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<u64, E> {
    write_and_sync(to, access, FolderSync::Now, write)
}

pub(super) fn write_and_sync<E: From<StoreError>>(
    to: &Destination,
    access: Access,
    sync: FolderSync,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<u64, E> {
    let path = to.place();
    let failed = |cause: io::Error| StoreError::Io { path: to.shown().to_path_buf(), cause };
    if is_stream(path) {
        let file = File::options().append(true).open(path).map_err(failed)?;
        let mut out = BufWriter::with_capacity(64 << 10, file);
        write(&mut out)?;
        out.flush().map_err(failed)?;
        return Ok(0);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let fresh = hidden_file(folder, |path| {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(access.mode());
        }
        options.open(path)
    });
    let (file, place) = fresh.map_err(failed)?.into_parts();
    let mut out = BufWriter::with_capacity(64 << 10, file);
    write(&mut out)?;
    out.flush().map_err(failed)?;
    let size = out.get_ref().metadata().map_err(failed)?.len();
    if access == Access::AsBefore
        && let Ok(before) = std::fs::metadata(path)
    {
        out.get_ref().set_permissions(before.permissions()).map_err(failed)?;
    }
    out.get_ref().sync_all().map_err(failed)?;
    drop(out);
    place.persist(path).map_err(|error| failed(error.error))?;
    if sync == FolderSync::Now {
        sync_folder(folder);
    }
    Ok(size)
}

/// A pipe or a device is written to, not replaced; so is what a link of the system leads to, such as
/// `/dev/stdout`.
fn is_stream(path: &Path) -> bool {
    let special = std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    let of_system = ["/dev", "/proc"].iter().any(|system| path.starts_with(system));
    special || of_system && path.is_symlink()
}

/// So that a name survives a loss of power too; not every system lets a folder be opened.
pub(super) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        drop(folder.sync_all());
    }
}

/// Creates a folder and those above it.
pub fn create_folder(folder: &Destination, access: Access) -> Result<(), StoreError> {
    make_folders(folder.place(), access)
        .map_err(|cause| StoreError::Io { path: folder.shown().into(), cause })
}

/// Creates the folders that a file will lie in.
pub fn create_folder_of(file: &Destination, access: Access) -> Result<(), StoreError> {
    let folder = file.place().parent().unwrap_or(Path::new("."));
    make_folders(folder, access)
        .map_err(|cause| StoreError::Io { path: file.shown().into(), cause })
}

fn make_folders(path: &Path, access: Access) -> io::Result<()> {
    match access {
        Access::Usual | Access::Program => std::fs::create_dir_all(path),
        Access::Private | Access::AsBefore => private_folders(path),
    }
}

/// Removes a file that this program wrote.
pub fn remove_file(file: &Destination) -> Result<(), StoreError> {
    std::fs::remove_file(file.place())
        .map_err(|cause| StoreError::Io { path: file.shown().into(), cause })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn files_are_private_where_they_should_be() {
        use crate::guard::Guard;
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = folder.path().join("made/s");
        let to = Guard::default().file(&path).unwrap();
        create_folder_of(&to, Access::Private).unwrap();
        write_file::<StoreError>(&to, Access::Private, |_| Ok(())).unwrap();
        assert_eq!((mode(&path), mode(&folder.path().join("made"))), (0o600, 0o700));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write_file::<StoreError>(&to, Access::AsBefore, |_| Ok(())).unwrap();
        assert_eq!(mode(&path), 0o640);
        write_file::<StoreError>(&to, Access::Private, |_| Ok(())).unwrap();
        assert_eq!(mode(&path), 0o600);
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
