//! Which files take provenance how: `.backstory.toml`, or an existing `.ai-blame.yaml`.

use super::{CommentStyle, Format};
use globset::{Glob, GlobMatcher};
use serde::Deserialize;

/// What is done with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// A key in the file itself.
    Append(Format),
    /// A file next to it; `{dir} {name} {stem} {ext}` are filled in.
    Sidecar(String),
    /// A comment block at its end.
    Comment(CommentStyle),
    /// Nothing is written.
    Skip,
}

/// The name of sidecars where nothing else is said. It holds the whole name of the file, so that
/// `m.py` and `m.js` do not meet in one.
pub(super) const SIDECAR: &str = "{dir}/{name}.history.yaml";

/// A pattern and what is done with the files it matches.
#[derive(Debug, Clone)]
pub struct Rule {
    matcher: GlobMatcher,
    /// Matched against the path from the configuration's folder, else against the name.
    whole_path: bool,
    policy: Wanted,
}

/// A policy as configured; what is left open depends on the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    pattern: Option<String>,
    policy: Option<String>,
    format: Option<String>,
    #[serde(alias = "comment_syntax")]
    comment: Option<String>,
    #[serde(alias = "sidecar_pattern")]
    sidecar: Option<String>,
}

/// Rules in order; the first that matches counts.
#[derive(Debug, Clone, Default)]
pub struct Config {
    rules: Vec<Rule>,
    default: Option<Wanted>,
}

/// Why a configuration cannot be used.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{0}")]
    Toml(String),
    #[error("line {0}: not understood")]
    Yaml(usize),
    #[error("pattern `{0}`: {1}")]
    Pattern(String, String),
    #[error("{0} `{1}` is not known")]
    Word(&'static str, String),
}

/// Other keys are another command's; the program reports those that do not exist.
#[derive(Debug, Default, Deserialize)]
struct File {
    #[serde(default)]
    annotate: Section,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    #[serde(default, alias = "defaults")]
    default: Option<Wanted>,
    #[serde(default, alias = "rules")]
    rule: Vec<Wanted>,
}

impl Config {
    /// Reads `.backstory.toml`.
    pub fn from_toml(text: &str) -> Result<Config, ConfigError> {
        let file: File =
            toml::from_str(text).map_err(|error| ConfigError::Toml(error.to_string()))?;
        Config::new(file.annotate)
    }

    /// Reads `.ai-blame.yaml`: `defaults` and a list of `rules`, all with plain values.
    pub fn from_ai_blame(text: &str) -> Result<Config, ConfigError> {
        let mut section = Section::default();
        let mut place = "";
        for (at, line) in text.lines().enumerate() {
            let bare = line.split(" #").next().unwrap_or(line).trim_end();
            if bare.trim().is_empty() || bare.trim_start().starts_with('#') || bare == "---" {
                continue;
            }
            if !bare.starts_with([' ', '-']) {
                place = match bare.trim_end_matches(':') {
                    "defaults" => "defaults",
                    "rules" => "rules",
                    // Its own documentation names sections that it never read.
                    _ => "",
                };
                continue;
            }
            let new = bare.trim_start().starts_with("- ");
            let field = bare.trim_start().trim_start_matches("- ").split_once(':');
            let Some((name, value)) = field else { return Err(ConfigError::Yaml(at + 1)) };
            let value = value.trim().trim_matches(['"', '\'']).to_owned();
            let wanted = match place {
                "defaults" => section.default.get_or_insert_default(),
                "rules" => {
                    if new || section.rule.is_empty() {
                        section.rule.push(Wanted::default());
                    }
                    match section.rule.last_mut() {
                        Some(rule) => rule,
                        None => continue,
                    }
                }
                _ => continue,
            };
            match name.trim() {
                "pattern" => wanted.pattern = Some(value),
                "policy" => wanted.policy = Some(value),
                "format" => wanted.format = Some(value),
                "comment_syntax" => wanted.comment = Some(value),
                "sidecar_pattern" => wanted.sidecar = Some(value),
                _ => {}
            }
        }
        Config::new(section)
    }

    fn new(section: Section) -> Result<Config, ConfigError> {
        let mut rules = Vec::new();
        for wanted in section.rule.into_iter().chain(section.default.clone()) {
            check(&wanted)?;
            let pattern = wanted.pattern.clone().unwrap_or_else(|| "*".to_owned());
            let glob = Glob::new(&pattern)
                .map_err(|error| ConfigError::Pattern(pattern.clone(), error.to_string()))?;
            let whole_path = pattern.contains('/') || pattern.contains("**");
            rules.push(Rule { matcher: glob.compile_matcher(), whole_path, policy: wanted });
        }
        Ok(Config { rules, default: section.default })
    }

    /// What is done with the file at `path` (from the configuration's folder).
    pub fn policy(&self, path: &str) -> Policy {
        let name = path.rsplit('/').next().unwrap_or(path);
        let matches =
            |rule: &&Rule| rule.matcher.is_match(if rule.whole_path { path } else { name });
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        let format = match end {
            "json" => Some(Format::Json),
            "yaml" | "yml" => Some(Format::Yaml),
            _ => None,
        };
        let rule = self.rules.iter().find(matches).map(|rule| &rule.policy);
        let sidecar = |wanted: Option<&Wanted>| {
            let own = wanted.and_then(|wanted| wanted.sidecar.clone());
            let common = || self.default.as_ref().and_then(|default| default.sidecar.clone());
            Policy::Sidecar(own.or_else(common).unwrap_or_else(|| SIDECAR.to_owned()))
        };
        let word = rule.and_then(|rule| rule.policy.as_deref());
        match (word, format) {
            (Some("skip"), _) => Policy::Skip,
            (Some("comment"), _) => {
                let named =
                    rule.and_then(|rule| rule.comment.as_deref()).and_then(CommentStyle::from_name);
                named
                    .or_else(|| CommentStyle::for_name(name))
                    .map_or_else(|| sidecar(rule), Policy::Comment)
            }
            (Some("append"), _) => {
                let named =
                    rule.and_then(|rule| rule.format.as_deref()).and_then(|name| match name {
                        "yaml" => Some(Format::Yaml),
                        "json" => Some(Format::Json),
                        _ => None,
                    });
                named.or(format).map_or_else(|| sidecar(rule), Policy::Append)
            }
            (None, Some(format)) if rule.is_none() => Policy::Append(format),
            _ => sidecar(rule),
        }
    }
}

fn check(wanted: &Wanted) -> Result<(), ConfigError> {
    let known = |what, value: &Option<String>, words: &[&str]| match value {
        Some(value) if !words.contains(&value.as_str()) => {
            Err(ConfigError::Word(what, value.clone()))
        }
        _ => Ok(()),
    };
    known("policy", &wanted.policy, &["append", "sidecar", "comment", "skip"])?;
    known("format", &wanted.format, &["yaml", "json"])?;
    known("comment", &wanted.comment, &["hash", "slash", "html"])
}
