//! The analysis as data: `backstory.analysis/1`.

use super::View;
use super::entries::presence;
use crate::analyze::{Analysis, Counts, Field, Format, Others, Shapes, Type};
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything the document says, for programs.
#[derive(Debug, Serialize)]
pub struct AnalysisJson {
    schema: &'static str,
    sessions: Vec<SessionJson>,
    agent_files: u64,
    /// One group named "" when nothing splits the data.
    groups: BTreeMap<String, GroupJson>,
    references: ReferencesJson,
    ambiguous_count: u64,
    ambiguous: Vec<AmbiguousJson>,
    other_agents: Others,
}

#[derive(Debug, Serialize)]
struct SessionJson {
    id: String,
    agent: &'static str,
    path: String,
    project: Option<String>,
    lines: u64,
    bytes: u64,
    records: u64,
    records_by_type: BTreeMap<Box<str>, u64>,
    turns: u64,
    tool_loops: u64,
    tool_calls: u64,
    tool_results: u64,
    subagents: u64,
    compactions: u64,
    left_branches: u64,
    versions: Vec<String>,
    models: Vec<String>,
    problems: BTreeMap<&'static str, u64>,
    notable: Vec<String>,
}

#[derive(Debug, Serialize)]
struct GroupJson {
    versions: BTreeMap<String, VersionJson>,
    kinds: BTreeMap<String, KindJson>,
}

#[derive(Debug, Serialize)]
struct VersionJson {
    sessions: Counts,
    subagents: Counts,
}

#[derive(Debug, Serialize)]
struct KindJson {
    count: u64,
    versions: Vec<String>,
    types: BTreeMap<&'static str, u64>,
    fields: Vec<FieldJson>,
}

#[derive(Debug, Serialize)]
struct FieldJson {
    path: String,
    count: u64,
    of: u64,
    present: String,
    types: BTreeMap<&'static str, u64>,
    formats: BTreeMap<&'static str, u64>,
    values: BTreeMap<String, u64>,
    versions: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ReferencesJson {
    missing_parents: PlacesJson,
    title_records: PlacesJson,
}

#[derive(Debug, Serialize)]
struct PlacesJson {
    same_file: u64,
    another_file: u64,
    nowhere: u64,
}

#[derive(Debug, Serialize)]
struct AmbiguousJson {
    path: String,
    line: u32,
    why: &'static str,
}

impl AnalysisJson {
    /// The data of an analysis.
    pub fn new(analysis: &Analysis, other_agents: Others) -> AnalysisJson {
        let view = View::new(analysis);
        let sessions = analysis.sessions.iter().map(|row| SessionJson {
            id: row.id.clone(),
            agent: row.agent.name(),
            path: row.path.to_string_lossy().into_owned(),
            project: row.project.as_deref().map(str::to_owned),
            lines: row.lines,
            bytes: row.bytes,
            records: row.records,
            records_by_type: row.records_by_type.clone(),
            turns: row.turns,
            tool_loops: row.loops,
            tool_calls: row.calls,
            tool_results: row.results,
            subagents: row.subagents,
            compactions: row.compactions,
            left_branches: row.left_branches,
            versions: row.versions.iter().map(ToString::to_string).collect(),
            models: row.models.iter().map(ToString::to_string).collect(),
            problems: row.problems.iter().map(|(id, count)| (id.name(), *count)).collect(),
            notable: super::sessions::notable(row),
        });
        let groups = view.split().iter().map(|group| {
            let versions = group.versions.iter().map(|(version, part)| {
                let data =
                    VersionJson { sessions: part.main.clone(), subagents: part.agents.clone() };
                (version.as_str().to_owned(), data)
            });
            let kinds = group.shapes.kinds().into_iter().map(|(name, node)| {
                let seen =
                    group.versions.iter().filter(|(_, part)| part.shapes.find_kind(name).is_some());
                let kind = KindJson {
                    count: node.count,
                    versions: seen.map(|(version, _)| version.as_str().to_owned()).collect(),
                    types: types(&node.types),
                    fields: fields(&view, &group.shapes, name),
                };
                (name.to_owned(), kind)
            });
            let data = GroupJson { versions: versions.collect(), kinds: kinds.collect() };
            (group.name.clone(), data)
        });
        let places = |found: crate::analyze::References| PlacesJson {
            same_file: found.here,
            another_file: found.in_another_file,
            nowhere: found.nowhere,
        };
        let path =
            |file: &u32| analysis.files.get(file).map(|path| path.to_string_lossy().into_owned());
        let ambiguous = analysis.ambiguous.iter().map(|found| AmbiguousJson {
            path: path(&found.place.file).unwrap_or_default(),
            line: found.place.line.get(),
            why: found.why,
        });
        AnalysisJson {
            schema: "backstory.analysis/1",
            agent_files: analysis.agent_files,
            groups: groups.collect(),
            references: ReferencesJson {
                missing_parents: places(analysis.missing_parents()),
                title_records: places(analysis.title_records()),
            },
            ambiguous_count: analysis.ambiguous_count,
            ambiguous: ambiguous.collect(),
            other_agents,
            sessions: sessions.collect(),
        }
    }
}

fn types(counts: &[u64; 6]) -> BTreeMap<&'static str, u64> {
    let all = Type::ALL.into_iter().zip(counts);
    all.filter(|(_, count)| **count > 0).map(|(kind, count)| (kind.name(), *count)).collect()
}

fn fields(view: &View<'_>, shapes: &Shapes, kind: &str) -> Vec<FieldJson> {
    let Some(node) = shapes.find_kind(kind) else { return Vec::new() };
    let known = view.profile.kinds.get(kind);
    let field = |field: &Field<'_>| {
        let seen =
            known.and_then(|kind| kind.fields.get(&field.path)).map(|field| field.versions());
        let formats = Format::ALL.into_iter().zip(field.node.formats);
        FieldJson {
            path: field.path.clone(),
            count: field.node.count,
            of: field.of,
            present: presence(field),
            types: types(&field.node.types),
            formats: formats
                .filter(|found| found.1 > 0)
                .map(|(format, count)| (format.name(), count))
                .collect(),
            values: field
                .node
                .values
                .listed()
                .into_iter()
                .map(|(value, count)| (value.to_owned(), count))
                .collect(),
            versions: seen.iter().flatten().map(|version| version.as_str().to_owned()).collect(),
        }
    };
    shapes.fields(node).iter().map(field).collect()
}
