//! Reading the sessions that may say something about the wanted files.

use super::extract::{Extracted, Wanted, read, read_stray};
use super::gather::Gathered;
use crate::discover::Found;
use crate::parallel::{self, Progress};
use backstory_model::{AgentFile, SessionFiles};
use backstory_store::{Ends, ReadContext, StoreError, named_packed};
use memchr::memmem;
use rayon::prelude::*;
use std::path::Path;

/// What was read, and what could not be.
#[derive(Debug, Default)]
pub struct Collected {
    pub gathered: Gathered,
    pub failures: Vec<StoreError>,
    /// Sessions that were read in full.
    pub sessions: usize,
}

/// The part of a file's name by which a session that speaks of it is recognised, before it is
/// parsed: the longest run of letters that JSON never writes in another way.
pub fn search_needle(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    name.split(|letter| !plain(letter))
        .max_by_key(|part| part.len())
        .filter(|part| !part.is_empty())
}

/// Reads sessions in parallel. With `parts`, only those whose bytes hold one of them.
pub fn collect(
    found: &Found,
    wanted: Wanted<'_>,
    parts: Option<&[String]>,
    progress: &dyn Progress,
) -> Collected {
    let finders: Option<Vec<memmem::Finder<'_>>> =
        parts.map(|parts| parts.iter().map(|part| memmem::Finder::new(part.as_bytes())).collect());
    let finders = finders.as_deref();
    progress.begin(found.sessions.iter().map(|files| files.bytes).sum());
    let context = || ReadContext::new(&found.store);
    let outcomes =
        parallel::map(&found.sessions, SessionFiles::total_bytes, context, |context, files| {
            let agents = files.agents.iter().map(|agent| agent.path.as_path());
            let mut paths = std::iter::once(files.path.as_path()).chain(agents);
            let is_mentioned =
                finders.is_none_or(|finders| paths.any(|path| mentions(path, finders)));
            let outcome = if !is_mentioned {
                (None, Vec::new())
            } else {
                match read(files, context, wanted) {
                    Ok((extracted, failures)) => (Some(extracted), failures),
                    Err(error) => (None, vec![error]),
                }
            };
            progress.add(files.total_bytes());
            outcome
        });
    let strays: Vec<(Option<Extracted>, Vec<StoreError>)> = found
        .stray_agents
        .par_iter()
        .filter(|agent| finders.is_none_or(|finders| mentions(&agent.path, finders)))
        .map_init(context, |context, agent| stray(agent, context, wanted))
        .collect();
    progress.end();
    let mut collected = Collected::default();
    let mut extracted = Vec::new();
    for (part, failures) in outcomes.into_iter().chain(strays) {
        collected.sessions += usize::from(part.is_some());
        extracted.extend(part);
        collected.failures.extend(failures);
    }
    collected.gathered = Gathered::new(extracted);
    collected
}

fn stray(
    agent: &AgentFile,
    context: &mut ReadContext,
    wanted: Wanted<'_>,
) -> (Option<Extracted>, Vec<StoreError>) {
    match read_stray(agent, context, wanted) {
        Ok(extracted) => (Some(extracted), Vec::new()),
        Err(error) => (None, vec![error]),
    }
}

/// Whether a session's files hold one of these words.
pub fn mentions_any(files: &SessionFiles, words: &[String]) -> bool {
    let finders: Vec<memmem::Finder<'_>> =
        words.iter().map(|word| memmem::Finder::new(word.as_bytes())).collect();
    let agents = files.agents.iter().map(|agent| agent.path.as_path());
    std::iter::once(files.path.as_path()).chain(agents).any(|path| mentions(path, &finders))
}

fn mentions(path: &Path, finders: &[memmem::Finder<'_>]) -> bool {
    if named_packed(path) {
        return true;
    }
    let longest = finders.iter().map(|finder| finder.needle().len()).max().unwrap_or(0);
    let found = Ends::open(path).and_then(|file| {
        file.any(0, u64::MAX, longest, |window| {
            finders.iter().any(|finder| finder.find(window).is_some())
        })
    });
    // What cannot be read is reported by the reading itself.
    found.unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_needle_of_a_name() {
        assert_eq!(search_needle("/w/src/main_loop.rs"), Some("main_loop.rs"));
        assert_eq!(search_needle("/w/größe einheiten.txt"), Some("einheiten.txt"));
        assert_eq!(search_needle("/w/日本"), None);
    }
}
