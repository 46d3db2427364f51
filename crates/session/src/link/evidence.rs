//! Links and what they rest on.

use super::SLACK;
use super::compare::lines;
use super::confirm::{Weighed, confirm};
use super::facts::SessionFacts;
use super::printed::Printed;
use backstory_model::{Agent, Notice};
use backstory_store::{Commit, Git, GitError};
use hashbrown::{HashMap, HashSet};
use jiff::SignedDuration;
use std::collections::{BTreeMap, BTreeSet};

/// How strong the evidence is, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The session made the commit and printed its id.
    Printed,
    /// A file was committed byte for byte as the session left it.
    Blob,
    /// Lines of the session are among those the commit added.
    Lines,
    /// The same files at the same time; proves nothing.
    Overlap,
}

impl Tier {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Printed => "printed",
            Tier::Blob => "blob",
            Tier::Lines => "lines",
            Tier::Overlap => "overlap",
        }
    }
}

/// One reason for a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A call made the commit and printed its id.
    Printed {
        /// The id, as it was printed.
        id: String,
        /// The line of the result in the session's file.
        line: u64,
        /// The id of the call.
        call: Option<Box<str>>,
        /// Whether git announced the commit, rather than the command showing its id.
        announced: bool,
    },
    /// The commit holds a file exactly as the session left it.
    Blob {
        /// The path in the commit.
        path: String,
        /// The path in the session.
        recorded: String,
        /// The id of the blob.
        blob: String,
        /// The line of the edit in the session's file.
        line: u64,
        /// The id of the call that made the edit.
        call: Option<Box<str>>,
        /// No later edit of the session changed the file.
        last: bool,
        /// Another commit had it before, on another line of history: this one is a copy (rebased,
        /// picked, squashed).
        copy: bool,
    },
    /// Lines the commit added to a file that the session had added to it before.
    Lines {
        /// The path in the commit.
        path: String,
        /// The path in the session.
        recorded: String,
        /// Lines the commit added that say anything.
        added: u64,
        /// Lines that are equal byte for byte.
        exact: u64,
        /// Equal but for whitespace.
        reformatted: u64,
    },
    /// The commit changed a file that the session had edited before.
    Overlap {
        /// The path in the commit.
        path: String,
        /// The path in the session.
        recorded: String,
    },
}

impl Evidence {
    /// How strong it is.
    pub fn tier(&self) -> Tier {
        match self {
            Evidence::Printed { .. } => Tier::Printed,
            Evidence::Blob { .. } => Tier::Blob,
            Evidence::Lines { .. } => Tier::Lines,
            Evidence::Overlap { .. } => Tier::Overlap,
        }
    }
}

/// A session and a commit that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The session's id.
    pub session: String,
    /// Who wrote the session.
    pub agent: Agent,
    /// The commit.
    pub commit: Commit,
    /// That of the strongest evidence.
    pub tier: Tier,
    /// All evidence.
    pub evidence: Vec<Evidence>,
}

impl Link {
    /// Whether the commit holds work of the session. Overlap is no evidence of that.
    pub fn is_committed(&self) -> bool {
        self.tier <= Tier::Lines
    }

    /// Share of the found lines whose whitespace was changed on their way into the commit; none
    /// where no lines were found.
    pub fn divergence(&self) -> Option<f64> {
        let (mut exact, mut reformatted) = (0u64, 0u64);
        for evidence in &self.evidence {
            if let Evidence::Lines { exact: same, reformatted: changed, .. } = evidence {
                exact += same;
                reformatted += changed;
            }
        }
        let all = exact + reformatted;
        (all > 0).then(|| reformatted as f64 / all as f64)
    }
}

/// The links of a session.
#[derive(Debug, Default)]
pub struct Judged {
    /// Strongest evidence first, then by time.
    pub links: Vec<Link>,
    /// Objects that could have held lines of the session, but git lacks them.
    pub missing: BTreeSet<String>,
}

impl Judged {
    /// Says that lines could not be compared, if so.
    pub fn lacking(&self, repository: &Git) -> Option<Notice> {
        let first = self.missing.first()?;
        let more = match self.missing.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let reason = format!("{}{more}", GitError::Missing(first.clone()));
        Some(Notice::failed(repository.top(), reason))
    }
}

/// A commit so soon after an edit is made for it.
const SOON: SignedDuration = SignedDuration::from_mins(2);
/// After a session's end, how long a commit of its files may still be its own.
const AFTERWARDS: SignedDuration = SignedDuration::from_hours(1);

