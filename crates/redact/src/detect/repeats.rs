//! Text that repeats itself: what a keyword led to is what it led to one period earlier.
//!
//! Each keyword is tried with up to some kilobytes around it. Where keywords are crowded, that is
//! many times the text; where such a text is natural, it mostly repeats itself. The comparison with
//! what stands a period earlier goes on where the last one ended, so it costs no more than the text.

use std::collections::VecDeque;
use std::ops::Range;

/// How much around a keyword may matter to what it leads to.
const BEFORE: usize = 1200;
const BEHIND: usize = 8 << 10;
/// Keywords no farther apart are close to each other, and this many of them are a crowd.
const CLOSE: usize = 64;
const CROWD: usize = 24;
/// How many keywords are remembered, and among how many a period is looked for.
const REMEMBERED: usize = 256;
const NEWEST: usize = 32;

/// Whether nothing of `range` is farther from a keyword than what may matter to it.
pub(crate) fn is_near(keyword: usize, range: &Range<usize>) -> bool {
    keyword.saturating_sub(BEFORE) <= range.start && range.end <= keyword + BEHIND
}

/// What was done at the last keywords of a crowd.
#[derive(Debug)]
pub(crate) struct Repeats<'a, T> {
    text: &'a [u8],
    last: usize,
    crowd: usize,
    seen: VecDeque<Seen<'a, T>>,
    /// Which of them was looked for last.
    looked_for: usize,
    period: usize,
    /// What is the same as one period earlier, and what follows is not if it is `broken`.
    same: Range<usize>,
    broken: bool,
}

/// A keyword, and what it led to.
#[derive(Debug)]
struct Seen<'a, T> {
    place: usize,
    word: &'a str,
    led_to: T,
}

impl<'a, T: Clone> Repeats<'a, T> {
    pub(crate) fn new(text: &'a str) -> Repeats<'a, T> {
        Repeats {
            text: text.as_bytes(),
            last: 0,
            crowd: 0,
            seen: VecDeque::new(),
            looked_for: 0,
            period: 0,
            same: 0..0,
            broken: false,
        }
    }

    /// Whether the keyword at `place` is one of a crowd, so that it is worth remembering.
    pub(crate) fn is_crowded(&mut self, place: usize) -> bool {
        let is_close = place.saturating_sub(self.last) < CLOSE;
        self.last = place;
        self.crowd = if is_close { self.crowd + 1 } else { 0 };
        if self.crowd == 0 {
            self.seen.clear();
        }
        self.crowd > CROWD
    }

    pub(crate) fn remember(&mut self, place: usize, word: &'a str, led_to: T) {
        if self.seen.len() == REMEMBERED {
            self.seen.pop_front();
            self.looked_for = self.looked_for.saturating_sub(1);
        }
        self.seen.push_back(Seen { place, word, led_to });
    }

    /// What the same keyword led to earlier, in the same surroundings, and how far before.
    pub(crate) fn earlier(&mut self, place: usize, word: &str) -> Option<(T, usize)> {
        if place + BEHIND > self.text.len() {
            return None;
        }
        if self.period == 0 || self.broken && place + BEHIND > self.same.end {
            self.begin(place, word);
        }
        if self.period == 0 || place < self.same.start + BEFORE {
            return None;
        }
        self.extend(place + BEHIND);
        let first = self.first_from(place - self.period);
        let earlier = place - self.period;
        let mut there = self.seen.range(first..).take_while(|seen| seen.place == earlier);
        let found = there.find(|seen| std::ptr::eq(seen.word, word))?;
        (place + BEHIND <= self.same.end).then(|| (found.led_to.clone(), self.period))
    }

    /// The first keyword that is not before `place`: mostly one of the next behind the last one.
    fn first_from(&mut self, place: usize) -> usize {
        let is_before = |at: usize| self.seen.get(at).is_some_and(|seen| seen.place < place);
        let mut at = self.looked_for;
        if at.checked_sub(1).is_some_and(|last| !is_before(last)) {
            at = self.seen.partition_point(|seen| seen.place < place);
        }
        while is_before(at) {
            at += 1;
        }
        self.looked_for = at;
        at
    }

    /// Takes the distance to the nearest same keyword for the period, if what follows is the same.
    fn begin(&mut self, place: usize, word: &str) {
        let near = |at: usize| self.text.get(at..at + CLOSE);
        let is_same = |seen: &&Seen<T>| {
            seen.place < place && std::ptr::eq(seen.word, word) && near(seen.place) == near(place)
        };
        let newest = self.seen.iter().rev().take(NEWEST);
        let mut periods = newest.filter(is_same).map(|seen| place - seen.place);
        let nearest = periods.next();
        // What was broken is not taken again if there is another.
        let other = nearest.filter(|one| *one != self.period).or_else(|| periods.next());
        self.period = other.or(nearest).unwrap_or(0);
        self.same = place..place;
        self.broken = false;
    }

    /// Compares up to `end` with what stands a period earlier.
    fn extend(&mut self, end: usize) {
        while !self.broken && self.same.end < end {
            let (at, length) = (self.same.end, (end - self.same.end).min(1 << 10));
            let here = self.text.get(at..at + length);
            let earlier = self.text.get(at - self.period..at - self.period + length);
            match here.zip(earlier) {
                Some((here, earlier)) if here == earlier => self.same.end += length,
                Some((here, earlier)) => {
                    let same = here.iter().zip(earlier).take_while(|(one, two)| one == two);
                    self.same.end += same.count();
                    self.broken = true;
                }
                None => self.broken = true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers every place, and asserts that what is said to be the same is the same.
    fn repeated(text: &str, word: &str) -> usize {
        let mut repeats = Repeats::new(text);
        let (mut count, bytes) = (0, text.as_bytes());
        for (place, _) in text.match_indices(word) {
            if !repeats.is_crowded(place) {
                continue;
            }
            if let Some((was, period)) = repeats.earlier(place, word) {
                assert_eq!(was + period, place);
                let around = |at: usize| bytes.get(at - BEFORE..at + BEHIND).unwrap();
                assert!(around(place) == around(was), "at {place}, {period} before");
                count += 1;
            }
            repeats.remember(place, word, place);
        }
        count
    }

    #[test]
    fn repeats_finds_values_in_the_same_surroundings() {
        let text = "key=1 key: ".repeat(4000);
        assert!(repeated(&text, "key") > 6000);
        let with_another = format!("{text}key=2 {text}");
        assert!(repeated(&with_another, "key") > 12000);
    }

    #[test]
    fn repeats_ignores_values_elsewhere() {
        let numbered: String = (0..4000).map(|number| format!("key={number} ")).collect();
        assert_eq!(repeated(&numbered, "key"), 0);
        assert_eq!(repeated(&"key=1 ".repeat(1000), "key"), 0);
        let far: String = format!("key={}", " ".repeat(CLOSE)).repeat(400);
        assert_eq!(repeated(&far, "key"), 0);
    }

    proptest::proptest! {
        #[test]
        fn nothing_else_is_taken_for_the_same(
            parts in proptest::collection::vec(("[ab]{0,3}", 1usize..900), 1..8),
        ) {
            let text: String = parts.iter().map(|(unit, times)| format!("key{unit}").repeat(4 * times)).collect();
            repeated(&text, "key");
        }
    }
}
