//! The content before and after every edit.
//!
//! Forward first: the client often writes the file before the edit down, and otherwise the last
//! known state does if the edit fits it. What is left is looked for backward, in the next state that
//! is known. An edit that fits neither has no place, and nothing is claimed for it.

use super::apply::TELLING;
use super::apply::{Region, apply, undo};
use super::chain::Chain;
use super::edit::{Committed, Edit, Event, EventKind};
use super::lines::{letters, split_lines};
use backstory_model::{Change, Hunk, Replacement};
use jiff::Timestamp;
use std::ops::Deref;
use std::rc::Rc;

/// A state of the file: as it is recorded, or made by an edit.
#[derive(Debug, Clone)]
pub(super) enum Text<'e> {
    Recorded(&'e str),
    Made(Rc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Recorded(text) => text,
            Text::Made(text) => text,
        }
    }
}

/// One step in the life of a file.
#[derive(Debug)]
pub(super) struct Step<'e> {
    pub(super) event: &'e Event,
    pub(super) time: Option<Timestamp>,
    pub(super) what: Known<'e>,
}

impl<'e> Step<'e> {
    /// The file after it, where that is known.
    pub(super) fn after(&self) -> Option<&Text<'e>> {
        match &self.what {
            Known::State(text) | Known::Overwrite(text) => Some(text),
            Known::Placed(placed) => Some(placed.after()),
            Known::Lost => None,
        }
    }
}

/// What is known at a step.
#[derive(Debug)]
pub(super) enum Known<'e> {
    /// The file is this.
    State(Text<'e>),
    /// An edit in its place.
    Placed(Placed<'e>),
    /// An edit that took the place of a file that is not known.
    Overwrite(Text<'e>),
    /// An edit whose place is not known.
    Lost,
}

/// An edit with the text around it.
#[derive(Debug)]
pub(super) struct Placed<'e> {
    pub(super) before: Text<'e>,
    /// What it does, one replacement after the other; without regions the texts are compared.
    pub(super) parts: Vec<Part<'e>>,
    pub(super) basis: Basis,
    /// The file may have been changed since it was last known.
    pub(super) doubtful: bool,
}

/// Where the text before an edit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// A session.
    Session,
    /// A later state, in which the edit's text was found.
    LaterState,
    /// A commit made before the edit.
    Commit,
}

#[derive(Debug)]
pub(super) struct Part<'e> {
    pub(super) after: Text<'e>,
    pub(super) regions: Option<Vec<Region>>,
}

impl<'e> Placed<'e> {
    pub(super) fn after(&self) -> &Text<'e> {
        self.parts.last().map_or(&self.before, |part| &part.after)
    }

    /// First and last line of what it wrote, if that is in one place.
    pub(super) fn lines(&self) -> Option<(u32, u32)> {
        let [part] = self.parts.as_slice() else { return None };
        let place = match part.regions.as_deref() {
            Some([region]) => region.after.clone(),
            Some(_) => return None,
            None => 0..part.after.len(),
        };
        let before = part.after.as_bytes().get(..place.start)?;
        let inside = part.after.as_bytes().get(place)?;
        let inside = inside.strip_suffix(b"\n").unwrap_or(inside);
        let breaks = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u32;
        let first = breaks(before) + 1;
        Some((first, first + breaks(inside)))
    }
}

