//! Events of all sessions brought together: by file, in order, each call once.

use super::chain::Chain;
use super::edit::{Backup, Committed, Edit, Event, EventKind, Rename, Sighting, SightingSource};
use super::extract::Extracted;
use super::lines::unix;
use super::shell::ShellTouch;
use backstory_store::read_small;
use hashbrown::{HashMap, HashSet};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

/// More than a file has that an agent edits.
const LARGEST_BACKUP: u64 = 256 << 20;

/// What all sessions say, by path.
#[derive(Debug, Default)]
pub struct Gathered {
    pub chains: BTreeMap<Arc<str>, Chain>,
    /// Commands that may have changed files, in order, each once.
    pub shell: Vec<ShellTouch>,
    pub renames: Vec<Rename>,
    /// States of the file that commits have, in order of time. They are looked at only for edits
    /// whose place no session tells.
    pub committed: Vec<Committed>,
}

impl Gathered {
    /// Brings together what was extracted from the sessions.
    pub fn new(parts: Vec<Extracted>) -> Gathered {
        let mut gathered = Gathered::default();
        let mut events = Vec::new();
        let mut backups = Vec::new();
        for part in parts {
            events.extend(part.events);
            backups.extend(part.backups);
            gathered.shell.extend(part.shell);
            gathered.renames.extend(part.renames);
            for read in part.reads {
                gathered.chains.entry(read.path.clone()).or_default().add_reading(read);
            }
        }
        for event in once_each(events) {
            gathered.chains.entry(event.path.clone()).or_default().add(event);
        }
        gathered.add_backups(backups);
        gathered.chains.values_mut().for_each(Chain::sort);
        gathered.shell.sort_by(|a, b| (a.when, &a.session).cmp(&(b.when, &b.session)));
        // A copy of a session repeats its calls, under its own name and maybe at its own time.
        let mut seen = HashSet::new();
        gathered.shell.retain(|touch| match &touch.call {
            Some(call) => seen.insert((call.clone(), touch.command.clone())),
            None => true,
        });
        gathered.shell.dedup();
        gathered.renames.sort_by_key(|rename| rename.when);
        gathered
    }

    /// Backups are read only where an edit does not say what the file was before.
    fn add_backups(&mut self, backups: Vec<Backup>) {
        let mut seen = HashSet::new();
        for backup in backups {
            let Some((path, chain)) = self.chains.get_key_value(backup.path.as_str()) else {
                continue;
            };
            let lacking = |edit: &Edit| edit.original.is_none() && !edit.hunks.is_empty();
            if !chain.edits().any(|(_, edit)| lacking(edit)) || !seen.insert(backup.clone()) {
                continue;
            }
            let path = path.clone();
            let Ok(bytes) = read_small(&backup.file, LARGEST_BACKUP) else { continue };
            let content = unix(String::from_utf8_lossy(&bytes));
            let kind = EventKind::Seen(Sighting { content, source: SightingSource::Backup });
            let (time, when) = (backup.time, backup.when);
            let event = Event { path: path.clone(), time, when, call: None, kind };
            if let Some(chain) = self.chains.get_mut(&path) {
                chain.add(event);
            }
        }
    }

    /// Names that the file at `path` had before, by the agents' own moves.
    pub fn earlier_names(&self, path: &str) -> Vec<String> {
        let mut before: HashMap<&str, Vec<&str>> = HashMap::new();
        for Rename { from, to, .. } in &self.renames {
            before.entry(to.as_str()).or_default().push(from);
        }
        let mut names = vec![path];
        let mut known: HashSet<&str> = names.iter().copied().collect();
        let mut at = 0;
        while let Some(name) = names.get(at) {
            let earlier = before.get(name).into_iter().flatten();
            names.extend(earlier.filter(|from| known.insert(**from)));
            at += 1;
        }
        names.into_iter().skip(1).map(str::to_owned).collect()
    }
}

/// Leaves one of each set of copies: the earliest, and of equals the one whose session is no copy
/// itself.
pub(super) fn once_each(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by(|a, b| preference(a).cmp(&preference(b)));
    let repeated = repeated(&events);
    let hasher = hashbrown::DefaultHashBuilder::default();
    let mut known: HashMap<(Box<str>, u64), usize> = HashMap::new();
    let mut kept: Vec<Event> = Vec::with_capacity(events.len());
    for event in events {
        let Some(call) = event.call.clone().filter(|call| repeated.contains(call)) else {
            kept.push(event);
            continue;
        };
        let mut state = hasher.build_hasher();
        event.path.hash(&mut state);
        match &event.kind {
            EventKind::Edit(edit) => edit.change.hash(&mut state),
            EventKind::Seen(sighting) => sighting.content.hash(&mut state),
            EventKind::PartialRead => {}
        }
        let key = (call, state.finish());
        match known.get(&key).and_then(|at| kept.get_mut(*at)) {
            None => {
                known.insert(key, kept.len());
                kept.push(event);
            }
            Some(first) => merge(first, event),
        }
    }
    kept
}

/// Calls that several events name: only these can be copies of each other.
fn repeated(events: &[Event]) -> HashSet<Box<str>> {
    let mut seen = HashSet::with_capacity(events.len());
    let calls = events.iter().filter_map(|event| event.call.as_ref());
    calls.filter(|call| !seen.insert(&***call)).cloned().collect()
}

fn preference(event: &Event) -> (Option<Timestamp>, bool, bool, &str, u64) {
    let time = event.when.time;
    match &event.kind {
        EventKind::Edit(edit) => {
            let by = &edit.by;
            (time, by.may_be_copy, by.abandoned, &by.session, by.line)
        }
        EventKind::Seen(_) | EventKind::PartialRead => (time, false, false, "", 0),
    }
}

/// What a copy knows that the first writing does not.
fn merge(first: &mut Event, copy: Event) {
    let (EventKind::Edit(first), EventKind::Edit(copy)) = (&mut first.kind, copy.kind) else {
        return;
    };
    let by = &mut first.by;
    if copy.by.session != by.session && !by.also_in.contains(&copy.by.session) {
        by.also_in.push(copy.by.session);
    }
    by.model = by.model.take().or(copy.by.model);
    if by.prompt.is_none() {
        by.prompt = copy.by.prompt;
    }
    first.original = first.original.take().or(copy.original);
    first.updated = first.updated.take().or(copy.updated);
    if first.hunks.is_empty() {
        first.hunks = copy.hunks;
    }
}
