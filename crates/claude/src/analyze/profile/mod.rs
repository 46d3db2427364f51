//! The part of an analysis that is about the format: kinds, fields, types and values by client
//! version, in a file that can be kept, merged and compared.
//!
//! A profile holds names and numbers only. Keys and values that could be user data never get
//! this far: see `shape` and `values`.

mod compare;
mod file;

pub(super) use compare::parent;
pub use compare::{Difference, DifferenceKind};
pub(super) use file::set_to_spans;

use super::shape::{Field, Shapes, Type};
use super::values::is_choice;
use super::{Analysis, Part, Version};
use std::collections::{BTreeMap, BTreeSet};

const SCHEMA: &str = "backstory.profile/1";

/// Kinds that are not the client's format: what models put into calls, what foreign tools answer.
const FOREIGN: [&str; 3] = ["input/", "result/mcp__*", "result/unknown tool"];

/// Why a file is no profile.
#[allow(missing_docs, reason = "the messages say what the fields are")]
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("not a profile: {0}")]
    Json(#[from] serde_json::Error),
    #[error("line {0} of the known kinds cannot be read")]
    Known(usize),
    #[error("a profile of another kind (`{0}`; this program reads `{SCHEMA}`)")]
    Schema(String),
}

/// A set of versions.
pub(super) type VersionSet = BTreeSet<Version>;

/// What is known of one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileField {
    /// Versions in which it had each JSON type.
    pub types: BTreeMap<&'static str, VersionSet>,
    /// Versions in which every object of the kind had it.
    pub always: VersionSet,
    /// Versions in which it had each value, for fields that choose from a list.
    pub values: BTreeMap<String, VersionSet>,
}

impl ProfileField {
    /// Versions in which it occurs.
    pub fn versions(&self) -> VersionSet {
        self.types.values().flatten().cloned().collect()
    }
}

/// What is known of one kind of object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfileKind {
    /// How many were seen of each version.
    pub seen: BTreeMap<Version, u64>,
    /// Known by name only: nothing is said about its fields.
    pub open: bool,
    pub fields: BTreeMap<String, ProfileField>,
}

/// The format as some sessions show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Client versions that were seen.
    pub versions: VersionSet,
    /// Kinds of records, by name.
    pub kinds: BTreeMap<String, ProfileKind>,
}

impl Profile {
    /// The profile of everything that was analysed.
    pub fn of(analysis: &Analysis) -> Profile {
        Profile::of_parts(&analysis.versions(None))
    }

    /// The profile of some versions.
    pub fn of_parts(parts: &BTreeMap<Version, Part>) -> Profile {
        let mut profile = Profile::default();
        for (version, part) in parts {
            profile.add(version, &part.shapes);
        }
        profile
    }

    fn add(&mut self, version: &Version, shapes: &Shapes) {
        for (name, node) in shapes.kinds() {
            if FOREIGN.iter().any(|prefix| name.starts_with(prefix)) {
                continue;
            }
            self.versions.insert(version.clone());
            let kind = self.kinds.entry(name.to_owned()).or_default();
            kind.seen.insert(version.clone(), node.count);
            for field in shapes.fields(node) {
                let known = kind.fields.entry(field.path.clone()).or_default();
                known.add(version, &field);
            }
        }
    }

    /// Takes over what `newer` knows: its versions replace those of the same name here.
    pub fn update(&mut self, newer: &Profile) {
        let mut kept = self.only(|version| !newer.versions.contains(version));
        kept.versions.extend(newer.versions.iter().cloned());
        for (name, theirs) in &newer.kinds {
            let kind = kept.kinds.entry(name.clone()).or_default();
            kind.seen.extend(theirs.seen.clone());
            for (path, theirs) in &theirs.fields {
                let field = kind.fields.entry(path.clone()).or_default();
                field.always.extend(theirs.always.iter().cloned());
                for (name, versions) in &theirs.types {
                    field.types.entry(name).or_default().extend(versions.iter().cloned());
                }
                for (value, versions) in &theirs.values {
                    field.values.entry(value.clone()).or_default().extend(versions.iter().cloned());
                }
            }
        }
        *self = kept;
    }

    /// Only what is known of some versions.
    pub fn only(&self, keep: impl Fn(&Version) -> bool) -> Profile {
        let mut profile = self.clone();
        profile.versions.retain(&keep);
        for kind in profile.kinds.values_mut() {
            kind.seen.retain(|version, _| keep(version));
            for field in kind.fields.values_mut() {
                field.retain(&keep);
            }
        }
        for kind in profile.kinds.values_mut() {
            kind.fields.retain(|_, field| !field.types.is_empty());
        }
        profile.kinds.retain(|_, kind| !kind.seen.is_empty());
        profile
    }
}

impl ProfileField {
    fn add(&mut self, version: &Version, field: &Field<'_>) {
        for kind in Type::ALL {
            if field.node.of_type(kind) > 0 {
                self.types.entry(kind.name()).or_default().insert(version.clone());
            }
        }
        if field.node.count >= field.of {
            self.always.insert(version.clone());
        }
        if is_choice(&field.node.key) && field.node.of_type(Type::String) > 0 {
            for (value, _) in field.node.values.listed() {
                self.values.entry(value.to_owned()).or_default().insert(version.clone());
            }
        }
    }

    fn retain(&mut self, keep: impl Fn(&Version) -> bool) {
        self.always.retain(&keep);
        for versions in self.types.values_mut().chain(self.values.values_mut()) {
            versions.retain(&keep);
        }
        self.types.retain(|_, versions| !versions.is_empty());
        self.values.retain(|_, versions| !versions.is_empty());
    }
}