/// Finds states for the events of one path. `first` is the file as it was under another name,
/// `last` as it is in the end.
pub(super) fn replay<'e>(
    events: &[&'e Event],
    first: Option<Text<'e>>,
    last: Option<Text<'e>>,
    committed: &'e [Committed],
) -> Vec<Step<'e>> {
    let mut current = first;
    let mut doubt = false;
    let mut steps = Vec::with_capacity(events.len());
    for &event in events {
        let what = match &event.kind {
            EventKind::Seen(sighting) => Known::State(Text::Recorded(&sighting.content)),
            EventKind::Edit(edit) => match forward(edit, current.as_ref(), doubt) {
                Known::Lost => from_commit(edit, event.time, committed).unwrap_or(Known::Lost),
                known => known,
            },
            EventKind::PartialRead => {
                doubt = true;
                continue;
            }
        };
        match &what {
            Known::State(text) | Known::Overwrite(text) => {
                current = Some(text.clone());
                doubt = false;
            }
            Known::Placed(placed) => {
                current = Some(placed.after().clone());
                doubt = placed.doubtful;
            }
            Known::Lost => current = None,
        }
        steps.push(Step { event, time: event.when.time, what });
    }
    let mut next = last;
    for step in steps.iter_mut().rev() {
        if let (Known::Lost, EventKind::Edit(edit)) = (&step.what, &step.event.kind) {
            let found = next.as_ref().and_then(|text| backward(edit, text));
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

/// The same for those who ask about the edits only: readings are looked at where an edit needs them.
pub(super) fn replay_edits(chain: &Chain) -> Vec<Step<'_>> {
    let steps = replay(&chain.recorded(), None, None, &[]);
    if steps.iter().all(|step| is_standalone(step, chain)) {
        steps
    } else {
        replay(&chain.whole(), None, None, &[])
    }
}

/// Whether no reading can change what is known of a step.
pub(super) fn is_standalone(step: &Step<'_>, chain: &Chain) -> bool {
    let EventKind::Edit(edit) = &step.event.kind else { return true };
    match (&step.what, &edit.original) {
        (Known::Placed(placed), Some(original)) => {
            matches!(&placed.before, Text::Recorded(before) if std::ptr::eq(*before, original.as_str()))
        }
        (Known::Placed(_), None) => {
            matches!(edit.change, Change::Write { created: true, .. })
                && !chain.read_before(step.time)
        }
        _ => false,
    }
}

fn forward<'e>(edit: &'e Edit, current: Option<&Text<'e>>, doubt: bool) -> Known<'e> {
    let placed = |before: &Text<'e>, parts, doubtful| {
        Known::Placed(Placed { before: before.clone(), parts, basis: Basis::Session, doubtful })
    };
    let compared = |after: &'e str| vec![Part { after: Text::Recorded(after), regions: None }];
    let original = edit.original.as_deref().map(Text::Recorded);
    let original = original.as_ref();
    let empty = Text::Recorded("");
    if let (Some(before), Some(after)) = (original, edit.updated.as_deref()) {
        return placed(before, compared(after), false);
    }
    match &edit.change {
        Change::Write { content, created } => match original.or(current) {
            Some(before) => placed(before, compared(content), false),
            None if *created => placed(&empty, compared(content), false),
            None => Known::Overwrite(Text::Recorded(content)),
        },
        Change::Replace(list) => {
            if let Some(before) = original
                && let Some(parts) = apply_all(before, list, &edit.hunks)
            {
                return placed(before, parts, false);
            }
            if let Some(before) = current
                && let Some(parts) = apply_all(before, list, &edit.hunks)
            {
                let doubtful =
                    if edit.hunks.is_empty() { doubt } else { !agrees(before, &edit.hunks) };
                return placed(before, parts, doubtful);
            }
            let creates = list.first().is_some_and(|first| first.old.is_empty());
            match apply_all("", list, &edit.hunks).filter(|_| creates && original.is_none()) {
                Some(parts) => placed(&empty, parts, false),
                None => Known::Lost,
            }
        }
        Change::Cell { .. } | Change::Delete | Change::Move { .. } => Known::Lost,
    }
}

/// An edit whose place no session tells, in the newest commit before it. Where the client's patch
/// does not confirm that state, only lines are claimed that the edit wrote for certain.
fn from_commit<'e>(
    edit: &'e Edit,
    time: Option<Timestamp>,
    committed: &'e [Committed],
) -> Option<Known<'e>> {
    let Change::Replace(list) = &edit.change else { return None };
    let before = committed.iter().rev().find(|commit| time.is_some_and(|time| commit.time <= time));
    let before = before?.content.as_str();
    let parts = apply_all(before, list, &edit.hunks)?;
    let telling = list.iter().all(|replacement| letters(&replacement.old) >= TELLING);
    let doubtful = match edit.hunks.is_empty() {
        true if telling => true,
        false if agrees(before, &edit.hunks) => false,
        _ => return None,
    };
    let before = Text::Recorded(before);
    Some(Known::Placed(Placed { before, parts, basis: Basis::Commit, doubtful }))
}

