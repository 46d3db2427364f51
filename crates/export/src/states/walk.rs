//! Which messages become states or rows, and in which order conversations are told.

use super::{
    Chain, Disposition, OnUnknown, Skipped, StateFigures, StateOptions, Subagents, Synthetic,
};
use crate::timeline::{Entry, Timeline};
use backstory_model::Step;
use hashbrown::HashSet;

/// The parts of a walk: a member's conversation, or all of them together.
pub(crate) fn members_in_order(members: usize, subagents: Subagents) -> Vec<Option<usize>> {
    match subagents {
        Subagents::Inline => vec![None],
        Subagents::Skip => vec![Some(0)],
        Subagents::Separate => (0..members).map(Some).collect(),
    }
}

/// Records of the active chain of each member. The story that is told goes further back, past a
/// compaction or a lost parent.
#[derive(Debug)]
pub(crate) struct Active<'s> {
    members: Vec<HashSet<&'s str>>,
    /// The client ran the session for itself; as a part of another it would not be in the timeline.
    own_run: bool,
}

impl<'s> Active<'s> {
    pub(crate) fn of(timeline: &Timeline<'s>) -> Active<'s> {
        let chain = |member: &&'s backstory_model::Session| {
            let links = member.chain.iter().filter(|link| link.recovered.is_none());
            links.map(|link| &*link.uuid).collect()
        };
        let own_run = timeline.members.first().is_some_and(|root| root.kind.is_housekeeping());
        Active { members: timeline.members.iter().map(chain).collect(), own_run }
    }

    fn holds(&self, member: usize, step: &Step) -> bool {
        match self.members.get(member) {
            Some(chain) if !chain.is_empty() => {
                step.uuids.iter().any(|uuid| chain.contains(&**uuid))
            }
            // An agent whose sessions are one line each.
            _ => step.on_chain,
        }
    }
}

/// Messages that nobody looked at are those of subagents.
pub(crate) fn count_subagent_messages(
    timeline: &Timeline<'_>,
    fates: &mut [Disposition],
    figures: &mut StateFigures,
) {
    for (fate, item) in fates.iter_mut().zip(&timeline.items) {
        if *fate == Disposition::Unseen && matches!(item.what, Entry::Step(_)) {
            figures.messages += 1;
            *fate = figures.skip(Skipped::Subagent);
        }
    }
}

/// Why a message is no answer, by what it is alone.
pub(crate) fn reason_to_skip(
    member: usize,
    step: &Step,
    states: &StateOptions<'_>,
    active: &Active<'_>,
    figures: &mut StateFigures,
) -> Option<Skipped> {
    let version = step.version.as_deref().unwrap_or("unknown");
    *figures.versions.entry(version.to_owned()).or_default() += 1;
    let model = step.model.as_deref().unwrap_or("unknown");
    *figures.models.entry(model.to_owned()).or_default() += 1;
    if active.own_run {
        return Some(Skipped::ClientRun);
    }
    if step.synthetic && states.synthetic == Synthetic::Skip {
        return Some(Skipped::Synthetic);
    }
    if states.chain == Chain::Active && !active.holds(member, step) {
        return Some(Skipped::OffChain);
    }
    let (range, on_unknown) = states.versions?;
    if range.contains(version) {
        return None;
    }
    *figures.outside.entry(version.to_owned()).or_default() += 1;
    (on_unknown == OnUnknown::Skip).then_some(Skipped::Version)
}
