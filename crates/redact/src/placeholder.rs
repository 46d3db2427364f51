//! What stands where a secret stood: its kind and a short id.

use memchr::memmem;
use sha2::{Digest, Sha256};
use std::ops::Range;

/// How every placeholder begins.
pub(crate) const OPENING: &str = "[redacted:";

/// Letters of an id.
const ID: usize = 6;

/// `[redacted:github-token:3f2a9c]`. The id is the same for equal values under the same salt, and
/// says nothing about the value to whoever does not know the salt.
pub(crate) fn placeholder(rule: &str, value: &str, salt: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update((salt.len() as u64).to_le_bytes());
    hash.update(salt);
    hash.update(value.as_bytes());
    let digest = hash.finalize();
    let mut id = String::with_capacity(ID);
    for byte in digest.iter().take(ID / 2) {
        id.push_str(&format!("{byte:02x}"));
    }
    format!("{OPENING}{rule}:{id}]")
}

/// Where placeholders stand in a text that was redacted before.
pub(crate) fn spans(text: &str) -> Vec<Range<usize>> {
    let places = memmem::find_iter(text.as_bytes(), OPENING);
    places.filter_map(|at| Some(at..at + length(text.get(at..)?)?)).collect()
}

/// The length of the placeholder that `text` begins with. Nothing else fits into this form, so
/// that it hides no secret from the rules.
fn length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(OPENING)?;
    let (rule, rest) = rest.split_once(':')?;
    let plain = rule.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    let id = rest.get(..ID)?;
    let hex = id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (plain && rule.len() <= 40 && hex && rest.as_bytes().get(ID) == Some(&b']'))
        .then_some(OPENING.len() + rule.len() + 1 + ID + 1)
}
