//! Messages: roles, models, ids, stop reasons, usage, content blocks, structured results.

use super::View;
use super::entries;
use super::entries::count_table;
use super::figures::{cell, count};
use crate::analyze::{Node, Shapes, Type};
use backstory_text::document::{Column, Document, Line};

pub(super) fn write(view: &View<'_>, document: &mut Document) {
    document.heading(3, "Roles, models and ids");
    let columns = [Column::text("field"), Column::text("values")];
    let table = view.table(&columns, |group| {
        let wanted = [
            ("user", "message.role"),
            ("assistant", "message.role"),
            ("assistant", "message.model"),
            ("assistant", "message.type"),
            ("assistant", "message.stop_sequence"),
        ];
        let rows = wanted.iter().filter_map(|(kind, path)| {
            let text = values_at(&group.shapes, kind, path)?;
            Some(vec![Line::code(format!("{kind}: {path}")), Line::from(text)])
        });
        rows.collect()
    });
    document.table(table, "No messages.");
    document.paragraph("Forms of `message.id`, synthetic messages left out:");
    document.table(count_table(view, "form", "streaming.id-format"), "No message ids.");

    document.heading(3, "Stop reasons by version");
    stop_reasons(view, document);

    document.heading(3, "Keys of usage");
    document.paragraph("Fields of `message.usage` in `assistant` records:");
    usage(view, document);

    document.heading(3, "Content of user records");
    document.paragraph(&content_types(view));

    for (title, prefix) in [
        ("Content blocks", "block/"),
        ("Blocks inside tool results", "result-block/"),
        ("Structured results (toolUseResult) by tool", "result/"),
        ("Inputs of tools", "input/"),
    ] {
        document.heading(3, title);
        let kinds = view.all.shapes.kinds();
        let kinds: Vec<(&str, &Node)> =
            kinds.into_iter().filter(|(name, _)| name.starts_with(prefix)).collect();
        if kinds.is_empty() {
            document.paragraph("None.");
        }
        for (name, node) in kinds {
            document.heading(4, name);
            let shapes: Vec<String> = Type::ALL
                .into_iter()
                .filter(|kind| node.of_type(*kind) > 0)
                .map(|kind| format!("{} {}", kind.name(), count(node.of_type(kind))))
                .collect();
            document.paragraph(&format!("{} seen: {}.", count(node.count), shapes.join(", ")));
            if node.of_type(Type::Object) > 0 {
                entries::fields(view, name, node, document);
            }
        }
    }
}

fn node_at<'a>(shapes: &'a Shapes, kind: &str, path: &str) -> Option<&'a Node> {
    let mut node = shapes.find_kind(kind)?;
    for key in path.split('.') {
        node = shapes.children(node).find(|child| &*child.key == key)?;
    }
    Some(node)
}

fn values_at(shapes: &Shapes, kind: &str, path: &str) -> Option<String> {
    let node = node_at(shapes, kind, path)?;
    let mut parts: Vec<String> = node
        .values
        .listed()
        .iter()
        .take(24)
        .map(|(value, found)| format!("{value} {}", count(*found)))
        .collect();
    let null = node.of_type(Type::Null);
    if null > 0 {
        parts.push(format!("null {}", count(null)));
    }
    let empty = node.formats.first().copied().unwrap_or(0);
    if empty > 0 {
        parts.push(format!("empty {}", count(empty)));
    }
    Some(if parts.is_empty() {
        format!("free text, {} times", count(node.count))
    } else {
        parts.join(", ")
    })
}

fn stop_reasons(view: &View<'_>, document: &mut Document) {
    let columns = [
        Column::text("version"),
        Column::number("null"),
        Column::text("values"),
        Column::text("stop_sequence"),
    ];
    let table = view.table(&columns, |group| {
        let rows = group.versions.iter().filter_map(|(version, part)| {
            let node = node_at(&part.shapes, "assistant", "message.stop_reason")?;
            let listed = node.values.listed();
            let values: Vec<String> =
                listed.iter().map(|(value, found)| format!("{value} {}", count(*found))).collect();
            let sequence = values_at(&part.shapes, "assistant", "message.stop_sequence");
            Some(vec![
                Line::code(version.as_str()),
                cell(node.of_type(Type::Null)),
                Line::from(values.join(", ")),
                Line::from(sequence.unwrap_or_default()),
            ])
        });
        rows.collect()
    });
    document.table(table, "No assistant records.");
}

fn usage(view: &View<'_>, document: &mut Document) {
    let columns = [
        Column::text("key"),
        Column::text("present"),
        Column::text("type"),
        Column::text("values"),
    ];
    let table = view.table(&columns, |group| {
        let Some(kind) = group.shapes.find_kind("assistant") else { return Vec::new() };
        let fields = group.shapes.fields(kind);
        let below = fields.iter().filter_map(|field| {
            let path = field.path.strip_prefix("message.usage.")?;
            Some(vec![
                Line::code(path),
                Line::from(entries::presence(field)),
                Line::from(entries::types(field.node)),
                Line::from(entries::values(field.node)),
            ])
        });
        below.collect()
    });
    document.table(table, "No usage.");
}

fn content_types(view: &View<'_>) -> String {
    let content = |kind| node_at(&view.all.shapes, kind, "message.content");
    let Some(user) = content("user") else { return "No user records.".to_owned() };
    format!(
        "`message.content` of `user` is a string {} times and a list {} times; of `assistant` a string {} times and a list {} times.",
        count(user.of_type(Type::String)),
        count(user.of_type(Type::Array)),
        count(content("assistant").map_or(0, |node| node.of_type(Type::String))),
        count(content("assistant").map_or(0, |node| node.of_type(Type::Array))),
    )
}
