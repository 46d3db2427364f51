//! The keys of an object, as far as its bytes are there.
//!
//! A row of a benchmark can be megabytes long and names itself at its end, so that its first bytes
//! are no JSON yet. What stands inside of values is passed over and cannot be taken for a key.

use backstory_format::json::{self, string_end};
use backstory_format::slice::Part;
use std::borrow::Cow;

/// What an object shows.
#[derive(Debug, Default)]
pub(super) struct Skimmed<'a> {
    /// Each key with what stands behind it if that is a whole string, as it is written.
    pub(super) keys: Vec<(Cow<'a, str>, Option<&'a [u8]>)>,
    /// Whether the bytes end before the object does.
    pub(super) cut: bool,
}

impl Skimmed<'_> {
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(known, _)| known == key)
    }

    /// A text, where it is written without escapes.
    pub(super) fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        let (_, text) = self.keys.iter().find(|(known, _)| known == key)?;
        text.map(String::from_utf8_lossy)
    }
}

/// The keys of the object that `bytes` begin with; none where they begin with something else.
pub(super) fn skim(bytes: &[u8]) -> Option<Skimmed<'_>> {
    let mut rest = bytes.trim_ascii_start().strip_prefix(b"{")?;
    let mut found = Skimmed { cut: true, ..Skimmed::default() };
    loop {
        rest = rest.trim_ascii_start();
        match rest.first() {
            Some(b',') => rest = rest.part(1..),
            Some(b'"') => {
                let Some((key, behind)) = string(rest) else { return Some(found) };
                let Some(value) = behind.trim_ascii_start().strip_prefix(b":") else {
                    found.cut = behind.trim_ascii_start().is_empty();
                    return Some(found);
                };
                let value = value.trim_ascii_start();
                let whole = value.starts_with(b"\"").then(|| string(value)).flatten();
                found.keys.push((String::from_utf8_lossy(key), whole.map(|(text, _)| text)));
                match whole.map(|(_, behind)| behind).or_else(|| after_value(value)) {
                    Some(behind) => rest = behind,
                    None => return Some(found),
                }
            }
            None => return Some(found),
            // The end, or what is no JSON.
            Some(_) => {
                found.cut = false;
                return Some(found);
            }
        }
    }
}

/// The inside of the string that `bytes` begin with, and what follows it.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = string_end(bytes, 1)?;
    Some((bytes.get(1..end)?, bytes.get(end + 1..)?))
}

/// What follows the value that `bytes` begin with, if it ends in them.
fn after_value(bytes: &[u8]) -> Option<&[u8]> {
    let end = match bytes.first()? {
        b'"' => string_end(bytes, 1)? + 1,
        b'{' | b'[' => json::skim(bytes, 0)?,
        // What is no value has no end.
        _ => bytes.iter().position(|byte| b",:]}\"[{ \n\r\t".contains(byte))?.max(1),
    };
    bytes.get(end..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> (String, bool) {
        let found = skim(text.as_bytes()).unwrap();
        let keys: Vec<&str> = found.keys.iter().map(|(key, _)| &**key).collect();
        (keys.join(" "), found.cut)
    }

    #[test]
    fn keys_of_the_object_itself() {
        let text = r#" {"a" : [{"b":"]}\"\\"},[]], "c":-1.5e3 ,"d":"x\"{", "e":null}"#;
        assert_eq!(keys(text), ("a c d e".into(), false));
        assert_eq!(skim(text.as_bytes()).unwrap().text("d").unwrap(), r#"x\"{"#);
        assert!(skim(text.as_bytes()).unwrap().text("a").is_none());
        assert!(skim(b"[1]").is_none());
    }

    #[test]
    fn a_cut_anywhere_shows_the_keys_before_it() {
        let text = r#"{"a":[{"b":"c\"d"}],"e":{"f":1},"g":"h"}"#;
        for end in 1..text.len() {
            let (found, cut) = keys(&text[..end]);
            assert!("a e g".starts_with(&found) && cut, "{end}: {found}");
        }
    }

    #[test]
    fn skim_stops_at_invalid_json() {
        for text in ["{x", "{\"a\" 1", "{\"a\":]", "{\"a\":}x", "{\"a\":1]\"b\":2"] {
            skim(text.as_bytes()).unwrap();
        }
        assert_eq!(keys("{\"a\" 1"), (String::new(), false));
    }
}
