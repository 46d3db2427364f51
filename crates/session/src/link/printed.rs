//! Commits that a session made and printed.
//!
//! `git commit` says `[branch 1a2b3c4] subject`. Many other commands print ids of commits, and a
//! file may hold such a line, so the commit must also have been made while the call ran.

use backstory_agents as agents;
use backstory_format::json::{Tape, scan};
use backstory_model::{ActionKind, Call, CallResult, Content, Session, Step};
use backstory_store::{Git, GitError, SourceReader};
use hashbrown::HashMap;
use jiff::Timestamp;

/// An id that a call printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) id: String,
    /// In the form of `git commit`, or recorded by the client.
    pub(super) announced: bool,
    /// Line of the session's file that has the result, and the call.
    pub(super) line: u64,
    pub(super) call: Option<Box<str>>,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
}

/// The ids that calls of a session printed which could have made commits.
pub(super) fn printed(session: &Session) -> Vec<Printed> {
    let mut found = Vec::new();
    let runs = |call: &Call| agents::does(session.agent, call, ActionKind::Shell);
    for part in session.walk() {
        let Ok(mut reader) = part.source.open() else { continue };
        let left = part.abandoned.iter().flat_map(|branch| &branch.turns);
        for step in part.turns.iter().chain(left).flat_map(|turn| &turn.steps) {
            for call in step.calls() {
                if let Some(result) = call.result.as_ref().filter(|_| runs(call)) {
                    found.extend(ids_of(step, call, result, &mut reader));
                }
            }
        }
    }
    found
}

/// The ids, often shortened, of commits that a session reports to have made.
pub fn announced_commits(session: &Session) -> Vec<String> {
    let mut ids: Vec<String> = printed(session)
        .into_iter()
        .filter(|found| found.announced)
        .map(|found| found.id)
        .collect();
    ids.sort();
    ids.dedup();
    ids
}

fn ids_of(
    step: &Step,
    call: &Call,
    result: &CallResult,
    reader: &mut SourceReader,
) -> Vec<Printed> {
    let input = call.input.as_ref();
    let makes =
        input.is_some_and(|input| reader.text(input).is_ok_and(|text| makes_commits(&text)));
    let mut found: Vec<Printed> = Vec::new();
    let mut add = |id: &str, announced: bool| match found.iter_mut().find(|known| known.id == id) {
        Some(known) => known.announced |= announced,
        None => found.push(Printed {
            id: id.to_owned(),
            announced,
            line: result.line,
            call: call.id.clone(),
            began: step.timestamp,
            ended: result.timestamp,
        }),
    };
    if let Some(id) = recorded(result.structured.as_ref(), reader) {
        add(&id, true);
    }
    for content in &result.text {
        let Ok(text) = reader.text(content) else { continue };
        for line in text.lines() {
            match announced(line) {
                Some(id) => add(id, true),
                None if makes => ids_in(line).for_each(|id| add(id, false)),
                None => {}
            }
        }
    }
    found
}

/// The commits that the output of a command announces, with what is printed after their ids.
pub(crate) fn commits_announced(command: &str, output: &str) -> Vec<(String, String)> {
    if !makes_commits(command) {
        return Vec::new();
    }
    let commit = |line: &str| {
        let (_, subject) = line.split_once(']')?;
        Some((announced(line)?.to_owned(), subject.trim().to_owned()))
    };
    output.lines().filter_map(commit).collect()
}

/// `gitOperation` of the structured result (2.1.181 and later).
fn recorded(structured: Option<&Content>, reader: &mut SourceReader) -> Option<String> {
    let Some(Content::Json(span)) = structured else { return None };
    let bytes = reader.bytes(*span).ok()?;
    memchr::memmem::find(bytes, b"gitOperation")?;
    let mut tape = Tape::new();
    scan(bytes, 0, 64, &mut tape).ok()?;
    let commit = tape.root(bytes)?.get("gitOperation")?.get("commit")?;
    commit.get_text("sha").map(|id| id.into_owned()).filter(|id| is_id(id))
}

/// Whether a command may make commits.
fn makes_commits(command: &str) -> bool {
    let verbs = ["commit", "cherry-pick", "revert", "rebase", "merge", " am "];
    command.contains("git") && verbs.iter().any(|verb| command.contains(verb))
}

/// The id in `[branch 1a2b3c4] subject` or `[detached HEAD 1a2b3c4] subject`.
fn announced(line: &str) -> Option<&str> {
    let inside = line.trim_start().strip_prefix('[')?.split_once(']')?.0;
    let (_, id) = inside.rsplit_once(' ')?;
    is_id(id).then_some(id)
}

fn ids_in(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| is_id(word))
}

fn is_id(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The commits of the repository among them that were made while their call ran, by full id.
pub(super) fn resolve(
    printed: &[Printed],
    repository: &Git,
) -> Result<Vec<(String, Printed)>, GitError> {
    let mut names: Vec<String> = printed.iter().map(|printed| printed.id.clone()).collect();
    names.sort();
    names.dedup();
    let objects = repository.objects(&names)?;
    let commits = objects.values().filter(|object| object.kind == "commit");
    let mut ids: Vec<String> = commits.map(|object| object.id.clone()).collect();
    ids.sort();
    ids.dedup();
    let times: HashMap<String, Option<Timestamp>> = repository
        .commits_named(&ids)?
        .into_iter()
        .map(|commit| (commit.id, commit.committed))
        .collect();
    let mut found: Vec<(String, Printed)> = Vec::new();
    for printed in printed {
        let Some(object) = objects.get(&printed.id) else { continue };
        let Some(Some(made)) = times.get(&object.id) else { continue };
        let during = printed.began.zip(printed.ended).is_some_and(|(began, ended)| {
            super::earlier(began, super::SLACK) <= *made
                && super::earlier(*made, super::SLACK) <= ended
        });
        if during {
            found.push((object.id.clone(), printed.clone()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_commit_says() {
        assert_eq!(announced("[main 1a2b3c4] Add a thing"), Some("1a2b3c4"));
        assert_eq!(announced("[main (root-commit) 1a2b3c4] Start"), Some("1a2b3c4"));
        assert_eq!(announced("[detached HEAD 1a2b3c4d] x"), Some("1a2b3c4d"));
        assert_eq!(announced("[feature/a-b 1a2b3c4]"), Some("1a2b3c4"));
        assert_eq!(announced("[1a2b3c4] x"), None);
        assert_eq!(announced("[main 1A2B3C4] x"), None);
        assert_eq!(announced("see [main cafe] x"), None);
        let line = "commit 0123456789abcdef0123456789abcdef01234567 (HEAD)";
        let ids: Vec<&str> = ids_in(line).collect();
        assert_eq!(ids, ["0123456789abcdef0123456789abcdef01234567"]);
    }
}
