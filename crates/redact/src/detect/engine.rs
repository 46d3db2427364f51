//! The compiled rules, and what they say about what was found.

use crate::config::{Class, Config, RedactError};
use crate::detect::assign;
use crate::detect::encoding::SIGNS;
use crate::detect::inner;
use crate::detect::keyword_search::Case;
use crate::detect::keywords::{Keywords, Start, Written};
use crate::detect::manifest;
use crate::detect::name::Names;
use crate::detect::pem;
use crate::detect::rules::{self, Rule};
use crate::judge::wordlike;
use crate::placeholder::placeholder;
use crate::strength::Strength;
use regex::RegexSet;
use std::ops::Range;

/// How a value is found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchMode {
    /// In every encoding, anywhere.
    Everywhere,
    /// As a word by itself.
    Word,
    /// Not at all.
    Never,
}

/// What files of settings add.
#[derive(Debug)]
pub(crate) struct UserRules {
    pub(crate) rules: Vec<rules::Written>,
    /// Those that somebody else may have written.
    pub(crate) foreign: Vec<rules::Written>,
    pub(crate) allowed: RegexSet,
}

#[derive(Debug)]
pub(crate) struct Engine {
    /// Of names, and of rules whose matches need no long word.
    pub(crate) everywhere: Keywords,
    /// Of rules that find long words: most, and among them those with the shortest keywords.
    pub(crate) near_long_words: Keywords,
    pub(crate) rules: Vec<Rule>,
    /// Those of them that somebody else may have written: they add to what others find.
    foreign: Range<usize>,
    pub(crate) names: Names,
    /// Values that the user does not mind.
    pub(crate) allowed: RegexSet,
    /// Words that are taken out wherever they stand by themselves, with their rules.
    known: Vec<(String, usize)>,
    salt: Vec<u8>,
}

/// A value that a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) range: Range<usize>,
    pub(crate) rule: usize,
    /// A word in it that is to go everywhere.
    pub(crate) word: Option<Range<usize>>,
    /// What it says, where that is not what stands there.
    pub(crate) says: Option<Box<str>>,
}

impl Hit {
    /// The value.
    pub(crate) fn value<'a>(&'a self, text: &'a str) -> &'a str {
        self.says.as_deref().or_else(|| text.get(self.range.clone())).unwrap_or_default()
    }
}

/// What the rules found in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    /// Whether parts of it say something else than what stands there.
    pub(crate) has_encoded_parts: bool,
}

impl Engine {
    /// Compiles the bundled rules and others.
    pub(crate) fn new(config: &Config, own: UserRules) -> Result<Engine, RedactError> {
        own.rules.iter().chain(&own.foreign).try_for_each(rules::Written::check)?;
        let mut written = rules::bundled()?;
        written.extend(own.rules);
        let end_of_own = written.len();
        written.extend(own.foreign);
        let names = Names::bundled()?;
        let (mut everywhere, mut near_long_words) = (Written::default(), Written::default());
        for word in names.keywords() {
            everywhere.add(word, Case::Any, Start::Name);
        }
        for word in names.services() {
            near_long_words.add(word, Case::Any, Start::Name);
        }
        for (sign, encoding) in SIGNS {
            everywhere.add(sign, Case::Any, Start::Encoding(encoding));
        }
        everywhere.add(pem::OPENING, Case::Any, Start::Pem);
        everywhere.add(pem::CLOSING, Case::Any, Start::PemEnd);
        for word in manifest::KEYWORDS {
            everywhere.add(word, Case::Any, Start::Manifest);
        }
        let mut compiled = Vec::new();
        let mut foreign = None;
        for (at, rule) in written.iter().enumerate() {
            if at == end_of_own {
                foreign = Some(compiled.len());
            }
            if !config.classes.holds(rule.class) {
                continue;
            }
            let keywords =
                if rule.needs_long_word() { &mut near_long_words } else { &mut everywhere };
            for word in &rule.keywords {
                keywords.add(word, rule.case(), Start::Rule(compiled.len()));
            }
            compiled.push(rule.compile()?);
        }
        let (everywhere, near_long_words) = (everywhere.compile(), near_long_words.compile());
        let home = config.home.as_deref().and_then(|home| home.rsplit(['/', '\\']).next());
        let user = config.user.as_deref().or(home);
        let user = user.filter(|name| Engine::is_name(name) && config.classes.holds(Class::Paths));
        let known = user.map(|name| (name.to_owned(), compiled.len() + USER_NAME));
        let known = known.into_iter().collect();
        let (allowed, salt) = (own.allowed, config.salt.clone());
        let rules = compiled;
        let foreign = foreign.unwrap_or(rules.len())..rules.len();
        let mut engine =
            Engine { everywhere, near_long_words, rules, foreign, names, allowed, known, salt };
        if let Some(home) = config.home.as_deref() {
            engine.know_home(home);
        }
        Ok(engine)
    }

    /// Name and class of a rule.
    pub(crate) fn rule(&self, at: usize) -> Option<(&str, Class)> {
        match self.rules.get(at) {
            Some(rule) => Some((rule.id.as_ref(), rule.class)),
            None => {
                let behind = at - self.rules.len();
                if behind == USER_NAME {
                    return Some(("user-name", Class::Paths));
                }
                let named = Strength::ALL.get(behind).map(|strength| strength.rule());
                Some((named.unwrap_or(pem::RULE), Class::Secrets))
            }
        }
    }

