//! SHA-256.

use sha2::{Digest, Sha256};

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// SHA-256 of a text in hexadecimal digits.
pub(super) fn sha256(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

/// SHA-256 of several pieces.
pub fn digest(parts: &[&[u8]]) -> Vec<u8> {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().to_vec()
}
