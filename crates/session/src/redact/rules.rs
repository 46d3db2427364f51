//! Rules as they stand in TOML, and compiled.

use super::config::{Class, RedactError};
use regex::Regex;
use serde::Deserialize;

/// The rules that come with the program.
const BUNDLED: [&str; 1] = [include_str!("../../rules/providers.toml")];

/// A rule as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) id: String,
    #[serde(default = "secrets")]
    pub(super) class: Class,
    /// Words one of which stands in every match; found first, whatever their case.
    pub(super) keywords: Vec<String>,
    /// What is looked for from a keyword on; the group `value`, else all of it, is taken out.
    pub(super) regex: String,
    /// How many bytes before the keyword a match may begin.
    #[serde(default)]
    pub(super) before: usize,
    /// The least entropy of a value, in bits per character.
    #[serde(default)]
    pub(super) entropy: f64,
    /// Texts in which it must find something, and texts in which it must not.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read them"))]
    pub(super) examples: Vec<String>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read them"))]
    pub(super) counterexamples: Vec<String>,
}

fn secrets() -> Class {
    Class::Secrets
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    #[serde(default)]
    rule: Vec<Written>,
}

/// A rule ready for use.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: Box<str>,
    pub(super) class: Class,
    pub(super) regex: Regex,
    pub(super) before: usize,
    pub(super) entropy: f64,
}

/// Reads the bundled rules.
pub(super) fn bundled() -> Result<Vec<Written>, RedactError> {
    let mut all = Vec::new();
    for text in BUNDLED {
        let file: RuleFile =
            toml::from_str(text).map_err(|error| RedactError::Toml(error.to_string()))?;
        all.extend(file.rule);
    }
    Ok(all)
}

impl Written {
    pub(super) fn compile(&self) -> Result<Rule, RedactError> {
        let wrong = |cause: String| RedactError::Rule(self.id.clone(), cause);
        if self.keywords.is_empty() || self.keywords.iter().any(|word| word.len() < 2) {
            return Err(wrong("it needs keywords of at least two characters".to_owned()));
        }
        let anchored = match self.before {
            0 => format!("^(?:{})", self.regex),
            _ => self.regex.clone(),
        };
        let regex = Regex::new(&anchored).map_err(|error| wrong(error.to_string()))?;
        Ok(Rule {
            id: self.id.as_str().into(),
            class: self.class,
            regex,
            before: self.before,
            entropy: self.entropy,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Redactor};
    use super::*;

    #[test]
    fn every_rule_finds_its_examples_and_not_its_counterexamples() {
        let redactor = Redactor::new(&Config::default()).unwrap();
        for rule in bundled().unwrap() {
            assert!(!rule.examples.is_empty(), "{} has no example", rule.id);
            assert!(!rule.counterexamples.is_empty(), "{} has no counterexample", rule.id);
            let finds = |text: &str| {
                let hits = redactor.engine.find(text);
                hits.iter().any(|hit| redactor.engine.rule(hit.rule).unwrap().0 == rule.id)
            };
            for text in &rule.examples {
                assert!(finds(text), "{}: not found in {text:?}", rule.id);
            }
            for text in &rule.counterexamples {
                assert!(!finds(text), "{}: found in {text:?}", rule.id);
            }
        }
    }
}
