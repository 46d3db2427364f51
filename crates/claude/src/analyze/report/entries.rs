//! Entry types: fields, types, values, versions, a sample.

use super::figures::{cell, count, percent};
use super::{Group, View};
use crate::analyze::profile::set_to_spans;
use crate::analyze::{Field, Format, Node, Type, Version};
use backstory_text::document::{Block, Column, Document, Line, Table};

/// Values listed of one field.
const MAX_VALUES: usize = 10;
/// Fields listed of one kind.
const MAX_FIELDS: usize = 150;

/// Whether a kind is a record and not a part of one.
pub(super) fn is_record(kind: &str) -> bool {
    !["block/", "result-block/", "input/", "result/"].iter().any(|part| kind.starts_with(part))
}

pub(super) fn write(view: &View<'_>, document: &mut Document) {
    document.paragraph("Types of record, with the sub-type of `system` (`subtype`), `attachment` (`attachment.type`) and `progress` (`data.type`) after a slash. Records that name no version count for the version of the record before them.");
    let columns = [
        Column::text("type"),
        Column::number("records"),
        Column::number("share"),
        Column::text("seen in versions"),
    ];
    let table = view.table(&columns, |group| overview(group));
    document.table(table, "No records.");
    for (name, node) in view.all.shapes.kinds() {
        if is_record(name) {
            kind(view, name, node, document);
        }
    }
}

fn overview(group: &Group<'_>) -> Vec<Vec<Line>> {
    let mut kinds: Vec<(&str, &Node)> = group.shapes.kinds();
    kinds.retain(|(name, _)| is_record(name));
    kinds.sort_by(|a, b| b.1.count.cmp(&a.1.count).then(a.0.cmp(b.0)));
    let all: u64 = kinds.iter().map(|(_, node)| node.count).sum();
    let rows = kinds.into_iter().map(|(name, node)| {
        vec![
            Line::code(name),
            cell(node.count),
            Line::from(percent(node.count, all)),
            Line::from(first_and_last(group, name)),
        ]
    });
    rows.collect()
}

fn first_and_last(group: &Group<'_>, kind: &str) -> String {
    let seen = group.versions.iter().filter(|(_, part)| part.shapes.find_kind(kind).is_some());
    let seen: Vec<&Version> = seen.map(|(version, _)| version).collect();
    match (seen.first(), seen.last()) {
        (Some(first), Some(last)) if first != last => {
            format!("{} to {}", first.as_str(), last.as_str())
        }
        (Some(only), _) => only.as_str().to_owned(),
        _ => String::new(),
    }
}

/// One kind with all its fields.
pub(super) fn kind(view: &View<'_>, name: &str, node: &Node, document: &mut Document) {
    document.heading(3, name);
    document.paragraph(&format!("{} seen.", count(node.count)));
    fields(view, name, node, document);
    if let Some(sample) = view.analysis.samples.get(name) {
        document.blocks.push(Block::Folded(
            "A sample, with everything personal replaced".to_owned(),
            vec![Block::Code { language: "json", text: sample.to_owned() }],
        ));
    }
}

/// The fields of a kind.
pub(super) fn fields(view: &View<'_>, name: &str, node: &Node, document: &mut Document) {
    let columns = [
        Column::text("field"),
        Column::text("present"),
        Column::text("type"),
        Column::text("values"),
        Column::text("versions"),
    ];
    let order: Vec<Version> = view.all.versions.keys().cloned().collect();
    let table = view.table(&columns, |group| {
        let Some(node) = group.shapes.find_kind(name) else { return Vec::new() };
        let fields = group.shapes.fields(node);
        let rows = fields.iter().take(MAX_FIELDS).map(|field| {
            vec![
                Line::code(field.path.clone()),
                Line::from(presence(field)),
                Line::from(types(field.node)),
                Line::from(values(field.node)),
                Line::from(versions(view, group, name, &field.path, &order)),
            ]
        });
        rows.collect()
    });
    let all = view.all.shapes.fields(node).len();
    document.table(table, "No fields.");
    if all > MAX_FIELDS && view.groups.is_empty() {
        document
            .paragraph(&format!("{} more fields; `--format json` lists all.", all - MAX_FIELDS));
    }
}

