//! The tree that `parentUuid` spans.

use super::View;
use super::entries::{count_table, is_record};
use super::figures::{cell, count, percent, plural};
use crate::analyze::{Node, Shapes, Type};
use backstory_text::document::{Column, Document, Line};

pub(super) fn write(view: &View<'_>, document: &mut Document) {
    document.heading(3, "Which types carry ids");
    let columns = [
        Column::text("type"),
        Column::number("records"),
        Column::number("with uuid"),
        Column::number("with parentUuid"),
        Column::number("parentUuid null"),
        Column::number("with sessionId"),
    ];
    let table = view.table(&columns, |group| {
        let kinds = group.shapes.kinds().into_iter().filter(|(name, _)| is_record(name));
        kinds.map(|(name, node)| ids(&group.shapes, name, node)).collect()
    });
    document.table(table, "No records.");

    document.heading(3, "Parents");
    document.paragraph("Of records with a uuid, each counted once:");
    document.table(count_table(view, "parentUuid", "chain.parent"), "No records with a uuid.");
    document.paragraph("Why a record has no parent:");
    document.table(count_table(view, "root", "chain.root"), "No roots.");
    document.heading(3, "Distance to the parent");
    document.paragraph(
        "In records with a uuid, file order; `forward` means that the parent is further down:",
    );
    document.table(count_table(view, "records back", "chain.distance"), "No links.");

    document.heading(3, "Branches");
    document.paragraph(&format!(
        "{} records have more than one child. Causes, by what the children are:",
        count(view.all.get("chain.branches"))
    ));
    document.table(count_table(view, "cause", "chain.branch"), "None.");

    document.heading(3, "Broken links, duplicates, references to other files");
    let parents = view.analysis.missing_parents();
    let titles = view.analysis.title_records();
    document.bullets(
        [
            format!(
                "{} records name a parent that is not in their file: {} of these are in another file of this set, {} in none.",
                count(view.all.get("chain.parent.missing")),
                count(parents.in_another_file),
                count(parents.nowhere),
            ),
            format!(
                "{} uuids occur again in the same file: {} with a record of the same length, {} with another.",
                count(view.all.get("chain.duplicate-uuid.identical") + view.all.get("chain.duplicate-uuid.different")),
                count(view.all.get("chain.duplicate-uuid.identical")),
                count(view.all.get("chain.duplicate-uuid.different")),
            ),
            format!("{}.", plural(view.all.get("chain.cycles"), "cycle")),
            format!(
                "`leafUuid` of titles and prompts: {} in the same file, {} in another, {} nowhere.",
                count(titles.here),
                count(titles.in_another_file),
                count(titles.nowhere),
            ),
            format!(
                "{} another session's id.",
                plural(view.all.get("chain.foreign-session-id"), "record% with")
            ),
        ]
        .iter()
        .map(|text| Line::marked(text))
        .collect(),
    );
}

fn ids(shapes: &Shapes, name: &str, node: &Node) -> Vec<Line> {
    let field = |wanted: &str| shapes.children(node).find(|child| &*child.key == wanted);
    let with = |wanted: &str| field(wanted).map_or(0, |child| child.count);
    let share = |found: u64| match found {
        0 => Line::from("–"),
        found if found >= node.count => Line::from("all"),
        found => Line::from(format!("{} ({})", count(found), percent(found, node.count))),
    };
    vec![
        Line::code(name),
        cell(node.count),
        share(with("uuid")),
        share(with("parentUuid")),
        cell(field("parentUuid").map_or(0, |child| child.of_type(Type::Null))),
        share(with("sessionId")),
    ]
}
