//! The specification document.
//!
//! Every sentence that states a fact is computed from counts; what is fixed text is only the
//! explanation of a rule. Each section is a function from a [`View`] to blocks of a document.

mod chain;
mod data;
mod entries;
mod figures;
mod history;
mod messages;
mod pairing;
mod sessions;
mod streaming;
mod summary;
mod turns;

pub use data::AnalysisJson;
pub use history::{changes_by_version, differences, history};

use super::{Analysis, Counts, Grouping, Part, Profile, SessionRow, Shapes, Version};
use backstory_text::document::{Column, Document, Line, Table};
use std::collections::BTreeMap;

/// An analysis arranged for reading.
struct View<'a> {
    analysis: &'a Analysis,
    all: Group<'a>,
    /// What tables are split by; one group without a name when they are not.
    groups: Vec<Group<'a>>,
    profile: Profile,
}

/// One group of the data.
struct Group<'a> {
    name: String,
    versions: BTreeMap<Version, Part>,
    counts: Counts,
    shapes: Shapes,
    sessions: Vec<&'a SessionRow>,
}

impl<'a> Group<'a> {
    fn new(name: String, versions: BTreeMap<Version, Part>, sessions: Vec<&'a SessionRow>) -> Self {
        let mut counts = Counts::default();
        let mut shapes = Shapes::default();
        for part in versions.values() {
            counts.merge(&part.counts());
            shapes.merge(&part.shapes, &|place| place);
        }
        Group { name, versions, counts, shapes, sessions }
    }

    fn get(&self, name: &str) -> u64 {
        self.counts.get(name)
    }
}

impl<'a> View<'a> {
    fn new(analysis: &'a Analysis) -> View<'a> {
        let sessions: Vec<&SessionRow> = analysis.sessions.iter().collect();
        let all = Group::new(String::new(), analysis.versions(None), sessions.clone());
        let groups = match analysis.grouping {
            Grouping::None => Vec::new(),
            Grouping::Version => {
                let started = |row: &&&SessionRow, version: &Version| {
                    row.versions.first().map(|first| Version::new(first)).unwrap_or_default()
                        == *version
                };
                let group = |(version, part): (&Version, &Part)| {
                    let sessions = sessions.iter().filter(|row| started(row, version)).copied();
                    let versions = BTreeMap::from([(version.clone(), part.clone())]);
                    Group::new(version.as_str().to_owned(), versions, sessions.collect())
                };
                all.versions.iter().map(group).collect()
            }
            Grouping::Project | Grouping::Agent => {
                let name_of =
                    |row: &SessionRow| analysis.grouping.name_of(row.agent, row.project.as_deref());
                let group = |name: &String| {
                    let inside = sessions.iter().filter(|row| name_of(row) == *name).copied();
                    Group::new(name.clone(), analysis.versions(Some(name)), inside.collect())
                };
                analysis.groups.keys().map(group).collect()
            }
        };
        let profile = Profile::of_parts(&all.versions);
        View { analysis, all, groups, profile }
    }

    /// What a table loops over: the groups, or everything at once.
    fn split(&self) -> &[Group<'a>] {
        if self.groups.is_empty() { std::slice::from_ref(&self.all) } else { &self.groups }
    }

    /// Columns of a table, with one for the group in front where there are groups.
    fn columns(&self, columns: &[Column]) -> Vec<Column> {
        let title = match self.analysis.grouping {
            Grouping::None => return columns.to_vec(),
            Grouping::Version => "version",
            Grouping::Project => "project",
            Grouping::Agent => "agent",
        };
        [&[Column::text(title)], columns].concat()
    }

    /// A table split by group: `rows` gives the rows of one.
    fn table(&self, columns: &[Column], rows: impl Fn(&Group<'a>) -> Vec<Vec<Line>>) -> Table {
        let mut table = Table { columns: self.columns(columns), rows: Vec::new() };
        for group in self.split() {
            for mut row in rows(group) {
                if !self.groups.is_empty() {
                    row.insert(0, Line::code(group.name.clone()));
                }
                table.rows.push(row);
            }
        }
        table
    }
}

/// The whole specification.
pub fn document(analysis: &Analysis) -> Document {
    let view = View::new(analysis);
    let mut document =
        Document { title: "Session format, from the data".to_owned(), ..Document::default() };
    document.heading(2, "1. Summary");
    summary::write(&view, &mut document);
    document.heading(2, "2. Sessions");
    sessions::write(&view, &mut document);
    document.heading(2, "3. Entry types");
    entries::write(&view, &mut document);
    document.heading(2, "4. Messages");
    messages::write(&view, &mut document);
    document.heading(2, "5. Turn boundaries");
    turns::write(&view, &mut document);
    document.heading(2, "6. The uuid chain");
    chain::write(&view, &mut document);
    document.heading(2, "7. Tool calls and results");
    pairing::write(&view, &mut document);
    document.heading(2, "8. Streaming and token counts");
    streaming::write(&view, &mut document);
    document.heading(2, "9. Versions, caveats, raw counts");
    history::write(&view, &mut document);
    document
}
