//! Lines followed from the edits that wrote them to the file as it is.

use super::chain::Chain;
use super::edit::{Committed, Edit, Event, EventKind};
use super::gather::Gathered;
use super::lines::{split_lines, unix};
use super::mark::{Confidence, LineOrigin, Mark, Why};
use super::notebook::find_cell;
use super::regions::count_differing;
use super::replay::{Known, Placed, Step, Text, as_proposed, certain_lines, is_standalone, replay};
use super::tracer::{Maker, Tracer, Track};
use backstory_model::Change;
use hashbrown::HashSet;
use jiff::Timestamp;
use std::rc::Rc;

pub use super::tracer::Span;

/// The file whose lines are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub path: &'a str,
    pub text: &'a str,
    /// Nothing that happened later is considered.
    pub until: Option<Timestamp>,
}

/// An edit and what came of it.
#[derive(Debug, Clone, Copy)]
pub struct TracedEdit<'g> {
    pub event: &'g Event,
    pub edit: &'g Edit,
    pub added: u64,
    pub removed: u64,
    /// Its place in the file is known; without it no line can be followed.
    pub placed: bool,
    /// Of the lines that it wrote, those that are in the file as it is now: never more than `added`.
    pub surviving: u64,
    /// First and last line of its text in the file right after it, where that is one place.
    pub lines: Option<(u32, u32)>,
}

impl<'g> TracedEdit<'g> {
    fn new(event: &'g Event, edit: &'g Edit) -> TracedEdit<'g> {
        TracedEdit { event, edit, added: 0, removed: 0, placed: true, surviving: 0, lines: None }
    }
}

/// Lines of a file with their origins.
#[derive(Debug, Default)]
pub struct Traced<'g> {
    /// One for each line of the target.
    pub marks: Vec<Mark>,
    /// In order of time.
    pub edits: Vec<TracedEdit<'g>>,
    pub outside: Vec<Span>,
}

impl<'g> Traced<'g> {
    /// The edit that a mark refers to.
    pub fn edit_of(&self, mark: Mark) -> Option<&TracedEdit<'g>> {
        self.edits.get(mark.edit()? as usize)
    }

    /// Counts anew what is left of each edit. A line that was broken into several counts once.
    pub fn count_surviving(&mut self) {
        self.edits.iter_mut().for_each(|edit| edit.surviving = 0);
        let mut seen = HashSet::new();
        for mark in &self.marks {
            let edit = mark.edit().and_then(|edit| self.edits.get_mut(edit as usize));
            if let Some(edit) = edit.filter(|_| seen.insert(mark.written)) {
                edit.surviving += 1;
            }
        }
    }
}

/// Follows the lines of `target` through everything known of the paths `names`: the file's own and
/// those it had before or has in other worktrees. Without a target only the edits are counted.
pub fn trace<'g>(
    gathered: &'g Gathered,
    names: &[String],
    target: Option<Target<'_>>,
) -> Traced<'g> {
    let until = target.and_then(|target| target.until);
    let text: Option<Rc<str>> = target.map(|target| unix(target.text).into());
    let own = names.iter().position(|name| target.is_some_and(|target| target.path == name));
    let mut chains: Vec<(usize, &Chain)> = Vec::new();
    for (track, name) in names.iter().enumerate() {
        chains.extend(gathered.chains.get(name.as_str()).map(|chain| (track, chain)));
    }
    let committed = &gathered.committed;
    let mut steps = None;
    if text.is_none() {
        // Where only edits are counted, readings are looked at where one needs them.
        let found = steps_of(&chains, Chain::recorded, until, None, committed);
        let chain = |track: usize| chains.iter().find(|(other, _)| *other == track);
        let alone = |(track, step): &(usize, Step<'_>)| {
            chain(*track).is_some_and(|(_, chain)| is_standalone(step, chain))
        };
        steps = found.iter().all(alone).then_some(found);
    }
    let steps =
        steps.unwrap_or_else(|| steps_of(&chains, Chain::whole, until, text.as_ref(), committed));
    let last = own.or(names.len().checked_sub(1));
    follow(steps, names.len(), text.as_deref().zip(last))
}

