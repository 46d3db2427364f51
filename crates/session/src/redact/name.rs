//! What the name of a field says about its value.

use super::config::RedactError;
use super::makeup::runs;
use hashbrown::HashSet;
use serde::Deserialize;

/// The words that come with the program.
const BUNDLED: &str = include_str!("../../rules/names.toml");

/// How sure a name makes us that its value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// It speaks of a secret, but names something about it: `token_type`, `key_file`.
    Meta,
    /// `key`, `auth`, `signature`, or a service: mostly no secret.
    Weak,
    /// `access_token`, `jwt`
    Token,
    /// `client_secret`, `api_key`, `private_key`
    Secret,
    /// `password`: even a word may be one.
    Password,
}

impl Strength {
    pub(super) const ALL: [Strength; 5] =
        [Strength::Meta, Strength::Weak, Strength::Token, Strength::Secret, Strength::Password];

    /// The rule that stands in placeholders and reports.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Strength::Meta => "named-value",
            Strength::Weak => "key",
            Strength::Token => "token",
            Strength::Secret => "secret",
            Strength::Password => "password",
        }
    }
}

/// Longer names are rare.
const ROOM: usize = 192;

/// Words that are looked up.
#[derive(Debug, Deserialize)]
#[serde(from = "Vec<Box<str>>")]
struct Words(HashSet<Box<str>>);

impl From<Vec<Box<str>>> for Words {
    fn from(words: Vec<Box<str>>) -> Words {
        Words(words.into_iter().collect())
    }
}

impl Words {
    fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// Words of names, as they stand in `rules/names.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    keywords: Vec<String>,
    password: Words,
    password_endings: Vec<String>,
    secret: Words,
    secret_endings: Vec<String>,
    token_endings: Vec<String>,
    token_not_after: Words,
    key_after: Words,
    key_not_after: Words,
    weak: Words,
    weak_endings: Vec<String>,
    not: Words,
    harmless: Words,
    about: Words,
    services: Words,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read them"))]
    examples: Examples,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read them"))]
    counterexamples: Examples,
}

type Examples = std::collections::BTreeMap<String, Vec<String>>;

impl Names {
    pub(super) fn bundled() -> Result<Names, RedactError> {
        toml::from_str(BUNDLED).map_err(|error| RedactError::Toml(error.to_string()))
    }

    /// One of these stands in every name, or the name of a service.
    pub(super) fn keywords(&self) -> impl Iterator<Item = &str> {
        self.keywords.iter().map(String::as_str)
    }

    /// Only long random values count for these.
    pub(super) fn services(&self) -> impl Iterator<Item = &str> {
        self.services.0.iter().map(AsRef::as_ref)
    }

    /// Judges a name such as `DB_PASSWORD`, `clientSecret`, `x-api-key`; none if it speaks of
    /// nothing.
    pub(super) fn judge(&self, name: &str) -> Option<Strength> {
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
        let (mut before, mut before_at) = ("", 0);
        for run in runs(name) {
            // A run is a part of the name, so its address tells where it stands.
            let start = (run.as_ptr() as usize).saturating_sub(name.as_ptr() as usize);
            let end = start + run.len();
            let Some(mut word) = lower.get(start..end) else { continue };
            // `newRelic` and `ip2location` are one word, though they are written like two.
            let both = lower.get(before_at..end).filter(|_| start > 0);
            if let Some(both) = both.filter(|both| self.services.contains(both)) {
                word = both;
            }
            match self.word(word, before) {
                Some(strength) => {
                    found = found.max(Some(strength));
                    changed = false;
                }
                None => changed |= !self.harmless.contains(word),
            }
            about |= self.about.contains(word);
            (before, before_at) = (word, start);
        }
        let strength = found?;
        Some(if changed || about { Strength::Meta } else { strength })
    }

    fn word(&self, word: &str, before: &str) -> Option<Strength> {
        let ends = |endings: &[String]| endings.iter().any(|end| word.ends_with(end.as_str()));
        if self.not.contains(word) {
            return None;
        }
        if self.password.contains(word) || ends(&self.password_endings) {
            return Some(Strength::Password);
        }
        if self.secret.contains(word) || ends(&self.secret_endings) {
            return Some(Strength::Secret);
        }
        if ends(&self.token_endings) {
            return (!self.token_not_after.contains(before)).then_some(Strength::Token);
        }
        if matches!(word, "key" | "keys") {
            if self.key_not_after.contains(before) {
                return None;
            }
            if self.key_after.contains(before) || self.services.contains(before) {
                return Some(Strength::Secret);
            }
        }
        let is_weak = self.weak.contains(word) || (word.len() <= 16 && ends(&self.weak_endings));
        (is_weak || self.services.contains(word)).then_some(Strength::Weak)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Redactor};
    use super::*;

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
