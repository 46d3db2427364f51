//! Appending to a journal: lines are written at once and synced by a thread of their own.
//!
//! A line is with the system before the writer continues, so a killed program loses none; the sync
//! goes on meanwhile, so that waiting for the disk and waiting for a teacher are one wait. What a loss
//! of power can take are the lines of the last few milliseconds.

use super::entry::Entry;
use backstory_store::Destination;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two syncs: more of them would cost more than they could save.
const REST: Duration = Duration::from_millis(5);

/// Why a journal cannot be written.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("journal `{}`: {cause}", path.display())]
    Io { path: PathBuf, cause: io::Error },
    #[error("journal `{}`: another run is writing to it", .0.display())]
    Busy(PathBuf),
    #[error("journal: {0}")]
    Failed(String),
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Held while the journal is: it carries the lock.
    _lock: File,
}

#[derive(Debug)]
struct Shared {
    pending: Mutex<Pending>,
    wake: Condvar,
    synced: Condvar,
}

#[derive(Debug)]
struct Pending {
    file: File,
    /// Lines that were written, and those of them that are on disk.
    written: u64,
    done: u64,
    closing: bool,
    failed: Option<String>,
}

impl Journal {
    /// Opens or begins a journal. A line that was cut off is ended, so that the next is readable.
    pub fn open(to: &Destination) -> Result<Journal, JournalError> {
        let path = to.shown();
        let wrong = |cause| JournalError::Io { path: path.to_path_buf(), cause };
        // What is appended goes to the file that was named, not to where a link leads.
        if std::fs::symlink_metadata(to.place()).is_ok_and(|there| !there.is_file()) {
            return Err(wrong(io::Error::other("not a regular file")));
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            // It holds what models answered.
            options.mode(0o600);
        }
        let mut file = options.open(to.place()).map_err(wrong)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(JournalError::Busy(path.to_path_buf()));
            }
            Err(std::fs::TryLockError::Error(cause)) => return Err(wrong(cause)),
        }
        if file.metadata().map_err(wrong)?.len() > 0 {
            file.seek(SeekFrom::End(-1)).map_err(wrong)?;
            let mut last = [0];
            file.read_exact(&mut last).map_err(wrong)?;
            if last != *b"\n" {
                file.write_all(b"\n").map_err(wrong)?;
            }
        }
        let (lock, synced) = (file.try_clone().map_err(wrong)?, file.try_clone().map_err(wrong)?);
        let pending = Pending { file, written: 0, done: 0, closing: false, failed: None };
        let (wake, ready) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { pending: Mutex::new(pending), wake, synced: ready });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || theirs.sync_all(&synced))
            .map_err(wrong)?;
        Ok(Journal { shared, thread: Some(thread), _lock: lock })
    }

    /// Writes a line.
    pub fn add(&self, entry: &Entry) -> Result<(), JournalError> {
        self.put(entry).map(drop)
    }

    /// Writes a line and waits until it is on disk.
    pub fn add_and_wait(&self, entry: &Entry) -> Result<(), JournalError> {
        let number = self.put(entry)?;
        self.wait(number)
    }

    /// Waits until everything is on disk.
    pub fn flush(&self) -> Result<(), JournalError> {
        let written = self.shared.lock().written;
        self.wait(written)
    }

    fn put(&self, entry: &Entry) -> Result<u64, JournalError> {
        let line = entry.line().map_err(|error| JournalError::Failed(error.to_string()))?;
        let mut pending = self.shared.lock();
        if let Some(failed) = &pending.failed {
            return Err(JournalError::Failed(failed.clone()));
        }
        if let Err(error) = pending.file.write_all(line.as_bytes()) {
            let cause = error.to_string();
            pending.failed = Some(cause.clone());
            return Err(JournalError::Failed(cause));
        }
        pending.written += 1;
        self.shared.wake.notify_one();
        Ok(pending.written)
    }

    fn wait(&self, number: u64) -> Result<(), JournalError> {
        let mut pending = self.shared.lock();
        loop {
            if let Some(failed) = &pending.failed {
                return Err(JournalError::Failed(failed.clone()));
            }
            if pending.done >= number {
                return Ok(());
            }
            pending = self.shared.synced.wait(pending).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sync_all(&self, file: &File) {
        loop {
            let mut pending = self.lock();
            while pending.done == pending.written {
                if pending.closing {
                    return;
                }
                pending = self.wake.wait(pending).unwrap_or_else(PoisonError::into_inner);
            }
            let written = pending.written;
            drop(pending);
            let synced = file.sync_data();
            let mut pending = self.lock();
            match synced {
                Ok(()) => pending.done = written,
                Err(error) => pending.failed = Some(error.to_string()),
            }
            self.synced.notify_all();
            if pending.failed.is_some() {
                return;
            }
            drop(pending);
            std::thread::sleep(REST);
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
