//! A home folder of its own for each test.

use crate::{copy_tree, testdata, write_file};
use std::path::Path;

/// A home folder that goes when the test ends.
#[derive(Debug)]
pub struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    /// Without any sessions.
    pub fn empty() -> Home {
        Home { folder: tempfile::tempdir().unwrap() }
    }

    /// With the bundled sample as its sessions.
    pub fn with_sample() -> Home {
        let home = Home::empty();
        copy_tree(&testdata("sample"), &home.path().join(".claude"));
        home
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file below it.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        write_file(&self.path().join(name), bytes);
    }
}
