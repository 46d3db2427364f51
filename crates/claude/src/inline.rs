//! Subagents of 1.0 clients, which wrote them into the session's own file.
//!
//! Nothing names the call that started one, but the first prompt is the call's prompt word for
//! word (59 of 59 in real files).

use crate::agent::AGENT;
use crate::origin::Origin;
use crate::recovery::Link;
use crate::rows::is_message;
use crate::rows::{RowIndex, Rows};
use crate::subagent_evidence::SubagentEvidence;
use crate::tree::Tree;
use crate::turns::{Material, Speaker};
use crate::{facts, hash, own_runs};
use backstory_model::{Counts, FileFacts, Parent, Session, SessionKind, models, usage};

pub(super) fn subagents(
    material: &Material<'_>,
    tree: &Tree<'_>,
    origin: &Origin,
    evidence: &mut SubagentEvidence,
) -> Vec<Session> {
    let material = Material { speaker: Speaker::ParentAgent, ..*material };
    let conversations = conversations(tree).into_iter();
    conversations.filter_map(|members| subagent(&material, &members, origin, evidence)).collect()
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
    evidence: &mut SubagentEvidence,
) -> Option<Session> {
    let rows: &Rows = material.rows;
    let first = rows.row(*members.first()?)?;
    let id = rows.names.text(first.agent).or_else(|| rows.names.text(first.uuid))?;
    let links: Vec<Link> = members.iter().map(|at| (*at, None)).collect();
    let turns = material.turns(&links).turns;
    let prompt = rows.message(first).map(|part| part.text_hash).filter(|hash| *hash != 0);
    let claimed = prompt.and_then(|prompt| evidence.claim_prompt(prompt));
    let warms_up = prompt == Some(hash::hash(own_runs::WARMUP.as_bytes())) && claimed.is_none();
    let kind = if warms_up { SessionKind::Warmup } else { SessionKind::Task };
    let times = || members.iter().filter_map(|at| rows.row(*at)?.timestamp);
    Some(Session {
        file: FileFacts { records: members.len() as u64, ..FileFacts::default() },
        project_key: origin.project_key.clone(),
        started: times().next(),
        ended: times().next_back(),
        models: models(&turns, &[]),
        first_record: rows.names.text(first.uuid),
        counts: Counts::of(&turns),
        usage: usage(&turns, &[]),
        turns,
        parent: Some(Parent {
            session: origin.id.as_str().into(),
            evidence: claimed.as_ref().map(|(_, evidence)| *evidence),
            call: claimed.map(|(call, _)| call),
        }),
        chain: facts::chain(rows, &links),
        ..Session::new(AGENT, kind, id.into(), origin.source.clone())
    })
}