/// What happened to the paths, one after the other, with the file as it is now if that is known.
fn steps_of<'g>(
    chains: &[(usize, &'g Chain)],
    events: fn(&'g Chain) -> Vec<&'g Event>,
    until: Option<Timestamp>,
    text: Option<&Rc<str>>,
    committed: &'g [Committed],
) -> Vec<(usize, Step<'g>)> {
    let mut chains: Vec<(usize, Vec<&Event>)> =
        chains.iter().map(|(track, chain)| (*track, events(chain))).collect();
    chains.sort_by_key(|(_, events)| events.first().map(|event| event.when));
    let mut steps: Vec<(usize, Step<'g>)> = Vec::new();
    for (track, mut events) in chains {
        let in_time = |event: &&&Event| {
            until.is_none_or(|until| event.when.time.is_none_or(|time| time <= until))
        };
        events.truncate(events.iter().take_while(in_time).count());
        let began = events.first().and_then(|event| event.when.time);
        let earlier = steps.iter().filter(|(_, step)| step.time <= began);
        let first = earlier.filter_map(|(_, step)| Some((step.time, step.after()?)));
        let first = first.max_by_key(|(time, _)| *time).map(|(_, text)| text.clone());
        let last = text.map(|text| Text::Made(Rc::clone(text)));
        let found = replay(&events, first, last, committed);
        steps.extend(found.into_iter().map(|step| (track, step)));
    }
    steps
}

/// Carries marks through all steps to the text of a track.
fn follow<'g>(
    mut steps: Vec<(usize, Step<'g>)>,
    tracks: usize,
    end: Option<(&str, usize)>,
) -> Traced<'g> {
    let mut tracer = Tracer::default();
    let mut traced = Traced::default();
    tracer.tracks.resize_with(tracks, Track::default);
    steps.sort_by_key(|(_, step)| step.event.when);
    if end.is_none() {
        // Nothing is left to follow lines to.
        traced.edits = steps.iter().filter_map(|(_, step)| count(step)).collect();
        return traced;
    }
    for (track, step) in &steps {
        walk(&mut tracer, *track, step, &mut traced);
    }
    if let Some((text, track)) = end {
        traced.marks = tracer.see_last(track, text);
        find_cells(&mut traced, text, tracer.written_lines);
    }
    traced.count_surviving();
    traced.outside = tracer.outside;
    traced
}

/// An edit with what it added and removed, and no more.
fn count<'g>(step: &Step<'g>) -> Option<TracedEdit<'g>> {
    let EventKind::Edit(edit) = &step.event.kind else { return None };
    let mut entry = TracedEdit::new(step.event, edit);
    match &step.what {
        Known::Placed(placed) => {
            entry.lines = placed.lines();
            let mut before = &placed.before;
            for part in &placed.parts {
                let counted = count_differing(before, &part.after, part.regions.as_deref());
                entry.added += counted.added;
                entry.removed += counted.removed;
                before = &part.after;
            }
        }
        Known::Overwrite(text) => {
            entry.lines = Some((1, split_lines(text).count() as u32));
            entry.added = edit.added_lines().count() as u64;
        }
        Known::State(_) | Known::Lost => {
            entry.placed = false;
            (entry.added, entry.removed) = stated(edit);
        }
    }
    Some(entry)
}

/// The file as the sessions last knew it, and where its lines come from. None where the last edit
/// has no place and nothing was seen after it.
pub fn trace_recorded<'g>(gathered: &'g Gathered, name: &str) -> Option<(String, Traced<'g>)> {
    let chain = gathered.chains.get(name)?;
    let steps = replay(&chain.whole(), None, None, &[]);
    let text = steps.last()?.after()?.to_string();
    let steps = steps.into_iter().map(|step| (0, step)).collect();
    let traced = follow(steps, 1, Some((&text, 0)));
    Some((text, traced))
}

fn walk<'g>(tracer: &mut Tracer, track: usize, step: &Step<'g>, traced: &mut Traced<'g>) {
    let EventKind::Edit(edit) = &step.event.kind else {
        if let Known::State(text) = &step.what {
            tracer.see(track, text, step.time);
        }
        return;
    };
    let number = traced.edits.len() as u32;
    let mut entry = TracedEdit::new(step.event, edit);
    match &step.what {
        Known::Placed(placed) => {
            walk_placed(tracer, track, step, edit, placed, number, &mut entry);
        }
        Known::Overwrite(text) => {
            tracer.see(track, text, step.time);
            entry.lines = Some((1, split_lines(text).count() as u32));
            entry.added = edit.added_lines().count() as u64;
            let added: HashSet<u32> = edit.added_lines().collect();
            let added = |at: usize| added.contains(&(at as u32 + 1));
            let first = tracer.written_lines + 1;
            tracer.written_lines += split_lines(text).count() as u32;
            tracer.override_marks(track, |at, mark| match mark.origin {
                LineOrigin::Before if added(at) => {
                    Mark::by_edit(number, Why::PatchSays, first + at as u32)
                }
                LineOrigin::Before => Mark { why: Why::Unrecorded, ..mark },
                _ => mark,
            });
        }
        Known::State(_) | Known::Lost => {
            entry.placed = false;
            (entry.added, entry.removed) = stated(edit);
        }
    }
    traced.edits.push(entry);
}

