//! What one session taught, and clearing its texts with that.

use crate::apply::cleared::Cleared;
use crate::config::Class;
use crate::detect::engine::MatchMode;
use crate::detect::engine::{Engine, Found, Hit};
use crate::detect::pem;
use crate::recall::known_values::KnownValues;
use crate::recall::search_cache::{Known, SearchCache};
use crate::report::Report;
use crate::strength::Strength;
use backstory_format::is_uuid;
use backstory_format::json::text;
use backstory_format::json::{IdPaths, IdPlace};
use hashbrown::{HashMap, HashSet};
use memchr::memmem;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Clears the texts of one session: first [`learn`](Scrubber::learn) from all of them, then
/// [`scrub`](Scrubber::scrub) each.
#[derive(Debug)]
pub struct Scrubber {
    pub(crate) engine: Arc<Engine>,
    pub(crate) memory: KnownValues,
    searched: SearchCache,
    /// What names of fields say: there are few, and each stands in many records.
    names: HashMap<Box<str>, Option<Strength>>,
    /// Names of fields, as they are written, that hold nothing themselves.
    keys: HashSet<Box<[u8]>>,
    report: Report,
    /// For decoding.
    space: String,
}

/// So many names are kept in mind.
const MOST_NAMES: usize = 4096;

/// How deep encodings may be in each other.
const DEEPEST: usize = 2;

/// What a text taught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LearnResult {
    Nothing,
    /// Nothing yet, but what was found elsewhere may stand in its encoded parts.
    Encoded,
    Values,
}

/// What is to stand where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) range: Range<usize>,
    pub(crate) with: String,
}

impl Scrubber {
    pub(crate) fn new(engine: Arc<Engine>) -> Scrubber {
        let mut memory = KnownValues::default();
        for (value, rule) in engine.known_words() {
            memory.keep(value, rule, MatchMode::Word);
        }
        let (searched, names, keys) = (SearchCache::default(), HashMap::new(), HashSet::new());
        Scrubber {
            engine,
            memory,
            searched,
            names,
            keys,
            report: Report::default(),
            space: String::new(),
        }
    }

    /// Looks for secrets in a decoded text and keeps them in mind.
    pub fn learn(&mut self, text: &str) {
        self.learn_field("", text);
    }

    /// The same for the value of a field, whose name may tell what it is. True if there was
    /// something, or may be when it is known what was found elsewhere.
    pub fn learn_field(&mut self, name: &str, text: &str) -> bool {
        let found = self.searched.learn(text, || self.engine.find(text));
        self.learn_found(name, text, found) != LearnResult::Nothing
    }

    fn learn_found(&mut self, name: &str, text: &str, found: Found) -> LearnResult {
        let Found { hits, has_encoded_parts } = found;
        let named = self.judged(name);
        let hits = self.engine.judge_field(named, text, hits);
        for hit in &hits {
            let Hit { rule, word, .. } = hit;
            let value = hit.value(text);
            let Some((id, class)) = self.engine.rule(*rule) else { continue };
            let recall = self.engine.recall(*rule);
            let is_new = self.memory.keep(value, *rule, recall);
            self.report.count(class, id, is_new);
            for line in pem::lines(id, value) {
                self.memory.keep(line, *rule, recall);
            }
            if let Some(word) = word.clone().and_then(|word| text.get(word))
                && Engine::is_name(word)
            {
                self.memory.keep(word, self.engine.user_rule(), MatchMode::Word);
            }
        }
        match (hits.is_empty(), has_encoded_parts) {
            (false, _) => LearnResult::Values,
            (true, true) => LearnResult::Encoded,
            (true, false) => LearnResult::Nothing,
        }
    }

    /// The same for the inside of a JSON string, as it is written.
    pub(crate) fn learn_written(&mut self, name: &str, raw: &[u8]) -> bool {
        let known = self.searched.known_of(raw);
        let Known::Not(writing) = known else {
            // The name may tell of what no rule sees.
            let named = self.judged(name).is_some() && self.learn_field(name, &text::decode(raw));
            return named || known == Known::Encoded;
        };
        let mut space = std::mem::take(&mut self.space);
        let decoded = text::decode_with(raw, &mut space);
        let found = self.searched.learn_written(decoded, writing, || self.engine.find(decoded));
        let learnt = self.learn_found(name, decoded, found);
        self.space = space;
        if learnt != LearnResult::Values {
            self.searched.keep(writing, learnt == LearnResult::Encoded);
        }
        learnt != LearnResult::Nothing
    }

