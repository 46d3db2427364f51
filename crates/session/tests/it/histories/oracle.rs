//! Lines with their authors, and chance.

/// A line that stands in each of many parts of a file.
pub(crate) const SHARED: &str = "xmlns=\"http://www.w3.org/2000/svg\"";

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    Agent(usize),
    Person,
}

#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) author: Author,
    /// The sessions do not hold enough to tell.
    pub(crate) unknowable: bool,
    /// Since the sessions last knew the file: taken out and put back, re-indented.
    pub(crate) restored: bool,
    pub(crate) reshaped: bool,
}

impl Line {
    pub(crate) fn new(text: String, author: Author) -> Line {
        Line { text, author, unknowable: false, restored: false, reshaped: false }
    }

    /// Too short to be structured from others like it, or the same as many others.
    pub(crate) fn common(&self) -> bool {
        self.shared() || self.text.chars().filter(|letter| letter.is_alphanumeric()).count() < 20
    }

    /// The long line that everybody writes again and again.
    pub(crate) fn shared(&self) -> bool {
        self.text.trim() == SHARED
    }

    pub(crate) fn shape(&self) -> String {
        self.text.split_whitespace().collect()
    }
}

/// A small generator of numbers, the same for the same seed.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit.max(1)
    }

    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}
