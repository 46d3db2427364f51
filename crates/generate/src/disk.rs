//! The only code of the generator that creates files and folders.
#![expect(
    clippy::disallowed_methods,
    reason = "the generator writes its own tree and shares no code with the program it tests"
)]

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};

/// Creates a file that is not there yet, and the folders above it.
pub(crate) fn create(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create folder `{}`", folder.display()))?;
    }
    File::create_new(path).with_context(|| format!("cannot create `{}`", path.display()))
}

/// Writes a whole file.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    fs::write(path, contents).with_context(|| format!("cannot write `{}`", path.display()))
}
