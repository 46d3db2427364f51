//! The only code that creates files: whole or not at all.

use super::StoreError;
use std::io::Write;
use std::path::Path;

/// Puts `bytes` into `path`, replacing what was there, in one step: a reader sees the old file or
/// the new one. What is no regular file (a pipe, a terminal) is written to as it is.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let io = |cause: std::io::Error| StoreError::Io { path: path.into(), cause };
    let special = std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if special {
        let mut file = std::fs::OpenOptions::new().write(true).open(path).map_err(io)?;
        return file.write_all(bytes).map_err(io);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".backstory-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: what the user's mask allows.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(io)?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(io)?;
    file.persist(path).map_err(|error| io(error.error))?;
    Ok(())
}