    /// The same for the name of a field.
    pub(crate) fn learn_key(&mut self, raw: &[u8]) -> bool {
        if self.keys.contains(raw) {
            return false;
        }
        let found = self.learn_field("", &text::decode(raw));
        if !found && self.keys.len() < MOST_NAMES {
            self.keys.insert(raw.into());
        }
        found
    }

    fn judged(&mut self, name: &str) -> Option<Strength> {
        if name.is_empty() {
            return None;
        }
        if let Some(named) = self.names.get(name) {
            return *named;
        }
        let named = self.engine.judge_name(name);
        if self.names.len() < MOST_NAMES {
            self.names.insert(name.into(), named);
        }
        named
    }

    /// Learns from every string and key of a JSON value.
    pub fn learn_json(&mut self, value: &Value) {
        self.learn_tree("", value);
        let mut strings = Vec::new();
        texts_of(value, &mut strings);
        if strings.iter().any(|text| memmem::find(text.as_bytes(), pem::MARK).is_some()) {
            self.learn_scattered(&strings);
        }
    }

    /// Learns from keys whose lines stand in strings of their own. True if there was one.
    pub(crate) fn learn_scattered(&mut self, strings: &[&str]) -> bool {
        let lines = pem::scattered(strings);
        let rule = self.engine.key_rule();
        for line in &lines {
            if self.memory.keep(line, rule, MatchMode::Everywhere) {
                self.report.count(Class::Secrets, pem::RULE, true);
            }
        }
        !lines.is_empty()
    }

