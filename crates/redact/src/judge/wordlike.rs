//! Distinguishes words from random characters: a value made of words is a name, an example or prose, a secret is not.
//!
//! The list holds the words that most code bases share, and those people write where a secret
//! would stand. The table says how unusual a letter is after another one in such words; it was
//! measured on the same code. Surprising: a long list would do harm, because real passwords are
//! often words, so this one has only what programs are made of.

use hashbrown::HashSet;
use std::sync::OnceLock;

const LIST: &str = include_str!("../../rules/words.txt");

fn words() -> &'static HashSet<&'static str> {
    static WORDS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    WORDS.get_or_init(|| LIST.split_ascii_whitespace().collect())
}

/// By the first three letters: whether a word begins so. Most pieces of a value are settled here,
/// without a look into the list.
fn beginnings() -> &'static [bool; LETTERS * LETTERS * LETTERS] {
    static BEGINNINGS: OnceLock<Box<[bool; LETTERS * LETTERS * LETTERS]>> = OnceLock::new();
    BEGINNINGS.get_or_init(|| {
        let mut table = Box::new([false; LETTERS * LETTERS * LETTERS]);
        for word in words() {
            if let Some(place) = beginning(word.as_bytes()).and_then(|at| table.get_mut(at)) {
                *place = true;
            }
        }
        table
    })
}

const LETTERS: usize = 26;

fn beginning(word: &[u8]) -> Option<usize> {
    word.get(..3)?.iter().try_fold(0, |at, byte| {
        byte.is_ascii_lowercase().then(|| at * LETTERS + usize::from(byte - b'a'))
    })
}

/// Whether a lower-case word is one that programs are made of.
pub(crate) fn is_word(word: &str) -> bool {
    words().contains(word)
}

/// Longest word that is looked up.
const LONGEST: usize = 16;

/// Short words that are glued to others; of the rest, noise would be full.
const GLUED: [&str; 22] = [
    "my", "pwd", "key", "api", "foo", "bar", "baz", "usr", "env", "var", "dev", "app", "new",
    "old", "the", "aws", "ssh", "sql", "web", "get", "set", "for",
];

/// How many letters of a lower-case run are covered by words of at least four letters, when it
/// is cut into words as well as possible.
pub(crate) fn dictionary_coverage(run: &str) -> usize {
    if is_word(run) {
        return run.len();
    }
    let table = beginnings();
    let begins: Vec<bool> = (0..run.len())
        .map(|at| {
            let at = beginning(run.as_bytes().get(at..).unwrap_or_default());
            // What is no plain letter is looked up.
            at.is_none_or(|at| table.get(at).copied().unwrap_or(true))
        })
        .collect();
    let mut best = vec![0usize; run.len() + 1];
    for end in 1..=run.len() {
        let mut most = best.get(end - 1).copied().unwrap_or(0);
        for start in end.saturating_sub(LONGEST)..end.saturating_sub(1) {
            let begins = begins.get(start).copied().unwrap_or(true);
            let fits = |word: &str| match word.len() {
                0..=3 => GLUED.contains(&word),
                _ => begins && is_word(word),
            };
            if run.get(start..end).is_some_and(fits) {
                most = most.max(best.get(start).copied().unwrap_or(0) + end - start);
            }
        }
        if let Some(place) = best.get_mut(end) {
            *place = most;
        }
    }
    best.last().copied().unwrap_or(0)
}

/// How unusual the letters of a lower-case run follow each other, in bits per letter: words are
/// below 4, random letters above 5.
pub(crate) fn bigram_surprisal(run: &str) -> f64 {
    let (mut sum, mut count, mut before) = (0u32, 0u32, 0usize);
    for byte in run.bytes().filter(u8::is_ascii_lowercase) {
        let letter = usize::from(byte - b'a');
        let cost =
            BIGRAM_SURPRISAL.get(before).and_then(|row| row.get(letter)).copied().unwrap_or(0);
        sum += u32::from(cost);
        count += 1;
        before = letter + 1;
    }
    if count == 0 { 0.0 } else { f64::from(sum) / 16.0 / f64::from(count) }
}

