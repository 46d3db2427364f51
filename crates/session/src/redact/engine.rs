//! Finding: one search for all keywords, then the rules whose keyword stands there.

use super::assign::{self, Assigned};
use super::beside::beside;
use super::config::{Class, Config, RedactError};
use super::keywords::{Keywords, Start, Written};
use super::memory::Recall;
use super::name::{Names, Strength};
use super::pem;
use super::placeholder::{self, placeholder};
use super::rules::{self, Rule};
use super::scrubber::Scrubber;
use super::{language, own};
use regex::RegexSet;
use std::ops::Range;
use std::sync::Arc;

/// Compiled rules; cheap to clone, shared by all threads.
#[derive(Debug, Clone)]
pub struct Redactor {
    pub(super) engine: Arc<Engine>,
}

#[derive(Debug)]
pub(super) struct Engine {
    /// Of names, and of rules whose matches need no long word.
    everywhere: Keywords,
    /// Of rules that find long words: most, and among them those with the shortest keywords.
    near_long_words: Keywords,
    rules: Vec<Rule>,
    names: Names,
    /// Values that the user does not mind.
    allowed: RegexSet,
    /// Names that are taken out wherever they are a word.
    known: Vec<String>,
    salt: Vec<u8>,
}

/// A value that a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) rule: usize,
    /// A word in it that is to go everywhere.
    pub(super) word: Option<Range<usize>>,
}

impl Redactor {
    /// Compiles the bundled rules and the user's own.
    pub fn new(config: &Config) -> Result<Redactor, RedactError> {
        let own = own::Own::read(config.own_rules.as_deref())?;
        own.rules.iter().try_for_each(rules::Written::check)?;
        let mut written = rules::bundled()?;
        written.extend(own.rules);
        let names = Names::bundled()?;
        let (mut everywhere, mut near_long_words) = (Written::default(), Written::default());
        for word in names.keywords() {
            everywhere.add(word, Start::Name);
        }
        for word in names.services() {
            near_long_words.add(word, Start::Name);
        }
        everywhere.add(pem::OPENING, Start::Pem);
        let mut compiled = Vec::new();
        for rule in written.iter().filter(|rule| config.classes.holds(rule.class)) {
            let keywords = match rule.needs_long_word() {
                true => &mut near_long_words,
                false => &mut everywhere,
            };
            for word in &rule.keywords {
                keywords.add(word, Start::Rule(compiled.len()));
            }
            compiled.push(rule.compile()?);
        }
        let (everywhere, near_long_words) = (everywhere.compile(), near_long_words.compile());
        let home = config.home.as_deref().and_then(|home| home.rsplit(['/', '\\']).next());
        let user = config.user.as_deref().or(home);
        let known = match config.classes.holds(Class::Paths) {
            true => user.filter(|name| Engine::is_name(name)).map(str::to_owned),
            false => None,
        };
        let known = known.into_iter().collect();
        let (allowed, salt) = (own.allowed, config.salt.clone());
        let rules = compiled;
        let engine = Engine { everywhere, near_long_words, rules, names, allowed, known, salt };
        Ok(Redactor { engine: Arc::new(engine) })
    }

    /// Where values stand in a text, and the rules that found them.
    pub fn spans(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let named = |hit: Hit| (hit.range, self.engine.rule(hit.rule).map_or("", |(name, _)| name));
        self.engine.find(text).into_iter().map(named).collect()
    }

    /// What one session is scrubbed with.
    pub fn session(&self) -> Scrubber {
        Scrubber::new(self.engine.clone())
    }
}

