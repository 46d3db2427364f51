//! Signals of mistakes, as the rest of a session tells them.
//!
//! A state's history knows nothing of what came after it; this does, since it looks at the whole timeline once
//! before any state is written. Edits are compared by what their calls say, not by states of files: an edit
//! is undone where a later one replaces most of what it wrote, a later whole file lacks it, or git is told to
//! put the file back.

use crate::fetch::Fetcher;
use crate::gate::{Signal, Signals};
use crate::normalise::{Action, Called, Normal, Tool, programs};
use crate::timeline::{Entry, Item, Timeline};
use backstory_model::{Block, Call, CallOutcome, Outcome, Step, TurnKind};
use backstory_session::history::normal_path;
use backstory_store::StoreError;
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use serde_json::Value;
use std::collections::VecDeque;
use std::hash::BuildHasher as _;
use std::sync::Arc;

/// Thinking of this size is long.
const LONG_THINKING: u64 = 3000;
/// So many calls are remembered to notice one that comes again.
const REMEMBERED: usize = 40;
/// So many edits of a file are remembered.
const EDITS: usize = 24;
/// Edits that write less say too little.
const SHORTEST: usize = 4;

/// The signals of each item.
pub(crate) fn signals_of(
    timeline: &Timeline<'_>,
    fetcher: &mut Fetcher<'_>,
) -> Result<Vec<Signals>, StoreError> {
    let mut finder = Finder {
        found: vec![Signals::default(); timeline.items.len()],
        watches: timeline.members.iter().map(|_| Watch::default()).collect(),
        stopped: HashSet::new(),
    };
    for member in &timeline.members {
        let turns = member.turns.iter().filter(|turn| turn.outcome == Outcome::Interrupted);
        let last = turns.filter_map(|turn| turn.steps.iter().rfind(|step| !step.synthetic));
        finder.stopped.extend(last.map(std::ptr::from_ref::<Step>));
    }
    for (at, item) in timeline.items.iter().enumerate() {
        let folder = timeline.members.get(item.member).and_then(|member| member.cwds.first());
        let folder = folder.map(|folder| folder.as_ref());
        finder.item(at, item, folder, fetcher)?;
    }
    Ok(finder.found)
}

struct Finder {
    found: Vec<Signals>,
    /// Of each member.
    watches: Vec<Watch>,
    /// Messages at which the user stopped the model.
    stopped: HashSet<*const Step>,
}

/// What is remembered of a conversation.
#[derive(Default)]
struct Watch {
    model: Option<Arc<str>>,
    compacted: bool,
    /// Hashes of the calls since the last change.
    calls: VecDeque<u64>,
    /// The last item of the turn that changed something, and the last one.
    changing: Option<usize>,
    last: Option<usize>,
    edits: HashMap<String, VecDeque<Edit>>,
}

struct Edit {
    at: usize,
    old: Option<String>,
    new: String,
}

impl Finder {
    fn mark(&mut self, at: usize, signal: Signal) {
        if let Some(signals) = self.found.get_mut(at) {
            signals.insert(signal);
        }
    }

    fn item(
        &mut self,
        at: usize,
        item: &Item<'_>,
        folder: Option<&str>,
        fetcher: &mut Fetcher<'_>,
    ) -> Result<(), StoreError> {
        match item.what {
            Entry::Step(step) if !step.synthetic => {
                self.step(at, item.member, step, folder, fetcher)
            }
            Entry::Step(_) => Ok(()),
            Entry::Interjection(_) => {
                let words = fetcher.said(item)?.unwrap_or_default();
                let Some(watch) = self.watches.get(item.member) else { return Ok(()) };
                if let Some(last) = watch.last.filter(|_| is_correction(&words)) {
                    self.mark(last, Signal::Corrected);
                }
                Ok(())
            }
            Entry::Prompt(turn) => {
                let typed = matches!(turn.kind, TurnKind::Human | TurnKind::Queued);
                let words =
                    if typed { fetcher.said(item)?.unwrap_or_default() } else { String::new() };
                let Some(watch) = self.watches.get_mut(item.member) else { return Ok(()) };
                watch.compacted |= turn.kind == TurnKind::Compact;
                if typed {
                    let blamed = [watch.changing.take(), watch.last.take()];
                    if is_correction(&words) {
                        let blamed = blamed.into_iter().flatten();
                        blamed.for_each(|at| self.mark(at, Signal::Corrected));
                    }
                }
                Ok(())
            }
        }
    }

