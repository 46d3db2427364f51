//! JSON in a string whose name tells of a secret: its long random values are the secret, whatever
//! their own names are.

use std::ops::Range;

/// A shorter value is a name or an id.
const SHORTEST: usize = 16;
const MOST: usize = 32;
/// No more of a value is looked at.
const FARTHEST: usize = 64 << 10;

/// The long quoted words in the value at `range`, if that is an object or a list.
pub(crate) fn values(text: &str, range: &Range<usize>) -> Vec<Range<usize>> {
    let Some(value) = text.get(range.clone()) else { return Vec::new() };
    if !value.trim_start().starts_with(['{', '[']) {
        return Vec::new();
    }
    let bytes = value.as_bytes();
    let bytes = bytes.get(..FARTHEST).unwrap_or(bytes);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-.~".contains(&byte);
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() && found.len() < MOST {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_part(**byte)).count();
        let quoted = |place: Option<usize>| {
            let byte = place.and_then(|place| bytes.get(place));
            byte.is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'\\'))
        };
        if length >= SHORTEST && quoted(at.checked_sub(1)) && quoted(Some(at + length)) {
            found.push(range.start + at..range.start + at + length);
        }
        at += length.max(1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_of_an_object_are_found_whatever_they_are_called() {
        let text = r#"{\"name\":\"root\",\"x\":\"8f3a1c77d2b94e05a6c1\"}"#;
        let found = values(text, &(0..text.len()));
        let found: Vec<_> = found.into_iter().filter_map(|range| text.get(range)).collect();
        assert_eq!(found, ["8f3a1c77d2b94e05a6c1"]);
        assert!(values("no object 8f3a1c77d2b94e05a6c1", &(0..30)).is_empty());
    }
}
