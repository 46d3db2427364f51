//! What versions added, changed and dropped; caveats; raw counts.

use super::View;
use super::figures::{cell, count};
use crate::analyze::profile::parent;
use crate::analyze::{Difference, DifferenceKind, Profile, Version};
use backstory_text::document::{Block, Column, Document, Line, Table};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Changes listed of one version.
const MAX_CHANGES: usize = 80;

pub(super) fn write(view: &View<'_>, document: &mut Document) {
    document.heading(3, "What each version added");
    document.paragraph("Against all earlier versions of this set: types of record and fields that none of them has, where they have the type at all. A field that only some features write can appear late although it is older.");
    document.table(changes(&view.profile), "Only one version, or no differences.");
    document.heading(3, "Across sessions");
    let sessions = &view.analysis.sessions;
    let forks = sessions.iter().filter(|row| row.forked || row.continues).count() as u64;
    let several = sessions.iter().filter(|row| row.versions.len() > 1).count() as u64;
    let compacted = sessions.iter().filter(|row| row.compactions > 0).count() as u64;
    let left = sessions.iter().filter(|row| row.left_branches > 0).count() as u64;
    let parents = view.analysis.missing_parents();
    document.bullets(
        [
            format!("Sessions with records of several client versions: {}.", count(several)),
            format!("Forks, and sessions that continue another one: {}.", count(forks)),
            format!(
                "Compacted sessions: {}; with left branches: {}.",
                count(compacted),
                count(left)
            ),
            format!("Records whose parent is in another file: {}.", count(parents.in_another_file)),
        ]
        .iter()
        .map(|text| Line::marked(text))
        .collect(),
    );
    document.heading(3, "Caveats");
    document.bullets(
        [
            "Presence is counted over the records that were read. `always` means that every one of them has the field.",
            "Values are listed for fields that choose from a few words; free text, paths and ids are never shown.",
            "Keys that look like data (paths, ids, numbers) share one line, `*`. Objects deeper than ten levels are counted, not followed.",
            "Inputs of tools are written by models: a field there need not be part of the tool's definition.",
            "Records that cannot be read as JSON are in no count except those of `backstory check`.",
        ]
        .iter()
        .map(|text| Line::marked(text))
        .collect(),
    );
    document.heading(3, "Raw counts");
    let table = view.table(&[Column::text("name"), Column::number("count")], |group| {
        let all = group.counts.all();
        all.iter().map(|(name, found)| vec![Line::code(name.clone()), cell(*found)]).collect()
    });
    document
        .blocks
        .push(Block::Folded("Every count by its name".to_owned(), vec![Block::Table(table)]));
}

fn changes(profile: &Profile) -> Table {
    let mut table =
        Table { columns: vec![Column::text("version"), Column::text("added")], rows: Vec::new() };
    for (version, mut added) in additions(profile) {
        let more = added.len().saturating_sub(MAX_CHANGES);
        added.truncate(MAX_CHANGES);
        if more > 0 {
            added.push(format!("{more} more"));
        }
        table.rows.push(vec![Line::code(version.as_str()), Line::from(added.join("; "))]);
    }
    table
}

/// What each version but the first has that none before it had, in one pass over the profile.
fn additions(profile: &Profile) -> BTreeMap<&Version, Vec<String>> {
    let mut added: BTreeMap<&Version, Vec<String>> = BTreeMap::new();
    let oldest = profile.versions.iter().find(|version| version.is_known());
    for (name, kind) in &profile.kinds {
        let Some(kind_since) = kind.seen.keys().find(|version| version.is_known()) else {
            continue;
        };
        if Some(kind_since) != oldest {
            added.entry(kind_since).or_default().push(name.clone());
        }
        let since =
            |path: &str| kind.fields.get(path).and_then(|field| first(field.types.values()));
        for (path, field) in &kind.fields {
            let Some(field_since) = first(field.types.values()) else { continue };
            // Fields below a new field say nothing more.
            let alone = parent(path).and_then(since).is_none_or(|above| above < field_since);
            if field_since > kind_since && alone {
                added.entry(field_since).or_default().push(format!("{name}: {path}"));
            }
            let types =
                field.types.iter().map(|(kind, versions)| (format!(" as {kind}"), versions));
            let values =
                field.values.iter().map(|(value, versions)| (format!(" = {value}"), versions));
            for (what, versions) in types.chain(values) {
                if let Some(later) = first([versions]).filter(|later| *later > field_since) {
                    added.entry(later).or_default().push(format!("{name}: {path}{what}"));
                }
            }
        }
    }
    added
}

/// The oldest known version of some sets.
fn first<'a>(sets: impl IntoIterator<Item = &'a BTreeSet<Version>>) -> Option<&'a Version> {
    let oldest = |set: &'a BTreeSet<Version>| set.iter().find(|version| version.is_known());
    sets.into_iter().filter_map(oldest).min()
}

