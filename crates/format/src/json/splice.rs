//! Changing bytes by replacing spans.
//!
//! The only way this project edits a record: what no splice covers is copied byte for byte.

use crate::slice::Part;
use std::ops::Range;

/// One replacement of a byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// Which bytes of the original to replace; empty to insert.
    pub range: Range<usize>,
    /// What to put there.
    pub with: Vec<u8>,
}

/// Why a list of splices cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpliceError {
    /// A range does not lie inside the original.
    OutOfBounds(Range<usize>),
    /// Two ranges overlap.
    Overlap(Range<usize>, Range<usize>),
}

impl std::fmt::Display for SpliceError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpliceError::OutOfBounds(range) => {
                write!(formatter, "bytes {}..{} are outside the record", range.start, range.end)
            }
            SpliceError::Overlap(first, second) => write!(
                formatter,
                "replacements {}..{} and {}..{} overlap",
                first.start, first.end, second.start, second.end
            ),
        }
    }
}

impl std::error::Error for SpliceError {}

/// Applies `splices`, given in any order, to `original`.
///
/// Insertions at the same place keep the order in which they are given.
pub fn splice(original: &[u8], splices: &[Splice]) -> Result<Vec<u8>, SpliceError> {
    let mut ordered: Vec<&Splice> = splices.iter().collect();
    ordered.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let added: usize = ordered.iter().map(|splice| splice.with.len()).sum();
    let mut out = Vec::with_capacity(original.len() + added);
    let mut done = 0;
    let mut previous: Option<&Splice> = None;
    for splice in ordered {
        let range = &splice.range;
        if range.start > range.end || range.end > original.len() {
            return Err(SpliceError::OutOfBounds(range.clone()));
        }
        let Some(untouched) = original.get(done..range.start) else {
            let earlier = previous.map_or(0..0, |earlier| earlier.range.clone());
            return Err(SpliceError::Overlap(earlier, range.clone()));
        };
        out.extend_from_slice(untouched);
        out.extend_from_slice(&splice.with);
        done = range.end;
        previous = Some(splice);
    }
    out.extend_from_slice(original.part(done..));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(range: Range<usize>, with: &str) -> Splice {
        Splice { range, with: with.as_bytes().to_vec() }
    }

    #[test]
    fn replaces_inserts_and_removes() {
        let out = splice(b"0123456789", &[at(8..10, ""), at(2..4, "ab"), at(0..0, "<")]).unwrap();
        assert_eq!(out, b"<01ab4567");
    }

    #[test]
    fn refuses_overlap_and_overflow() {
        assert!(matches!(
            splice(b"0123", &[at(0..2, "x"), at(1..3, "y")]),
            Err(SpliceError::Overlap(..))
        ));
        assert!(matches!(splice(b"01", &[at(1..3, "x")]), Err(SpliceError::OutOfBounds(..))));
    }

    /// Cuts 0..len into disjoint ranges, some of which are replaced.
    fn disjoint() -> impl Strategy<Value = (Vec<u8>, Vec<Splice>)> {
        (
            prop::collection::vec(any::<u8>(), 0..60),
            prop::collection::vec(
                (0usize..9, 0usize..9, prop::collection::vec(any::<u8>(), 0..5)),
                0..8,
            ),
        )
            .prop_map(|(bytes, steps)| {
                let mut splices = Vec::new();
                let mut position = 0;
                for (gap, width, with) in steps {
                    let start = position + gap;
                    let end = start + width;
                    if end > bytes.len() {
                        break;
                    }
                    splices.push(Splice { range: start..end, with });
                    position = end + 1;
                }
                (bytes, splices)
            })
    }

    proptest! {
        #[test]
        fn nothing_to_do_is_identity(bytes: Vec<u8>) {
            prop_assert_eq!(splice(&bytes, &[]).unwrap(), bytes);
        }

        #[test]
        fn order_of_disjoint_splices_does_not_matter((bytes, splices) in disjoint()) {
            let mut reversed = splices.clone();
            reversed.reverse();
            prop_assert_eq!(splice(&bytes, &splices).unwrap(), splice(&bytes, &reversed).unwrap());
        }

        #[test]
        fn one_at_a_time_from_the_back_is_the_same((bytes, splices) in disjoint()) {
            let mut stepwise = bytes.clone();
            for one in splices.iter().rev() {
                stepwise = splice(&stepwise, std::slice::from_ref(one)).unwrap();
            }
            prop_assert_eq!(splice(&bytes, &splices).unwrap(), stepwise);
        }
    }
}
