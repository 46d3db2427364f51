//! Which messages become states or rows, and in which order conversations are told.

use super::{Chain, OnUnknown, Skipped, StateFigures, StateOptions, Subagents, Synthetic};
use crate::model::Step;

/// The parts of a walk: a member's conversation, or all of them together.
pub(in crate::export) fn members_in_order(
    members: usize,
    subagents: Subagents,
) -> Vec<Option<usize>> {
    match subagents {
        Subagents::Inline => vec![None],
        Subagents::Skip => vec![Some(0)],
        Subagents::Separate => (0..members).map(Some).collect(),
    }
}

/// Why a message is no answer, by what it is alone.
pub(in crate::export) fn reason_to_skip(
    step: &Step,
    states: &StateOptions<'_>,
    figures: &mut StateFigures,
) -> Option<Skipped> {
    let version = step.version.as_deref().unwrap_or("unknown");
    *figures.versions.entry(version.to_owned()).or_default() += 1;
    let model = step.model.as_deref().unwrap_or("unknown");
    *figures.models.entry(model.to_owned()).or_default() += 1;
    if step.synthetic && states.synthetic == Synthetic::Skip {
        return Some(Skipped::Synthetic);
    }
    if !step.on_chain && states.chain == Chain::Active {
        return Some(Skipped::OffChain);
    }
    let (range, on_unknown) = states.versions?;
    if range.contains(version) {
        return None;
    }
    *figures.outside.entry(version.to_owned()).or_default() += 1;
    (on_unknown == OnUnknown::Skip).then_some(Skipped::Version)
}
