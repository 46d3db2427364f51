//! Files that are kept in memory while a session is worked on, so that each is read once.
//!
//! Reading a session finds where its content stands; exporting it fetches nearly all of that from the same
//! files. Whoever does both says [`hold`] first: what this thread reads then is kept, within limits, and
//! a [`Source`](crate::Source) takes its content from there. The memory is used again for the next
//! session: fresh from the system it costs more than what is read into it.

use crate::file_state::FileState;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So many bytes are kept for one session, and so many of memory between two.
const ROOM: u64 = 16 << 20;

#[derive(Debug, Default)]
struct Held {
    active: bool,
    files: Vec<(PathBuf, FileState, Arc<Vec<u8>>)>,
    spare: Vec<Vec<u8>>,
}

thread_local! {
    static HELD: RefCell<Held> = RefCell::default();
}

/// Files that this thread reads are kept until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Holding(());

/// Keeps what this thread reads from now on.
pub fn hold() -> Holding {
    HELD.with_borrow_mut(|held| held.active = true);
    Holding(())
}

impl Drop for Holding {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| {
            held.active = false;
            let left = held.files.drain(..).filter_map(|(_, _, bytes)| Arc::into_inner(bytes));
            // The largest are rare and would leave no room for others.
            held.spare.extend(left.filter(|space| space.capacity() as u64 <= ROOM / 2));
            // The larger, the dearer.
            held.spare.sort_unstable_by_key(|space| Reverse(space.capacity()));
            let mut kept = 0;
            held.spare.retain(|space| {
                kept += space.capacity() as u64;
                kept <= ROOM
            });
            held.spare.reverse();
        });
    }
}

/// An empty buffer for the whole of a file, if it is to be kept and there is room for it.
pub(super) fn space(state: FileState) -> Option<Vec<u8>> {
    HELD.with_borrow_mut(|held| {
        let kept: u64 = held.files.iter().map(|(_, state, _)| state.size).sum();
        if !held.active || kept + state.size > ROOM {
            return None;
        }
        let fits = |space: &Vec<u8>| space.capacity() as u64 >= state.size;
        let fitting = held.spare.iter().position(fits);
        // Rounded up, so that it fits others as well.
        let fresh = || Vec::with_capacity((state.size as usize).next_power_of_two());
        Some(fitting.map(|at| held.spare.swap_remove(at)).unwrap_or_else(fresh))
    })
}

/// Keeps a file that was read.
pub(super) fn keep(path: &Path, state: FileState, bytes: Vec<u8>) {
    HELD.with_borrow_mut(|held| held.files.push((path.to_path_buf(), state, Arc::new(bytes))));
}

/// A file that is kept, as it was then.
pub(super) fn find(path: &Path, state: FileState) -> Option<Arc<Vec<u8>>> {
    HELD.with_borrow(|held| {
        let mut files = held.files.iter();
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
    fn files_are_kept_as_long_as_somebody_wants() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"some bytes").unwrap();
        let (_, state) = open(&path).unwrap();
        assert!(space(state).is_none(), "nobody wants it");
        let holding = hold();
        let mut bytes = space(state).unwrap();
        bytes.extend_from_slice(b"some bytes");
        keep(&path, state, bytes);
        assert_eq!(find(&path, state).unwrap().as_slice(), b"some bytes");
        assert!(find(&folder.path().join("b"), state).is_none());
        drop(holding);
        assert!(find(&path, state).is_none());
        HELD.with_borrow(|held| assert_eq!(held.spare.len(), 1, "its memory is used again"));
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn large_files_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, vec![b'x'; ROOM as usize + 1]).unwrap();
        let (_, state) = open(&path).unwrap();
        let _holding = hold();
        assert!(space(state).is_none());
    }
}
