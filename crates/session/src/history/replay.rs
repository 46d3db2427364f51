//! The content before and after every edit.
//!
//! Forward first: the client often writes the file before the edit down, and otherwise the last
//! known state does if the edit fits it. What is left is looked for backward, in the next state that
//! is known. An edit that fits neither has no place, and nothing is claimed for it.

use super::apply::{Region, apply, undo};
use super::edit::{Change, Edit, Event, Replacement, What};
use jiff::Timestamp;

/// One step in the life of a file.
#[derive(Debug)]
pub(super) struct Step<'e> {
    pub(super) event: &'e Event,
    pub(super) time: Option<Timestamp>,
    pub(super) what: Known,
}

/// What is known at a step.
#[derive(Debug)]
pub(super) enum Known {
    /// The file is this.
    State(String),
    /// An edit in its place.
    Placed(Placed),
    /// An edit that took the place of a file that is not known.
    Overwrite(String),
    /// An edit whose place is not known.
    Lost,
}

/// An edit with the text around it.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) before: String,
    /// What it does, one replacement after the other; without regions the texts are compared.
    pub(super) parts: Vec<Part>,
    /// The place was found in a later state.
    pub(super) inferred: bool,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) after: String,
    pub(super) regions: Option<Vec<Region>>,
}

impl Placed {
    pub(super) fn after(&self) -> &str {
        self.parts.last().map_or(&self.before, |part| &part.after)
    }
}

/// Finds states for the events of one path. `last` is the file as it is in the end.
pub(super) fn replay<'e>(events: &'e [Event], last: Option<&str>) -> Vec<Step<'e>> {
    let mut current: Option<String> = None;
    let mut steps = Vec::with_capacity(events.len());
    for event in events {
        let what = match &event.what {
            What::Seen(sighting) => Known::State(sighting.content.clone()),
            What::Edit(edit) => forward(edit, current.as_deref()),
        };
        current = match &what {
            Known::State(text) | Known::Overwrite(text) => Some(text.clone()),
            Known::Placed(placed) => Some(placed.after().to_owned()),
            Known::Lost => None,
        };
        steps.push(Step { event, time: event.time, what });
    }
    let mut next = last.map(str::to_owned);
    for step in steps.iter_mut().rev() {
        if let (Known::Lost, What::Edit(edit)) = (&step.what, &step.event.what) {
            let found = next.as_deref().and_then(|text| backward(edit, text));
            step.what = found.map_or(Known::Lost, Known::Placed);
        }
        match &step.what {
            Known::State(text) => next = Some(text.clone()),
            Known::Placed(placed) => next = Some(placed.before.clone()),
            Known::Overwrite(_) => next = None,
            Known::Lost => {}
        }
    }
    steps
}

fn forward(edit: &Edit, current: Option<&str>) -> Known {
    let placed = |before: &str, parts| {
        Known::Placed(Placed { before: before.to_owned(), parts, inferred: false })
    };
    let compared = |after: &str| vec![Part { after: after.to_owned(), regions: None }];
    let original = edit.original.as_deref();
    if let (Some(before), Some(after)) = (original, edit.updated.as_deref()) {
        return placed(before, compared(after));
    }
    match &edit.change {
        Change::Write { content, created } => match original.or(current) {
            Some(before) => placed(before, compared(content)),
            None if *created => placed("", compared(content)),
            None => Known::Overwrite(content.clone()),
        },
        Change::Replace(list) => {
            for before in original.into_iter().chain(current) {
                if let Some(parts) = apply_all(before, list, edit) {
                    return placed(before, parts);
                }
            }
            let creates = list.first().is_some_and(|first| first.old.is_empty());
            match apply_all("", list, edit).filter(|_| creates && original.is_none()) {
                Some(parts) => placed("", parts),
                None => Known::Lost,
            }
        }
        Change::Cell { .. } => Known::Lost,
    }
}

/// Every replacement in turn.
fn apply_all(before: &str, list: &[Replacement], edit: &Edit) -> Option<Vec<Part>> {
    let hunks = if list.len() == 1 { edit.hunks.as_slice() } else { &[] };
    let mut parts: Vec<Part> = Vec::with_capacity(list.len());
    for replacement in list {
        let text = parts.last().map_or(before, |part| &part.after);
        let applied = apply(text, replacement, hunks)?;
        parts.push(Part { after: applied.text, regions: Some(applied.regions) });
    }
    Some(parts)
}

fn backward(edit: &Edit, after: &str) -> Option<Placed> {
    let Change::Replace(list) = &edit.change else { return None };
    let hunks = if list.len() == 1 { edit.hunks.as_slice() } else { &[] };
    let mut text = after.to_owned();
    let mut parts = Vec::with_capacity(list.len());
    for replacement in list.iter().rev() {
        let undone = undo(&text, replacement, hunks)?;
        let after = std::mem::replace(&mut text, undone.text);
        parts.push(Part { after, regions: Some(undone.regions) });
    }
    parts.reverse();
    Some(Placed { before: text, parts, inferred: true })
}

/// The text the model asked for, where a person changed it in review.
pub(super) fn as_proposed(edit: &Edit, before: &str) -> Option<String> {
    match edit.proposed.as_ref()? {
        Change::Write { content, .. } => Some(content.clone()),
        Change::Replace(list) => {
            let parts = apply_all(before, list, edit)?;
            parts.into_iter().next_back().map(|part| part.after)
        }
        Change::Cell { .. } => None,
    }
}
