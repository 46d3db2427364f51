//! Files that are kept in memory while a session is worked on, so that each is read once.
//!
//! Reading a session finds where its content stands; exporting it fetches nearly all of that from the same
//! files. Whoever does both reads through a store that is holding what was read, within limits, and
//! a [`Source`](crate::Source) takes its content from there. The memory is used again for the next
//! session: fresh from the system it costs more than what is read into it.

use crate::file_state::FileState;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes kept for one session, and memory kept between two.
const ROOM: u64 = 16 << 20;

/// Files that are kept, and memory of those that were.
#[derive(Debug, Default)]
pub(super) struct FileCache {
    files: Vec<(PathBuf, FileState, Arc<Vec<u8>>)>,
    spare: Vec<Vec<u8>>,
}

impl FileCache {
    /// An empty buffer for the whole of a file, if there is room for it.
    pub(super) fn space(&mut self, state: FileState) -> Option<Vec<u8>> {
        let kept: u64 = self.files.iter().map(|(_, state, _)| state.size).sum();
        if kept + state.size > ROOM {
            return None;
        }
        let fits = |space: &Vec<u8>| space.capacity() as u64 >= state.size;
        let fitting = self.spare.iter().position(fits);
        // Rounded up, so that it fits others as well.
        let fresh = || Vec::with_capacity((state.size as usize).next_power_of_two());
        Some(fitting.map(|at| self.spare.swap_remove(at)).unwrap_or_else(fresh))
    }

    /// Keeps a file that was read.
    pub(super) fn keep(&mut self, path: &Path, state: FileState, bytes: Vec<u8>) {
        self.files.push((path.to_path_buf(), state, Arc::new(bytes)));
    }

    /// A file that is kept, as it was then.
    pub(super) fn find(&self, path: &Path, state: FileState) -> Option<Arc<Vec<u8>>> {
        let mut files = self.files.iter();
        let found = files.find(|(known, then, _)| known == path && *then == state);
        found.map(|(_, _, bytes)| bytes.clone())
    }

    /// Keeps no file any more, but memory for others.
    pub(super) fn release(&mut self) {
        let left = self.files.drain(..).filter_map(|(_, _, bytes)| Arc::into_inner(bytes));
        // The largest are rare and would leave no room for others.
        self.spare.extend(left.filter(|space| space.capacity() as u64 <= ROOM / 2));
        // Larger ones cost more.
        self.spare.sort_unstable_by_key(|space| Reverse(space.capacity()));
        let mut kept = 0;
        self.spare.retain(|space| {
            kept += space.capacity() as u64;
            kept <= ROOM
        });
        self.spare.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadContext, Source, Store, read_file};
    use backstory_format::{Content, Problem, Record, Span, Visitor};

    struct Nothing;

    impl Visitor for Nothing {
        fn record(&mut self, _: &Record<'_>) {}
        fn problem(&mut self, _: Problem) {}
    }

    fn read(path: &Path, context: &mut ReadContext) -> Source {
        let read = read_file(path, context, || Nothing).unwrap();
        Source::new(path, Some(read.state), &context.store)
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn files_are_held_until_they_are_released() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"some bytes").unwrap();
        let is_held = |source: &Source, context: &ReadContext| {
            let held = context.store.held();
            held.is_some_and(|held| held.find(&path, source.state().unwrap()).is_some())
        };
        let mut plain = ReadContext::default();
        let source = read(&path, &mut plain);
        assert!(!is_held(&source, &plain), "nobody wants it");
        let mut holding = ReadContext::new(&plain.store.holding());
        let source = read(&path, &mut holding);
        assert!(is_held(&source, &holding));
        // Replaced: the source still answers from memory.
        std::fs::remove_file(&path).unwrap();
        let content = Content::Text(Span { offset: 5, length: 5 });
        assert_eq!(source.open().unwrap().text(&content).unwrap(), "bytes");
        holding.store.release();
        assert!(!is_held(&source, &holding) && source.open().is_err());
        assert_eq!(holding.store.held().unwrap().spare.len(), 1, "its memory is used again");
        // Another store that holds files has its own.
        assert!(Store::default().holding().held().unwrap().spare.is_empty());
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn large_files_are_not_held() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, vec![b'x'; ROOM as usize + 1]).unwrap();
        let (_, state) = crate::open::open(&path).unwrap();
        assert!(FileCache::default().space(state).is_none());
    }
}
