//! Parts of slices whose place our own code computed.
//!
//! A range that follows from an invariant is always inside. Where it is not, the invariant is
//! broken, and an empty part would hide that: tests and fuzzing fail here, releases go on with an
//! empty part. Where content decides whether there is such a part, use `get`.

use std::slice::SliceIndex;

/// Parts of slices and texts that are there by an invariant.
pub trait Part {
    /// The part in `range`.
    #[track_caller]
    fn part<R: SliceIndex<Self, Output = Self>>(&self, range: R) -> &Self;

    /// The part in `range`, to be changed.
    #[track_caller]
    fn part_mut<R: SliceIndex<Self, Output = Self>>(&mut self, range: R) -> &mut Self;
}

impl<T> Part for [T] {
    #[inline]
    fn part<R: SliceIndex<[T], Output = [T]>>(&self, range: R) -> &[T] {
        let part = self.get(range);
        debug_assert!(part.is_some(), "a range that is not inside {} items", self.len());
        part.unwrap_or_default()
    }

    #[inline]
    fn part_mut<R: SliceIndex<[T], Output = [T]>>(&mut self, range: R) -> &mut [T] {
        let length = self.len();
        let part = self.get_mut(range);
        debug_assert!(part.is_some(), "a range that is not inside {length} items");
        part.unwrap_or_default()
    }
}

impl Part for str {
    #[inline]
    fn part<R: SliceIndex<str, Output = str>>(&self, range: R) -> &str {
        let part = self.get(range);
        debug_assert!(part.is_some(), "a range that is no part of {} bytes of text", self.len());
        part.unwrap_or_default()
    }

    #[inline]
    fn part_mut<R: SliceIndex<str, Output = str>>(&mut self, range: R) -> &mut str {
        let length = self.len();
        let part = self.get_mut(range);
        debug_assert!(part.is_some(), "a range that is no part of {length} bytes of text");
        part.unwrap_or_default()
    }
}

/// The item at `at`, which is there by an invariant.
#[inline]
#[track_caller]
pub fn item<T: Clone + Default>(items: &[T], at: usize) -> T {
    let item = items.get(at).cloned();
    debug_assert!(item.is_some(), "item {at} of {}", items.len());
    item.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_items_that_are_there() {
        assert_eq!([1, 2, 3].part(1..), [2, 3]);
        assert_eq!([1, 2, 3].part(3..), [0; 0]);
        assert_eq!("größe".part(..4), "grö");
        [1, 2, 3].part_mut(..2).fill(0);
        assert_eq!(item(&[4, 5], 1), 5);
    }

    #[test]
    #[should_panic(expected = "not inside 3 items")]
    fn a_range_outside_is_found_by_tests() {
        let _ = [1, 2, 3].part(4..);
    }

    #[test]
    #[should_panic(expected = "no part of 7 bytes")]
    fn half_a_character_is_found_by_tests() {
        let _ = "größe".part(..3);
    }
}
