//! The commits of a repository, listed once for all who ask.
//!
//! git would take paths to look for, but compares every commit with each of them: two hundred paths
//! make a listing twenty times as dear. So everything is listed, from the time that is asked for,
//! and looked up here. Who asks for more adds only what is missing.

use crate::commits::{Commit, FileChange};
use crate::git::{Git, GitError};
use hashbrown::{HashMap, HashSet};
use jiff::Timestamp;
use std::sync::{Mutex, PoisonError};

/// Commits on any branch of a repository, as it was when they were first asked for.
#[derive(Debug)]
pub struct CommitLog {
    git: Git,
    listed: Mutex<Listed>,
}

#[derive(Debug, Default)]
struct Listed {
    /// From when on they are listed; none before the first time.
    since: Option<Timestamp>,
    commits: Vec<Commit>,
    /// Commits by the paths that they change.
    by_path: HashMap<String, Vec<usize>>,
}

impl CommitLog {
    /// Nothing is listed yet.
    pub fn new(git: Git) -> CommitLog {
        CommitLog { git, listed: Mutex::default() }
    }

    /// The repository.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// Commits that change one of these paths, from a time on, and what they make of these paths;
    /// oldest first.
    pub fn changing(
        &self,
        paths: &[String],
        since: Option<Timestamp>,
    ) -> Result<Vec<Commit>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let since = since.unwrap_or(Timestamp::MIN);
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.reach(since, &self.git)?;
        let mut files: HashMap<usize, Vec<FileChange>> = HashMap::new();
        for path in paths {
            for at in listed.by_path.get(path).into_iter().flatten() {
                let changed = listed.commits.get(*at).into_iter().flat_map(|commit| &commit.files);
                let changed = changed.filter(|file| file.path == *path).cloned();
                files.entry(*at).or_default().extend(changed);
            }
        }
        let mut commits: Vec<Commit> = Vec::with_capacity(files.len());
        for (at, files) in files {
            let Some(commit) = listed.commits.get(at) else { continue };
            if commit.committed.is_none_or(|time| time >= since) {
                commits.push(Commit { files, ..commit.without_files() });
            }
        }
        commits.sort_by(|a, b| (a.committed, &a.id).cmp(&(b.committed, &b.id)));
        Ok(commits)
    }

    /// Those of these paths that some commit changes, from a time on.
    pub fn known(
        &self,
        paths: &[String],
        since: Option<Timestamp>,
    ) -> Result<HashSet<String>, GitError> {
        if paths.is_empty() {
            return Ok(HashSet::new());
        }
        let since = since.unwrap_or(Timestamp::MIN);
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.reach(since, &self.git)?;
        let late = |at: &usize| {
            let commit = listed.commits.get(*at);
            commit.and_then(|commit| commit.committed).is_none_or(|time| time >= since)
        };
        let known = |path: &&String| {
            listed.by_path.get(path.as_str()).is_some_and(|commits| commits.iter().any(late))
        };
        Ok(paths.iter().filter(known).cloned().collect())
    }
}

impl Listed {
    /// Lists what is missing from a time on.
    fn reach(&mut self, since: Timestamp, git: &Git) -> Result<(), GitError> {
        if self.since.is_some_and(|known| known <= since) {
            return Ok(());
        }
        let first = self.commits.len();
        self.commits.extend(git.commits_between(since, self.since)?);
        self.since = Some(since);
        for (at, commit) in self.commits.iter().enumerate().skip(first) {
            for file in &commit.files {
                match self.by_path.get_mut(file.path.as_str()) {
                    Some(known) => known.push(at),
                    None => _ = self.by_path.insert(file.path.clone(), vec![at]),
                }
            }
        }
        Ok(())
    }
}
