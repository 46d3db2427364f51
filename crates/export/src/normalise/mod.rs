//! Actions of models in a form in which they can be compared.
//!
//! Two models that do the same rarely write the same: paths are absolute or not, a command ends in
//! `| head -20`, a tool has another name, fields that only describe a call differ. What is made here is for
//! comparing alone, never for training. Nothing is looked up: paths are compared as text, so a link and
//! its target differ. Surprising: calls of one message are compared without regard to their order, and words
//! next to calls does not count.

mod compare;
mod shell;
mod tools;

pub use shell::{is_read_only, normal_command, programs};
pub use tools::Tool;

use crate::canonical_json;
use backstory_session::history::normal_path;
use serde_json::Value;
use std::fmt;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// What a model did: words, or calls.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// The model only wrote text.
    Words(String),
    /// The model called tools.
    Calls(Vec<Called>),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// The tool's name.
    pub name: String,
    /// The input of the call.
    pub input: Value,
}

impl Action {
    /// Reads an action as training states have it: words, or a list of blocks of which at least one
    /// calls a tool. Whatever is not such a list is words.
    pub fn parse(text: &str) -> Action {
        match words_and_calls(text) {
            (_, calls) if calls.is_empty() => Action::Words(text.to_owned()),
            (_, calls) => Action::Calls(calls),
        }
    }
}

/// The words of an action, and its calls; see [`Action::parse`].
pub fn words_and_calls(text: &str) -> (String, Vec<Called>) {
    let all = || (text.to_owned(), Vec::new());
    let blocks: Vec<Value> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).unwrap_or_default()
    } else {
        Vec::new()
    };
    let field = |block: &Value, name: &str| block.get(name)?.as_str().map(str::to_owned);
    let (mut words, mut calls) = (Vec::new(), Vec::new());
    for block in &blocks {
        match field(block, "type").as_deref() {
            Some("text") => words.push(field(block, "text").unwrap_or_default()),
            Some("tool_use") => calls.push(Called {
                name: field(block, "name").unwrap_or_default(),
                input: block.get("input").cloned().unwrap_or(Value::Null),
            }),
            _ => return all(),
        }
    }
    if calls.is_empty() { all() } else { (words.join("\n\n"), calls) }
}

/// How much must be equal for two actions to be the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// Everything that normalising leaves.
    Exact,
    /// The tools alone; any words are the same as any others.
    Name,
    /// The tools and what they are used on: the file, the program and its first operand, the address.
    NameTarget,
    /// The tools, and inputs or words of which at least so large a share is common.
    Fuzzy(f64),
}

impl Level {
    /// The default of fuzzy.
    pub const FUZZY: Level = Level::Fuzzy(0.8);
    /// One of each, from the strictest to the loosest.
    pub const ALL: [Level; 4] = [Level::Exact, Level::FUZZY, Level::NameTarget, Level::Name];

    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Level::Exact => "exact",
            Level::Name => "name",
            Level::NameTarget => "name+target",
            Level::Fuzzy(_) => "fuzzy",
        }
    }

    /// Reads `exact`, `name`, `name+target`, `fuzzy` or `fuzzy:0.7`.
    pub fn parse(text: &str) -> Option<Level> {
        match text {
            "exact" => Some(Level::Exact),
            "name" => Some(Level::Name),
            "name+target" => Some(Level::NameTarget),
            "fuzzy" => Some(Level::FUZZY),
            text => {
                let threshold: f64 = text.strip_prefix("fuzzy:")?.parse().ok()?;
                (0.0..=1.0).contains(&threshold).then_some(Level::Fuzzy(threshold))
            }
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Fuzzy(threshold) => write!(formatter, "fuzzy:{threshold}"),
            level => formatter.write_str(level.name()),
        }
    }
}

/// An action in the form that is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Normal {
    action: Action,
    /// What each call is used on.
    targets: Vec<String>,
}

