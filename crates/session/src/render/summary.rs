//! What a session left behind: files that it changed and commits that it made, as far as the
//! session itself shows them.

use super::call::{CallView, inside};
use super::diff::FileDiff;
use hashbrown::{HashMap, HashSet};

/// Files and commits, in the order in which they first appear.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub(super) files: Vec<ChangedFile>,
    pub(super) commits: Vec<MadeCommit>,
    /// Where each path is in the list.
    places: HashMap<String, usize>,
    known_commits: HashSet<String>,
}

/// A file and the calls that changed it.
#[derive(Debug)]
pub(super) struct ChangedFile {
    pub(super) path: String,
    pub(super) created: bool,
    pub(super) added: usize,
    pub(super) removed: usize,
    /// Numbers of the calls.
    pub(super) calls: Vec<usize>,
}

/// A commit that a command announced.
#[derive(Debug)]
pub(super) struct MadeCommit {
    pub(super) id: String,
    /// What the command printed after the id.
    pub(super) subject: String,
    pub(super) call: usize,
}

impl Summary {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.commits.is_empty()
    }

    /// Lines added and removed in all files.
    pub(super) fn lines(&self) -> (usize, usize) {
        let sum = |count: fn(&ChangedFile) -> usize| self.files.iter().map(count).sum();
        (sum(|file| file.added), sum(|file| file.removed))
    }

    /// Notes what a call did. A call that failed did nothing.
    pub(super) fn add(&mut self, call: &CallView<'_>, folder: &str) {
        if call.failed() {
            return;
        }
        for edit in &call.edits {
            self.add_edit(edit, inside(&edit.path, folder), call.number);
        }
        for (id, subject) in &call.commits {
            if self.known_commits.insert(id.clone()) {
                let (id, subject) = (id.clone(), subject.clone());
                self.commits.push(MadeCommit { id, subject, call: call.number });
            }
        }
    }

    fn add_edit(&mut self, edit: &FileDiff, path: &str, call: usize) {
        let (added, removed) = edit.counts();
        let files = &mut self.files;
        let at = *self.places.entry(path.to_owned()).or_insert_with(|| {
            files.push(ChangedFile {
                path: path.to_owned(),
                created: edit.created,
                added: 0,
                removed: 0,
                calls: Vec::new(),
            });
            files.len() - 1
        });
        if let Some(file) = self.files.get_mut(at) {
            file.added += added;
            file.removed += removed;
            if file.calls.last() != Some(&call) {
                file.calls.push(call);
            }
        }
    }
}