/// Whether the client's patch fits a text, white space apart.
fn agrees(text: &str, hunks: &[Hunk]) -> bool {
    let lines: Vec<&str> = split_lines(text).collect();
    let bare = |line: &str| line.split_whitespace().collect::<String>();
    hunks.iter().all(|hunk| {
        let start = hunk.place.map_or(0, |place| place.old_start.saturating_sub(1) as usize);
        let old: Vec<&str> = hunk.old().collect();
        let there = lines.get(start..start + old.len()).unwrap_or_default();
        there.len() == old.len() && there.iter().zip(old).all(|(line, old)| bare(line) == bare(old))
    })
}

/// Bytes of all states within one edit that are held. Where an edit of many replacements in a large
/// file would need more, the states after the first and the last of them are compared instead.
const MOST_HELD: usize = 256 << 20;

/// Every replacement in turn.
fn apply_all<'e>(
    before: &str,
    list: &[Replacement<String>],
    hunks: &[Hunk],
) -> Option<Vec<Part<'e>>> {
    let hunks = if list.len() == 1 { hunks } else { &[] };
    let mut parts: Vec<Part<'e>> = Vec::with_capacity(list.len());
    let all_held = list.len().saturating_mul(before.len()) <= MOST_HELD;
    for replacement in list {
        let text = parts.last().map_or(before, |part| &part.after);
        let applied = apply(text, replacement, hunks)?;
        let part = Part { after: Text::Made(applied.text.into()), regions: Some(applied.regions) };
        match parts.get_mut(1).filter(|_| !all_held) {
            Some(last) => *last = Part { regions: None, ..part },
            None => parts.push(part),
        }
    }
    Some(parts)
}

fn backward<'e>(edit: &Edit, after: &Text<'e>) -> Option<Placed<'e>> {
    let Change::Replace(list) = &edit.change else { return None };
    let hunks = if list.len() == 1 { edit.hunks.as_slice() } else { &[] };
    if list.len().saturating_mul(after.len()) > MOST_HELD {
        return None;
    }
    let mut text = after.clone();
    let mut parts = Vec::with_capacity(list.len());
    for replacement in list.iter().rev() {
        let undone = undo(&text, replacement, hunks)?;
        let after = std::mem::replace(&mut text, Text::Made(undone.text.into()));
        parts.push(Part { after, regions: Some(undone.regions) });
    }
    parts.reverse();
    Some(Placed { before: text, parts, basis: Basis::LaterState, doubtful: false })
}

/// The text the model asked for, where a person changed it in review.
pub(super) fn as_proposed<'e>(edit: &'e Edit, before: &str) -> Option<Text<'e>> {
    match edit.proposed.as_ref()? {
        Change::Write { content, .. } => Some(Text::Recorded(content)),
        Change::Replace(list) => {
            let parts = apply_all(before, list, &edit.hunks)?;
            parts.into_iter().next_back().map(|part| part.after)
        }
        Change::Cell { .. } | Change::Delete | Change::Move { .. } => None,
    }
}

/// Whole lines that an edit wrote for certain, whatever stood around them: those of its new text
/// that its old text does not have.
pub(super) fn certain_lines(edit: &Edit) -> Vec<String> {
    let Change::Replace(list) = &edit.change else { return Vec::new() };
    let mut certain = Vec::new();
    for replacement in list {
        let added = super::diff::added_lines(&replacement.old, &replacement.new);
        certain.extend(added.into_iter().map(|line| line.trim().to_owned()));
    }
    certain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_replacements_in_a_large_file_hold_few_copies_of_it() {
        let line = |number: usize| format!("line {number} of the file\n");
        let text: String = (0..40_000).map(line).collect();
        let replacement = |number: usize| Replacement {
            old: line(number),
            new: format!("new {number}\n"),
            all: false,
        };
        let list: Vec<Replacement<String>> = (0..300).map(replacement).collect();
        let parts = apply_all(&text, &list, &[]).unwrap();
        assert_eq!(parts.len(), 2);
        assert!(parts[1].after.starts_with("new 0\nnew 1\n") && parts[1].regions.is_none());
        assert_eq!(apply_all(&text, &list[..3], &[]).unwrap().len(), 3);
    }
}
