//! Files that are kept in memory while a session is worked on, so that each is read once.
//!
//! Reading a session finds where its content is; exporting it fetches nearly all of that from the same
//! files. Code that does both calls [`keep_files`] first: what this thread reads then is kept, within limits, and
//! a [`Source`](crate::Source) takes its content from there. The memory is used again for the next
//! session: fresh from the system it costs more than what is read into it.

use crate::file_state::FileState;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes kept for one session, and memory kept between two.
const ROOM: u64 = 16 << 20;

#[derive(Debug, Default)]
struct FileCache {
    active: bool,
    files: Vec<(PathBuf, FileState, Arc<Vec<u8>>)>,
    spare: Vec<Vec<u8>>,
}

thread_local! {
    static CACHE: RefCell<FileCache> = RefCell::default();
}

/// Files that this thread reads are kept until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct KeepFiles(());

/// Keeps what this thread reads from now on.
pub fn keep_files() -> KeepFiles {
    CACHE.with_borrow_mut(|cache| cache.active = true);
    KeepFiles(())
}

impl Drop for KeepFiles {
    fn drop(&mut self) {
        CACHE.with_borrow_mut(|cache| {
            cache.active = false;
            let left = cache.files.drain(..).filter_map(|(_, _, bytes)| Arc::into_inner(bytes));
            // The largest are rare and would leave no room for others.
            cache.spare.extend(left.filter(|space| space.capacity() as u64 <= ROOM / 2));
            // Larger ones cost more.
            cache.spare.sort_unstable_by_key(|space| Reverse(space.capacity()));
            let mut kept = 0;
            cache.spare.retain(|space| {
                kept += space.capacity() as u64;
                kept <= ROOM
            });
            cache.spare.reverse();
        });
    }
}

/// An empty buffer for the whole of a file, if it is to be kept and there is room for it.
pub(super) fn space(state: FileState) -> Option<Vec<u8>> {
    CACHE.with_borrow_mut(|cache| {
        let kept: u64 = cache.files.iter().map(|(_, state, _)| state.size).sum();
        if !cache.active || kept + state.size > ROOM {
            return None;
        }
        let fits = |space: &Vec<u8>| space.capacity() as u64 >= state.size;
        let fitting = cache.spare.iter().position(fits);
        // Rounded up, so that it fits others as well.
        let fresh = || Vec::with_capacity((state.size as usize).next_power_of_two());
        Some(fitting.map(|at| cache.spare.swap_remove(at)).unwrap_or_else(fresh))
    })
}

/// Keeps a file that was read.
pub(super) fn keep(path: &Path, state: FileState, bytes: Vec<u8>) {
    CACHE.with_borrow_mut(|cache| cache.files.push((path.to_path_buf(), state, Arc::new(bytes))));
}

/// A file that is kept, as it was then.
pub(super) fn find(path: &Path, state: FileState) -> Option<Arc<Vec<u8>>> {
    CACHE.with_borrow(|cache| {
        let mut files = cache.files.iter();
        let found = files.find(|(known, then, _)| known == path && *then == state);
        found.map(|(_, _, bytes)| bytes.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::open;

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn file_cache_keeps_files_until_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"some bytes").unwrap();
        let (_, state) = open(&path).unwrap();
        assert!(space(state).is_none(), "not active");
        let keeping = keep_files();
        let mut bytes = space(state).unwrap();
        bytes.extend_from_slice(b"some bytes");
        keep(&path, state, bytes);
        assert_eq!(find(&path, state).unwrap().as_slice(), b"some bytes");
        assert!(find(&folder.path().join("b"), state).is_none());
        drop(keeping);
        assert!(find(&path, state).is_none());
        CACHE.with_borrow(|cache| assert_eq!(cache.spare.len(), 1, "its memory is used again"));
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn file_cache_leaves_large_files_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, vec![b'x'; ROOM as usize + 1]).unwrap();
        let (_, state) = open(&path).unwrap();
        let _holding = keep_files();
        assert!(space(state).is_none());
    }
}