pub(super) fn presence(field: &Field<'_>) -> String {
    if field.path.ends_with("[]") {
        return "items".to_owned();
    }
    if field.node.count >= field.of {
        "always".to_owned()
    } else {
        percent(field.node.count, field.of)
    }
}

pub(super) fn types(node: &Node) -> String {
    let types = Type::ALL.into_iter().filter(|kind| node.of_type(*kind) > 0);
    let mut names: Vec<String> = Vec::new();
    let alone = types.clone().count() == 1;
    for kind in types {
        let share = if alone {
            String::new()
        } else {
            format!(" {}", percent(node.of_type(kind), node.count))
        };
        let form = if kind == Type::String { format_of(node) } else { "" };
        names.push(format!("{}{form}{share}", kind.name()));
    }
    names.join(", ")
}

/// What all strings of a field look like, if they look alike.
fn format_of(node: &Node) -> &'static str {
    let seen: Vec<Format> = Format::ALL
        .into_iter()
        .filter(|format| node.formats.get(*format as usize).copied().unwrap_or(0) > 0)
        .collect();
    match seen.as_slice() {
        [Format::Uuid] => " (uuid)",
        [Format::Time] => " (time)",
        [Format::ApiId] => " (API id)",
        [Format::Hex] => " (hex)",
        [Format::Path] => " (path)",
        [Format::Empty] => " (empty)",
        _ => "",
    }
}

pub(super) fn values(node: &Node) -> String {
    let listed = node.values.listed();
    let total: u64 = listed.iter().map(|(_, count)| count).sum();
    // A field with nearly as many values as uses is no choice from a list.
    let choice = crate::analyze::values::is_choice(&node.key)
        || node.of_type(Type::Boolean) > 0
        || total >= 4 * listed.len() as u64;
    if !choice || listed.is_empty() {
        return String::new();
    }
    let mut text: Vec<String> = listed
        .iter()
        .take(MAX_VALUES)
        .map(|(value, found)| format!("{value} {}", count(*found)))
        .collect();
    if listed.len() > MAX_VALUES {
        text.push(format!("{} more", listed.len() - MAX_VALUES));
    }
    text.join(", ")
}

fn versions(
    view: &View<'_>,
    group: &Group<'_>,
    kind: &str,
    path: &str,
    order: &[Version],
) -> String {
    let field = view.profile.kinds.get(kind).and_then(|kind| kind.fields.get(path));
    let Some(field) = field else { return String::new() };
    let mut seen = field.versions();
    seen.retain(|version| group.versions.contains_key(version));
    let kind_seen = view.profile.kinds.get(kind).map_or(0, |kind| {
        kind.seen.keys().filter(|version| group.versions.contains_key(version)).count()
    });
    if seen.len() == kind_seen {
        return "all".to_owned();
    }
    let spans = set_to_spans(&seen, order);
    if spans.matches(", ").count() > 3 {
        let (first, last) = (seen.first(), seen.last());
        let name =
            |version: Option<&Version>| version.map_or("", |version| version.as_str()).to_owned();
        return format!("{} of {kind_seen}, {} to {}", seen.len(), name(first), name(last));
    }
    spans
}

/// Two columns of names and counts.
pub(super) fn count_table(view: &View<'_>, title: &'static str, heading: &str) -> Table {
    let columns = [Column::text(title), Column::number("count"), Column::number("share")];
    view.table(&columns, |group| {
        let list = group.counts.list(heading);
        let all: u64 = list.iter().map(|(_, count)| count).sum();
        list.iter()
            .map(|(name, found)| {
                vec![Line::code(*name), cell(*found), Line::from(percent(*found, all))]
            })
            .collect()
    })
}
