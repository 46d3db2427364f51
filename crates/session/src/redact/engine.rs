//! Finding: one search for all keywords, then the rules whose keyword stands there.

use super::config::{Class, Config, RedactError};
use super::placeholder::{OPENING, placeholder};
use super::rules::{self, Rule};
use super::scrubber::Scrubber;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::ops::Range;
use std::sync::Arc;

/// Compiled rules; cheap to clone, shared by all threads.
#[derive(Debug, Clone)]
pub struct Redactor {
    pub(super) engine: Arc<Engine>,
}

#[derive(Debug)]
pub(super) struct Engine {
    keywords: AhoCorasick,
    /// By keyword: the rules it belongs to.
    by_keyword: Vec<Vec<usize>>,
    rules: Vec<Rule>,
    salt: Vec<u8>,
}

/// A value that a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) rule: usize,
}

/// What a match may be long at most.
const LONGEST: usize = 8 << 10;

impl Redactor {
    /// Compiles the bundled rules and the user's own.
    pub fn new(config: &Config) -> Result<Redactor, RedactError> {
        let written = rules::bundled()?;
        let mut words: Vec<String> = Vec::new();
        let mut by_keyword: Vec<Vec<usize>> = Vec::new();
        let mut compiled = Vec::new();
        for rule in written.iter().filter(|rule| config.classes.holds(rule.class)) {
            for word in &rule.keywords {
                let word = word.to_ascii_lowercase();
                let at = words.iter().position(|one| *one == word).unwrap_or_else(|| {
                    words.push(word);
                    by_keyword.push(Vec::new());
                    words.len() - 1
                });
                if let Some(rules) = by_keyword.get_mut(at) {
                    rules.push(compiled.len());
                }
            }
            compiled.push(rule.compile()?);
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .map_err(|error| RedactError::Toml(error.to_string()))?;
        let engine = Engine { keywords, by_keyword, rules: compiled, salt: config.salt.clone() };
        Ok(Redactor { engine: Arc::new(engine) })
    }

    /// What one session is scrubbed with.
    pub fn session(&self) -> Scrubber {
        Scrubber::new(self.engine.clone())
    }
}

impl Engine {
    pub(super) fn rule(&self, at: usize) -> Option<(&str, Class)> {
        self.rules.get(at).map(|rule| (rule.id.as_ref(), rule.class))
    }

    pub(super) fn placeholder(&self, rule: &str, value: &str) -> String {
        placeholder(rule, value, &self.salt)
    }

    /// Values in `text`, in order and without overlap.
    pub(super) fn find(&self, text: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        for found in self.keywords.find_overlapping_iter(text) {
            let rules = self.by_keyword.get(found.pattern().as_usize());
            for &at in rules.into_iter().flatten() {
                let Some(rule) = self.rules.get(at) else { continue };
                if let Some(range) = rule.find(text, found.start()) {
                    hits.push(Hit { range, rule: at });
                }
            }
        }
        settle(hits)
    }
}

impl Rule {
    /// The value of the match that the keyword at `place` belongs to.
    fn find(&self, text: &str, place: usize) -> Option<Range<usize>> {
        let start = boundary(text, place.saturating_sub(self.before));
        let end = boundary(text, place + LONGEST);
        let captures = self.regex.captures(text.get(start..end)?)?;
        let value = captures.name("value").or_else(|| captures.get(0))?;
        let range = start + value.start()..start + value.end();
        let found = value.as_str();
        let enough = self.entropy == 0.0 || entropy(found) >= self.entropy;
        (!found.is_empty() && !found.starts_with(OPENING) && enough).then_some(range)
    }
}

/// Shannon entropy of the bytes, in bits per byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let all = text.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / all);
    shares.map(|share| -share * share.log2()).sum()
}

fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Of hits that overlap, the widest stays.
pub(super) fn settle(mut hits: Vec<Hit>) -> Vec<Hit> {
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
