//! Subagents hung under the calls that started them.

use crate::subagent_evidence::{SubagentEvidence, mark_call};
use crate::{lost, own_runs};
use backstory_format::ProblemId;
use backstory_model::{Evidence, Parent, Session, SessionKind};
use hashbrown::HashMap;

/// A subagent that has no place yet.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) session: Session,
    pub(super) evidence: SubagentEvidence,
}

/// Looks into the conversation and the metadata for what the file name does not say.
pub(super) fn refine_kind(session: &mut Session) {
    if session.kind != SessionKind::Task {
        return;
    }
    if session.forked_from.is_some() || session.meta.as_ref().is_some_and(|meta| meta.is_fork) {
        session.kind = SessionKind::Fork;
    } else if session.turns.iter().any(|turn| turn.kind == backstory_model::TurnKind::Teammate) {
        session.kind = SessionKind::Teammate;
    } else if session.title_is(own_runs::WARMUP) || was_never_asked(session) {
        session.kind = SessionKind::Warmup;
    } else if own_runs::copies_conversation(session) {
        session.kind = SessionKind::ClientRun;
    }
}

/// Whether the file holds an answer and nothing that was asked: 2.0.45 writes only that of its
/// warm-up. A task whose prompt was not written down either is known by the call that names it.
fn was_never_asked(session: &Session) -> bool {
    let count = |kind: &str| session.counts.records_by_type.get(kind).copied().unwrap_or(0);
    session.file.records == 1 && count("assistant") == 1 && session.counts.calls == 0
}

/// Finds each agent's place: under the session or under another agent.
pub(super) fn unite(
    session: &mut Session,
    mut evidence: SubagentEvidence,
    mut members: Vec<Member>,
) {
    lost::adopt_text(session, members.iter().map(|member| &member.session));
    let places: Vec<Place> = find_places(&mut evidence, &mut members);
    for (member, _) in members.iter_mut().zip(&places).filter(|(_, place)| place.call.is_some()) {
        if member.session.kind == SessionKind::Warmup {
            member.session.kind = SessionKind::Task;
        }
    }
    for (at, place) in places.iter().enumerate() {
        let holder = place.parent.and_then(|parent| members.get(parent));
        let holder = holder.map_or(&*session, |member| &member.session);
        let child = members.get(at).map(|member| &member.session);
        let asked = child.and_then(|child| lost::prompt(child, holder, place.call.as_deref()?));
        if let (Some(asked), Some(member)) = (asked, members.get_mut(at)) {
            lost::adopt_prompt(&mut member.session, asked);
        }
    }
    let ids: Vec<Box<str>> =
        members.iter().map(|member| member.session.id.as_str().into()).collect();
    for (member, place) in members.iter_mut().zip(&places) {
        // Their first record continues the main conversation, in the main file.
        if member.session.kind.is_housekeeping() || member.session.kind == SessionKind::Fork {
            member.session.problems.remove(ProblemId::MissingParent);
        }
        let holder = place.parent.and_then(|parent| ids.get(parent));
        let session = holder.cloned().unwrap_or_else(|| session.id.as_str().into());
        let (call, evidence) = (place.call.clone(), place.evidence);
        member.session.parent = Some(Parent { session, call, evidence });
    }
    let mut sessions: Vec<Option<Session>> =
        members.into_iter().map(|member| Some(member.session)).collect();
    // Children first, so that every agent is complete when it moves under its parent.
    for at in order_by_depth(&places) {
        let Some(child) = sessions.get_mut(at).and_then(Option::take) else { continue };
        let Some(place) = places.get(at) else { continue };
        let parent = match place.parent {
            Some(parent) => sessions.get_mut(parent).and_then(Option::as_mut),
            None => None,
        };
        let parent = match parent {
            Some(parent) => parent,
            None => &mut *session,
        };
        if let Some(call) = &place.call {
            mark_call(parent, call, &child.id);
        }
        parent.subagents.push(child);
    }
    sort_subagents(session);
}

