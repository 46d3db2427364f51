//! Which commits a session contributed to, and which sessions made a commit.
//!
//! Every link carries its evidence, and the tier says how strong it is: a commit that the session
//! itself made and printed; a file that was committed byte for byte as the session left it; lines
//! of the session in what the commit added; or only the same files at the same time, which proves
//! nothing and is never called committed. Nothing is linked because of time alone.
//!
//! The repository is only read. See [`store::Git`](backstory_store::Git) for what is switched off.

mod belonging;
mod blobs;
mod compare;
mod confirm;
mod evidence;
mod facts;
mod hook;
mod lines;
mod printed;

pub use belonging::Belonging;
pub use evidence::{Evidence, Judged, Link, Tier};
pub use facts::SessionFacts;
pub use hook::{HookError, has_hook, with_hook, without_hook};
pub use printed::announced_commits;
pub(crate) use printed::commits_announced;

use backstory_model::Session;
use backstory_store::{Commit, CommitLog, GitError};
use hashbrown::HashSet;
use jiff::{SignedDuration, Timestamp};

/// Clocks and whole seconds may put a commit a moment before the edit it holds.
const SLACK: SignedDuration = SignedDuration::from_secs(5);

/// The commits that a session contributed to.
pub fn links_of(session: &Session, log: &CommitLog) -> Result<Judged, GitError> {
    let facts = SessionFacts::of(session, &Belonging::of(session, log.git(), &[]), log)?;
    links_of_facts(&facts, log)
}

/// The same for what is already known of a session.
pub fn links_of_facts(facts: &SessionFacts, log: &CommitLog) -> Result<Judged, GitError> {
    let printed = printed::resolve(&facts.printed, log.git())?;
    let mut commits = log.changing(&facts.candidate_paths(), facts.since())?;
    let known: HashSet<String> = commits.iter().map(|commit| commit.id.clone()).collect();
    let mut missing: Vec<String> =
        printed.iter().map(|(id, _)| id.clone()).filter(|id| !known.contains(id)).collect();
    missing.sort();
    missing.dedup();
    commits.extend(log.git().commits_named(&missing)?);
    evidence::judge(facts, &printed, &commits, log.git(), None)
}

/// The evidence a session gives for some commits.
pub fn links_to(
    facts: &SessionFacts,
    commits: &[Commit],
    log: &CommitLog,
) -> Result<Judged, GitError> {
    let printed = printed::resolve(&facts.printed, log.git())?;
    let wanted: HashSet<&str> = commits.iter().map(|commit| commit.id.as_str()).collect();
    // A blob belongs to the commit that had it first, so all that could be must be known.
    let mut all = log.changing(&facts.paths_in(commits), facts.since())?;
    all.retain(|commit| !wanted.contains(commit.id.as_str()));
    all.extend(commits.iter().cloned());
    all.sort_by(|a, b| (a.committed, &a.id).cmp(&(b.committed, &b.id)));
    let mut judged = evidence::judge(facts, &printed, &all, log.git(), Some(&wanted))?;
    judged.links.retain(|link| wanted.contains(link.commit.id.as_str()));
    Ok(judged)
}

fn earlier(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_sub(by).unwrap_or(Timestamp::MIN)
}
