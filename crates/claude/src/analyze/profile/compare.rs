//! What differs between two profiles, and what a known one lacks.

use super::{Profile, ProfileField, ProfileKind, VersionSet};
use crate::analyze::{Place, Version};

/// What differs between two profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    /// A kind of record that the profile does not know.
    NewKind,
    /// A field that the profile does not know.
    NewField,
    /// A type that the field did not have.
    NewType,
    /// A value that the field did not have.
    NewValue,
    /// A field that was always there is missing.
    VanishedField,
    /// Only when two sets are compared: the first has it, the second has not.
    GoneKind,
    /// A field that records of the kind no longer have.
    GoneField,
    /// A type that the field no longer has.
    GoneType,
    /// A value that the field no longer has.
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
    /// What differs.
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
    /// An example, if there is one.
    pub place: Option<Place>,
}

impl Difference {
    fn new(
        kind: DifferenceKind,
        of: &str,
        path: &str,
        detail: &str,
        versions: Vec<Version>,
    ) -> Difference {
        let (of, path, detail) = (of.to_owned(), path.to_owned(), detail.to_owned());
        Difference { kind, of, path, detail, versions, count: 0, place: None }
    }

    /// What is new there is gone here.
    fn seen_from_the_other_side(self) -> Difference {
        let kind = match self.kind {
            DifferenceKind::NewKind => DifferenceKind::GoneKind,
            DifferenceKind::NewField => DifferenceKind::GoneField,
            DifferenceKind::NewType => DifferenceKind::GoneType,
            DifferenceKind::NewValue => DifferenceKind::GoneValue,
            other => other,
        };
        Difference { kind, ..self }
    }
}

impl Profile {
    /// What `data` has that this profile has not, and required fields that are missing: from every
    /// record of a version newer than all known ones, or from all records of the other versions
    /// together.
    pub fn drift(&self, data: &Profile) -> Vec<Difference> {
        let mut found = self.news(data);
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
                    let kind = DifferenceKind::VanishedField;
                    found.push(Difference::new(kind, name, path, "", versions.clone()));
                }
            }
        }
        found
    }

    /// Both ways: what is new in `other` and what is gone from it.
    pub fn compare(&self, other: &Profile) -> Vec<Difference> {
        let mut found = self.news(other);
        found.extend(other.news(self).into_iter().map(Difference::seen_from_the_other_side));
        found
    }

    /// What `other` has and this profile has not.
    fn news(&self, other: &Profile) -> Vec<Difference> {
        let mut found = Vec::new();
        for (name, kind) in &other.kinds {
            match self.kinds.get(name) {
                None => {
                    let versions = kind.seen.keys().cloned().collect();
                    found.push(Difference::new(DifferenceKind::NewKind, name, "", "", versions));
                }
                Some(known) if known.open => {}
                Some(known) => {
                    let family = name.split_once('/');
                    let family = family.and_then(|(kind, _)| self.kinds.get(&format!("{kind}/*")));
                    let known: Vec<&ProfileKind> =
                        [Some(known), family].into_iter().flatten().collect();
                    for (path, field) in &kind.fields {
                        news_of_field(name, path, field, &known, &mut found);
                    }
                }
            }
        }
        found
    }
}

/// What is new about one field, compared with what is known of its kind and of the kind's family.
fn news_of_field(
    name: &str,
    path: &str,
    field: &ProfileField,
    known: &[&ProfileKind],
    found: &mut Vec<Difference>,
) {
    let fields: Vec<&ProfileField> =
        known.iter().filter_map(|kind| kind.fields.get(path)).collect();
    if fields.is_empty() {
        // Fields below a new field say nothing more.
        if known.iter().any(|kind| kind.knows_parent(path)) {
            let versions = field.versions().into_iter().collect();
            found.push(Difference::new(DifferenceKind::NewField, name, path, "", versions));
        }
        return;
    }
    let list = |set: &VersionSet| set.iter().cloned().collect();
    for (of_type, versions) in &field.types {
        if !fields.iter().any(|field| field.types.contains_key(of_type)) {
            let kind = DifferenceKind::NewType;
            found.push(Difference::new(kind, name, path, of_type, list(versions)));
        }
    }
    for (value, versions) in &field.values {
        if !fields.iter().any(|field| field.values.contains_key(value)) {
            let kind = DifferenceKind::NewValue;
            found.push(Difference::new(kind, name, path, value, list(versions)));
        }
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
