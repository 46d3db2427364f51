//! Hashes by which equal texts are known within one run.

use std::hash::BuildHasher as _;

pub(super) fn hash(bytes: &[u8]) -> u64 {
    foldhash::fast::FixedState::default().hash_one(bytes)
}

/// A hash of the two ends and the length: enough to know a copy of a long result.
pub(super) fn ends_hash(bytes: &[u8]) -> u64 {
    const END: usize = 512;
    match (bytes.first_chunk::<END>(), bytes.last_chunk::<END>()) {
        (Some(first), Some(last)) => {
            foldhash::fast::FixedState::default().hash_one((first, last, bytes.len()))
        }
        _ => hash(bytes),
    }
}
