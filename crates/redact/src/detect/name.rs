//! What the name of a field says about its value.

use crate::config::RedactError;
use crate::detect::verdicts::Verdicts;
use crate::judge::char_stats::runs;
use crate::strength::Strength;
use hashbrown::HashMap;
use serde::Deserialize;

/// The words that come with the program.
const BUNDLED: &str = include_str!("../../rules/names.toml");

/// A longer word that ends like a weak one says nothing.
const LONGEST_WEAK: usize = 16;
/// Longer names are rare.
const ROOM: usize = 192;

/// Words of names, as they stand in `rules/names.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    keywords: Vec<String>,
    password: Vec<Box<str>>,
    password_endings: Vec<Box<str>>,
    secret: Vec<Box<str>>,
    secret_endings: Vec<Box<str>>,
    token_endings: Vec<Box<str>>,
    token_not_after: Vec<Box<str>>,
    key_after: Vec<Box<str>>,
    key_not_after: Vec<Box<str>>,
    weak: Vec<Box<str>>,
    weak_endings: Vec<Box<str>>,
    not: Vec<Box<str>>,
    harmless: Vec<Box<str>>,
    about: Vec<Box<str>>,
    services: Vec<Box<str>>,
    examples: Examples,
    counterexamples: Examples,
}

type Examples = std::collections::BTreeMap<String, Vec<String>>;

/// The lists that a word stands in, a bit for each: it is looked up once.
type Lists = u16;
const PASSWORD: Lists = 1;
const SECRET: Lists = 1 << 1;
const TOKEN: Lists = 1 << 2;
const TOKEN_NOT_AFTER: Lists = 1 << 3;
const KEY_AFTER: Lists = 1 << 4;
const KEY_NOT_AFTER: Lists = 1 << 5;
const WEAK: Lists = 1 << 6;
const WEAK_IF_SHORT: Lists = 1 << 7;
const NOT: Lists = 1 << 8;
const HARMLESS: Lists = 1 << 9;
const ABOUT: Lists = 1 << 10;
const SERVICE: Lists = 1 << 11;

/// What words of names say.
#[derive(Debug)]
pub(crate) struct Names {
    keywords: Vec<String>,
    lists: HashMap<Box<str>, Lists>,
    /// By the last letter, as a number below [`LETTERS`]: what words say that end so.
    endings: [Vec<(Box<str>, Lists)>; LETTERS],
    verdicts: Verdicts,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read them"))]
    examples: Examples,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read them"))]
    counterexamples: Examples,
}

/// Letters that words may end with.
const LETTERS: usize = 32;

fn last_letter(word: &str) -> usize {
    usize::from(word.bytes().last().unwrap_or_default()) % LETTERS
}

impl From<Written> for Names {
    fn from(written: Written) -> Names {
        let mut lists: HashMap<Box<str>, Lists> = HashMap::new();
        for (words, list) in [
            (written.password, PASSWORD),
            (written.secret, SECRET),
            (written.token_not_after, TOKEN_NOT_AFTER),
            (written.key_after, KEY_AFTER),
            (written.key_not_after, KEY_NOT_AFTER),
            (written.weak, WEAK),
            (written.not, NOT),
            (written.harmless, HARMLESS),
            (written.about, ABOUT),
            (written.services, SERVICE),
        ] {
            for word in words {
                *lists.entry(word).or_default() |= list;
            }
        }
        let mut endings: [Vec<(Box<str>, Lists)>; LETTERS] = Default::default();
        for (words, list) in [
            (written.password_endings, PASSWORD),
            (written.secret_endings, SECRET),
            (written.token_endings, TOKEN),
            (written.weak_endings, WEAK_IF_SHORT),
        ] {
            for ending in words {
                let last = last_letter(&ending);
                endings.get_mut(last).into_iter().for_each(|all| all.push((ending.clone(), list)));
            }
        }
        let Written { keywords, examples, counterexamples, .. } = written;
        let verdicts = Verdicts::default();
        Names { keywords, lists, endings, verdicts, examples, counterexamples }
    }
}

impl Names {
    pub(crate) fn bundled() -> Result<Names, RedactError> {
        let written: Written =
            toml::from_str(BUNDLED).map_err(|error| RedactError::Toml(error.to_string()))?;
        Ok(written.into())
    }

    /// One of these stands in every name, or the name of a service.
    pub(crate) fn keywords(&self) -> impl Iterator<Item = &str> {
        self.keywords.iter().map(String::as_str)
    }

    /// Only long random values count for these.
    pub(crate) fn services(&self) -> impl Iterator<Item = &str> {
        let services = self.lists.iter().filter(|(_, lists)| **lists & SERVICE != 0);
        services.map(|(word, _)| word.as_ref())
    }

    /// Judges a name such as `DB_PASSWORD`, `clientSecret`, `x-api-key`; none if it speaks of
    /// nothing.
    pub(crate) fn judge(&self, name: &str) -> Option<Strength> {
        self.verdicts.of(name, || self.judge_words(name))
    }

