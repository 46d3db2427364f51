//! Finding a few dozen words in much text, whatever their case.
//!
//! A table says which three letters begin a word, and nothing else is done for most letters: each
//! look at it depends on the text alone, where an automaton must wait for its state. Not for many
//! words: when most triples begin one, an automaton is faster.

use std::ops::Range;

/// Letters, digits and most signs have a class of their own, capitals that of their small letter.
const CLASSES: [u8; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn classes() -> [u8; 256] {
    let mut classes = [63; 256];
    let signs = b" !\"#$%&'()*+,-./:;<=>?@[\\]^_`";
    let mut byte = 0;
    while byte < 26 {
        classes[b'a' as usize + byte] = byte as u8;
        classes[b'A' as usize + byte] = byte as u8;
        byte += 1;
    }
    byte = 0;
    while byte < 10 {
        classes[b'0' as usize + byte] = 26 + byte as u8;
        byte += 1;
    }
    byte = 0;
    while byte < signs.len() {
        let class = 36 + byte;
        classes[signs[byte] as usize] = if class < 63 { class as u8 } else { 63 };
        byte += 1;
    }
    classes
}

fn class(byte: u8) -> usize {
    usize::from(CLASSES.get(usize::from(byte)).copied().unwrap_or(63))
}

/// Words by how they begin.
#[derive(Debug)]
pub(super) struct Triples {
    /// By the classes of two letters: which third ones begin a word.
    thirds: Box<[u64; PAIRS]>,
    /// By the classes of two letters: the words, shortest first.
    words: Vec<Vec<(usize, Box<[u8]>)>>,
}

const PAIRS: usize = 64 * 64;

impl Triples {
    pub(super) fn new(words: &[String]) -> Triples {
        let mut thirds = Box::new([0; PAIRS]);
        let mut known: Vec<Vec<(usize, Box<[u8]>)>> = vec![Vec::new(); PAIRS];
        for (number, word) in words.iter().enumerate() {
            let mut letters = word.bytes().map(class);
            let Some(first) = letters.next() else { continue };
            let (second, third) = (letters.next(), letters.next());
            for pair in 0..PAIRS {
                if pair >> 6 != first || second.is_some_and(|second| pair & 63 != second) {
                    continue;
                }
                if let (Some(thirds), Some(known)) = (thirds.get_mut(pair), known.get_mut(pair)) {
                    *thirds |= third.map_or(u64::MAX, |third| 1 << third);
                    known.push((number, word.bytes().collect()));
                }
            }
        }
        known.iter_mut().for_each(|words| words.sort_by_key(|(_, word)| word.len()));
        Triples { thirds, words: known }
    }

    /// Every word within `span`, by its number.
    pub(super) fn each(
        &self,
        text: &[u8],
        span: Range<usize>,
        mut found: impl FnMut(Range<usize>, usize),
    ) {
        let Some(bytes) = text.get(span.clone()) else { return };
        let mut found = |range: Range<usize>, number| {
            found(span.start + range.start..span.start + range.end, number);
        };
        let [first, second, rest @ ..] = bytes else {
            return self.compare(
                bytes,
                0,
                bytes.first().map_or(0, |byte| class(*byte) << 6 | 63),
                &mut found,
            );
        };
        let thirds = &*self.thirds;
        let mut pair = class(*first) << 6 | class(*second);
        for (at, byte) in rest.iter().enumerate() {
            let third = class(*byte);
            if thirds.get(pair).is_some_and(|thirds| thirds >> third & 1 != 0) {
                self.compare(bytes, at, pair, &mut found);
            }
            pair = (pair << 6 | third) & (PAIRS - 1);
        }
        // Words of one or two letters may stand at the end.
        self.compare(bytes, bytes.len() - 2, pair, &mut found);
        self.compare(bytes, bytes.len() - 1, (pair << 6 | 63) & (PAIRS - 1), &mut found);
    }

    fn compare(
        &self,
        bytes: &[u8],
        at: usize,
        pair: usize,
        found: &mut dyn FnMut(Range<usize>, usize),
    ) {
        for (number, word) in self.words.get(pair).into_iter().flatten() {
            let range = at..at + word.len();
            if bytes.get(range.clone()).is_some_and(|there| there.eq_ignore_ascii_case(word)) {
                found(range, *number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_they_stand_and_however_they_are_written() {
        let words: Vec<String> =
            ["@", "pw", "pass", "password", "key", "://", "Z~`"].map(str::to_owned).to_vec();
        let triples = Triples::new(&words);
        let oracle = aho_corasick::AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&words)
            .unwrap();
        for text in [
            "",
            "@",
            "pw",
            "a@",
            "PassWord",
            "https://p@ss.key",
            "xpWkEy",
            "no",
            "p",
            "z~`Z~`@@",
            "\u{e9}@\u{e9}pw",
            "passpasswordpw",
        ] {
            for start in 0..=text.len() {
                let mut ours = Vec::new();
                triples.each(text.as_bytes(), start..text.len(), |range, number| {
                    ours.push((range, number));
                });
                let input = aho_corasick::Input::new(text.as_bytes()).span(start..text.len());
                let mut theirs: Vec<(Range<usize>, usize)> = oracle
                    .find_overlapping_iter(input)
                    .map(|one| (one.range(), one.pattern().as_usize()))
                    .collect();
                theirs.sort_by_key(|(range, _)| (range.start, range.end));
                assert_eq!(ours, theirs, "{text:?} from {start}");
            }
        }
    }
}