/// All evidence for some commits, or for those `wanted` of them. The commits must be all that
/// change the session's files: a blob belongs to the first.
pub(super) fn judge(
    facts: &SessionFacts,
    printed: &[(String, Printed)],
    commits: &[Commit],
    repository: &Git,
    wanted: Option<&HashSet<&str>>,
) -> Result<Judged, GitError> {
    let mut weighed: Vec<Weighed> = Vec::new();
    for (at, commit) in commits.iter().enumerate() {
        for (_, printed) in printed.iter().filter(|(id, _)| *id == commit.id) {
            let Printed { id, line, call, announced, .. } = printed.clone();
            let evidence = Evidence::Printed { id, line, call, announced };
            weighed.push(Weighed { at, evidence, weight: 0, soon: false });
        }
    }
    weighed.extend(blobs(facts, commits, repository)?);
    let (by_lines, missing) = lines(facts, commits, repository, wanted)?;
    weighed.extend(by_lines);
    weighed.extend(overlaps(facts, commits));
    if facts.unplaced {
        confirm(facts, &mut weighed);
    }
    let mut found: BTreeMap<usize, Vec<Evidence>> = BTreeMap::new();
    for Weighed { at, evidence, .. } in weighed {
        let list = found.entry(at).or_default();
        // Where there is something better, overlap adds nothing.
        let better = list.first().is_some_and(|first| first.tier() < Tier::Overlap);
        if !better || evidence.tier() < Tier::Overlap {
            list.push(evidence);
        }
    }
    let mut links: Vec<Link> = found
        .into_iter()
        .filter_map(|(at, mut evidence)| {
            evidence.sort_by_key(Evidence::tier);
            let tier = evidence.first()?.tier();
            let commit = commits.get(at)?.clone();
            Some(Link {
                session: facts.session.clone(),
                agent: facts.agent,
                commit,
                tier,
                evidence,
            })
        })
        .collect();
    links.sort_by(|a, b| {
        (a.tier, a.commit.committed, &a.commit.id).cmp(&(b.tier, b.commit.committed, &b.commit.id))
    });
    Ok(Judged { links, missing })
}

/// Files committed as the session left them: in the first commit that has them after the edit, and
/// in those that took them over without it (rebased, picked, squashed). A commit that comes after
/// the first only brings back what was there.
fn blobs(
    facts: &SessionFacts,
    commits: &[Commit],
    repository: &Git,
) -> Result<Vec<Weighed>, GitError> {
    let mut changes: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
    for (at, commit) in commits.iter().enumerate() {
        for file in &commit.files {
            changes.entry(file.blob.as_str()).or_default().push((at, file.path.as_str()));
        }
    }
    let mut found: Vec<Weighed> = Vec::new();
    let mut seen: HashSet<(usize, &str, &str)> = HashSet::new();
    let mut ancestry = Ancestry { repository, known: HashMap::new() };
    // Of several edits that left the same content, the last is the one that was committed.
    for state in facts.states.iter().rev() {
        let Some(edited) = state.time else { continue };
        let at_once = edited.checked_add(SOON).unwrap_or(edited);
        for blob in &state.blobs {
            let there = changes.get(blob.as_str()).into_iter().flatten();
            let mut there: Vec<(&Commit, usize, &str)> = there
                .filter(|(_, path)| facts.means(&state.path, path))
                .filter_map(|(at, path)| Some((commits.get(*at)?, *at, *path)))
                .filter(|(commit, ..)| {
                    commit.committed.is_some_and(|time| super::earlier(edited, SLACK) <= time)
                })
                .collect();
            there.sort_by_key(|(commit, at, _)| (commit.committed, *at));
            let mut holders: Vec<&str> = Vec::new();
            for (commit, at, path) in there {
                if ancestry.follows_any(&holders, &commit.id)? {
                    continue;
                }
                let copy = !holders.is_empty();
                holders.push(&commit.id);
                if !seen.insert((at, path, blob.as_str())) {
                    continue;
                }
                let evidence = Evidence::Blob {
                    path: path.to_owned(),
                    recorded: state.path.clone(),
                    blob: blob.clone(),
                    line: state.line,
                    call: state.call.clone(),
                    last: state.last,
                    copy,
                };
                let soon = state.last && commit.committed.is_some_and(|time| time <= at_once);
                found.push(Weighed { at, evidence, weight: state.letters, soon });
            }
        }
    }
    Ok(found)
}

/// Which commits come after which; each pair is asked for once.
struct Ancestry<'a> {
    repository: &'a Git,
    known: HashMap<(String, String), bool>,
}

impl Ancestry<'_> {
    fn follows_any(&mut self, earlier: &[&str], later: &str) -> Result<bool, GitError> {
        for first in earlier {
            if self.follows(first, later)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn follows(&mut self, first: &str, later: &str) -> Result<bool, GitError> {
        let pair = (first.to_owned(), later.to_owned());
        if let Some(known) = self.known.get(&pair) {
            return Ok(*known);
        }
        let follows = self.repository.is_ancestor(first, later)?;
        self.known.insert(pair, follows);
        Ok(follows)
    }
}

fn overlaps(facts: &SessionFacts, commits: &[Commit]) -> Vec<Weighed> {
    let mut found = Vec::new();
    let Some((first, end)) = facts.first_edit.zip(facts.ended) else { return found };
    let begin = super::earlier(first, SLACK);
    let end = end.checked_add(AFTERWARDS).unwrap_or(end);
    for (at, commit) in commits.iter().enumerate() {
        if !commit.committed.is_some_and(|time| begin <= time && time <= end) {
            continue;
        }
        for file in &commit.files {
            for recorded in facts.recorded_as(&file.path) {
                let (path, recorded) = (file.path.clone(), recorded.clone());
                let evidence = Evidence::Overlap { path, recorded };
                found.push(Weighed { at, evidence, weight: 0, soon: false });
            }
        }
    }
    found
}