    fn learn_tree(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => {
                self.learn_field(name, text);
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn_tree(name, item)),
            Value::Object(fields) => {
                let pair = pair_name(fields);
                for (name, value) in fields {
                    self.learn(name);
                    self.learn_tree(context(name, pair), value);
                }
            }
            _ => {}
        }
    }

    /// The text without what the rules find in it and without what was learnt.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.scrub_field("", text)
    }

    /// The same for the value of a field, whose name may tell what it is.
    pub fn scrub_field<'t>(&self, name: &str, text: &'t str) -> Cow<'t, str> {
        let replacements = self.replacements(name, text);
        replaced(text, &replacements)
    }

    /// What is replaced in a text, in order and without overlap.
    pub(crate) fn replacements(&self, name: &str, text: &str) -> Vec<Replacement> {
        let found = self.searched.hits(text).unwrap_or_else(|| self.engine.find(text));
        let known = self.names.get(name).copied();
        let named = known.unwrap_or_else(|| self.engine.judge_name(name));
        let rules = self.engine.judge_field(named, text, found.hits).into_iter().map(|hit| {
            let with = self.engine.replacement(hit.rule, hit.value(text));
            Replacement { with, range: hit.range }
        });
        let hidden = if found.has_encoded_parts {
            self.known_values_in_encoded_parts(text, 0)
        } else {
            Vec::new()
        };
        merged(rules.chain(self.known_values_in(text)).chain(hidden).collect())
    }

    /// Whether it is known, without decoding it, that nothing is taken out of the inside of a JSON
    /// string.
    pub fn leaves(&self, name: &str, raw: &[u8]) -> bool {
        let named = name.is_empty() || self.names.get(name) == Some(&None);
        named && self.searched.known_of(raw) == Known::Clean && self.memory.leaves(raw)
    }

    /// What was learnt and stands in this text.
    fn known_values_in(&self, text: &str) -> impl Iterator<Item = Replacement> {
        self.memory.find(text).into_iter().map(|again| Replacement {
            with: self.engine.replacement(again.rule, again.value),
            range: again.range,
        })
    }

    /// What was learnt and stands in the encoded parts of this text.
    fn known_values_in_encoded_parts(&self, text: &str, depth: usize) -> Vec<Replacement> {
        if self.memory.is_empty() || depth > DEEPEST {
            return Vec::new();
        }
        let mut found = Vec::new();
        for view in self.engine.views(text) {
            let inner = self.known_values_in_encoded_parts(&view.text, depth + 1);
            let all = self.known_values_in(&view.text).chain(inner);
            found.extend(all.filter_map(|one| {
                Some(Replacement { range: view.origin(&one.range)?, with: one.with })
            }));
        }
        found
    }

    /// An id of the format: only what no id can be is taken out, and secrets that were learnt
    /// elsewhere. A uuid is left alone: where ids stand it is one.
    pub(crate) fn certain(&self, text: &str) -> Vec<Replacement> {
        if is_uuid(text) {
            return Vec::new();
        }
        let hits = self.engine.find_certain(text).into_iter().map(|hit| {
            let value = text.get(hit.range.clone()).unwrap_or_default();
            Replacement { with: self.engine.replacement(hit.rule, value), range: hit.range }
        });
        let again = self.memory.find(text).into_iter();
        let again =
            again.filter(|again| again.recall == MatchMode::Everywhere).map(|again| Replacement {
                with: self.engine.replacement(again.rule, again.value),
                range: again.range,
            });
        merged(hits.chain(again).collect())
    }

    /// [`scrub`](Scrubber::scrub), with the proof.
    pub fn clear<'t>(&self, text: &'t str) -> Cleared<Cow<'t, str>> {
        Cleared::assert_cleared(self.scrub(text))
    }

    /// An id, without what no id can be.
    pub fn clear_id<'t>(&self, id: &'t str) -> Cleared<Cow<'t, str>> {
        Cleared::assert_cleared(replaced(id, &self.certain(id)))
    }

    /// [`scrub_field`](Scrubber::scrub_field), with the proof.
    pub fn clear_field<'t>(&self, name: &str, text: &'t str) -> Cleared<Cow<'t, str>> {
        Cleared::assert_cleared(self.scrub_field(name, text))
    }

    /// The text cleared.
    pub fn clear_text(&self, text: &str) -> Cleared<String> {
        Cleared::assert_cleared(self.scrub(text).into_owned())
    }

    /// A JSON value whose strings and keys are scrubbed at any depth, but for ids of the format.
    pub fn clear_json(&self, mut value: Value, structural: &IdPaths) -> Cleared<Value> {
        self.scrub_json(&mut value, structural, &structural.root(), "", "");
        Cleared::assert_cleared(value)
    }

    /// What was learnt, in counts.
    pub fn report(&self) -> &Report {
        &self.report
    }

    fn scrub_json(
        &self,
        value: &mut Value,
        paths: &IdPaths,
        place: &IdPlace,
        name: &str,
        context_name: &str,
    ) {
        match value {
            Value::String(text) if !paths.holds(place, name) => {
                if let Cow::Owned(new) = self.scrub_field(context_name, text) {
                    *text = new;
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.scrub_json(item, paths, place, name, context_name);
                }
            }
            Value::Object(fields) => {
                let pair = pair_name(fields).map(str::to_owned);
                for (name, value) in fields.iter_mut() {
                    let place = paths.field(place, name);
                    let context_name = context(name, pair.as_deref()).to_owned();
                    self.scrub_json(value, paths, &place, name, &context_name);
                }
                if fields.keys().any(|name| matches!(self.scrub(name), Cow::Owned(_))) {
                    let old = std::mem::take(fields);
                    for (name, value) in old {
                        fields.insert(self.scrub(&name).into_owned(), value);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Every string of a value, in order.
fn texts_of<'v>(value: &'v Value, strings: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => strings.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, strings)),
        Value::Object(fields) => fields.values().for_each(|value| texts_of(value, strings)),
        _ => {}
    }
}

/// Of replacements that overlap, the first and widest stays and covers the others.
fn merged(mut all: Vec<Replacement>) -> Vec<Replacement> {
    all.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    let mut merged: Vec<Replacement> = Vec::new();
    for one in all {
        match merged.last_mut() {
            Some(last) if one.range.start < last.range.end => {
                last.range.end = last.range.end.max(one.range.end);
            }
            _ => merged.push(one),
        }
    }
    merged
}

fn replaced<'t>(text: &'t str, replacements: &[Replacement]) -> Cow<'t, str> {
    if replacements.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Replacement { range, with } in replacements {
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(with);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// The name in `{"name": "DB_PASSWORD", "value": "…"}`.
fn pair_name(fields: &serde_json::Map<String, Value>) -> Option<&str> {
    let name = PAIR_NAMES.iter().find_map(|name| fields.get(*name))?;
    name.as_str()
}

pub(crate) const PAIR_NAMES: [&str; 4] = ["name", "key", "Name", "Key"];

/// What tells about the value of the field `name`.
pub(crate) fn context<'a>(name: &'a str, pair: Option<&'a str>) -> &'a str {
    match pair {
        Some(pair) if is_value(name) => pair,
        _ => name,
    }
}

/// Whether another field of the same object may name this one.
pub(crate) fn is_value(name: &str) -> bool {
    name.eq_ignore_ascii_case("value")
}
