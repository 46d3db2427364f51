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
/// How many letters are looked at behind the first three.
const OTHERS: usize = 5;
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
    /// For each letter behind the first three: a bit for each one that a word has there.
    others: [u64; OTHERS],
    words: Vec<Word>,
    /// The letter that all of them repeat, if they are nothing else.
    repeated: Option<u8>,
}

impl Group {
    fn add(&mut self, word: Word) {
        for (place, letters) in (3..).zip(&mut self.others) {
            *letters |= letter_bit(&word, place);
        }
        let first = self.words.is_empty();
        self.repeated = word.repeated.filter(|_| first || self.repeated == word.repeated);
        self.words.push(word);
    }

    /// Whether one of them may begin with this head.
    #[inline(always)]
    fn may_begin(&self, head: u64) -> bool {
        let has = |(place, letters): (usize, &u64)| letters >> (head >> (8 * place) & 63) & 1;
        (3..).zip(&self.others).map(has).fold(1, |all, one| all & one) != 0
    }
}

/// The bit of the letter at `place`; of none, all.
fn letter_bit(word: &Word, place: u32) -> u64 {
    match word.mask >> (8 * place) & 0xff {
        0 => u64::MAX,
        _ => bit_of(word.head() >> (8 * place)),
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
    /// What is compared of the first eight bytes: which bits do not matter, which bytes there are, and
    /// what they are then.
    fold: u64,
    mask: u64,
    folded: u64,
    number: u32,
    length: u32,
    /// The letter of a word of three or more that has no other.
    repeated: Option<u8>,
    case: Case,
    /// Its letters, if there are more than eight.
    long: Option<Box<[u8]>>,
}

const SMALL: u64 = 0x2020_2020_2020_2020;

impl Word {
    fn new(number: usize, word: &str, case: Case) -> Word {
        let letters = word.as_bytes();
        let bits = 8 * letters.len().min(8);
        let mask = u64::MAX.checked_shr(64 - bits as u32).unwrap_or(0);
        let eight = eight(letters);
        // Only of letters may the bit differ.
        let fold = eight.to_le_bytes().map(|byte| match case {
            Case::Any if byte.is_ascii_alphabetic() => SMALL as u8,
            _ => 0,
        });
        let fold = u64::from_le_bytes(fold);
        let folded = (eight | fold) & mask;
        let repeated = match letters {
            [first, _, _, ..] if letters.iter().all(|letter| letter == first) => Some(*first),
            _ => None,
        };
        let long = (letters.len() > 8).then(|| letters.into());
        let length = u32::try_from(letters.len()).unwrap_or(u32::MAX);
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        Word { fold, mask, folded, number, length, repeated, case, long }
    }

    /// Its first eight letters with the bit that makes capitals small.
    fn head(&self) -> u64 {
        (self.folded | SMALL) & self.mask
    }

    fn length(&self) -> usize {
        self.length as usize
    }

    /// Whether it stands at the beginning of `rest`, whose first eight bytes are given.
    #[inline(always)]
    fn begins(&self, eight: u64, rest: &[u8]) -> bool {
        (eight | self.fold) & self.mask == self.folded
            && rest.len() >= self.length()
            && self.long.as_ref().is_none_or(|letters| {
                rest.get(..letters.len()).is_some_and(|there| match self.case {
                    Case::Exact => *there == **letters,
                    Case::Any => there.eq_ignore_ascii_case(letters),
                })
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
            made.add(number, &word, case, word.len().max(2) - 2, &mut open);
        }
        long.sort_by_cached_key(|(_, word, _)| word.to_ascii_lowercase());
        let share = long.len().div_ceil(BUCKETS - (LONG - 2)).max(1);
        for (rank, (number, word, case)) in long.into_iter().enumerate() {
            made.add(number, &word, case, LONG - 2 + rank / share, &mut open);
        }
        for group in &mut made.groups {
            group.words.sort_by_key(Word::length);
        }
        made
    }

    /// `open` has the bits of the places that were opened for any letter.
    fn add(&mut self, number: usize, word: &str, case: Case, bucket: usize, open: &mut u32) {
        let letters = word.as_bytes();
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
            let firsts = seen(*first, case, FIRST);
            let mut set = |second: usize| {
                for first in firsts {
                    if let Some(lacking) = self.lacking.get_mut(second << 8 | first) {
                        *lacking &= !bit;
                    }
                }
            };
            match letters.get(place + 1) {
                Some(second) => seen(*second, case, SECOND).into_iter().for_each(&mut set),
                None => (0..=SECOND).for_each(&mut set),
            }
        }
        // A shorter word begins with any letters behind its own.
        let others = match letters.len() {
            1 => 32 * 32,
            2 => 32,
            _ => 1,
        };
        let word = Word::new(number, word, case);
        for place in self.places.iter_mut().skip(triple(word.head())).take(others) {
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
        while let Some((at, group)) = self.next(bytes, &mut state) {
            self.compare(bytes, at, group, &mut found);
        }
        // What is left is too short for the search, and so are the last beginnings.
        let rest: [u8; 16] = padded(bytes.get(state.at..).unwrap_or_default());
        let (start, mut last) = (state.at, State { at: 0, ..state });
        let left = bytes.len() - state.at.min(bytes.len());
        while last.at + PLACES + 4 <= rest.len() && last.at < left + PLACES - 1 {
            let mut begun = self.step(&rest, &mut last);
            while let Some(at) = taken(&mut begun, start + last.at) {
                if let Some(group) = at.and_then(|at| Some((at, self.group(bytes, at)?))) {
                    self.compare(bytes, group.0, group.1, &mut found);
                }
            }
        }
    }

    /// The next place where words of a group may begin. By itself, so that nothing of what is done
    /// with a word is in the way of passing over the others.
    #[inline(never)]
    fn next(&self, bytes: &[u8], state: &mut State) -> Option<(usize, &Group)> {
        let mut here = *state;
        loop {
            while let Some(at) = taken(&mut here.begun, here.at) {
                if let Some(group) = at.and_then(|at| Some((at, self.group(bytes, at)?))) {
                    *state = here;
                    return Some(group);
                }
            }
            self.skip(bytes, &mut here);
            if here.begun == 0 {
                *state = here;
                return None;
            }
        }
    }

    /// Goes on to the next four bytes at which words may have begun, or to where fewer are left than
    /// are looked at.
    #[inline(always)]
    fn skip(&self, bytes: &[u8], here: &mut State) {
        let mut rest = bytes.get(here.at..).unwrap_or_default();
        // Two steps with one decision; the last one is made alone.
        while let Some(chunk) = rest.first_chunk::<{ 2 * PLACES + 4 }>() {
            let first = here.open | self.look(chunk.first_chunk());
            let second = first >> 32 | self.look(chunk.last_chunk());
            if (first & second) as u32 != u32::MAX {
                let (all, steps) = if first as u32 != u32::MAX { (first, 1) } else { (second, 2) };
                *here =
                    State { at: here.at + steps * PLACES, open: all >> 32, begun: !(all as u32) };
                return;
            }
            here.at += 2 * PLACES;
            here.open = second >> 32;
            rest = rest.get(2 * PLACES..).unwrap_or_default();
        }
        while here.at + 8 <= bytes.len() && here.begun == 0 {
            here.begun = self.step(bytes, here);
        }
    }

    /// Looks at four bytes and the one behind them. Where words may have begun, bit by bit.
    #[inline(always)]
    fn step(&self, bytes: &[u8], state: &mut State) -> u32 {
        let rest = bytes.get(state.at..).unwrap_or_default();
        let all = state.open | self.look(rest.first_chunk());
        state.at += PLACES;
        state.open = all >> 32;
        !(all as u32)
    }

    /// What four bytes and the one behind them lack, for words that begin there or in the three bytes
    /// before.
    #[inline(always)]
    fn look(&self, eight: Option<&[u8; 8]>) -> u64 {
        let Some(eight) = eight else { return u64::MAX };
        let eight = u64::from_le_bytes(*eight);
        let lacking = |ahead: u32| {
            let pair = (eight >> (8 * ahead)) as usize & BITS;
            self.lacking.get(pair).map_or(0, |lacking| u64::from(*lacking) << (8 * ahead))
        };
        lacking(0) | lacking(1) | lacking(2) | lacking(3)
    }

    /// The words that may begin at a place.
    #[inline(always)]
    fn group(&self, bytes: &[u8], at: usize) -> Option<&Group> {
        let head = eight(bytes.get(at..).unwrap_or_default()) | SMALL;
        let place = self.places.get(triple(head)).copied().unwrap_or_default();
        let group = self.groups.get(usize::from(place)).filter(|group| group.may_begin(head))?;
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        (!continues(group.repeated, before)).then_some(group)
    }

    fn compare(
        &self,
        bytes: &[u8],
        at: usize,
        group: &Group,
        found: &mut impl FnMut(Range<usize>, usize),
    ) {
        let rest = bytes.get(at..).unwrap_or_default();
        let eight = eight(rest);
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        for word in &group.words {
            if word.begins(eight, rest) && !continues(word.repeated, before) {
                found(at..at + word.length(), word.number as usize);
            }
        }
    }
}

/// The first of the places where words may have begun, bit by bit: three bytes before the four that
/// end at `end`, and then at each one. None within, if that is before the text.
#[inline(always)]
fn taken(begun: &mut u32, end: usize) -> Option<Option<usize>> {
    if *begun == 0 {
        return None;
    }
    let place = begun.trailing_zeros() as usize / BUCKETS;
    *begun &= !(0xff << (BUCKETS * place));
    Some((end + place).checked_sub(2 * PLACES - 1))
}

/// How far a search is.
#[derive(Debug, Clone, Copy)]
struct State {
    at: usize,
    /// What is known of words that began in the last three bytes.
    open: u64,
    /// Where words may have begun in the bytes before, bit by bit.
    begun: u32,
}

impl Default for State {
    fn default() -> State {
        // None began before the text.
        State { at: 0, open: 0x00ff_ffff, begun: 0 }
    }
}
