//! Files and folders that go again: private, with names that tell whose they are.
//!
//! A killed process leaves them behind. Each carries the number of its process and is locked by
//! it; the next run removes those whose process is gone and whose lock is free, in the folders that
//! it uses itself, and nothing else.
#![expect(clippy::disallowed_methods, reason = "creates and removes files, like `write`")]

use crate::StoreError;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// How names of files and folders begin that are on their way to another name.
const HIDDEN: &str = ".backstory-";
/// How names of folders for copies begin.
const COPIES: &str = "backstory-";
const END: &str = ".tmp";

/// A private folder that goes with this value.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// Tells others that it is in use.
    _lock: Option<File>,
}

impl Scratch {
    /// Makes a folder among the temporary files of the system.
    pub fn new() -> io::Result<Scratch> {
        Scratch::within(&std::env::temp_dir(), COPIES)
    }

    /// Makes a hidden one next to its later place.
    pub(super) fn next_to(folder: &Path) -> io::Result<Scratch> {
        Scratch::within(folder, HIDDEN)
    }

    fn within(folder: &Path, start: &str) -> io::Result<Scratch> {
        sweep(folder);
        let prefix = own_prefix(start);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&*prefix).suffix(END);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let folder = builder.tempdir_in(folder)?;
        let lock = File::open(folder.path()).ok().filter(|lock| lock.try_lock().is_ok());
        Ok(Scratch { folder, _lock: lock })
    }

    /// The folder, which is removed with this value.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a new file below the folder, which only the user can read; gives where it is.
    pub fn write<E: From<StoreError>>(
        &self,
        name: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let path = self.folder.path().join(name);
        let failed = |cause: io::Error| StoreError::Io { path: path.clone(), cause };
        let plain = |part| matches!(part, std::path::Component::Normal(_));
        if !name.components().all(plain) {
            return Err(failed(io::ErrorKind::InvalidInput.into()).into());
        }
        if let Some(folder) = path.parent() {
            private_folders(folder).map_err(failed)?;
        }
        let mut options = File::options();
        options.write(true).create_new(true);
        private(&mut options);
        let mut out = BufWriter::with_capacity(64 << 10, options.open(&path).map_err(failed)?);
        write(&mut out)?;
        out.flush().map_err(failed)?;
        Ok(path)
    }
}

/// Only the user may read what is opened with these.
pub(super) fn private(options: &mut std::fs::OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// Creates a folder and those above it, for the user alone.
pub(super) fn private_folders(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// The beginning of names of this process.
pub(super) fn own_prefix(start: &str) -> String {
    format!("{start}{}-", std::process::id())
}

/// A new file with a hidden name that no agent takes for a session, made by `open`. Errors do not
/// say that name: it is not what the user asked for.
pub(super) fn hidden_file(
    folder: &Path,
    mut open: impl FnMut(&Path) -> io::Result<File>,
) -> io::Result<tempfile::NamedTempFile> {
    sweep(folder);
    let made = tempfile::Builder::new()
        .prefix(&*own_prefix(HIDDEN))
        .suffix(END)
        .make_in(folder, |path| open(path))?;
    // Not every file system has locks; the number of the process is there besides.
    drop(made.as_file().try_lock());
    Ok(made)
}

/// Folders that were looked through already: once is enough, and twice would give the same result,
/// so this may be shared by the whole process.
static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);

/// Removes what killed runs left in a folder; once for each folder.
fn sweep(folder: &Path) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.get_or_insert_default().insert(folder.to_path_buf()) {
        return;
    }
    drop(swept);
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(process_of) else { continue };
        if let Ok(there) = entry.path().symlink_metadata()
            && is_abandoned(&entry.path(), &there, process)
        {
            // What cannot be removed is left for the next run.
            drop(if there.is_dir() {
                std::fs::remove_dir_all(entry.path())
            } else {
                std::fs::remove_file(entry.path())
            });
        }
    }
}

/// The process that a name of ours tells.
fn process_of(name: &str) -> Option<u32> {
    let rest = name.strip_prefix(HIDDEN).or_else(|| name.strip_prefix(COPIES))?;
    let (process, random) = rest.strip_suffix(END)?.split_once('-')?;
    let random = random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    process.parse().ok().filter(|_| random)
}

/// Ours, of a process that is gone, and locked by nobody: processes of another container have
/// numbers of their own, but the same locks.
#[cfg(unix)]
fn is_abandoned(path: &Path, there: &std::fs::Metadata, process: u32) -> bool {
    use rustix::process::{Pid, getuid, test_kill_process};
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    let gone = number
        .is_some_and(|process| matches!(test_kill_process(process), Err(rustix::io::Errno::SRCH)));
    if !gone || there.uid() != getuid().as_raw() || !(there.is_file() || there.is_dir()) {
        return false;
    }
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32;
    let opened = File::options().read(true).custom_flags(flags).open(path);
    opened.is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(not(unix))]
fn is_abandoned(_: &Path, _: &std::fs::Metadata, _: u32) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A process that has ended.
    fn gone() -> std::io::Result<u32> {
        let mut child = std::process::Command::new("true").spawn()?;
        let number = child.id();
        child.wait()?;
        Ok(number)
    }

    #[test]
    fn scratch_removes_only_folders_of_killed_runs() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let (gone, own) = (gone().unwrap(), std::process::id());
        let file = |name: &str| {
            std::fs::write(at(name), "text").unwrap();
            name.to_owned()
        };
        let left = [file(&format!(".backstory-{gone}-abcdef.tmp")), {
            let folder = format!("backstory-{gone}-ABC123.tmp");
            std::fs::create_dir_all(at(&folder).join("deep")).unwrap();
            std::fs::write(at(&folder).join("deep/s.jsonl"), "text").unwrap();
            folder
        }];
        let locked = file(&format!(".backstory-{gone}-locked.tmp"));
        let lock = File::open(at(&locked)).unwrap();
        lock.try_lock().unwrap();
        let link = format!(".backstory-{gone}-linked.tmp");
        std::fs::write(at("theirs"), "keep").unwrap();
        std::os::unix::fs::symlink(at("theirs"), at(&link)).unwrap();
        let kept = [
            locked,
            link,
            file(&format!(".backstory-{own}-abcdef.tmp")),
            file(&format!("backstory-{gone}-notes.md")),
            file(&format!(".backstory-{gone}-abcdefg.tmp")),
            file(".backstory-abcdef.tmp"),
            "theirs".to_owned(),
        ];
        let scratch = Scratch::next_to(place.path()).unwrap();
        for name in &left {
            assert!(!at(name).exists(), "{name}");
        }
        for name in &kept {
            assert!(at(name).symlink_metadata().is_ok(), "{name}");
        }
        drop(lock);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(scratch.path()), 0o700);
        let written = scratch.write::<StoreError>(Path::new("deep/s.jsonl"), |_| Ok(())).unwrap();
        assert_eq!((mode(&written), mode(written.parent().unwrap())), (0o600, 0o700));
        assert!(scratch.write::<StoreError>(Path::new("../x"), |_| Ok(())).is_err());
    }
}
