//! What stands where a secret stood: its kind and a short id.

use sha2::{Digest, Sha256};

/// How every placeholder begins.
pub(super) const OPENING: &str = "[redacted:";

/// `[redacted:github-token:3f2a9c]`. The id is the same for equal values under the same salt, and
/// says nothing about the value to whoever does not know the salt.
pub(super) fn placeholder(rule: &str, value: &str, salt: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update((salt.len() as u64).to_le_bytes());
    hash.update(salt);
    hash.update(value.as_bytes());
    let digest = hash.finalize();
    let mut id = String::with_capacity(6);
    for byte in digest.iter().take(3) {
        id.push_str(&format!("{byte:02x}"));
    }
    format!("{OPENING}{rule}:{id}]")
}
