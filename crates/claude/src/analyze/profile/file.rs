//! Profiles as files, and the one that comes with the program.

use super::{Profile, ProfileError, ProfileField, ProfileKind, SCHEMA, VersionSet};
use crate::analyze::{Type, Version, clean_name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What this program knows: made from sessions that the clients themselves wrote while playing
/// scripted conversations (`scripts/profile-versions`), and from what is known of real ones.
const SHIPPED: &str = include_str!("../../../profiles/claude-code.json");
const KNOWN: &str = include_str!("../../../profiles/known.txt");

impl Profile {
    /// The profile that comes with this program.
    pub fn shipped() -> Result<Profile, ProfileError> {
        let mut profile = Profile::from_json(SHIPPED)?;
        profile.learn(KNOWN)?;
        Ok(profile)
    }

    /// Only what scripted sessions showed, version by version.
    pub fn measured() -> Result<Profile, ProfileError> {
        Profile::from_json(SHIPPED)
    }

    /// Adds what a text of known kinds says (`profiles/known.txt` explains the form).
    fn learn(&mut self, text: &str) -> Result<(), ProfileError> {
        let lines =
            text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        for (at, line) in lines {
            let wrong = || ProfileError::Known(at + 1);
            let (kinds, fields) = line.split_once('\t').ok_or_else(wrong)?;
            for name in kinds.split('|') {
                let kind = self.kinds.entry(name.to_owned()).or_default();
                for field in fields.split(' ') {
                    if field == "*" {
                        kind.open = true;
                        continue;
                    }
                    let (path, rest) = field.split_once(':').ok_or_else(wrong)?;
                    let (types, values) = rest.split_once('=').unwrap_or((rest, ""));
                    let known = kind.fields.entry(path.to_owned()).or_default();
                    for name in types.split(',') {
                        let kind = Type::from_name(name).ok_or_else(wrong)?;
                        known.types.entry(kind.name()).or_default();
                    }
                    for value in values.split(',').filter(|value| !value.is_empty()) {
                        known.values.entry(value.to_owned()).or_default();
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads a profile.
    pub fn from_json(text: &str) -> Result<Profile, ProfileError> {
        let file: ProfileFile = serde_json::from_str(text)?;
        if file.schema != SCHEMA {
            return Err(ProfileError::Schema(clean_name(&file.schema)));
        }
        let order: Vec<Version> =
            file.versions.iter().map(|version| Version::new(version)).collect();
        let set = |text: &str| spans_to_set(text, &order);
        let kinds = file.kinds.into_iter().map(|(name, kind)| {
            let fields = kind.fields.into_iter().map(|(path, field)| {
                let types = field.types.iter().filter_map(|(name, versions)| {
                    Some((Type::from_name(name)?.name(), set(versions)))
                });
                let field = ProfileField {
                    types: types.collect(),
                    always: set(&field.always),
                    values: field
                        .values
                        .iter()
                        .map(|(value, versions)| (value.clone(), set(versions)))
                        .collect(),
                };
                (path, field)
            });
            let seen = kind.seen.iter().map(|(version, count)| (Version::new(version), *count));
            (name, ProfileKind { seen: seen.collect(), open: false, fields: fields.collect() })
        });
        Ok(Profile { kinds: kinds.collect(), versions: order.iter().cloned().collect() })
    }

    /// Writes a profile, readable and in a stable order.
    pub fn to_json(&self) -> Result<String, ProfileError> {
        let order: Vec<Version> = self.versions.iter().cloned().collect();
        let spans = |set: &VersionSet| set_to_spans(set, &order);
        let kinds = self.kinds.iter().map(|(name, kind)| {
            let fields = kind.fields.iter().map(|(path, field)| {
                let file = FieldFile {
                    types: field
                        .types
                        .iter()
                        .map(|(name, set)| ((*name).to_owned(), spans(set)))
                        .collect(),
                    always: spans(&field.always),
                    values: field
                        .values
                        .iter()
                        .map(|(value, set)| (value.clone(), spans(set)))
                        .collect(),
                };
                (path.clone(), file)
            });
            let seen =
                kind.seen.iter().map(|(version, count)| (version.as_str().to_owned(), *count));
            (name.clone(), KindFile { seen: seen.collect(), fields: fields.collect() })
        });
        let file = ProfileFile {
            schema: SCHEMA.to_owned(),
            versions: order.iter().map(|version| version.as_str().to_owned()).collect(),
            kinds: kinds.collect(),
        };
        let mut text = serde_json::to_string_pretty(&file)?;
        text.push('\n');
        Ok(text)
    }
}

/// The file as it is written: sets of versions as spans over the list at its top.
#[derive(Serialize, Deserialize)]
struct ProfileFile {
    schema: String,
    versions: Vec<String>,
    kinds: BTreeMap<String, KindFile>,
}

#[derive(Serialize, Deserialize)]
struct KindFile {
    seen: BTreeMap<String, u64>,
    fields: BTreeMap<String, FieldFile>,
}

#[derive(Serialize, Deserialize)]
struct FieldFile {
    types: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    always: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, String>,
}

/// `1.0.31..2.1.20, 2.1.50`: spans of versions that follow each other in `order`.
pub(in crate::analyze) fn set_to_spans(set: &VersionSet, order: &[Version]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, _) in order.iter().enumerate().filter(|(_, version)| set.contains(version)) {
        match spans.last_mut() {
            Some((_, end)) if *end + 1 == at => *end = at,
            _ => spans.push((at, at)),
        }
    }
    let name = |at: usize| order.get(at).map_or("", Version::as_str);
    let text = spans.iter().map(|(start, end)| {
        if start == end {
            name(*start).to_owned()
        } else {
            format!("{}..{}", name(*start), name(*end))
        }
    });
    text.collect::<Vec<_>>().join(", ")
}

fn spans_to_set(text: &str, order: &[Version]) -> VersionSet {
    let mut set = VersionSet::new();
    for span in text.split(", ").filter(|span| !span.is_empty()) {
        let (start, end) = span.split_once("..").unwrap_or((span, span));
        let (start, end) = (Version::new(start), Version::new(end));
        set.extend(order.iter().filter(|version| (&start..=&end).contains(version)).cloned());
    }
    set
}
