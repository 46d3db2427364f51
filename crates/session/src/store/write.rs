//! Writing files: the only code that does.

use std::io::{self, Write};
use std::path::Path;

/// Replaces a file as a whole or not at all; its permissions stay.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // A link is written through, not replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = target.parent().unwrap_or(folder);
    let mut file = tempfile::Builder::new().prefix(".backstory-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    match std::fs::metadata(&target) {
        Ok(metadata) => file.as_file().set_permissions(metadata.permissions())?,
        Err(_) => {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
            }
        }
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}