fn describe(found: &Difference) -> String {
    match found.kind {
        DifferenceKind::NewKind | DifferenceKind::GoneKind => found.of.clone(),
        DifferenceKind::NewField | DifferenceKind::GoneField | DifferenceKind::VanishedField => {
            format!("{}: {}", found.of, found.path)
        }
        DifferenceKind::NewType | DifferenceKind::GoneType => {
            format!("{}: {} as {}", found.of, found.path, found.detail)
        }
        DifferenceKind::NewValue | DifferenceKind::GoneValue => {
            format!("{}: {} = {}", found.of, found.path, found.detail)
        }
    }
}

/// What one version of a profile added, changed and dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VersionChanges<'p> {
    /// The version.
    pub version: &'p str,
    /// Types of record and fields that no earlier version has.
    pub added: Vec<String>,
    /// New types and values of fields that earlier versions have.
    pub changed: Vec<String>,
    /// Types of record and fields of the version before that no later version has.
    pub dropped: Vec<String>,
}

/// What each version of a profile added, changed and dropped. The first version added all its types
/// of record.
pub fn history(profile: &Profile) -> Vec<VersionChanges<'_>> {
    let versions: Vec<&Version> =
        profile.versions.iter().filter(|version| version.is_known()).collect();
    let mut history = Vec::new();
    let mut previous: Option<&Version> = None;
    for &version in &versions {
        let mut changes = VersionChanges {
            version: version.as_str(),
            added: Vec::new(),
            changed: Vec::new(),
            dropped: Vec::new(),
        };
        if let Some(previous) = previous {
            let before = profile.only(|other| other < version);
            let news = before.drift(&profile.only(|other| other == version));
            let list = |kinds: &[DifferenceKind]| -> Vec<String> {
                let found = news.iter().filter(|found| kinds.contains(&found.kind));
                found.map(describe).collect()
            };
            changes.added = list(&[DifferenceKind::NewKind, DifferenceKind::NewField]);
            changes.changed = list(&[DifferenceKind::NewType, DifferenceKind::NewValue]);
            let gone = profile
                .only(|other| other == previous)
                .compare(&profile.only(|other| other >= version));
            let gone = gone.iter().filter(|found| {
                matches!(found.kind, DifferenceKind::GoneKind | DifferenceKind::GoneField)
            });
            changes.dropped = gone.map(describe).collect();
        } else {
            let first = profile.only(|other| other == version);
            changes.added = first.kinds.keys().cloned().collect();
        }
        history.push(changes);
        previous = Some(version);
    }
    history
}

/// The same for people.
pub fn history_document(history: &[VersionChanges<'_>]) -> Document {
    let mut document =
        Document { title: "What each version changed".to_owned(), ..Document::default() };
    document.paragraph(&format!(
        "Claude Code's session files as {} versions of the client wrote them, {} to {}, each playing the same scripted conversations. `added` and `changed` are measured against all earlier versions here, `dropped` lists what the version before still wrote and no later one does. Records that no scenario causes are missing from this table.",
        history.len(),
        history.first().map_or("", |changes| changes.version),
        history.last().map_or("", |changes| changes.version),
    ));
    for (at, changes) in history.iter().enumerate() {
        document.heading(2, changes.version);
        if at == 0 {
            let kinds: Vec<String> = changes.added.iter().map(|kind| format!("`{kind}`")).collect();
            document.paragraph(&format!("The first version here. Types: {}.", kinds.join(", ")));
            continue;
        }
        let mut table =
            Table { columns: vec![Column::text("change"), Column::text("what")], rows: Vec::new() };
        let lists = [
            ("added", &changes.added),
            ("changed", &changes.changed),
            ("dropped", &changes.dropped),
        ];
        for (word, list) in lists {
            for line in list {
                table.rows.push(vec![Line::from(word), Line::code(line.clone())]);
            }
        }
        document.table(table, "No difference.");
    }
    document
}

/// A list of differences for people. `title` says what is compared with what.
pub fn differences(
    title: &str,
    found: &[Difference],
    place: impl Fn(&Difference) -> String,
) -> Document {
    let mut document = Document { title: title.to_owned(), ..Document::default() };
    let mut table = Table {
        columns: vec![
            Column::text("difference"),
            Column::text("where"),
            Column::text("what"),
            Column::text("versions"),
            Column::number("count"),
            Column::text("example"),
        ],
        rows: Vec::new(),
    };
    for difference in found {
        let path = match difference.path.as_str() {
            "" => difference.of.clone(),
            path => format!("{}: {path}", difference.of),
        };
        let versions: Vec<&str> =
            difference.versions.iter().map(|version| version.as_str()).collect();
        let versions = match versions.as_slice() {
            [first, .., last] => format!("{first} … {last}"),
            other => other.join(", "),
        };
        let number = if difference.count == 0 { String::new() } else { count(difference.count) };
        table.rows.push(vec![
            Line::from(difference.kind.name()),
            Line::code(path),
            if difference.detail.is_empty() {
                Line::default()
            } else {
                Line::code(difference.detail.clone())
            },
            Line::from(versions),
            Line::from(number),
            Line::from(place(difference)),
        ]);
    }
    document.table(table, "No differences.");
    document
}
