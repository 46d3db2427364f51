//! Multi-pattern search for keywords, each matched exactly or regardless of case.
//!
//! Words are put into eight buckets. A table tells for two neighbouring bytes which buckets have them
//! in which of the first places of a word; what four looks at it agree on is a place where a word of
//! a bucket may begin. Nothing else is done for most bytes: each look depends on the text alone, where
//! an automaton must wait for its state, and there is one decision for four bytes.
//!
//! Measured with all bundled keywords on text of this repository (`benches/keyword_search.rs`, fastest
//! round): 750 MB/s. `aho-corasick` has 316 MB/s with its DFA (2.4 times slower), 158 MB/s with its
//! contiguous NFA (4.8 times) and 12 MB/s with its packed search (64 times), which takes 64 words at
//! once and so needs many passes.
//!
//! A word that is one letter repeated (`AAAA`) is found only where a run of that letter begins: a long
//! run would hold it at every place.

use std::ops::Range;

/// How many neighbours are looked at, and how many bytes at a time.
const PLACES: usize = 4;
const BUCKETS: usize = 8;
/// Shorter words have buckets of their own.
const LONG: usize = 5;
/// The bits of two neighbours that are looked at, which are the same for capitals and small letters
/// in the first.
const BITS: usize = 0x7f5f;
const FIRST: usize = BITS & 0xff;
const SECOND: usize = BITS >> 8;
/// For finding a word by five bits of each of its first three letters.
const TRIPLES: usize = 32 * 32 * 32;

/// Words by how they begin.
#[derive(Debug)]
pub(crate) struct KeywordSearch {
    /// By two neighbours: a byte for each of the first places of a word, last place first, with the
    /// bits of those buckets which do **not** have them there.
    lacking: Box<[u32; BITS + 1]>,
    /// By the first three letters of a word: the place of its group.
    places: Box<[u16; TRIPLES]>,
    groups: Vec<Group>,
}

/// Words with the same first three letters, shortest first.
#[derive(Debug, Clone, Default)]
struct Group {
    words: Vec<Word>,
    /// A bit for each fourth letter that one of them has.
    fourths: u64,
    /// The letter that all of them repeat, if they are nothing else.
    repeated: Option<u8>,
}

impl Group {
    fn add(&mut self, word: Word) {
        self.fourths |= letter_bit(&word, 3);
        let first = self.words.is_empty();
        self.repeated = word.repeated.filter(|_| first || self.repeated == word.repeated);
        self.words.push(word);
    }

    /// Whether one of them may begin with this head.
    #[inline(always)]
    fn may_begin(&self, head: u64) -> bool {
        self.fourths & bit_of(head >> 24) != 0
    }
}

/// The bit of the letter at `place`; of none, all.
fn letter_bit(word: &Word, place: u32) -> u64 {
    match word.mask >> (8 * place) & 0xff {
        0 => u64::MAX,
        _ => bit_of(word.head >> (8 * place)),
    }
}

fn bit_of(letter: u64) -> u64 {
    1 << (letter & 63)
}

/// Which writings of a word are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// As the word is written.
    Exact,
    Any,
}

#[derive(Debug, Clone)]
struct Word {
    number: usize,
    letters: Box<[u8]>,
    case: Case,
    /// The letter of a word of three or more that has no other.
    repeated: Option<u8>,
    /// Its first eight letters with the bit that makes capitals small, and which of them it has.
    head: u64,
    mask: u64,
    /// What is compared of the first eight bytes: which bits do not matter, and what they are then.
    fold: u64,
    folded: u64,
}

const SMALL: u64 = 0x2020_2020_2020_2020;

impl Word {
    fn new(number: usize, word: &str, case: Case) -> Word {
        let letters: Box<[u8]> = word.bytes().collect();
        let bits = 8 * letters.len().min(8);
        let mask = u64::MAX.checked_shr(64 - bits as u32).unwrap_or(0);
        let eight = eight(&letters);
        // Only of letters may the bit differ.
        let fold = eight.to_le_bytes().map(|byte| match case {
            Case::Any if byte.is_ascii_alphabetic() => SMALL as u8,
            _ => 0,
        });
        let fold = u64::from_le_bytes(fold);
        let (head, folded) = ((eight | SMALL) & mask, (eight | fold) & mask);
        let repeated = match &*letters {
            [first, _, _, ..] if letters.iter().all(|letter| letter == first) => Some(*first),
            _ => None,
        };
        Word { number, head, mask, fold, folded, case, repeated, letters }
    }