    fn step(
        &mut self,
        at: usize,
        member: usize,
        step: &Step,
        folder: Option<&str>,
        fetcher: &mut Fetcher<'_>,
    ) -> Result<(), StoreError> {
        let mut here = Signals::default();
        if self.stopped.contains(&std::ptr::from_ref(step)) {
            here.insert(Signal::Rejected);
        }
        let thought = step.blocks.iter().map(|block| match block {
            Block::Thinking { text: Some(text), .. } => text.size(),
            _ => 0,
        });
        if thought.sum::<u64>() >= LONG_THINKING {
            here.insert(Signal::LongThinking);
        }
        for call in step.calls() {
            match call.result.as_ref().map(|result| result.outcome) {
                Some(CallOutcome::Error) => here.insert(Signal::ResultError),
                Some(CallOutcome::Rejected | CallOutcome::Interrupted) => {
                    here.insert(Signal::Rejected);
                }
                _ => {}
            }
        }
        let mut undone = Vec::new();
        let Some(watch) = self.watches.get_mut(member) else { return Ok(()) };
        for call in step.calls() {
            let called = called(member, call, fetcher)?;
            let normal = Normal::of(&Action::Calls(vec![called]), folder);
            let Action::Calls(normal_calls) = normal.action() else { continue };
            let Some(called) = normal_calls.first() else { continue };
            let key = FixedState::default().hash_one((&called.name, &called.input));
            if watch.calls.contains(&key) {
                here.insert(Signal::Repeated);
            }
            if Tool::of(&called.name).changes(&called.input) {
                here.insert(Signal::Mutating);
                watch.calls.clear();
            }
            watch.calls.push_back(key);
            if watch.calls.len() > REMEMBERED {
                watch.calls.pop_front();
            }
            let fine = call.result.as_ref().is_none_or(|result| result.outcome == CallOutcome::Ok);
            if fine {
                watch.edited(at, called, folder, &mut undone);
            }
        }
        if here.holds(Signal::Mutating) {
            watch.changing = Some(at);
        }
        if std::mem::take(&mut watch.compacted) {
            here.insert(Signal::AfterCompaction);
        }
        if let Some(model) = &step.model {
            let before = watch.model.replace(Arc::clone(model));
            if before.is_some_and(|before| before != *model) {
                here.insert(Signal::ModelSwitch);
            }
        }
        watch.last = Some(at);
        here.iter().for_each(|signal| self.mark(at, signal));
        undone.into_iter().for_each(|at| self.mark(at, Signal::EditUndone));
        Ok(())
    }
}

fn called(member: usize, call: &Call, fetcher: &mut Fetcher<'_>) -> Result<Called, StoreError> {
    let input = match &call.input {
        Some(input) => fetcher.text(member, input)?,
        None => "null".into(),
    };
    let input = serde_json::from_str(&input).unwrap_or_else(|_| Value::from(input.as_ref()));
    Ok(Called { name: call.name.as_deref().unwrap_or_default().to_owned(), input })
}

impl Watch {
    /// Notes an edit, and which earlier ones it undoes.
    fn edited(&mut self, at: usize, call: &Called, folder: Option<&str>, undone: &mut Vec<usize>) {
        let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let input = &call.input;
        let tool = Tool::of(&call.name);
        if let Some(command) = text(input, "command").filter(|_| tool.runs_commands()) {
            return self.put_back(&command, folder, undone);
        }
        let Some(path) = text(input, "file_path").filter(|_| tool.edits()) else { return };
        let edits = self.edits.entry(path).or_default();
        let edit = |value: &Value| Edit {
            at,
            old: text(value, "old_string"),
            new: text(value, "new_string").unwrap_or_default(),
        };
        let changes: Vec<Edit> = match (text(input, "content"), input.get("edits")) {
            (Some(new), _) => vec![Edit { at, old: None, new }],
            (None, Some(edits)) => edits.as_array().into_iter().flatten().map(edit).collect(),
            (None, None) => vec![edit(input)],
        };
        for change in changes {
            let gone = edits.iter().filter(|edit| edit.at != at && edit.is_undone_by(&change));
            undone.extend(gone.map(|edit| edit.at));
            edits.push_back(change);
            if edits.len() > EDITS {
                edits.pop_front();
            }
        }
    }

