//! Words of commands in hints.

use std::ffi::OsStr;

/// A word as a shell would want it.
pub(crate) fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