impl Normal {
    /// Makes paths relative to `folder`, where the session ran.
    pub fn of(action: &Action, folder: Option<&str>) -> Normal {
        let folder = folder.map(|folder| normal_path(folder, None));
        let folder = folder.as_deref();
        match action {
            Action::Words(words) => {
                Normal { action: Action::Words(normal_words(words)), targets: Vec::new() }
            }
            Action::Calls(calls) => {
                let mut both: Vec<(Called, String)> = calls
                    .iter()
                    .map(|call| {
                        let call = normal_call(call, folder);
                        let target = Tool::of(&call.name).target(&call.input, folder);
                        (call, target)
                    })
                    .collect();
                if both.len() > 1 {
                    both.sort_by_cached_key(|(call, _)| {
                        (call.name.clone(), canonical_json(&call.input))
                    });
                }
                let (calls, targets) = both.into_iter().unzip();
                Normal { action: Action::Calls(calls), targets }
            }
        }
    }

    /// The normalised action itself.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// Equal for actions that are the same; at a fuzzy level only those of equal keys *may* be, and
    /// [`same`](Normal::same) tells.
    pub fn key(&self, level: Level) -> String {
        let calls = match &self.action {
            Action::Words(words) if level == Level::Exact => return format!("words {words}"),
            Action::Words(_) => return "words".to_owned(),
            Action::Calls(calls) => calls,
        };
        let named = calls.iter().zip(&self.targets);
        let mut parts: Vec<String> = named
            .map(|(call, target)| match level {
                Level::Exact => format!("{} {}", call.name, canonical_json(&call.input)),
                Level::NameTarget => format!("{} {target}", call.name),
                Level::Name | Level::Fuzzy(_) => call.name.clone(),
            })
            .collect();
        parts.sort();
        parts.join("\n")
    }

    /// Whether two actions are the same at a level. At a fuzzy one this is no equivalence: who groups
    /// actions compares each with the first of a group.
    pub fn same(&self, other: &Normal, level: Level) -> bool {
        if self.key(level) != other.key(level) {
            return false;
        }
        match level {
            Level::Fuzzy(threshold) => self.similarity(other) >= threshold,
            _ => true,
        }
    }

    /// How much of two actions is common: 0 for other tools, 1 for the same.
    pub fn similarity(&self, other: &Normal) -> f64 {
        match (&self.action, &other.action) {
            (Action::Words(one), Action::Words(two)) => compare::common_words(one, two),
            (Action::Calls(one), Action::Calls(two)) => compare::common_calls(one, two),
            _ => 0.0,
        }
    }

    /// The tools called, by their common names; `words` where the model only spoke.
    pub fn tools(&self) -> Vec<&str> {
        match &self.action {
            Action::Words(_) => vec!["words"],
            Action::Calls(calls) => calls.iter().map(|call| call.name.as_str()).collect(),
        }
    }
}

fn normal_call(call: &Called, folder: Option<&str>) -> Called {
    let tool = Tool::of(&call.name);
    Called { name: tool.name().to_owned(), input: tool.normal_input(&call.input, folder) }
}

/// Without the whitespace that carries no meaning.
fn normal_words(words: &str) -> String {
    composed(&words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Letters composed (NFC), as models and file systems differ in it.
fn composed(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.to_owned(),
        IsNormalized::No | IsNormalized::Maybe => text.nfc().collect(),
    }
}

/// A path as seen from the folder of the session.
pub(crate) fn seen_from(path: &str, folder: Option<&str>) -> String {
    if path.starts_with('~') {
        return composed(path);
    }
    let Some(folder) = folder else {
        let above = path.split('/').take_while(|part| *part == "..").count();
        let normal = normal_path(path, None);
        return match (above, normal.as_str()) {
            (0, "") => ".".to_owned(),
            (0, _) => normal,
            (above, "") => vec![".."; above].join("/"),
            (above, _) => format!("{}/{normal}", vec![".."; above].join("/")),
        };
    };
    let normal = normal_path(path, Some(folder));
    let inside = folder.trim_end_matches('/');
    match normal.strip_prefix(inside) {
        Some("" | "/") => ".".to_owned(),
        Some(rest) => rest.strip_prefix('/').map_or(normal.clone(), str::to_owned),
        None if normal.is_empty() => ".".to_owned(),
        None => normal,
    }
}

#[cfg(test)]
mod tests;
