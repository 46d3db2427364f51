//! What differs between two profiles, and what a known one lacks.

use super::{Profile, ProfileField, ProfileKind, VersionSet};
use crate::analyze::{Place, Version};

/// What differs between two profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    NewKind,
    NewField,
    NewType,
    NewValue,
    /// A field that was always there is missing.
    VanishedField,
    /// Only when two sets are compared: the first has it, the second has not.
    GoneKind,
    GoneField,
    GoneType,
    GoneValue,
}

impl DifferenceKind {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            DifferenceKind::NewKind => "new-type",
            DifferenceKind::NewField => "new-field",
            DifferenceKind::NewType => "changed-type",
            DifferenceKind::NewValue => "new-value",
            DifferenceKind::VanishedField => "vanished-field",
            DifferenceKind::GoneKind => "gone-type",
            DifferenceKind::GoneField => "gone-field",
            DifferenceKind::GoneType => "gone-json-type",
            DifferenceKind::GoneValue => "gone-value",
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub kind: DifferenceKind,
    /// The kind of object.
    pub of: String,
    /// The field, empty for a whole kind.
    pub path: String,
    /// The JSON type or the value.
    pub detail: String,
    /// Versions that have it (of the second profile; of the first for what is gone).
    pub versions: Vec<Version>,
    /// How often, where the second profile comes from sessions at hand.
    pub count: u64,
    pub place: Option<Place>,
}

impl Profile {
    /// What `data` has that this profile has not, and required fields that are missing: from every
    /// record of a version newer than all known ones, or from all records of the other versions
    /// together.
    pub fn drift(&self, data: &Profile) -> Vec<Difference> {
        let mut found = self.news(data, DifferenceKind::NewKind);
        let newest = self.versions.iter().rev().find(|version| version.is_known());
        let newer =
            |version: &Version| version.is_known() && newest.is_some_and(|last| version > last);
        for (name, kind) in &data.kinds {
            let Some(known) = self.kinds.get(name) else { continue };
            let (new, old): (Vec<Version>, Vec<Version>) =
                kind.seen.keys().cloned().partition(&newer);
            let sets = new.into_iter().map(|version| vec![version]).chain([old]);
            for versions in sets.filter(|versions| !versions.is_empty()) {
                for path in known.required() {
                    let here =
                        kind.fields.get(path).map(ProfileField::versions).unwrap_or_default();
                    if versions.iter().any(|version| here.contains(version)) {
                        continue;
                    }
                    found.push(Difference {
                        kind: DifferenceKind::VanishedField,
                        of: name.clone(),
                        path: path.to_owned(),
                        detail: String::new(),
                        versions: versions.clone(),
                        count: 0,
                        place: None,
                    });
                }
            }
        }
        found
    }

    /// Both ways: what is new in `other` and what is gone from it.
    pub fn compare(&self, other: &Profile) -> Vec<Difference> {
        let mut found = self.news(other, DifferenceKind::NewKind);
        found.extend(other.news(self, DifferenceKind::GoneKind));
        found
    }

    fn news(&self, other: &Profile, sense: DifferenceKind) -> Vec<Difference> {
        let gone = sense == DifferenceKind::GoneKind;
        let pick = |new, old| if gone { old } else { new };
        let mut found = Vec::new();
        let mut push = |kind, of: &str, path: &str, detail: &str, versions: Vec<Version>| {
            found.push(Difference {
                kind,
                of: of.to_owned(),
                path: path.to_owned(),
                detail: detail.to_owned(),
                versions,
                count: 0,
                place: None,
            });
        };
        let list = |set: &VersionSet| set.iter().cloned().collect::<Vec<_>>();
        for (name, kind) in &other.kinds {
            let Some(known) = self.kinds.get(name) else {
                let versions = kind.seen.keys().cloned().collect();
                push(
                    pick(DifferenceKind::NewKind, DifferenceKind::GoneKind),
                    name,
                    "",
                    "",
                    versions,
                );
                continue;
            };
            if known.open {
                continue;
            }
            let family =
                name.split_once('/').and_then(|(kind, _)| self.kinds.get(&format!("{kind}/*")));
            for (path, field) in &kind.fields {
                let both = [known.fields.get(path), family.and_then(|kind| kind.fields.get(path))];
                if both.iter().flatten().next().is_none() {
                    // Fields below a new field say nothing more.
                    if known.knows_parent(path)
                        || family.is_some_and(|kind| kind.knows_parent(path))
                    {
                        let versions = list(&field.versions());
                        push(
                            pick(DifferenceKind::NewField, DifferenceKind::GoneField),
                            name,
                            path,
                            "",
                            versions,
                        );
                    }
                    continue;
                }
                let has_type =
                    |name: &str| both.iter().flatten().any(|field| field.types.contains_key(name));
                let has_value = |value: &str| {
                    both.iter().flatten().any(|field| field.values.contains_key(value))
                };
                for (of_type, versions) in &field.types {
                    if !has_type(of_type) {
                        push(
                            pick(DifferenceKind::NewType, DifferenceKind::GoneType),
                            name,
                            path,
                            of_type,
                            list(versions),
                        );
                    }
                }
                for (value, versions) in &field.values {
                    if !has_value(value) {
                        push(
                            pick(DifferenceKind::NewValue, DifferenceKind::GoneValue),
                            name,
                            path,
                            value,
                            list(versions),
                        );
                    }
                }
            }
        }
        found
    }
}

/// The field that holds this one.
pub(in crate::analyze) fn parent(path: &str) -> Option<&str> {
    path.strip_suffix("[]").or_else(|| path.rsplit_once('.').map(|(parent, _)| parent))
}

impl ProfileKind {
    /// Fields that every record had in every version, where enough was seen to say so. Only fields
    /// of the record itself: what is below them depends on what happened.
    fn required(&self) -> impl Iterator<Item = &str> {
        const RECORDS: u64 = 20;
        const VERSIONS: usize = 3;
        let enough = self.seen.len() >= VERSIONS && self.seen.values().sum::<u64>() >= RECORDS;
        let always = move |field: &ProfileField| {
            enough && self.seen.keys().all(|version| field.always.contains(version))
        };
        let fields = self.fields.iter().filter(|(path, _)| parent(path).is_none());
        fields.filter(move |(_, field)| always(field)).map(|(path, _)| path.as_str())
    }

    fn knows_parent(&self, path: &str) -> bool {
        parent(path).is_none_or(|parent| self.fields.contains_key(parent))
    }
}
