//! The folder name Claude Code gives to a project path.
//!
//! Every UTF-16 unit outside `[A-Za-z0-9]` becomes a dash. Beyond 200 units the key is cut and a
//! rolling hash of the whole path is appended, so that long paths stay apart.

const LONGEST: usize = 200;

/// The project key of a path.
#[must_use]
pub fn project_key(path: &str) -> String {
    let mut key = String::with_capacity(path.len());
    for character in path.chars() {
        if character.is_ascii_alphanumeric() {
            key.push(character);
        } else {
            key.extend(std::iter::repeat_n('-', character.len_utf16()));
        }
    }
    if key.len() > LONGEST {
        key.truncate(LONGEST);
        key.push('-');
        key.push_str(&base36(rolling_hash(path).unsigned_abs()));
    }
    key
}

fn rolling_hash(path: &str) -> i32 {
    path.encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[(number % 36) as usize]);
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().map(|&digit| char::from(digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_outside_the_alphabet_becomes_a_dash() {
        assert_eq!(project_key("/home/dev/my_app.v2"), "-home-dev-my-app-v2");
        assert_eq!(project_key("E:\\窯業\\窯業"), "E-------");
        assert_eq!(project_key("/🔥"), "---");
    }

    #[test]
    fn long_paths_are_cut_and_hashed() {
        let path = format!("/{}", "long-folder/".repeat(30));
        let key = project_key(&path);
        assert_eq!(&key[..200], &"-long-folder".repeat(30)[..200]);
        assert_eq!(key.as_bytes()[200], b'-');
        assert!(key.len() > 201 && key.len() <= 208);
    }

    #[test]
    fn the_hash_is_the_one_of_string_hash_codes() {
        assert_eq!(rolling_hash("hello"), 99_162_322);
        assert_eq!(base36(99_162_322), "1n1e4y");
    }
}
