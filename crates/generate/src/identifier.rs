//! Identifiers in the forms the client uses: uuids, and prefixes followed by letters and digits.

use crate::random::Random;

/// A uuid in its usual spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Uuid([u8; 36]);

impl Uuid {
    /// A new one.
    pub(crate) fn new(random: &mut Random) -> Self {
        let bits = (u128::from(random.word()) << 64) | u128::from(random.word());
        let mut text = [b'-'; 36];
        let mut shift = 128;
        for (place, digit) in text.iter_mut().enumerate() {
            if matches!(place, 8 | 13 | 18 | 23) {
                continue;
            }
            shift -= 4;
            let nibble = match place {
                14 => 4,
                19 => 8 | ((bits >> shift) as usize & 3),
                _ => (bits >> shift) as usize & 15,
            };
            *digit = b"0123456789abcdef"[nibble];
        }
        Self(text)
    }

    /// Its 36 characters.
    #[must_use]
    pub(crate) fn text(&self) -> &str {
        // The characters are chosen above from ASCII alone.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl AsRef<[u8]> for Uuid {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// `prefix` and `length` letters and digits.
pub(crate) fn prefixed(random: &mut Random, prefix: &str, length: usize) -> String {
    let alphabet = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut text = String::with_capacity(prefix.len() + length);
    text.push_str(prefix);
    text.extend((0..length).map(|_| char::from(random.pick(alphabet))));
    text
}

/// `length` hexadecimal digits.
pub(crate) fn hex(random: &mut Random, length: usize) -> String {
    (0..length).map(|_| char::from(random.pick(b"0123456789abcdef"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_have_their_form() {
        let uuid = Uuid::new(&mut Random::new(5));
        let parts: Vec<usize> = uuid.text().split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(uuid.text().as_bytes()[14], b'4');
    }
}
