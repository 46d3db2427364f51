//! The name of the folder that a project's sessions are in.

use unicode_normalization::UnicodeNormalization;

const LONGEST_KEY: usize = 200;

/// The folder name the client uses for `path`: every UTF-16 unit that is not an ASCII letter or
/// digit becomes `-`; past 200 units the rest is replaced by a hash.
pub fn project_key(path: &str) -> String {
    let units: Vec<u16> = path.nfc().collect::<String>().encode_utf16().collect();
    let plain = |unit: &u16| u8::try_from(*unit).ok().filter(u8::is_ascii_alphanumeric);
    let mut key: String = units.iter().map(|unit| plain(unit).map_or('-', char::from)).collect();
    if key.len() > LONGEST_KEY {
        key.truncate(LONGEST_KEY);
        key.push('-');
        key.push_str(&hash(&units));
    }
    key
}

/// The client's 32-bit string hash in base 36.
fn hash(units: &[u16]) -> String {
    let value =
        units.iter().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(*unit)));
    let mut rest = value.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(rest % 36, 36).unwrap_or('0'));
        rest /= 36;
        if rest == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_the_clients_rule() {
        assert_eq!(project_key("/home/u/my.app_v2 x"), "-home-u-my-app-v2-x");
        assert_eq!(project_key("E:\\道友"), "E----");
        assert_eq!(project_key("/a/🚀"), "-a---", "two UTF-16 units, two dashes");
        let long = format!("/{}", "a".repeat(300));
        let key = project_key(&long);
        assert!(key.starts_with(&format!("-{}-", "a".repeat(199))), "{key}");
        // Checked against the official SDK's implementation of the same hash.
        assert_eq!(hash(&"hello".encode_utf16().collect::<Vec<_>>()), "1n1e4y");
    }
}