    fn judge_words(&self, name: &str) -> Option<Strength> {
        let mut space = [0; ROOM];
        let owned;
        let lower = match space.get_mut(..name.len()) {
            Some(space) => {
                space.copy_from_slice(name.as_bytes());
                space.make_ascii_lowercase();
                std::str::from_utf8(space).unwrap_or_default()
            }
            None => {
                owned = name.to_ascii_lowercase();
                &owned
            }
        };
        let mut found = None;
        let (mut changed, mut about) = (false, false);
        let (mut before, mut before_at) = (0, 0);
        for run in runs(name) {
            // A run is a part of the name, so its address tells where it stands.
            let start = (run.as_ptr() as usize).saturating_sub(name.as_ptr() as usize);
            let end = start + run.len();
            let Some(mut word) = lower.get(start..end) else { continue };
            let mut lists = self.lists_of(word);
            // `newRelic` and `ip2location` are one word, though they are written like two.
            let joined =
                start > 0 && name.as_bytes().get(start - 1).is_some_and(u8::is_ascii_alphanumeric);
            if let Some(both) = lower.get(before_at..end).filter(|_| joined)
                && self.listed(both) & SERVICE != 0
            {
                (word, lists) = (both, self.lists_of(both));
            }
            match Names::word(word, lists, before) {
                Some(strength) => {
                    found = found.max(Some(strength));
                    changed = false;
                }
                None => changed |= lists & HARMLESS == 0,
            }
            about |= lists & ABOUT != 0;
            (before, before_at) = (lists, start);
        }
        let strength = found?;
        Some(if changed || about { Strength::Meta } else { strength })
    }

    fn listed(&self, word: &str) -> Lists {
        self.lists.get(word).copied().unwrap_or_default()
    }

    /// The lists that a word stands in, and those that it ends like.
    fn lists_of(&self, word: &str) -> Lists {
        let endings = self.endings.get(last_letter(word)).into_iter().flatten();
        let endings = endings.filter(|(ending, _)| word.ends_with(ending.as_ref()));
        endings.fold(self.listed(word), |lists, (_, list)| lists | list)
    }

    /// What a word says that stands in these lists, behind a word in those.
    fn word(word: &str, lists: Lists, before: Lists) -> Option<Strength> {
        if lists & NOT != 0 {
            return None;
        }
        if lists & PASSWORD != 0 {
            return Some(Strength::Password);
        }
        if lists & SECRET != 0 {
            return Some(Strength::Secret);
        }
        if lists & TOKEN != 0 {
            return (before & TOKEN_NOT_AFTER == 0).then_some(Strength::Token);
        }
        if matches!(word, "key" | "keys") {
            if before & KEY_NOT_AFTER != 0 {
                return None;
            }
            if before & (KEY_AFTER | SERVICE) != 0 {
                return Some(Strength::Secret);
            }
        }
        let is_weak = lists & (WEAK | SERVICE) != 0
            || (lists & WEAK_IF_SHORT != 0 && word.len() <= LONGEST_WEAK);
        is_weak.then_some(Strength::Weak)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Redactor};

    #[test]
    fn names_are_judged() {
        let names = Names::bundled().unwrap();
        for (name, strength) in [
            ("DB_PASSWORD", Some(Strength::Password)),
            ("userPass", Some(Strength::Password)),
            ("clientSecret", Some(Strength::Secret)),
            ("x-api-key", Some(Strength::Secret)),
            ("AWS_SECRET_ACCESS_KEY", Some(Strength::Secret)),
            ("oauth_token", Some(Strength::Token)),
            ("token_type", Some(Strength::Meta)),
            ("public_key", None),
            ("VAPID_PUBLIC_KEY", None),
            ("NEXT_PUBLIC_API_KEY", Some(Strength::Meta)),
            ("nextPageToken", None),
            ("csrf_token", None),
            ("newRelicKey", Some(Strength::Secret)),
            ("ip2location_key", Some(Strength::Secret)),
            ("messageBird", Some(Strength::Weak)),
            ("cache_key", Some(Strength::Weak)),
            ("compass", None),
            ("author", None),
            ("monkey", None),
        ] {
            assert_eq!(names.judge(name), strength, "{name}");
        }
    }

    #[test]
    fn values_are_found_by_their_names_and_counterexamples_are_not() {
        let names = Names::bundled().unwrap();
        let redactor = Redactor::new(&Config::default()).unwrap();
        for (rule, texts) in &names.examples {
            for text in texts {
                let found = redactor.spans(text);
                assert!(found.iter().any(|(_, one)| one == rule), "{rule}: {text:?}: {found:?}");
            }
        }
        for (rule, texts) in &names.counterexamples {
            for text in texts {
                let found = redactor.spans(text);
                assert!(found.is_empty(), "{rule}: {text:?}: {found:?}");
            }
        }
    }
}
