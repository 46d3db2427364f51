//! Client versions, which sort by number and not by letter.

use std::cmp::Ordering;

/// A version as written, `2.1.98`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Version(Box<str>);

impl Version {
    /// The version with this text; anything that is none is unknown.
    pub fn new(text: &str) -> Version {
        if is_version(text) { Version(text.into()) } else { Version::default() }
    }

    /// The version as it was written.
    pub fn as_str(&self) -> &str {
        if self.0.is_empty() { "unknown" } else { &self.0 }
    }

    /// Whether the record named a version.
    pub fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(u32::MAX))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        self.numbers().cmp(other.numbers()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether a text is a version: numbers with dots, perhaps with a suffix.
pub fn is_version(text: &str) -> bool {
    let (numbers, suffix) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let parts: Vec<&str> = numbers.split('.').collect();
    let number = |part: &&str| {
        (1..=5).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    (2..=4).contains(&parts.len())
        && parts.iter().all(number)
        && suffix.len() <= 24
        && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+.".contains(&byte))
}

/// Whether an argument is a version or a range of versions: `2.1.98`, `2.1.0..2.1.50`, `..2.0.76`.
pub fn version_range(text: &str) -> Option<(Version, Version)> {
    let (start, end) = text.split_once("..").unwrap_or((text, text));
    let whole = |part: &str| part.is_empty() || is_version(part);
    if !whole(start) || !whole(end) || (start.is_empty() && end.is_empty()) {
        return None;
    }
    let first = if start.is_empty() { Version::new("0.0.0") } else { Version::new(start) };
    let last = if end.is_empty() { Version::new("99999.0.0") } else { Version::new(end) };
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_by_number() {
        let mut list = ["2.1.98", "2.1.101", "x", "1.0.3", "2.1.9"].map(Version::new);
        list.sort();
        assert_eq!(
            list.map(|version| version.as_str().to_owned()),
            ["1.0.3", "2.1.9", "2.1.98", "2.1.101", "unknown"]
        );
        assert!(!is_version("2.1.1\u{1b}[0m") && !is_version("1") && is_version("2.0.0-beta.1"));
    }
}