/// By letter before (first row: none) and letter: sixteenths of bits.
#[rustfmt::skip]
const BIGRAM_SURPRISAL: [[u8; 26]; 27] = [
    [62, 73, 56, 65, 67, 71, 83, 87, 68, 120, 111, 76, 71, 78, 85, 63, 120, 64, 52, 69, 79, 94, 89, 108, 129, 128],
    [106, 67, 61, 69, 119, 104, 84, 137, 79, 160, 102, 49, 75, 51, 160, 73, 164, 49, 63, 42, 93, 99, 120, 114, 99, 137],
    [49, 81, 70, 89, 52, 89, 128, 148, 51, 108, 130, 38, 107, 119, 61, 108, 164, 65, 64, 96, 60, 131, 150, 145, 89, 142],
    [48, 111, 80, 98, 50, 105, 117, 56, 71, 185, 65, 71, 108, 122, 38, 112, 147, 72, 85, 53, 75, 119, 140, 146, 101, 180],
    [58, 93, 91, 73, 28, 91, 105, 121, 39, 120, 142, 79, 112, 104, 62, 114, 131, 74, 67, 102, 73, 106, 121, 132, 110, 167],
    [69, 110, 65, 47, 85, 83, 97, 133, 111, 158, 138, 71, 78, 50, 115, 85, 102, 42, 47, 63, 125, 94, 109, 75, 120, 161],
    [58, 91, 81, 80, 54, 43, 102, 152, 40, 168, 153, 64, 107, 107, 51, 109, 172, 68, 76, 77, 71, 159, 147, 143, 96, 187],
    [63, 123, 104, 114, 32, 112, 84, 59, 55, 172, 158, 69, 90, 64, 69, 106, 142, 50, 67, 93, 67, 124, 128, 144, 119, 138],
    [36, 123, 121, 95, 34, 114, 136, 125, 46, 170, 114, 95, 91, 109, 46, 120, 221, 71, 90, 64, 80, 156, 117, 144, 94, 151],
    [79, 89, 63, 75, 78, 82, 73, 160, 134, 149, 128, 70, 70, 31, 55, 86, 152, 83, 62, 57, 148, 80, 171, 111, 191, 83],
    [45, 118, 81, 96, 41, 84, 107, 128, 70, 100, 66, 99, 98, 100, 46, 93, 128, 110, 57, 106, 43, 118, 128, 130, 111, 133],
    [61, 108, 100, 91, 25, 99, 98, 97, 45, 114, 125, 73, 112, 81, 85, 101, 137, 98, 47, 78, 92, 112, 95, 162, 99, 202],
    [51, 124, 105, 81, 36, 111, 130, 140, 40, 160, 116, 52, 120, 116, 51, 109, 177, 121, 81, 77, 81, 111, 151, 171, 54, 170],
    [39, 81, 111, 107, 34, 124, 128, 152, 47, 177, 124, 93, 78, 119, 58, 47, 160, 119, 72, 102, 71, 138, 158, 148, 123, 196],
    [62, 121, 62, 56, 55, 85, 40, 125, 67, 141, 99, 101, 123, 97, 68, 113, 151, 115, 53, 43, 91, 96, 128, 149, 119, 159],
    [102, 92, 67, 75, 119, 95, 90, 134, 96, 142, 99, 66, 63, 35, 81, 69, 166, 46, 70, 71, 65, 84, 74, 112, 135, 150],
    [47, 128, 102, 109, 43, 107, 116, 81, 67, 238, 129, 54, 122, 123, 53, 67, 151, 42, 74, 63, 78, 141, 128, 153, 99, 201],
    [120, 102, 88, 91, 102, 102, 129, 129, 102, 180, 180, 72, 121, 114, 127, 107, 67, 89, 65, 117, 10, 102, 122, 180, 129, 180],
    [48, 115, 83, 83, 32, 106, 97, 137, 48, 215, 96, 96, 80, 91, 54, 96, 155, 75, 63, 69, 84, 106, 124, 165, 90, 215],
    [77, 128, 70, 109, 40, 117, 115, 67, 47, 171, 102, 88, 98, 109, 74, 69, 116, 109, 60, 38, 61, 133, 111, 145, 91, 145],
    [55, 122, 89, 111, 36, 110, 131, 69, 36, 198, 143, 89, 108, 116, 64, 106, 162, 53, 64, 81, 82, 135, 125, 126, 78, 148],
    [71, 69, 70, 95, 72, 88, 90, 145, 74, 176, 148, 57, 67, 41, 102, 62, 193, 53, 52, 53, 135, 148, 160, 113, 169, 144],
    [42, 107, 102, 111, 16, 110, 116, 132, 43, 174, 174, 106, 100, 111, 70, 112, 146, 106, 93, 104, 138, 157, 135, 134, 134, 142],
    [39, 109, 96, 91, 48, 112, 117, 62, 45, 154, 120, 85, 129, 54, 54, 106, 155, 57, 66, 97, 120, 168, 115, 113, 148, 163],
    [63, 86, 56, 78, 49, 78, 125, 85, 53, 200, 141, 100, 91, 118, 84, 43, 114, 108, 88, 43, 99, 112, 117, 74, 94, 151],
    [70, 91, 81, 102, 66, 100, 97, 121, 59, 146, 137, 69, 62, 56, 74, 38, 160, 89, 49, 66, 122, 94, 88, 157, 100, 92],
    [47, 117, 120, 124, 14, 109, 124, 116, 49, 186, 140, 107, 103, 130, 80, 120, 146, 131, 93, 149, 97, 134, 119, 124, 96, 76],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wordlike_separates_words_from_noise() {
        for word in ["password", "mypassword", "testuser", "configuration"] {
            assert_eq!(dictionary_coverage(word), word.len(), "{word}");
            assert!(bigram_surprisal(word) < 4.5, "{word}");
        }
        for noise in ["xvqcmuyb", "wtklwuvhud", "zqhgvxkj"] {
            assert!(dictionary_coverage(noise) < noise.len() / 2, "{noise}");
            assert!(bigram_surprisal(noise) > 4.6, "{noise}");
        }
    }
}
