//! MurmurHash3 x64-128 with seed 0, by which OpenTraces and Agent Trace name text.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// `murmur3:` and 32 hexadecimal digits, the second half of the hash first.
pub(super) fn named(text: &str) -> String {
    let (first, second) = hash(text.as_bytes());
    format!("murmur3:{second:016x}{first:016x}")
}

fn hash(bytes: &[u8]) -> (u64, u64) {
    let (mut first, mut second) = (0u64, 0u64);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let block = u128::from_le_bytes(*block);
        first ^= mix_first(block as u64);
        first = first.rotate_left(27).wrapping_add(second);
        first = first.wrapping_mul(5).wrapping_add(0x52dc_e729);
        second ^= mix_second((block >> 64) as u64);
        second = second.rotate_left(31).wrapping_add(first);
        second = second.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let tail = tail.iter().rev().fold(0u128, |sum, byte| sum << 8 | u128::from(*byte));
    second ^= mix_second((tail >> 64) as u64);
    first ^= mix_first(tail as u64);
    first ^= bytes.len() as u64;
    second ^= bytes.len() as u64;
    first = first.wrapping_add(second);
    second = second.wrapping_add(first);
    (first, second) = (finish(first), finish(second));
    first = first.wrapping_add(second);
    second = second.wrapping_add(first);
    (first, second)
}

fn mix_first(key: u64) -> u64 {
    key.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix_second(key: u64) -> u64 {
    key.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn finish(mut key: u64) -> u64 {
    key ^= key >> 33;
    key = key.wrapping_mul(0xff51_afd7_ed55_8ccd);
    key ^= key >> 33;
    key = key.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    key ^ key >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_have_known_hashes() {
        assert_eq!(named("hello"), "murmur3:5b1e906a48ae1d19cbd8a7b341bd9b02");
        assert_eq!(named(""), "murmur3:00000000000000000000000000000000");
        let text = "The quick brown fox jumps over the lazy dog";
        assert_eq!(named(text), "murmur3:7a433ca9c49a9347e34bbc7bbc071b6c");
    }
}
