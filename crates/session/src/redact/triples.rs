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

/// The classes of two letters; at the end of a text there may be only one.
fn pair_at(bytes: &[u8], at: usize) -> usize {
    let class_at = |at: usize| bytes.get(at).map_or(63, |byte| class(*byte));
    class_at(at) << 6 | class_at(at + 1)
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
        let mut at = 0;
        while let Some(next) = self.beginning(bytes, at) {
            self.compare(bytes, next, pair_at(bytes, next), &mut found);
            at = next + 1;
        }
        // Words of one or two letters may stand at the end.
        for at in bytes.len().saturating_sub(2)..bytes.len() {
            self.compare(bytes, at, pair_at(bytes, at), &mut found);
        }
    }

    /// The next place from `at` on where three letters begin a word. By itself, so that nothing of
    /// what is done with a word is in the way of passing over the others.
    #[inline(never)]
    fn beginning(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = bytes.get(at + 2..)?;
        let thirds = &*self.thirds;
        let mut pair = pair_at(bytes, at);
        for (ahead, byte) in rest.iter().enumerate() {
            let third = class(*byte);
            if thirds.get(pair & (PAIRS - 1)).is_some_and(|thirds| thirds >> third & 1 != 0) {
                return Some(at + ahead);
            }
            pair = pair << 6 | third;
        }
        None
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
