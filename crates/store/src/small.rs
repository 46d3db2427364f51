//! Reading small files whole: settings, prices, profiles.
//!
//! Only regular files, and only up to a limit: a path may lead to a device, a pipe or anything else
//! that never ends.

use crate::StoreError;
use crate::open::open;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// More than the few fields have that an agent keeps of a subagent.
pub const LARGEST_META: u64 = 64 << 20;

/// Opens a regular file to be read from its start to its end. A device or a pipe is refused without
/// being waited for.
pub fn open_file(path: &Path) -> io::Result<File> {
    match open(path) {
        Ok((file, _)) => Ok(file),
        Err(StoreError::Io { cause, .. }) => Err(cause),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidInput, error.reason())),
    }
}

/// The bytes of a file that may have at most `most`.
pub fn read_small(path: &Path, most: u64) -> Result<Vec<u8>, StoreError> {
    let (file, state) = open(path)?;
    if state.size > most {
        return Err(StoreError::TooLong { path: path.into(), most });
    }
    let mut bytes = Vec::with_capacity(state.size as usize);
    let read = (&file).take(most + 1).read_to_end(&mut bytes);
    read.map_err(|cause| StoreError::Io { path: path.into(), cause })?;
    if bytes.len() as u64 > most {
        Err(StoreError::TooLong { path: path.into(), most })
    } else {
        Ok(bytes)
    }
}

/// The text of such a file.
pub fn read_small_text(path: &Path, most: u64) -> Result<String, StoreError> {
    String::from_utf8(read_small(path, most)?).map_err(|_| {
        let cause = std::io::Error::new(std::io::ErrorKind::InvalidData, "not valid UTF-8");
        StoreError::Io { path: path.into(), cause }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn only_files_of_a_sensible_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_small_text(&path, 5).unwrap(), "12345");
        let error = read_small(&path, 4).unwrap_err();
        assert!(matches!(error, StoreError::TooLong { .. }), "{error}");
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_small_text(&path, 4).is_err());
        #[cfg(unix)]
        for device in ["/dev/zero", "/dev/null"] {
            let error = read_small(Path::new(device), 1 << 20).unwrap_err();
            assert!(matches!(error, StoreError::NotAFile { .. }), "{error}");
            assert!(open_file(Path::new(device)).is_err());
        }
    }
}
