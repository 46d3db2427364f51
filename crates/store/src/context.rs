//! What readers of files share, and what one thread reads with.
//!
//! A [`Store`] is made once and passed to everything that reads: nothing here is kept for the whole
//! process. Its clones share what they keep. A [`Source`](crate::Source) holds the store that its file
//! was read through, so that content is fetched from what was unpacked or kept then.

use crate::file_cache::FileCache;
use crate::file_state::FileState;
use backstory_format::Limits;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Writes the rows of a table as lines of JSON, and stops when there are more bytes than the limit.
pub type TableReader = fn(&File, u64, &mut Vec<u8>) -> std::io::Result<()>;

/// How long git may be silent, unless somebody says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// How files are read and git is asked, and what is kept of files: the one that was unpacked last, and
/// whole files if it is [`holding`](Store::holding) them.
#[derive(Clone)]
pub struct Store {
    limits: Limits,
    tables: Option<TableReader>,
    git_limit: Duration,
    shared: Arc<Shared>,
    held: Option<Arc<Mutex<FileCache>>>,
}

/// What all clones of a store share.
#[derive(Default)]
struct Shared {
    unpacked: Mutex<Option<Unpacked>>,
    /// Repositories in which git was silent for too long: it is not asked there again.
    silent: Mutex<BTreeSet<PathBuf>>,
}

impl Default for Store {
    fn default() -> Store {
        Store {
            limits: Limits::default(),
            tables: None,
            git_limit: PATIENCE,
            shared: Arc::default(),
            held: None,
        }
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Store").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// A file that was unpacked.
pub(super) struct Unpacked {
    pub(super) path: PathBuf,
    pub(super) state: FileState,
    pub(super) bytes: Arc<Vec<u8>>,
}

impl Store {
    /// The same that reads tables (Parquet), too; without it they are unreadable.
    pub fn with_tables(self, reader: TableReader) -> Store {
        Store { tables: Some(reader), ..self }
    }

    /// The same with other limits.
    pub fn with_limits(self, limits: Limits) -> Store {
        Store { limits, ..self }
    }

    /// The same where git is ended if it is silent for this long.
    pub fn with_git_limit(self, git_limit: Duration) -> Store {
        Store { git_limit, ..self }
    }

    /// The same that keeps files in memory which are read whole, within bounds, until
    /// [`release`](Store::release): for one thread, which reads a session and then fetches most of
    /// its content.
    pub fn holding(&self) -> Store {
        Store { held: Some(Arc::default()), ..self.clone() }
    }

    /// Drops the files that are held. Their memory is used again for the next.
    pub fn release(&self) {
        if let Some(mut held) = self.held() {
            held.release();
        }
    }

    /// Bounds for reading.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    pub(super) fn tables(&self) -> Option<TableReader> {
        self.tables
    }

    pub(super) fn held(&self) -> Option<MutexGuard<'_, FileCache>> {
        self.held.as_ref().map(|held| held.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn git_limit(&self) -> Duration {
        self.git_limit
    }

    /// Whether git was silent in the repository with this top folder.
    pub(super) fn was_silent(&self, top: &Path) -> bool {
        self.silent().contains(top)
    }

    /// Notes that it was.
    pub(super) fn note_silent(&self, top: &Path) {
        self.silent().insert(top.to_path_buf());
    }

    fn silent(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.shared.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file that was unpacked last.
    pub(super) fn last_unpacked(&self) -> MutexGuard<'_, Option<Unpacked>> {
        self.shared.unpacked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one thread reads with, from file to file: the store, and memory that is used again.
#[derive(Debug, Default)]
pub struct ReadContext {
    /// How files are read.
    pub store: Store,
    /// For lines, or the start of a file.
    pub buffer: Vec<u8>,
    /// For the end of a file.
    pub tail: Vec<u8>,
}

impl ReadContext {
    /// A context with empty buffers.
    pub fn new(store: &Store) -> ReadContext {
        ReadContext { store: store.clone(), ..ReadContext::default() }
    }
}
