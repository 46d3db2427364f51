//! What a session wrote into files: every edit, and which lines of each file are its.
//!
//! Only the session itself is asked, not the disk: lines are those of the file as the session knew
//! it last, so the same session always gives the same answer.

use crate::timeline::{Entry, Timeline};
use backstory_model::{ActionKind, Session};
use backstory_session::history::{
    CallCache, Confidence, Gathered, Mark, extract_cached, split_lines, trace_recorded, unified,
};
use hashbrown::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// All files and edits of a session.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) files: Vec<WrittenFile>,
    /// In order of the messages that made them.
    pub(super) edits: Vec<WrittenEdit>,
    /// All of it as a unified diff, where that was wanted and every file can be told.
    pub(super) patch: Option<String>,
}

/// Whether a unified diff is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patches {
    Make,
    Leave,
}

/// A file as the session left it.
#[derive(Debug)]
pub(super) struct WrittenFile {
    /// As it is shown: below the project's folder where it lies there.
    pub(super) path: String,
    /// As the session recorded it.
    pub(super) recorded: Arc<str>,
    pub(super) text: String,
    pub(super) ranges: Vec<WrittenRange>,
}

/// Lines that one edit wrote.
#[derive(Debug)]
pub(super) struct WrittenRange {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) bytes: Range<usize>,
    pub(super) confidence: Confidence,
    /// By index in [`Written::edits`].
    pub(super) edit: usize,
}

/// One edit.
#[derive(Debug)]
pub(super) struct WrittenEdit {
    pub(super) path: String,
    /// As the session recorded it.
    pub(super) recorded: Arc<str>,
    pub(super) call: Option<Box<str>>,
    /// The message that made it, by index in [`Timeline::items`]; none on a left branch.
    pub(super) item: Option<usize>,
    pub(super) model: Option<Arc<str>>,
    pub(super) removed: u64,
    pub(super) placed: bool,
    pub(super) lines: Option<(u32, u32)>,
}

/// A path below the project's folder without that folder.
pub(super) fn shown_path<'p>(path: &'p str, base: Option<&str>) -> &'p str {
    let rest = base.and_then(|base| path.strip_prefix(base.trim_end_matches('/')));
    rest.and_then(|rest| rest.strip_prefix('/')).filter(|rest| !rest.is_empty()).unwrap_or(path)
}

impl Written {
    /// What the session wrote; paths below `base` are shown from there.
    pub(super) fn of(
        session: &Session,
        caches: &mut [CallCache<'_>],
        timeline: &Timeline<'_>,
        base: Option<&str>,
        patches: Patches,
    ) -> Written {
        let mut items: HashMap<&str, usize> = HashMap::new();
        let mut edits = false;
        for (at, item) in timeline.items.iter().enumerate() {
            let Entry::Step(step) = item.what else { continue };
            for call in step.calls() {
                edits |= backstory_agents::does(session.agent, call, ActionKind::Edit);
                items.extend(call.id.as_deref().map(|id| (id, at)));
            }
        }
        if !edits {
            return Written::default();
        }
        let extracted = extract_cached(session, &|_| true, caches);
        let gathered = Gathered::new(vec![extracted]);
        let mut written = Written::default();
        let mut patch = (patches == Patches::Make).then(String::new);
        for (path, chain) in &gathered.chains {
            if chain.edits().next().is_none() {
                continue;
            }
            let shown = shown_path(path, base);
            patch = patch.and_then(|patch| Some(patch + &unified(&gathered, path, shown)?));
            let first = written.edits.len();
            let known = trace_recorded(&gathered, path);
            let traced = known.as_ref().map(|(_, traced)| traced.edits.as_slice());
            for (number, (_, edit)) in chain.edits().enumerate() {
                let traced = traced.and_then(|edits| edits.get(number));
                let call = edit.by.call.clone();
                let item = call.as_deref().and_then(|call| items.get(call).copied());
                written.edits.push(WrittenEdit {
                    path: shown.to_owned(),
                    recorded: path.clone(),
                    call,
                    item: item.filter(|_| !edit.by.abandoned),
                    model: edit.by.model.clone(),
                    removed: traced.map_or(0, |traced| traced.removed),
                    placed: traced.is_some_and(|traced| traced.placed),
                    lines: traced.and_then(|traced| traced.lines),
                });
            }
            if let Some((text, traced)) = known {
                let ranges = ranges(&text, &traced.marks, first);
                written.files.push(WrittenFile {
                    path: shown.to_owned(),
                    recorded: path.clone(),
                    text,
                    ranges,
                });
            }
        }
        written.patch = patch.filter(|patch| !patch.is_empty());
        written.sort();
        written
    }

    /// Puts edits into the order of the messages.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.edits.len()).collect();
        order.sort_by_key(|at| self.edits.get(*at).map(|edit| (edit.item.is_none(), edit.item)));
        let mut place = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            if let Some(slot) = place.get_mut(*old) {
                *slot = new;
            }
        }
        let mut edits: Vec<Option<WrittenEdit>> =
            std::mem::take(&mut self.edits).into_iter().map(Some).collect();
        let sorted = order.iter().filter_map(|old| edits.get_mut(*old).and_then(Option::take));
        self.edits = sorted.collect();
        for range in self.files.iter_mut().flat_map(|file| &mut file.ranges) {
            range.edit = place.get(range.edit).copied().unwrap_or(range.edit);
        }
    }
}

/// Neighbouring lines of the same edit and confidence.
fn ranges(text: &str, marks: &[Mark], first_edit: usize) -> Vec<WrittenRange> {
    let mut ranges: Vec<WrittenRange> = Vec::new();
    for (at, (line, mark)) in split_lines(text).zip(marks).enumerate() {
        let number = at as u32 + 1;
        // A line is a part of the text, so its address tells where it stands.
        let start = (line.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let end = start + line.len();
        let Some(edit) = mark.edit() else { continue };
        let edit = first_edit + edit as usize;
        match ranges.last_mut() {
            Some(last)
                if last.last + 1 == number
                    && last.edit == edit
                    && last.confidence == mark.confidence =>
            {
                last.last = number;
                last.bytes.end = end;
            }
            _ => ranges.push(WrittenRange {
                first: number,
                last: number,
                bytes: start..end,
                confidence: mark.confidence,
                edit,
            }),
        }
    }
    ranges
}