/// Where an agent belongs: under the member at `parent`, or under the session.
#[derive(Debug, Default)]
struct Place {
    parent: Option<usize>,
    call: Option<Box<str>>,
    evidence: Option<Evidence>,
}

fn find_places(main: &mut SubagentEvidence, members: &mut [Member]) -> Vec<Place> {
    let by_id: HashMap<String, usize> =
        members.iter().enumerate().map(|(at, member)| (member.session.id.clone(), at)).collect();
    let mut places: Vec<Place> = Vec::with_capacity(members.len());
    for at in 0..members.len() {
        places.push(named_place(at, main, members, &by_id));
    }
    for place in &places {
        if let Some(call) = &place.call {
            main.claim(call);
            for member in members.iter_mut() {
                member.evidence.claim(call);
            }
        }
    }
    // What nothing names is found by where its context ends or by its prompt, in the session first.
    for at in 0..members.len() {
        let unknown = places.get(at).is_some_and(|place| place.call.is_none());
        let Some(member) =
            members.get(at).filter(|member| unknown && !member.session.kind.is_housekeeping())
        else {
            continue;
        };
        let fork = member.session.forked_from.as_ref().and_then(|fork| fork.record.clone());
        let prompt = member.evidence.first_prompt;
        let claim = |evidence: &mut SubagentEvidence| {
            let by_fork = fork.as_deref().and_then(|record| evidence.claim_fork(record));
            by_fork.or_else(|| evidence.claim_prompt(prompt?))
        };
        let mut found = claim(main).map(|found| (None, found));
        if found.is_none() {
            let mut others = members.iter_mut().enumerate().filter(|(other, _)| *other != at);
            found = others
                .find_map(|(other, member)| Some((Some(other), claim(&mut member.evidence)?)));
        }
        if let (Some((parent, (call, evidence))), Some(place)) = (found, places.get_mut(at)) {
            *place = Place { parent, call: Some(call), evidence: Some(evidence) };
        }
    }
    places
}

/// The place that metadata, a result or a progress record names.
fn named_place(
    at: usize,
    main: &SubagentEvidence,
    members: &[Member],
    by_id: &HashMap<String, usize>,
) -> Place {
    let Some(member) = members.get(at) else { return Place::default() };
    let meta = member.session.meta.as_ref();
    let named_parent = meta.and_then(|meta| by_id.get(meta.parent.as_ref()?)).copied();
    let home_of = |call: &str| {
        if main.makes(call) {
            return Some(None);
        }
        let mut members = members.iter().enumerate();
        members
            .find(|(other, member)| *other != at && member.evidence.makes(call))
            .map(|(other, _)| Some(other))
    };
    if let Some(call) = meta.and_then(|meta| meta.call.as_ref()) {
        let parent = home_of(call).unwrap_or(named_parent);
        return Place { parent, call: Some(call.as_str().into()), evidence: Some(Evidence::Meta) };
    }
    let id = member.session.id.as_str();
    if let Some((call, evidence)) = main.named(id) {
        return Place { parent: None, call: Some(call), evidence: Some(evidence) };
    }
    for (other, candidate) in members.iter().enumerate().filter(|(other, _)| *other != at) {
        if let Some((call, evidence)) = candidate.evidence.named(id) {
            return Place { parent: Some(other), call: Some(call), evidence: Some(evidence) };
        }
    }
    Place { parent: named_parent, call: None, evidence: None }
}

/// Deepest first. A circle of parents (only damaged metadata makes one) is broken at its first
/// member, which then belongs to the session.
fn order_by_depth(places: &[Place]) -> Vec<usize> {
    let depth = |at: usize| {
        let mut depth = 0;
        let mut next = places.get(at).and_then(|place| place.parent);
        while let Some(parent) = next.filter(|_| depth <= places.len()) {
            depth += 1;
            next = places.get(parent).and_then(|place| place.parent);
        }
        depth
    };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(depth(*at)));
    order
}

fn sort_subagents(session: &mut Session) {
    session.subagents.sort_by(|a, b| (a.started, &a.id).cmp(&(b.started, &b.id)));
    for agent in &mut session.subagents {
        sort_subagents(agent);
    }
}