impl Engine {
    /// Name and class of a rule.
    pub(super) fn rule(&self, at: usize) -> Option<(&str, Class)> {
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

    /// The rule under which names of users are taken out.
    pub(super) fn user_rule(&self) -> usize {
        self.rules.len() + USER_NAME
    }

    /// What stands in the place of `value`.
    pub(super) fn replacement(&self, rule: usize, value: &str) -> String {
        if let Some(fixed) = self.rules.get(rule).and_then(|rule| rule.replace.as_deref()) {
            return fixed.to_owned();
        }
        placeholder(self.rule(rule).map_or("secret", |(name, _)| name), value, &self.salt)
    }

    /// How values of a rule are found again.
    pub(super) fn recall(&self, rule: usize) -> Recall {
        match self.rule(rule) {
            Some((_, Class::Secrets)) => Recall::Everywhere,
            _ => Recall::Never,
        }
    }

    /// Words that are taken out from the start, with their rule.
    pub(super) fn known_words(&self) -> impl Iterator<Item = (&str, usize)> {
        self.known.iter().map(|name| (name.as_str(), self.user_rule()))
    }

    /// Whether a user's name can be looked for: words of programs stand everywhere.
    pub(super) fn is_name(name: &str) -> bool {
        name.len() >= 3 && !language::is_word(&name.to_ascii_lowercase())
    }

    /// Values in `text`, in order and without overlap.
    pub(super) fn find(&self, text: &str) -> Vec<Hit> {
        self.search(text, |_| true)
    }

    /// What the name of a field says about its value.
    pub(super) fn judge_name(&self, name: &str) -> Option<Strength> {
        if name.is_empty() { None } else { self.names.judge(name) }
    }

    /// Adds to what was found in the value of a field what the field's name tells.
    pub(super) fn judge_field(
        &self,
        named: Option<Strength>,
        text: &str,
        mut hits: Vec<Hit>,
    ) -> Vec<Hit> {
        if let Some(strength) = named
            && assign::is_field(strength, text)
            && !self.allowed.is_match(text)
        {
            let rule = self.rules.len() + place(strength);
            hits.push(Hit { range: 0..text.len(), rule, word: None });
            hits = settle(hits);
        }
        hits
    }

    /// Values that can be told by their form alone.
    pub(super) fn find_certain(&self, text: &str) -> Vec<Hit> {
        self.search(text, |start| match start {
            Start::Rule(at) => self.rules.get(at).is_some_and(Rule::is_certain),
            Start::Name => false,
            Start::Pem => true,
        })
    }

    /// What one rule finds by itself.
    #[cfg(test)]
    pub(super) fn find_by(&self, id: &str, text: &str) -> Vec<Hit> {
        let is_it = |at: usize| self.rules.get(at).is_some_and(|rule| rule.id.as_ref() == id);
        self.search(text, |start| matches!(start, Start::Rule(at) if is_it(at)))
    }

    fn search(&self, text: &str, wanted: impl Fn(Start) -> bool) -> Vec<Hit> {
        let mut hits = Vec::new();
        if text.len() < SHORTEST {
            return hits;
        }
        let mut name_done = 0;
        let mut keys = pem::Keys::default();
        self.everywhere.each(text, |place, word, starts| {
            for start in starts.iter().filter(|start| wanted(**start)) {
                match *start {
                    Start::Rule(at) => hits.extend(self.try_rule(at, text, &place, word)),
                    Start::Name => self.try_name(text, &place, &mut name_done, &mut hits),
                    Start::Pem => {
                        let rule = self.rules.len() + PRIVATE_KEY;
                        let key = keys.find(text, place.start);
                        hits.extend(key.map(|range| Hit { range, rule, word: None }));
                    }
                }
            }
        });
        name_done = 0;
        self.near_long_words.near_long_words(text, |place, word, starts| {
            for start in starts.iter().filter(|start| wanted(**start)) {
                match *start {
                    Start::Rule(at) => hits.extend(self.try_rule(at, text, &place, word)),
                    Start::Name => {
                        let found = hits.len();
                        self.try_name(text, &place, &mut name_done, &mut hits);
                        if hits.len() == found {
                            let key = beside(text, place.clone());
                            hits.extend(key.map(|key| self.assigned(key)));
                        }
                    }
                    Start::Pem => {}
                }
            }
        });
        if hits.is_empty() {
            return hits;
        }
        let done = placeholder::spans(text);
        let inside = |hit: &Hit| {
            done.iter().any(|span| span.start <= hit.range.start && hit.range.end <= span.end)
        };
        let allowed = |hit: &Hit| {
            text.get(hit.range.clone()).is_some_and(|value| self.allowed.is_match(value))
        };
        hits.retain(|hit| !inside(hit) && !allowed(hit));
        settle(hits)
    }

    /// What is assigned to the name around a keyword, unless the name was looked at before.
    fn try_name(&self, text: &str, place: &Range<usize>, done: &mut usize, hits: &mut Vec<Hit>) {
        if place.start < *done {
            return;
        }
        let name = assign::name_around(text, place.clone());
        *done = name.end;
        let mut assigned = Vec::new();
        assign::values(text, name, &self.names, &mut assigned);
        hits.extend(assigned.into_iter().map(|one| self.assigned(one)));
    }

    fn assigned(&self, Assigned { range, strength }: Assigned) -> Hit {
        Hit { range, rule: self.rules.len() + place(strength), word: None }
    }

    fn try_rule(&self, at: usize, text: &str, place: &Range<usize>, word: &str) -> Option<Hit> {
        let (range, word) = self.rules.get(at)?.find(text, place.clone(), word)?;
        Some(Hit { range, rule: at, word })
    }
}

/// A shorter text holds no value with what tells about it.
const SHORTEST: usize = 7;

/// Rules that are not in files, counted from the end of those that are.
const PRIVATE_KEY: usize = Strength::ALL.len();
const USER_NAME: usize = PRIVATE_KEY + 1;

fn place(strength: Strength) -> usize {
    Strength::ALL.iter().position(|one| *one == strength).unwrap_or(0)
}

/// Of hits that overlap, the first and widest stays and covers the others.
fn settle(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.range.start, std::cmp::Reverse(hit.range.end), hit.rule));
    let mut settled: Vec<Hit> = Vec::new();
    for hit in hits {
        match settled.last_mut() {
            Some(last) if hit.range.start < last.range.end => {
                last.range.end = last.range.end.max(hit.range.end);
            }
            _ => settled.push(hit),
        }
    }
    settled
}