fn walk_placed(
    tracer: &mut Tracer,
    track: usize,
    step: &Step<'_>,
    edit: &Edit,
    placed: &Placed,
    number: u32,
    entry: &mut TracedEdit<'_>,
) {
    tracer.see(track, &placed.before, step.time);
    entry.lines = placed.lines();
    let maker = Maker::Edit { number, basis: placed.basis };
    let mut before: &str = &placed.before;
    for part in &placed.parts {
        let regions = part.regions.as_deref();
        let counted = tracer.edit(track, (before, &part.after), regions, maker, step.time);
        entry.added += counted.added;
        entry.removed += counted.removed;
        before = &part.after;
    }
    if placed.doubtful {
        let certain: HashSet<String> = certain_lines(edit).into_iter().collect();
        let here: Vec<&str> = split_lines(before).collect();
        tracer.override_marks(track, |at, mark| {
            let sure = here.get(at).is_some_and(|line| certain.contains(line.trim()));
            if mark.edit() == Some(number) && !sure {
                Mark::new(LineOrigin::Before, Why::Unrecorded)
            } else {
                mark
            }
        });
    }
    if edit.original.is_none()
        && !edit.hunks.is_empty()
        && matches!(edit.change, Change::Write { .. })
    {
        // The state before may have been changed meanwhile; the client's patch knows better.
        let added: HashSet<u32> = edit.added_lines().collect();
        tracer.override_marks(track, |at, mark| {
            if mark.edit() == Some(number) && !added.contains(&(at as u32 + 1)) {
                Mark::new(LineOrigin::Before, Why::Unrecorded)
            } else {
                mark
            }
        });
    }
    if let Some(proposed) = as_proposed(edit, &placed.before) {
        let theirs: HashSet<&str> = split_lines(&proposed).collect();
        let here: Vec<&str> = split_lines(before).collect();
        let span = tracer.outside.len() as u32;
        tracer.outside.push(Span { after: step.time, before: step.time });
        tracer.override_marks(track, |at, mark| {
            let asked_for = here.get(at).is_some_and(|line| theirs.contains(*line));
            if mark.edit() == Some(number) && !asked_for {
                Mark::new(LineOrigin::Outside(span), Why::ChangedInReview)
            } else {
                mark
            }
        });
    }
}

/// Lines added and removed as far as the edit itself says.
fn stated(edit: &Edit) -> (u64, u64) {
    match &edit.change {
        Change::Replace(list) => list.iter().fold((0, 0), |(added, removed), replacement| {
            let diff = super::diff::line_diff(&replacement.old, &replacement.new, 0);
            (added + diff.added, removed + diff.removed)
        }),
        Change::Write { content, .. } => (split_lines(content).count() as u64, 0),
        Change::Cell { source } => (split_lines(source.as_deref().unwrap_or("")).count() as u64, 0),
        Change::Delete | Change::Move { .. } => (0, 0),
    }
}

/// Cells of notebooks whose file is not recorded around the edit.
fn find_cells(traced: &mut Traced<'_>, text: &str, mut written: u32) {
    let lines: Vec<&str> = split_lines(text).collect();
    for (number, entry) in traced.edits.iter_mut().enumerate().rev() {
        let Change::Cell { source: Some(source) } = &entry.edit.change else { continue };
        let Some(place) = find_cell(&lines, source).filter(|_| !entry.placed) else { continue };
        entry.placed = true;
        for mark in traced.marks.get_mut(place).into_iter().flatten() {
            if mark.edit().is_none() {
                written += 1;
                *mark = Mark::by_edit(number as u32, Why::CellFound, written)
                    .weakened(Confidence::Inferred, Why::CellFound);
            }
        }
    }
}
