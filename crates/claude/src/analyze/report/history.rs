//! What versions added, changed and dropped; caveats; raw counts.

use super::View;
use super::figures::{cell, count};
use crate::analyze::profile::parent;
use crate::analyze::{Difference, DifferenceKind, Profile, Version};
use backstory_text::document::{Block, Column, Document, Line, Table};
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
            "Presence is counted over the records at hand. `always` means that no record lacked the field, not that none ever will.",
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

/// What each version of a profile added, changed and dropped.
pub fn history(profile: &Profile) -> Document {
    let mut document =
        Document { title: "What each version changed".to_owned(), ..Document::default() };
    let versions: Vec<&Version> =
        profile.versions.iter().filter(|version| version.is_known()).collect();
    let name =
        |version: Option<&&Version>| version.map_or("", |version| version.as_str()).to_owned();
    document.paragraph(&format!(
        "Claude Code's session files as {} versions of the client wrote them, {} to {}, each playing the same scripted conversations. `added` and `changed` are measured against all earlier versions here, `dropped` lists what the version before still wrote and no later one does. What no scenario provokes is not in this table.",
        versions.len(),
        name(versions.first()),
        name(versions.last()),
    ));
    for (at, version) in versions.iter().enumerate() {
        document.heading(2, version.as_str());
        if at == 0 {
            let first = profile.only(|other| other == *version);
            let kinds: Vec<String> = first.kinds.keys().map(|kind| format!("`{kind}`")).collect();
            document.paragraph(&format!("The first version here. Types: {}.", kinds.join(", ")));
            continue;
        }
        let found = changes_of(profile, &versions, at);
        let list = |kinds: &[DifferenceKind]| -> Vec<String> {
            let found = found.iter().filter(|found| kinds.contains(&found.kind));
            found.map(describe).collect()
        };
        let added = list(&[DifferenceKind::NewKind, DifferenceKind::NewField]);
        let changed = list(&[DifferenceKind::NewType, DifferenceKind::NewValue]);
        let dropped = list(&[DifferenceKind::GoneKind, DifferenceKind::GoneField]);
        let mut table =
            Table { columns: vec![Column::text("change"), Column::text("what")], rows: Vec::new() };
        for (word, list) in [("added", added), ("changed", changed), ("dropped", dropped)] {
            for line in list {
                table.rows.push(vec![Line::from(word), Line::code(line)]);
            }
        }
        document.table(table, "No difference.");
    }
    document
}

/// Every change between the versions of a profile, with the version that made it.
pub fn changes_by_version(profile: &Profile) -> Vec<(Version, Difference)> {
    let versions: Vec<&Version> =
        profile.versions.iter().filter(|version| version.is_known()).collect();
    let all = versions.iter().enumerate().skip(1).flat_map(|(at, version)| {
        let found = changes_of(profile, &versions, at).into_iter();
        found.map(|found| ((*version).clone(), found))
    });
    all.collect()
}

/// What the version at a place in the list added, changed and dropped.
fn changes_of(profile: &Profile, versions: &[&Version], at: usize) -> Vec<Difference> {
    let Some(version) = versions.get(at).copied() else { return Vec::new() };
    let before = profile.only(|other| other < version);
    let now = profile.only(|other| other == version);
    let later = profile.only(|other| other >= version);
    let previous = profile.only(|other| at > 0 && Some(other) == versions.get(at - 1).copied());
    let is_gone = |found: &Difference| {
        matches!(found.kind, DifferenceKind::GoneKind | DifferenceKind::GoneField)
    };
    let gone = previous.compare(&later).into_iter().filter(is_gone);
    before.drift(&now).into_iter().chain(gone).collect()
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
