//! Appending to a journal: one thread writes and syncs, and lines that wait meanwhile go together.
//!
//! Who is about to send waits until the line that says so is on disk; who has an answer hands it over
//! and goes on, since the next line of the same worker cannot overtake it.

use super::entry::Entry;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Why a journal cannot be written.
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

#[derive(Debug, Default)]
struct Shared {
    pending: Mutex<Pending>,
    wake: Condvar,
    synced: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    bytes: Vec<u8>,
    /// Lines that were handed over, and those of them that are on disk.
    taken: u64,
    done: u64,
    closing: bool,
    failed: Option<String>,
}

impl Journal {
    /// Opens or begins a journal. A line that was cut off is ended, so that the next is readable.
    pub fn open(path: &Path) -> Result<Journal, JournalError> {
        let wrong = |cause| JournalError::Io { path: path.to_path_buf(), cause };
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(wrong)?;
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
        let lock = file.try_clone().map_err(wrong)?;
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || theirs.write_all(file))
            .map_err(wrong)?;
        Ok(Journal { shared, thread: Some(thread), _lock: lock })
    }

    /// Hands a line over.
    pub fn add(&self, entry: &Entry) -> Result<(), JournalError> {
        self.put(entry).map(drop)
    }

    /// Hands a line over and waits until it is on disk.
    pub fn add_and_wait(&self, entry: &Entry) -> Result<(), JournalError> {
        let number = self.put(entry)?;
        self.wait(number)
    }

    /// Waits until everything is on disk.
    pub fn flush(&self) -> Result<(), JournalError> {
        let taken = self.shared.lock().taken;
        self.wait(taken)
    }

    fn put(&self, entry: &Entry) -> Result<u64, JournalError> {
        let line = entry.line().map_err(|error| JournalError::Failed(error.to_string()))?;
        let mut pending = self.shared.lock();
        if let Some(failed) = &pending.failed {
            return Err(JournalError::Failed(failed.clone()));
        }
        pending.bytes.extend_from_slice(line.as_bytes());
        pending.taken += 1;
        self.shared.wake.notify_one();
        Ok(pending.taken)
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

    fn write_all(&self, mut file: File) {
        loop {
            let mut pending = self.lock();
            while pending.bytes.is_empty() {
                if pending.closing {
                    return;
                }
                pending = self.wake.wait(pending).unwrap_or_else(PoisonError::into_inner);
            }
            let bytes = std::mem::take(&mut pending.bytes);
            let taken = pending.taken;
            drop(pending);
            let written = file.write_all(&bytes).and_then(|()| file.sync_data());
            let mut pending = self.lock();
            match written {
                Ok(()) => pending.done = taken,
                Err(error) => pending.failed = Some(error.to_string()),
            }
            self.synced.notify_all();
            if pending.failed.is_some() {
                return;
            }
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
