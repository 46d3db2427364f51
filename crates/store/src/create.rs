//! New files that appear whole or not at all, and never in place of another.
//!
//! Where the system can do it the file has no name while it is written, so that not even a killed
//! process leaves anything behind; elsewhere it has a hidden one that no agent takes for a session.
#![expect(clippy::disallowed_methods, reason = "creates files and folders, like `write`")]

use crate::StoreError;
use crate::scratch::{Scratch, hidden_file, private, private_folders};
use crate::write::sync_folder;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Writes a new file that only the user can read. `prove` sees it complete, before it has its name;
/// if that fails there is no file. Gives its size and what was proved.
pub fn create_file<T, E: From<StoreError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    prove: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<(u64, T), E> {
    let failed = |cause: io::Error| StoreError::Io { path: path.to_path_buf(), cause };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(failed(io::ErrorKind::AlreadyExists.into()).into());
    }
    #[cfg(target_os = "linux")]
    if let Some((file, place)) = nameless::open(folder) {
        let (size, _file) = fill(file, path, write)?;
        let proved = prove(&place)?;
        nameless::name(&place, path).map_err(failed)?;
        sync_folder(folder);
        return Ok((size, proved));
    }
    let fresh = hidden_file(folder, open_private).map_err(failed)?;
    let (file, place) = fresh.into_parts();
    let (size, file) = fill(file, path, write)?;
    drop(file);
    let proved = prove(&place)?;
    place.persist_noclobber(path).map_err(|error| failed(error.error))?;
    sync_folder(folder);
    Ok((size, proved))
}

/// The same, but nothing stays.
pub fn try_file<T, E: From<StoreError>>(
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    prove: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<(u64, T), E> {
    let folder = std::env::temp_dir();
    let failed = |cause: io::Error| StoreError::Io { path: folder.clone(), cause };
    let (file, place) = hidden_file(&folder, open_private).map_err(failed)?.into_parts();
    let (size, file) = fill(file, &folder, write)?;
    drop(file);
    Ok((size, prove(&place)?))
}

fn fill<E: From<StoreError>>(
    file: File,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(u64, File), E> {
    let failed = |cause: io::Error| StoreError::Io { path: path.to_path_buf(), cause };
    let mut out = BufWriter::with_capacity(256 << 10, file);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    Ok((size, file))
}

fn open_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    private(&mut options);
    options.open(path)
}

#[cfg(target_os = "linux")]
mod nameless {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open as open_at};
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::path::{Path, PathBuf};

    /// A file without a name, and the path under which this process reaches it; none where the file
    /// system has no such files.
    pub(super) fn open(folder: &Path) -> Option<(File, PathBuf)> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(open_at(folder, flags, Mode::RUSR | Mode::WUSR).ok()?);
        let place = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        place.exists().then_some((file, place))
    }

    /// Gives it its name, unless that is taken.
    pub(super) fn name(place: &Path, path: &Path) -> io::Result<()> {
        Ok(linkat(CWD, place, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }
}

/// A folder of new files that gets its name when all of them are written.
#[derive(Debug)]
pub struct StagedFolder {
    target: PathBuf,
    staged: Option<Scratch>,
    published: std::cell::Cell<bool>,
}

impl StagedFolder {
    /// Nothing is made before the first file.
    pub fn new(target: PathBuf) -> StagedFolder {
        StagedFolder { target, staged: None, published: false.into() }
    }

    /// Adds a file at a path below the folder.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let failed = |cause: io::Error| StoreError::Io { path: self.target.clone(), cause };
        let staged = match &mut self.staged {
            Some(staged) => staged,
            empty => {
                let above = self.target.parent().unwrap_or(Path::new("."));
                empty.insert(Scratch::next_to(above).map_err(failed)?)
            }
        };
        let path = staged.path().join(name);
        if let Some(folder) = path.parent() {
            private_folders(folder).map_err(failed)?;
        }
        let mut options = File::options();
        options.write(true).create_new(true);
        private(&mut options);
        let mut file = options.open(&path).map_err(failed)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)
    }

    /// Gives the folder its final name.
    pub fn publish(&self) -> Result<(), StoreError> {
        let failed = |cause: io::Error| StoreError::Io { path: self.target.clone(), cause };
        let Some(staged) = &self.staged else { return Ok(()) };
        if std::fs::symlink_metadata(&self.target).is_ok() {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        std::fs::rename(staged.path(), &self.target).map_err(failed)?;
        sync_folder(self.target.parent().unwrap_or(Path::new(".")));
        self.published.set(true);
        Ok(())
    }

    /// Removes the published folder.
    pub fn remove_published(&self) {
        if self.published.get() {
            drop(std::fs::remove_dir_all(&self.target));
        }
    }
}