    /// The rule under which private keys are taken out.
    pub(crate) fn key_rule(&self) -> usize {
        self.rules.len() + PRIVATE_KEY
    }

    /// The rule under which names of users are taken out.
    pub(crate) fn user_rule(&self) -> usize {
        self.rules.len() + USER_NAME
    }

    /// What stands in the place of `value`.
    pub(crate) fn replacement(&self, rule: usize, value: &str) -> String {
        if let Some(fixed) = self.rules.get(rule).and_then(|rule| rule.replace.as_deref()) {
            return fixed.to_owned();
        }
        placeholder(self.rule(rule).map_or("secret", |(name, _)| name), value, &self.salt)
    }

    /// How values of a rule are found again.
    pub(crate) fn recall(&self, rule: usize) -> MatchMode {
        match self.rule(rule) {
            _ if self.foreign.contains(&rule) => MatchMode::Never,
            Some((_, Class::Secrets)) => MatchMode::Everywhere,
            _ => MatchMode::Never,
        }
    }

    /// Words that are taken out from the start, with their rule.
    pub(crate) fn known_words(&self) -> impl Iterator<Item = (&str, usize)> {
        self.known.iter().map(|(word, rule)| (word.as_str(), *rule))
    }

    /// Takes out this user's home folder too, if it stands where none usually does.
    fn know_home(&mut self, home: &str) {
        let Some(rule) = self.rules.iter().position(|rule| rule.id.as_ref() == HOME) else {
            return;
        };
        let home = home.trim_end_matches(['/', '\\']);
        let name = home.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_found = self.find(home).hits.iter().any(|hit| hit.rule == rule);
        if !is_found && home.len() > name.len() + 1 && Engine::is_name(name) {
            self.known.push((home.to_owned(), rule));
        }
    }

    /// Whether a user's name can be looked for: words of programs stand everywhere.
    pub(crate) fn is_name(name: &str) -> bool {
        name.len() >= 3 && !wordlike::is_word(&name.to_ascii_lowercase())
    }

    /// What the name of a field says about its value.
    pub(crate) fn judge_name(&self, name: &str) -> Option<Strength> {
        if name.is_empty() { None } else { self.names.judge(name) }
    }

    /// Adds to what was found in the value of a field what the field's name tells.
    pub(crate) fn judge_field(
        &self,
        named: Option<Strength>,
        text: &str,
        mut hits: Vec<Hit>,
    ) -> Vec<Hit> {
        let Some(strength) = named else { return hits };
        let found = hits.len();
        if assign::is_field(strength, text) && !self.allowed.is_match(text) {
            let rule = self.rules.len() + place(strength);
            hits.push(Hit { range: 0..text.len(), rule, word: None, says: None });
        } else if strength >= Strength::Token {
            let rule = self.rules.len() + place(Strength::Weak);
            let inside = inner::values(text, &(0..text.len())).into_iter();
            let is_secret = |range: &Range<usize>| {
                text.get(range.clone()).is_some_and(|value| {
                    assign::is_field(Strength::Weak, value) && !self.allowed.is_match(value)
                })
            };
            hits.extend(inside.filter(is_secret).map(|range| Hit {
                range,
                rule,
                word: None,
                says: None,
            }));
        }
        if hits.len() > found { self.without_overlap(hits) } else { hits }
    }

    /// Whether a value that a rule found may be left alone because the user says so.
    pub(crate) fn can_be_excepted(&self, rule: usize) -> bool {
        match self.rules.get(rule) {
            Some(rule) => rule.can_be_excepted(),
            None => rule != self.rules.len() + PRIVATE_KEY,
        }
    }

    /// Hits in order and without overlap. What a rule of somebody else covers never hides what
    /// another rule found.
    pub(crate) fn without_overlap(&self, hits: Vec<Hit>) -> Vec<Hit> {
        if self.foreign.is_empty() {
            return without_overlap(hits);
        }
        let (foreign, own): (Vec<Hit>, Vec<Hit>) =
            hits.into_iter().partition(|hit| self.foreign.contains(&hit.rule));
        let mut settled = without_overlap(own);
        let mut more = Vec::new();
        for hit in without_overlap(foreign) {
            let mut from = hit.range.start;
            for own in &settled {
                if own.range.end <= from || own.range.start >= hit.range.end {
                    continue;
                }
                more.push(from..own.range.start.max(from));
                from = own.range.end;
            }
            more.push(from..hit.range.end.max(from));
            let rest = more.drain(..).filter(|range| !range.is_empty());
            let rest = rest.map(|range| Hit { range, rule: hit.rule, word: None, says: None });
            settled.extend(rest.collect::<Vec<_>>());
            settled.sort_by_key(|hit| hit.range.start);
        }
        settled
    }
}

/// The rule for home folders.
const HOME: &str = "home";
/// Rules that are not in files, counted from the end of those that are.
const PRIVATE_KEY: usize = Strength::ALL.len();
const USER_NAME: usize = PRIVATE_KEY + 1;

pub(crate) fn place(strength: Strength) -> usize {
    Strength::ALL.iter().position(|one| *one == strength).unwrap_or(0)
}

/// Of hits that overlap, the first and widest stays and covers the others.
fn without_overlap(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end), hit.rule));
    let mut settled: Vec<Hit> = Vec::new();
    for hit in hits {
        match settled.last_mut() {
            Some(last) if hit.range.start < last.range.end => {
                if last.range.end < hit.range.end {
                    last.range.end = hit.range.end;
                    last.says = None;
                }
            }
            _ => settled.push(hit),
        }
    }
    settled
}
