//! What distinguishes a file from another, and from itself at another time.

use jiff::Timestamp;

/// What a file was when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// Bytes on the disk.
    pub size: u64,
    /// When it was last changed.
    pub modified: Option<Timestamp>,
    identity: Identity,
}

/// Device and inode, where the system has them.
type Identity = Option<(u64, u64)>;

impl FileState {
    pub(super) fn of(metadata: &std::fs::Metadata) -> FileState {
        FileState {
            size: metadata.len(),
            modified: modified(metadata),
            identity: identity(metadata),
        }
    }

    /// Whether these are facts about the same file, whatever it holds now.
    pub(super) fn is_of(&self, metadata: &std::fs::Metadata) -> bool {
        self.identity == identity(metadata)
    }

    /// Whether this is the same file as `earlier`, possibly longer.
    pub(super) fn continues(&self, earlier: &FileState) -> bool {
        self.identity == earlier.identity && self.size >= earlier.size
    }
}

/// When the file was last changed, where the system keeps that.
pub fn modified(metadata: &std::fs::Metadata) -> Option<Timestamp> {
    Timestamp::try_from(metadata.modified().ok()?).ok()
}

#[cfg(unix)]
fn identity(metadata: &std::fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> Identity {
    None
}
