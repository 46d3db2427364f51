//! Lines that commits added, compared with those of a session.
//!
//! Only the blobs that could matter are fetched, some at a time, and compared here. git would make
//! the patches as well, but takes longer to find the files than to compare them, and gives up where
//! one object of a partial clone is missing.

use super::SLACK;
use super::confirm::Weighed;
use super::evidence::Evidence;
use super::facts::SessionFacts;
use super::lines::Found;
use crate::history::added_lines;
use backstory_store::{Commit, FileChange, Git, GitError};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeSet;

/// A file that a commit changed, and the session may have.
struct Pair<'p> {
    at: usize,
    file: &'p FileChange,
    recorded: &'p str,
}

/// Bytes of blobs that are held at a time.
const HELD: u64 = 32 << 20;

/// Evidence by lines for some commits, or for those `wanted` of them, and objects that git lacks.
pub(super) fn lines(
    facts: &SessionFacts,
    commits: &[Commit],
    repository: &Git,
    wanted: Option<&HashSet<&str>>,
) -> Result<(Vec<Weighed>, BTreeSet<String>), GitError> {
    let mut found: Vec<(&Pair<'_>, Found)> = Vec::new();
    let mut missing = BTreeSet::new();
    let Some(first) = facts.first_edit else { return Ok((Vec::new(), missing)) };
    let first = super::earlier(first, SLACK);
    let asked = |commit: &Commit| {
        commit.committed.is_some_and(|time| time >= first)
            && wanted.is_none_or(|wanted| wanted.contains(commit.id.as_str()))
    };
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for (at, commit) in commits.iter().enumerate().filter(|(_, commit)| asked(commit)) {
        for file in commit.files.iter().filter(|file| !is_none(&file.blob)) {
            let names = facts.recorded_as(&file.path).iter();
            pairs.extend(names.map(|name| Pair { at, file, recorded: name.as_str() }));
        }
    }
    // What one commit made of a file is what the next one found.
    pairs.sort_by(|a, b| (&a.file.path, a.at).cmp(&(&b.file.path, b.at)));
    let ids: HashSet<&String> = pairs.iter().flat_map(|pair| blobs_of(pair.file)).collect();
    let ids: Vec<String> = ids.into_iter().cloned().collect();
    let objects = repository.objects(&ids)?;
    missing.extend(ids.into_iter().filter(|id| !objects.contains_key(id)));
    let mut rest = pairs.as_slice();
    while !rest.is_empty() {
        let mut held: HashSet<&str> = HashSet::new();
        let (mut bytes, mut count) = (0, 0);
        for pair in rest {
            for id in blobs_of(pair.file).filter(|id| held.insert(id.as_str())) {
                bytes += objects.get(id).map_or(0, |object| object.bytes);
            }
            if bytes > HELD && count > 0 {
                break;
            }
            count += 1;
        }
        let (now, later) = rest.split_at(count);
        rest = later;
        let there = now.iter().flat_map(|pair| blobs_of(pair.file));
        let there = there.filter(|id| objects.get(*id).is_some_and(|object| object.kind == "blob"));
        let mut ids: Vec<&str> = there.map(String::as_str).collect();
        ids.sort_unstable();
        ids.dedup();
        let blobs = repository.blobs(&ids)?;
        for pair in now {
            let Pair { at, file, recorded } = pair;
            let Some((commit, own)) = commits.get(*at).zip(facts.added.get(*recorded)) else {
                continue;
            };
            let before = if is_none(&file.before) { Some(&[][..]) } else { None };
            let before = before.or_else(|| blobs.get(&file.before).map(Vec::as_slice));
            let Some((before, after)) = before.zip(blobs.get(&file.blob)) else { continue };
            let new = new_lines(before, after);
            let counted = own.find(&new, commit.committed);
            if counted.is_enough() {
                found.push((pair, counted));
            }
        }
    }
    Ok((weigh(facts, &found), missing))
}

/// Rare lines weigh most: those that few files of the repository got, and few of the session's.
fn weigh(facts: &SessionFacts, found: &[(&Pair<'_>, Found)]) -> Vec<Weighed> {
    let mut files: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (pair, counted) in found {
        for same in &counted.same {
            files.entry(same.bare.as_str()).or_default().insert(pair.file.path.as_str());
        }
    }
    let mut spread: HashMap<&str, u64> = HashMap::new();
    for (line, paths) in files {
        let own = facts.added.values().filter(|added| added.holds(line)).count();
        spread.insert(line, own.max(paths.len()) as u64);
    }
    let weighed = found.iter().map(|(pair, counted)| {
        let exact = counted.exact();
        let evidence = Evidence::Lines {
            path: pair.file.path.clone(),
            recorded: pair.recorded.to_owned(),
            added: counted.added,
            exact,
            reformatted: counted.same.len() as u64 - exact,
        };
        let weight = counted.rare(|line| spread.get(line).copied().unwrap_or(1));
        Weighed { at: pair.at, evidence, weight, soon: false }
    });
    weighed.collect()
}

/// The blobs before and after a change.
fn blobs_of(file: &FileChange) -> impl Iterator<Item = &String> {
    [&file.before, &file.blob].into_iter().filter(|id| !is_none(id))
}

/// Whether this is what git writes for a file that is not there.
fn is_none(id: &str) -> bool {
    id.bytes().all(|digit| digit == b'0')
}

/// The lines that are new, by git's comparison.
fn new_lines(before: &[u8], after: &[u8]) -> Vec<String> {
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    added_lines(&before, &after).into_iter().map(str::to_owned).collect()
}
