//! Lines as git blames them, and edits that a commit contradicts.

use super::FileText;
use crate::history::{LineOrigin, Mark, Traced, Why, aligned};
use backstory_store::{Git, GitError, GitLine};
use jiff::ToSpan;
use std::path::Path;

/// What git says of each line; none for lines that are not committed.
pub(super) fn lines(
    git: &Git,
    path: &Path,
    text: &FileText,
) -> Result<Vec<Option<GitLine>>, GitError> {
    let inside = git.relative(path).unwrap_or_default();
    let commit = text.commit_or_head();
    let (bytes, lines) = match (git.file(commit, &inside), git.blame(commit, &inside)) {
        (Ok(bytes), Ok(lines)) => (bytes, lines),
        (Err(error), _) | (_, Err(error)) if error.is_refusal() => return Err(error),
        _ => return Ok(Vec::new()),
    };
    let mut lines: Vec<Option<GitLine>> = lines.into_iter().map(Some).collect();
    let mut take = |at: u32| lines.get_mut(at as usize).and_then(Option::take);
    let there = String::from_utf8_lossy(&bytes);
    Ok(aligned(&there, &text.text).into_iter().map(|old| old.and_then(&mut take)).collect())
}

/// A line that git had before the edit was made is not the edit's.
pub(super) fn contradict(traced: &mut Traced<'_>, committed: &[Option<GitLine>]) {
    for (mark, line) in traced.marks.iter_mut().zip(committed) {
        let edit = mark.edit().and_then(|edit| traced.edits.get(edit as usize));
        let (Some(edit), Some(line)) = (edit, line) else { continue };
        let latest = line.committer_time.and_then(|time| time.checked_add(2.seconds()).ok());
        if latest.zip(edit.event.time).is_some_and(|(latest, time)| time > latest) {
            let why = Why::CommittedBefore;
            *mark = Mark { origin: LineOrigin::Before, why, written: 0, ..*mark };
        }
    }
    traced.count_surviving();
}