    /// Whether it stands at the beginning of `rest`, whose first eight bytes are given.
    #[inline(always)]
    fn begins(&self, eight: u64, rest: &[u8]) -> bool {
        (eight | self.fold) & self.mask == self.folded
            && rest.get(..self.letters.len()).is_some_and(|there| {
                there.len() <= 8
                    || match self.case {
                        Case::Exact => *there == *self.letters,
                        Case::Any => there.eq_ignore_ascii_case(&self.letters),
                    }
            })
    }
}

/// Whether the byte before a word is the letter that it repeats, so that a longer run holds it.
#[inline(always)]
fn continues(repeated: Option<u8>, before: Option<u8>) -> bool {
    repeated.is_some() && repeated == before
}

/// The first eight bytes.
#[inline(always)]
fn eight(bytes: &[u8]) -> u64 {
    let eight = bytes.first_chunk().copied().unwrap_or_else(|| padded(bytes));
    u64::from_le_bytes(eight)
}

/// Bytes with nothing behind them.
fn padded<const LENGTH: usize>(bytes: &[u8]) -> [u8; LENGTH] {
    let mut longer = [0; LENGTH];
    let length = bytes.len().min(LENGTH);
    if let Some((to, from)) = longer.get_mut(..length).zip(bytes.get(..length)) {
        to.copy_from_slice(from);
    }
    longer
}

/// What the table sees of a letter in both cases, or twice in one.
fn seen(letter: u8, case: Case, bits: usize) -> [usize; 2] {
    let letters = match case {
        Case::Exact => [letter, letter],
        Case::Any => [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()],
    };
    letters.map(|letter| usize::from(letter) & bits)
}

#[inline(always)]
fn triple(head: u64) -> usize {
    (head as usize & 31) << 10 | ((head >> 8) as usize & 31) << 5 | (head >> 16) as usize & 31
}

impl KeywordSearch {
    pub(crate) fn new(words: &[(String, Case)]) -> KeywordSearch {
        let mut made = KeywordSearch {
            lacking: Box::new([u32::MAX; BITS + 1]),
            places: Box::new([0; TRIPLES]),
            // The first one is that of no word.
            groups: vec![Group::default()],
        };
        let word = |(number, (word, case)): (usize, &(String, Case))| (number, word.clone(), *case);
        let numbered = words.iter().enumerate().map(word).filter(|(_, word, _)| !word.is_empty());
        let (short, mut long): (Vec<_>, Vec<_>) =
            numbered.partition(|(_, word, _)| word.len() < LONG);
        // Short words say less, and would make the others of their bucket say no more.
        let mut open = 0;
        for (number, word, case) in short {
            made.add(Word::new(number, &word, case), word.len().max(2) - 2, &mut open);
        }
        long.sort_by_cached_key(|(_, word, _)| word.to_ascii_lowercase());
        let share = long.len().div_ceil(BUCKETS - (LONG - 2)).max(1);
        for (rank, (number, word, case)) in long.into_iter().enumerate() {
            made.add(Word::new(number, &word, case), LONG - 2 + rank / share, &mut open);
        }
        for group in &mut made.groups {
            group.words.sort_by_key(|word| word.letters.len());
        }
        made
    }

    /// `open` has the bits of the places that were opened for any letter.
    fn add(&mut self, word: Word, bucket: usize, open: &mut u32) {
        let letters = &word.letters;
        for place in 0..PLACES {
            let bit = 1 << (BUCKETS * (PLACES - 1 - place) + bucket);
            if *open & bit != 0 {
                continue;
            }
            let Some(first) = letters.get(place) else {
                // Behind its end a word may be followed by anything.
                *open |= bit;
                self.lacking.iter_mut().for_each(|lacking| *lacking &= !bit);
                continue;
            };
            let firsts = seen(*first, word.case, FIRST);
            let mut set = |second: usize| {
                for first in firsts {
                    if let Some(lacking) = self.lacking.get_mut(second << 8 | first) {
                        *lacking &= !bit;
                    }
                }
            };
            match letters.get(place + 1) {
                Some(second) => seen(*second, word.case, SECOND).into_iter().for_each(&mut set),
                None => (0..=SECOND).for_each(&mut set),
            }
        }
        // A shorter word begins with any letters behind its own.
        let others = match letters.len() {
            1 => 32 * 32,
            2 => 32,
            _ => 1,
        };
        for place in self.places.iter_mut().skip(triple(word.head)).take(others) {
            if *place == 0 {
                *place = u16::try_from(self.groups.len()).unwrap_or(u16::MAX);
                self.groups.push(Group::default());
            }
            if let Some(group) = self.groups.get_mut(usize::from(*place)) {
                group.add(word.clone());
            }
        }
    }

