//! Finding the end of strings, and of what is too deep to index, without reading them.

use memchr::memchr2;

/// Finds the end of the container that starts at `start` by counting brackets only, for records
/// that are too deep to index. Gives `None` when it does not end.
pub fn skim(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0u64;
    let mut at = start;
    loop {
        match *bytes.get(at)? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => at = string_end(bytes, at + 1)?,
            _ => {}
        }
        at += 1;
    }
}

/// Position of the quote that ends the string whose inside starts at `at`. Gives `None` when it does
/// not end.
pub fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skimming_needs_no_depth() {
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        assert_eq!(skim(&deep, 0), Some(200_000));
        assert_eq!(skim(br#"{"a":"}\"]"}x"#, 0), Some(12));
        assert_eq!(skim(b"{[}", 0), None);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(proptest::sample::select(
            b"{}[]\",:\\a \x00\xff".to_vec()), 0..60)) {
            let _ = skim(&bytes, 0);
        }
    }
}
