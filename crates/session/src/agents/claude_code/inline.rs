//! Subagents of 1.0 clients, which wrote them into the session's own file.
//!
//! Nothing names the call that started one, but the first prompt is the call's prompt word for
//! word (59 of 59 in real files).

use super::build::{Origin, count, usage};
use super::facts;
use super::linkage::Linkage;
use super::recovery::Link;
use super::rows::{RowIndex, Rows};
use super::tree::{Tree, is_message};
use super::turns::{Material, Speaker};
use crate::model::{Agent, FileFacts, Parent, Problems, Session, SessionKind};

pub(super) fn subagents(
    material: &Material<'_>,
    tree: &Tree<'_>,
    origin: &Origin,
    linkage: &mut Linkage,
) -> Vec<Session> {
    let material = Material { speaker: Speaker::ParentAgent, ..*material };
    let conversations = conversations(tree).into_iter();
    conversations.filter_map(|members| subagent(&material, &members, origin, linkage)).collect()
}

/// Sidechain rows grouped by their root, in file order.
fn conversations(tree: &Tree<'_>) -> Vec<Vec<RowIndex>> {
    let rows = tree.rows;
    let mut group_of: Vec<Option<usize>> = vec![None; rows.rows.len()];
    let mut groups: Vec<Vec<RowIndex>> = Vec::new();
    for (at, row) in rows.rows.iter().enumerate() {
        if !row.flags.sidechain || row.repeated {
            continue;
        }
        // Up to a row whose group is known, to the root, or out of the sidechain.
        let mut path = vec![at as RowIndex];
        let mut group = None;
        let mut next = tree.parent(at as RowIndex);
        while let Some(parent) = next {
            if let Some(known) = group_of.get(parent as usize).copied().flatten() {
                group = Some(known);
                break;
            }
            if !rows.row(parent).is_some_and(|row| row.flags.sidechain) {
                break;
            }
            path.push(parent);
            next = tree.parent(parent);
        }
        let group = group.unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        for index in path {
            if let Some(slot) = group_of.get_mut(index as usize) {
                *slot = Some(group);
            }
        }
        if let Some(rows) = groups.get_mut(group) {
            rows.push(at as RowIndex);
        }
    }
    groups.retain(|group| group.iter().any(|at| rows.row(*at).is_some_and(is_message)));
    groups
}

fn subagent(
    material: &Material<'_>,
    members: &[RowIndex],
    origin: &Origin,
    linkage: &mut Linkage,
) -> Option<Session> {
    let rows: &Rows = material.rows;
    let first = rows.row(*members.first()?)?;
    let id = rows.names.text(first.agent).or_else(|| rows.names.text(first.uuid))?;
    let links: Vec<Link> = members.iter().map(|at| (*at, None)).collect();
    let turns = material.tell(&links).turns;
    let prompt = rows.message(first).map(|part| part.text_hash).filter(|hash| *hash != 0);
    let claimed = prompt.and_then(|prompt| linkage.claim_prompt(prompt));
    let times = || members.iter().filter_map(|at| rows.row(*at)?.timestamp);
    Some(Session {
        agent: Agent::ClaudeCode,
        kind: SessionKind::Task,
        id: id.into(),
        source: origin.source.clone(),
        file: FileFacts { records: members.len() as u64, ..FileFacts::default() },
        project_key: origin.project_key.clone(),
        title: None,
        started: times().next(),
        ended: times().next_back(),
        versions: Vec::new(),
        models: facts::models(&turns, &[]),
        git_branches: Vec::new(),
        last_branch: None,
        cwds: Vec::new(),
        entrypoints: Vec::new(),
        forked_from: None,
        continues: Vec::new(),
        shares_history: Vec::new(),
        first_record: rows.names.text(first.uuid),
        first_message: None,
        counts: count(&turns),
        usage: usage(&turns, &[]),
        turns,
        abandoned: Vec::new(),
        compactions: Vec::new(),
        parent: Some(Parent {
            session: origin.id.as_str().into(),
            evidence: claimed.as_ref().map(|(_, evidence)| *evidence),
            call: claimed.map(|(call, _)| call),
        }),
        meta: None,
        subagents: Vec::new(),
        orphan_results: Vec::new(),
        chain: facts::chain(rows, &links),
        problems: Problems::default(),
        file_history: Vec::new(),
        requests: crate::model::Requests::default(),
    })
}