    /// Every word within `span`, by its number.
    pub(crate) fn each(
        &self,
        text: &[u8],
        span: Range<usize>,
        mut found: impl FnMut(Range<usize>, usize),
    ) {
        let Some(bytes) = text.get(span.clone()) else { return };
        let mut found = |range: Range<usize>, number| {
            found(span.start + range.start..span.start + range.end, number);
        };
        let mut state = State::default();
        while let Some(begun) = self.search(bytes, &mut state) {
            self.compare_all(bytes, state.at - PLACES, begun, &mut found);
        }
        // What is left is too short for the search, and so are the last beginnings.
        let rest: [u8; 16] = padded(bytes.get(state.at..).unwrap_or_default());
        let (start, mut last) = (state.at, State { at: 0, ..state });
        let left = bytes.len() - state.at.min(bytes.len());
        while last.at + PLACES + 4 <= rest.len() && last.at < left + PLACES - 1 {
            let begun = self.step(&rest, &mut last);
            if begun != 0 {
                self.compare_all(bytes, start + last.at - PLACES, begun, &mut found);
            }
        }
    }

    /// The next four bytes at which words may have begun, bit by bit. By itself, so that nothing of
    /// what is done with a word is in the way of passing over the others.
    #[inline(never)]
    fn search(&self, bytes: &[u8], state: &mut State) -> Option<u32> {
        let mut here = *state;
        // Two steps with one decision; the last one is made alone.
        while here.at + 2 * PLACES + 4 <= bytes.len() {
            let first = self.step(bytes, &mut here);
            let between = here;
            let second = self.step(bytes, &mut here);
            if first | second != 0 {
                *state = if first != 0 { between } else { here };
                return Some(if first != 0 { first } else { second });
            }
        }
        let mut begun = 0;
        while here.at + 8 <= bytes.len() && begun == 0 {
            begun = self.step(bytes, &mut here);
        }
        *state = here;
        (begun != 0).then_some(begun)
    }

    /// Looks at four bytes and the one behind them. Where words may have begun, bit by bit.
    #[inline(always)]
    fn step(&self, bytes: &[u8], state: &mut State) -> u32 {
        let Some(eight) = bytes.get(state.at..).and_then(|rest| rest.first_chunk::<8>()) else {
            return 0;
        };
        let eight = u64::from_le_bytes(*eight);
        let lacking = |ahead: u32| {
            let pair = (eight >> (8 * ahead)) as usize & BITS;
            self.lacking.get(pair).map_or(0, |lacking| u64::from(*lacking) << (8 * ahead))
        };
        let all = state.open | lacking(0) | lacking(1) | lacking(2) | lacking(3);
        state.at += PLACES;
        state.open = all >> 32;
        !(all as u32)
    }

    /// Compares the words where they may begin: three bytes before `at`, and then at each one.
    fn compare_all(
        &self,
        bytes: &[u8],
        at: usize,
        mut begun: u32,
        found: &mut impl FnMut(Range<usize>, usize),
    ) {
        while begun != 0 {
            let place = begun.trailing_zeros() as usize / BUCKETS;
            begun &= !(0xff << (BUCKETS * place));
            if let Some(at) = (at + place).checked_sub(PLACES - 1) {
                self.compare(bytes, at, found);
            }
        }
    }

    fn compare(&self, bytes: &[u8], at: usize, found: &mut impl FnMut(Range<usize>, usize)) {
        let rest = bytes.get(at..).unwrap_or_default();
        let eight = eight(rest);
        let head = eight | SMALL;
        let place = self.places.get(triple(head)).copied().unwrap_or_default();
        let group = self.groups.get(usize::from(place)).filter(|group| group.may_begin(head));
        let Some(group) = group else { return };
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        if continues(group.repeated, before) {
            return;
        }
        for word in &group.words {
            if word.begins(eight, rest) && !continues(word.repeated, before) {
                found(at..at + word.letters.len(), word.number);
            }
        }
    }
}

/// How far a search is.
#[derive(Debug, Clone, Copy)]
struct State {
    at: usize,
    /// What is known of words that began in the last three bytes.
    open: u64,
}

impl Default for State {
    fn default() -> State {
        // None began before the text.
        State { at: 0, open: 0x00ff_ffff }
    }
}
