//! Ranges of client versions.

use std::cmp::Ordering;

/// Which versions are known to be fine; all clauses must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRange {
    clauses: Vec<Clause>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Clause {
    /// `2.1.x`, `2.1`: these numbers, then any.
    Begins(Vec<u64>),
    Compared(Comparison, Vec<u64>),
    /// `2.0..2.2`: from the first up to before the second.
    Between(Vec<u64>, Vec<u64>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

/// What is done about messages of clients outside the range, or of unknown ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUnknown {
    /// States are made, and the caller reports it.
    Warn,
    /// The caller gives up.
    Fail,
    /// States are made.
    Ignore,
    /// No states are made; they are counted.
    Skip,
}

impl VersionRange {
    /// Reads `2.1.x`, `>=2.0.70,<2.2` or `2.0..2.2`; none for anything else.
    pub fn parse(text: &str) -> Option<VersionRange> {
        let clauses: Option<Vec<Clause>> =
            text.split(',').map(|part| clause(part.trim())).collect();
        clauses.map(|clauses| VersionRange { clauses })
    }

    /// Whether a version is in the range.
    pub fn contains(&self, version: &str) -> bool {
        let Some(version) = numbers(version.split(['-', '+', ' ']).next().unwrap_or(version))
        else {
            return false;
        };
        self.clauses.iter().all(|clause| match clause {
            Clause::Begins(start) => {
                let mut padded = version.clone();
                padded.resize(padded.len().max(start.len()), 0);
                padded.starts_with(start)
            }
            Clause::Compared(comparison, bound) => {
                let order = compare(&version, bound);
                match comparison {
                    Comparison::Less => order == Ordering::Less,
                    Comparison::AtMost => order != Ordering::Greater,
                    Comparison::Equal => order == Ordering::Equal,
                    Comparison::AtLeast => order != Ordering::Less,
                    Comparison::More => order == Ordering::Greater,
                }
            }
            Clause::Between(from, to) => {
                compare(&version, from) != Ordering::Less && compare(&version, to) == Ordering::Less
            }
        })
    }
}

fn clause(text: &str) -> Option<Clause> {
    if let Some((from, to)) = text.split_once("..") {
        return Some(Clause::Between(numbers(from.trim())?, numbers(to.trim())?));
    }
    let signs = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        (">", Comparison::More),
        ("<", Comparison::Less),
        ("=", Comparison::Equal),
    ];
    for (sign, comparison) in signs {
        if let Some(rest) = text.strip_prefix(sign) {
            return Some(Clause::Compared(comparison, numbers(rest.trim())?));
        }
    }
    let start = text.trim_end_matches(".x").trim_end_matches(".*");
    Some(Clause::Begins(numbers(start)?))
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    let text = text.trim_start_matches(['v', 'V']);
    text.split('.').map(|part| part.parse().ok()).collect()
}

fn compare(one: &[u64], other: &[u64]) -> Ordering {
    let longest = one.len().max(other.len());
    let at = |numbers: &[u64], at: usize| numbers.get(at).copied().unwrap_or(0);
    (0..longest)
        .map(|index| at(one, index).cmp(&at(other, index)))
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::VersionRange;

    #[test]
    fn ranges_hold_what_they_say() {
        for (range, inside, outside) in [
            ("2.1.x", "2.1.143", "2.10.1"),
            ("2.1", "2.1", "2.0.99"),
            (">=2.0.70,<2.2", "2.1.5", "2.2.0"),
            (">=2.0.70, <2.2", "2.0.70", "2.0.69"),
            ("2.0..2.2", "2.1.999", "2.2"),
            ("<=1.0.30", "1.0.30", "1.0.31"),
            ("=2.1.3", "v2.1.3", "2.1.3.1"),
            (">2", "2.0.1", "2.0.0"),
            ("2.1.*", "2.1.0-beta.1", "unknown"),
        ] {
            let range_of = VersionRange::parse(range).unwrap();
            assert!(range_of.contains(inside), "{range}: {inside}");
            assert!(!range_of.contains(outside), "{range}: {outside}");
        }
        for bad in ["", "two", ">=", "1..x", "2.1,,3"] {
            assert_eq!(VersionRange::parse(bad), None, "{bad}");
        }
    }
}