    /// What git is told to put back.
    fn put_back(&mut self, command: &str, folder: Option<&str>, undone: &mut Vec<usize>) {
        for words in programs(command) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (all, paths) = match words.as_slice() {
                ["git", "checkout" | "restore", rest @ ..] => (rest.contains(&"."), rest),
                ["git", "reset", rest @ ..] => (rest.contains(&"--hard"), &[][..]),
                ["git", "stash"] => (true, &[][..]),
                _ => continue,
            };
            let base = folder.map(|folder| normal_path(folder, None));
            let named: Vec<String> = paths
                .iter()
                .map(|path| crate::normalise::seen_from(path, base.as_deref()))
                .collect();
            for (path, edits) in &mut self.edits {
                if all || named.contains(path) {
                    undone.extend(edits.drain(..).map(|edit| edit.at));
                }
            }
        }
    }
}

impl Edit {
    /// Whether another edit leaves little of what this one wrote.
    fn is_undone_by(&self, later: &Edit) -> bool {
        let new = self.new.trim();
        match &later.old {
            // A whole file that lacks it.
            None => new.len() >= SHORTEST && !later.new.contains(new),
            Some(old) => {
                // Files that are worked on after they were written are the rule.
                let Some(mine) = &self.old else { return false };
                let back = !self.new.is_empty() && old.contains(&self.new) && later.new == *mine;
                let most = new.contains(old.trim()) && 2 * old.trim().len() >= new.len()
                    || old.contains(new);
                back || new.len() >= SHORTEST && most && !later.new.contains(new)
            }
        }
    }
}

/// Beginnings of words that object to what was done.
const BEGINNINGS: [&str; 18] = [
    "no",
    "nope",
    "wrong",
    "stop",
    "undo",
    "revert",
    "don't",
    "do not",
    "not what",
    "that's not",
    "that is not",
    "thats not",
    "this is not",
    "this isn't",
    "that isn't",
    "wait",
    "why did you",
    "you broke",
];
/// Words that do so wherever they stand.
const ANYWHERE: [&str; 20] = [
    "i meant",
    "i said",
    "i asked",
    "not what i",
    "you forgot",
    "you missed",
    "you should have",
    "instead of",
    "that's wrong",
    "that is wrong",
    "is wrong",
    "still fail",
    "still broken",
    "still not",
    "still doesn't",
    "doesn't work",
    "does not work",
    "didn't work",
    "undo that",
    "revert that",
];
/// So much of a prompt is looked at.
const LOOKED_AT: usize = 240;

/// Whether words look like a correction, in English.
fn is_correction(words: &str) -> bool {
    let start: String = words.trim_start().chars().take(LOOKED_AT).collect();
    let start = start.to_lowercase().replace('\u{2019}', "'");
    let begins = |beginning: &&str| {
        start.strip_prefix(*beginning).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    BEGINNINGS.iter().any(begins) || ANYWHERE.iter().any(|words| start.contains(words))
}

#[cfg(test)]
mod tests {
    use super::is_correction;

    #[test]
    fn signals_separate_corrections_from_other_prompts() {
        for words in [
            "No, the other file",
            "that\u{2019}s not it",
            "It still fails.",
            "I meant port 80",
            "wait",
        ] {
            assert!(is_correction(words), "{words}");
        }
        for words in
            ["Now add tests", "Note that x", "Nothing to add", "Fix the bug", "notable", ""]
        {
            assert!(!is_correction(words), "{words}");
        }
    }
}
