//! What keeps a row out although teachers agree: its length, and rows like it.

use backstory_export::digest;
use std::collections::{HashMap, HashSet};

/// How long actions and histories may be, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The fewest characters of an action.
    pub min_action: usize,
    /// The most characters of an action.
    pub max_action: Option<usize>,
    /// The most characters of a prompt.
    pub max_prompt: Option<usize>,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { min_action: 1, max_action: None, max_prompt: None }
    }
}

/// Which rows are the same as earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dedup {
    /// None.
    Off,
    /// Equal in every byte.
    Exact,
    /// Those that hardly differ in what is new in them, too.
    Near,
}

/// A row that was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    New,
    Same,
    Near,
}

/// Fingerprints of the rows so far.
#[derive(Debug, Default)]
pub(super) struct Rows {
    exact: HashSet<Vec<u8>>,
    near: Vec<Print>,
    /// Rows by each band of their fingerprint: rows that have much in common have one in common.
    bands: HashMap<(usize, [u64; ROWS_OF_BAND]), Vec<usize>>,
}

/// The least hash of the runs of words of a text, for each of several ways to hash: two texts have as
/// large a share of them in common as of their runs.
type Print = [u64; HASHES];

const HASHES: usize = 32;
const ROWS_OF_BAND: usize = 4;
/// Rows that are nearly the same have this share in common: about nine tenths of their runs of words.
const NEAR: usize = 28;
/// Shorter texts are compared as they are: they have too few words for a fingerprint.
const FEWEST_WORDS: usize = 24;

impl Rows {
    /// Looks a row up and remembers it. `history` is all of it, `news` what came since the model's
    /// last message, `actions` what is learnt.
    pub(super) fn look_up(
        &mut self,
        dedup: Dedup,
        history: &[u8],
        news: &str,
        actions: &[&str],
    ) -> Seen {
        if dedup == Dedup::Off {
            return Seen::New;
        }
        let mut parts: Vec<&[u8]> = vec![history];
        for action in actions {
            parts.extend([&b"\0"[..], action.as_bytes()]);
        }
        if !self.exact.insert(digest(&parts)) {
            return Seen::Same;
        }
        if dedup == Dedup::Exact {
            return Seen::New;
        }
        let text = format!("{news}\n{}", actions.join("\n"));
        let print = fingerprint(&text);
        if let Some(print) = print {
            let bands: Vec<_> = print
                .as_chunks::<ROWS_OF_BAND>()
                .0
                .iter()
                .enumerate()
                .map(|(at, band)| (at, *band))
                .collect();
            let common = |other: &Print| print.iter().zip(other).filter(|(a, b)| a == b).count();
            let like = |at: &usize| self.near.get(*at).is_some_and(|other| common(other) >= NEAR);
            let places = bands.iter().filter_map(|band| self.bands.get(band));
            if places.flatten().any(like) {
                return Seen::Near;
            }
            let at = self.near.len();
            self.near.push(print);
            bands.into_iter().for_each(|band| self.bands.entry(band).or_default().push(at));
        }
        Seen::New
    }
}

fn fingerprint(text: &str) -> Option<Print> {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    if words.len() < FEWEST_WORDS {
        return None;
    }
    let mut print = [u64::MAX; HASHES];
    for run in words.windows(3) {
        let hash = digest(&[run.join(" ").as_bytes()]);
        let hash = hash.iter().take(8).fold(0u64, |hash, byte| hash << 8 | u64::from(*byte));
        for (way, least) in print.iter_mut().enumerate() {
            let odd = (2 * way as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let other = hash.wrapping_mul(odd);
            *least = (*least).min(other ^ (other >> 29));
        }
    }
    Some(print)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seed: usize) -> String {
        let number = |at: usize| (at * at * (seed + 3) + at * 31 + seed * 1009) % 997;
        (0..200).map(|at| format!("word{} ", number(at))).collect()
    }

    #[test]
    fn equal_and_nearly_equal_rows_are_noticed() {
        let mut rows = Rows::default();
        let mut look = |history: &str, news: &str, actions: &[&str]| {
            rows.look_up(Dedup::Near, format!("{history} {news}").as_bytes(), news, actions)
        };
        assert_eq!(look("h", &text(1), &["a", "b"]), Seen::New);
        assert_eq!(look("h", &text(1), &["a", "b"]), Seen::Same);
        assert_eq!(look("other", &text(1), &["a", "b"]), Seen::Near);
        let changed = text(1).replacen(" word", " other", 1);
        assert_eq!(look("more", &changed, &["a", "b"]), Seen::Near);
        assert_eq!(look("h", &text(2), &["a", "b"]), Seen::New);
        assert_eq!(look("h", "short", &["a", "b"]), Seen::New);
        assert_eq!(look("k", "short", &["a", "b"]), Seen::New, "too short to be near");
        for seed in 3..200 {
            assert_eq!(look("h", &text(seed), &["a"]), Seen::New, "{seed}");
        }
    }

    #[test]
    fn less_is_noticed_when_less_is_wanted() {
        let mut rows = Rows::default();
        assert_eq!(rows.look_up(Dedup::Exact, b"h", &text(1), &["a"]), Seen::New);
        assert_eq!(rows.look_up(Dedup::Exact, b"k", &text(1), &["a"]), Seen::New);
        assert_eq!(rows.look_up(Dedup::Exact, b"h", &text(1), &["a"]), Seen::Same);
        assert_eq!(rows.look_up(Dedup::Off, b"h", &text(1), &["a"]), Seen::New);
    }
}
