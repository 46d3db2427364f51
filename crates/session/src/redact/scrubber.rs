//! What one session taught, and clearing its texts with that.

use super::cleared::Cleared;
use super::engine::{Engine, Hit};
use super::report::Report;
use super::structural::{Place, StructuralPaths};
use aho_corasick::{AhoCorasick, MatchKind};
use hashbrown::HashMap;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Clears the texts of one session: first [`learn`](Scrubber::learn) from all of them, then
/// [`scrub`](Scrubber::scrub) each.
#[derive(Debug)]
pub struct Scrubber {
    engine: Arc<Engine>,
    /// Values found, and the rule that found each.
    learnt: HashMap<Box<str>, usize>,
    report: Report,
    matcher: OnceLock<Option<(AhoCorasick, Vec<String>)>>,
}

impl Scrubber {
    pub(super) fn new(engine: Arc<Engine>) -> Scrubber {
        let (learnt, report) = (HashMap::new(), Report::default());
        Scrubber { engine, learnt, report, matcher: OnceLock::new() }
    }

    /// Looks for secrets in a decoded text and keeps them in mind.
    pub fn learn(&mut self, text: &str) {
        for Hit { range, rule } in self.engine.find(text) {
            let Some(value) = text.get(range) else { continue };
            let is_new = !self.learnt.contains_key(value);
            if is_new {
                self.learnt.insert(value.into(), rule);
                self.matcher = OnceLock::new();
            }
            if let Some((name, class)) = self.engine.rule(rule) {
                self.report.count(class, name, is_new);
            }
        }
    }

    /// Learns from every string and key of a JSON value.
    pub fn learn_json(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.learn(text),
            Value::Array(items) => items.iter().for_each(|item| self.learn_json(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.learn(name);
                    self.learn_json(value);
                }
            }
            _ => {}
        }
    }

    /// The text without what the rules find in it and without what was learnt.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let hits = self.engine.find(text);
        let first = match hits.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(self.replace(text, &hits)),
        };
        let Some((matcher, with)) = self.matcher() else { return first };
        if !matcher.is_match(first.as_ref()) {
            return first;
        }
        Cow::Owned(matcher.replace_all(&first, with))
    }

    /// [`scrub`](Scrubber::scrub), with the proof.
    pub fn clear<'t>(&self, text: &'t str) -> Cleared<Cow<'t, str>> {
        Cleared::new(self.scrub(text))
    }

    /// The text cleared.
    pub fn clear_text(&self, text: &str) -> Cleared<String> {
        Cleared::new(self.scrub(text).into_owned())
    }

    /// A JSON value whose strings and keys are scrubbed at any depth, but for ids of the format.
    pub fn clear_json(&self, mut value: Value, structural: &StructuralPaths) -> Cleared<Value> {
        self.scrub_json(&mut value, structural, &structural.root(), "");
        Cleared::new(value)
    }

    /// What was learnt, in counts.
    pub fn report(&self) -> &Report {
        &self.report
    }

    fn scrub_json(&self, value: &mut Value, paths: &StructuralPaths, place: &Place, name: &str) {
        match value {
            Value::String(text) if !paths.holds(place, name) => {
                if let Cow::Owned(new) = self.scrub(text) {
                    *text = new;
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.scrub_json(item, paths, place, name);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    let place = paths.field(place, name);
                    self.scrub_json(value, paths, &place, name);
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

    fn replace(&self, text: &str, hits: &[Hit]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for hit in hits {
            let (Some(before), Some(value), Some((rule, _))) = (
                text.get(done..hit.range.start),
                text.get(hit.range.clone()),
                self.engine.rule(hit.rule),
            ) else {
                continue;
            };
            out.push_str(before);
            out.push_str(&self.engine.placeholder(rule, value));
            done = hit.range.end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        out
    }

    fn matcher(&self) -> Option<&(AhoCorasick, Vec<String>)> {
        let made = self.matcher.get_or_init(|| {
            let values: Vec<(&str, usize)> =
                self.learnt.iter().map(|(value, rule)| (value.as_ref(), *rule)).collect();
            if values.is_empty() {
                return None;
            }
            let words = values.iter().map(|(value, _)| *value);
            let matcher =
                AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words).ok()?;
            let with = values.iter().map(|(value, rule)| {
                let name = self.engine.rule(*rule).map_or("secret", |(name, _)| name);
                self.engine.placeholder(name, value)
            });
            Some((matcher, with.collect()))
        });
        made.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Redactor};
    use super::*;

    #[test]
    fn what_is_learnt_in_one_text_goes_from_all() {
        let token = "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";
        let redactor = Redactor::new(&Config::default()).unwrap();
        let mut scrubber = redactor.session();
        scrubber.learn(&format!("token {token}"));
        let text = format!("x{token}y");
        let cleared = scrubber.scrub(&text);
        assert!(!cleared.contains(token) && cleared.contains("[redacted:github-token:"));
        let value = serde_json::json!({ "uuid": token, token: [token] });
        let paths = StructuralPaths::new(["uuid"]);
        let value = scrubber.clear_json(value, &paths).into_inner();
        assert_eq!(value["uuid"], token);
        assert_eq!(value.to_string().matches(token).count(), 1);
    }
}
