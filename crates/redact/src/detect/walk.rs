//! Going through the keywords of a text: what the rules and names that they stand for find there.

use crate::detect::assign::{self, Assigned};
use crate::detect::engine::{Engine, Hit, place};
use crate::detect::keywords::Start;
use crate::detect::near_service_name::near_service_name;
use crate::detect::repeats::{Repeats, is_near};
use crate::detect::table::Tables;
use crate::detect::tries::{Names, Tries};
use crate::detect::wrapped::{KeywordOf, Wrapped};
use std::ops::Range;

/// What has been found in a text so far, and what need not be tried again.
pub(crate) struct Walk<'a> {
    engine: &'a Engine,
    text: &'a str,
    hits: Vec<Hit>,
    name_done: usize,
    names: Names,
    tables: Tables,
    tries: Tries,
    wrapped: Wrapped<'a>,
    repeats: Repeats<'a, KeywordMatches>,
}

/// Which keywords are gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Near {
    Anything,
    LongWord,
}

/// What a keyword led to: some of the hits, and whether its line may go on in the next.
#[derive(Debug, Clone)]
struct KeywordMatches {
    hits: Range<usize>,
    continues: Option<KeywordOf>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(engine: &'a Engine, text: &'a str) -> Walk<'a> {
        Walk {
            engine,
            text,
            hits: Vec::new(),
            name_done: 0,
            names: Names::default(),
            tables: Tables::default(),
            tries: Tries::default(),
            wrapped: Wrapped::new(text),
            repeats: Repeats::new(text),
        }
    }

    /// Before other keywords are gone through, from the beginning of the text.
    pub(crate) fn begin_anew(&mut self) {
        self.name_done = 0;
        self.repeats = Repeats::new(self.text);
    }

    /// Adds what was found otherwise.
    pub(crate) fn found(&mut self, rule: usize, ranges: impl IntoIterator<Item = Range<usize>>) {
        let hit = |range| Hit { range, rule, word: None, says: None };
        self.hits.extend(ranges.into_iter().map(hit));
    }

    /// Tries everything that a keyword stands for, or takes what it led to in the same place of a
    /// text that repeats itself. By itself, so that the search for keywords stays small.
    #[inline(never)]
    pub(crate) fn keyword(
        &mut self,
        place: &Range<usize>,
        word: &'a str,
        starts: impl Iterator<Item = Start> + Clone,
        near: Near,
    ) {
        // Inside a word most keywords cannot match: `AAAA` stands in every place of a long run.
        if !starts.clone().any(|start| self.may_lead_on(start, place, word)) {
            return;
        }
        let is_crowded = self.repeats.is_crowded(place.start);
        let first = self.hits.len();
        let earlier = if is_crowded { self.repeats.earlier(place.start, word) } else { None };
        let continues = match earlier {
            Some((led_to, period)) => self.repeat(&led_to, period),
            None => self.try_all(place, word, starts, near),
        };
        if let Some(of) = continues {
            self.wrapped.note(place, of);
        }
        let new = self.hits.get(first..).unwrap_or_default();
        if is_crowded && new.iter().all(|hit| is_near(place.start, &hit.range)) {
            let led_to = KeywordMatches { hits: first..self.hits.len(), continues };
            self.repeats.remember(place.start, word, led_to);
        }
    }

    /// Whether there is anything to try at a keyword.
    fn may_lead_on(&self, start: Start, place: &Range<usize>, word: &str) -> bool {
        match start {
            Start::Rule(at) => {
                let rule = self.engine.rules.get(at);
                rule.is_some_and(|rule| rule.may_match(self.text, place.clone(), word))
            }
            Start::Name => true,
            Start::Pem | Start::PemEnd | Start::Manifest | Start::Encoding(_) => false,
        }
    }

    /// Finds again, a period later, what a keyword led to.
    fn repeat(&mut self, led_to: &KeywordMatches, period: usize) -> Option<KeywordOf> {
        for at in led_to.hits.clone() {
            let Some(hit) = self.hits.get(at) else { break };
            let later = |range: &Range<usize>| range.start + period..range.end + period;
            let word = hit.word.as_ref().map(later);
            self.hits.push(Hit { range: later(&hit.range), rule: hit.rule, word, says: None });
        }
        led_to.continues
    }

    fn try_all(
        &mut self,
        place: &Range<usize>,
        word: &str,
        starts: impl Iterator<Item = Start>,
        near: Near,
    ) -> Option<KeywordOf> {
        let mut continues = None;
        for start in starts {
            match start {
                Start::Rule(at) => {
                    if self.try_rule(at, place, word) {
                        continues = Some(KeywordOf::Rule);
                    }
                }
                Start::Name => {
                    let found = self.hits.len();
                    let is_new = self.try_name(place);
                    if near == Near::Anything {
                        // The line of a name is looked at once, not for each word of the name.
                        if is_new {
                            continues.get_or_insert(KeywordOf::Name);
                        }
                    } else if self.hits.len() == found {
                        let key = near_service_name(self.text, place.clone());
                        self.hits.extend(key.map(|key| assigned(self.engine, key)));
                    }
                }
                Start::Pem | Start::PemEnd | Start::Manifest | Start::Encoding(_) => {}
            }
        }
        continues
    }

    /// What the rule finds at a keyword. False if the keyword cannot be in a match.
    fn try_rule(&mut self, at: usize, place: &Range<usize>, word: &str) -> bool {
        let Some(rule) = self.engine.rules.get(at) else { return false };
        if !rule.may_match(self.text, place.clone(), word) {
            return false;
        }
        let tried = self.tries.of(at);
        for place in tried.next(place.start).into_iter().flatten() {
            let found = rule.find(self.text, place, tried);
            let hit = |(range, word)| Hit { range, rule: at, word, says: None };
            self.hits.extend(found.map(hit));
        }
        true
    }

    /// What is assigned to the name around a keyword. False if the name was looked at before.
    fn try_name(&mut self, place: &Range<usize>) -> bool {
        if place.start < self.name_done {
            return false;
        }
        let name = assign::name_around(self.text, place.clone());
        self.name_done = name.end;
        for name in self.names.next(self.text.as_bytes(), name).into_iter().flatten() {
            self.try_assigned(name);
        }
        true
    }

    fn try_assigned(&mut self, name: Range<usize>) {
        let mut values = Vec::new();
        if Tables::may_hold(self.text, &name) {
            self.tables.find(self.text, &name, &self.engine.names, &mut values);
        }
        assign::values(self.text, name, &self.engine.names, &mut values);
        self.hits.extend(values.into_iter().map(|one| assigned(self.engine, one)));
    }

    /// Everything that was found, and the lines that may go on in the next.
    pub(crate) fn end(mut self) -> (Vec<Hit>, Wrapped<'a>) {
        for (at, place) in self.tries.waiting() {
            let rule = self.engine.rules.get(at);
            let found = rule.and_then(|rule| rule.find(self.text, place, self.tries.of(at)));
            let hit = |(range, word)| Hit { range, rule: at, word, says: None };
            self.hits.extend(found.map(hit));
        }
        if let Some(name) = self.names.waiting() {
            self.try_assigned(name);
        }
        (self.hits, self.wrapped)
    }
}

fn assigned(engine: &Engine, Assigned { range, strength }: Assigned) -> Hit {
    Hit { range, rule: engine.rules.len() + place(strength), word: None, says: None }
}
