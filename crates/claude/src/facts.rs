//! Facts about a whole file, each by its own rule.

use crate::calls;
use crate::names::{Distinct, Name};
use crate::origin::Origin;
use crate::recovery::Link;
use crate::rows::is_message;
use crate::rows::{PromptShape, Rows};
use backstory_format::ProblemId;
use backstory_format::claude::RecordKind;
use backstory_model::{
    ChainLink, Compaction, CompactionKind, Content, ForkedFrom, Problems, RequestShape, Requests,
    SessionKind, Trigger,
};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn shared(rows: &Rows, names: &[Name]) -> Vec<Arc<str>> {
    names.iter().filter_map(|name| rows.names.shared(*name)).collect()
}

/// How many records of each type the file has.
pub(super) fn records_by_type(rows: &Rows) -> BTreeMap<Box<str>, u64> {
    let mut counts: BTreeMap<Box<str>, u64> = rows.other_types.clone();
    for kind in RecordKind::KNOWN {
        let count = rows.kind_counts.get(*kind as usize).copied().unwrap_or(0);
        if let Some(name) = kind.name().filter(|_| count > 0) {
            counts.insert(name.into(), count);
        }
    }
    let untyped = rows.kind_counts.get(RecordKind::Missing as usize).copied().unwrap_or(0);
    if untyped > 0 {
        counts.insert("(none)".into(), untyped);
    }
    counts
}

/// Where context was shortened: a boundary record from 2.0 on, in 1.0 only the summary.
pub(super) fn compactions(rows: &Rows) -> Vec<Compaction> {
    let mut out: Vec<Compaction> = Vec::new();
    for row in rows.rows.iter().filter(|row| !row.repeated && !row.flags.sidechain) {
        let place = |kind| Compaction {
            kind,
            uuid: rows.names.text(row.uuid),
            line: u64::from(row.line),
            timestamp: row.timestamp,
            trigger: None,
            pre_tokens: None,
            post_tokens: None,
            summary: None,
        };
        if let Some(notice) = rows.notice(row).filter(|notice| notice.subtype.is_some()) {
            let kind = match rows.names.bytes(notice.subtype) {
                b"compact_boundary" => CompactionKind::Full,
                b"microcompact_boundary" => CompactionKind::Micro,
                _ => continue,
            };
            let trigger = notice.trigger.some().and_then(|name| match rows.names.bytes(name) {
                b"auto" => Some(Trigger::Auto),
                b"manual" => Some(Trigger::Manual),
                _ => None,
            });
            let (pre_tokens, post_tokens) = (notice.pre_tokens, notice.post_tokens);
            out.push(Compaction { trigger, pre_tokens, post_tokens, ..place(kind) });
        } else if rows.message(row).is_some_and(|part| part.prompt == PromptShape::CompactSummary) {
            let summary = rows.names.text(row.uuid);
            // Newest clients put attachments between the boundary and its summary.
            let boundary = out.last_mut().filter(|last| last.kind == CompactionKind::Full);
            match boundary.filter(|last| last.summary.is_none()) {
                Some(boundary) => boundary.summary = summary,
                None => out.push(Compaction { uuid: None, summary, ..place(CompactionKind::Full) }),
            }
        }
    }
    out
}

pub(super) fn chain(rows: &Rows, links: &[Link]) -> Vec<ChainLink> {
    let links = links.iter().filter_map(|(at, recovered)| {
        let row = rows.row(*at)?;
        let hidden = row.flags.meta || row.flags.sidechain || row.team.is_some();
        Some(ChainLink {
            uuid: rows.names.text(row.uuid)?,
            line: u64::from(row.line),
            type_name: row.kind.name()?,
            recovered: *recovered,
            visible: is_message(row) && !hidden,
        })
    });
    links.collect()
}

/// A fork names its origin in every record, or in its first.
pub(super) fn forked_from(rows: &Rows) -> Option<ForkedFrom> {
    let (session, record) = rows.forked_from.or(rows.fork_context)?;
    Some(ForkedFrom { session: rows.names.text(session)?, record: rows.names.text(record) })
}

/// Ids of other sessions whose records are in this file.
pub(super) fn continues(rows: &Rows, origin: &Origin) -> Vec<Box<str>> {
    if origin.kind != SessionKind::Session {
        return Vec::new();
    }
    let ids = rows.sessions.names().iter().filter_map(|name| rows.names.text(*name));
    ids.filter(|id| **id != *origin.id && rows.sessions.names().len() > 1).collect()
}

/// Records that carry another session's id than most of the file; one problem per foreign id.
pub(super) fn report_foreign_sessions(rows: &Rows, id: &str, problems: &mut Problems) {
    if rows.sessions.names().len() < 2 {
        return;
    }
    let mut seen = Distinct::default();
    for row in rows.rows.iter().filter(|row| row.session.is_some()) {
        let known = seen.names().len();
        if rows.names.bytes(row.session) != id.as_bytes() {
            seen.add(row.session);
        }
        if seen.names().len() > known {
            problems.push(calls::problem(ProblemId::ForeignSessionId, row));
        }
    }
}

/// The id of the first message in file order that a model made.
pub(super) fn first_message(rows: &Rows) -> Option<Box<str>> {
    let parts = rows.rows.iter().filter_map(|row| rows.message(row));
    parts.filter_map(|part| rows.names.text(part.id)).next()
}

/// What requests carried: by the requests themselves, else by the snapshot that was written last.
pub(super) fn requests(rows: &Rows) -> Requests {
    let exact = rows.shapes.iter().any(|shape| shape.hash.is_some());
    let parts: Vec<_> = rows.shapes.iter().filter(|shape| shape.hash.is_some() == exact).collect();
    let shapes = parts.iter().map(|shape| RequestShape {
        line: u64::from(shape.line),
        system: shape.system.map(Content::Json),
        tools: shape.tools.map(Content::Json),
    });
    let mut requests = Requests {
        shapes: shapes.collect(),
        environment: rows.environment.map(Content::Json),
        ..Requests::default()
    };
    if parts.is_empty() {
        return requests;
    }
    let by_name: hashbrown::HashMap<Name, u32> =
        parts.iter().enumerate().map(|(at, shape)| (shape.hash, at as u32)).collect();
    let by_request: hashbrown::HashMap<Name, u32> = rows
        .requests
        .iter()
        .filter_map(|(id, shape)| Some((id.some()?, *by_name.get(shape)?)))
        .collect();
    for row in &rows.rows {
        let Some(part) = rows.message(row).filter(|part| part.id.is_some()) else { continue };
        let shape = if exact {
            by_request.get(&part.request_ref).copied()
        } else {
            let before = parts.partition_point(|shape| shape.line < row.line);
            before.checked_sub(1).map(|at| at as u32)
        };
        if let (Some(shape), Some(id)) = (shape, rows.names.text(part.id)) {
            requests.of_message.entry(id).or_insert(shape);
        }
    }
    requests
}
