//! OpenAI Codex: one rollout file per thread, JSON lines, packed with Zstandard when it is old.
//!
//! A rollout says the same thing twice: as `response_item` (what the model said) and as `event_msg`
//! (what the screen showed). Items count; an event adds only what no item holds. Which items are
//! one message is nowhere written before `token_usage_record` (0.16x), so the token counts decide,
//! and where there are none, results.

mod events;
mod legacy;
mod patch;
mod rollout;
mod values;

use super::common::{Cite, Draft};
use crate::model::{Agent, Counts, FileFacts, Session, models, usage};
use crate::store::{SessionFiles, StoreError, load, read_file};
use backstory_format::{Limits, ProblemId, Totals, read_all};
use rollout::Rollout;
use std::path::{Path, PathBuf};

/// What a rollout cannot tell.
pub(super) const UNREAD: [&str; 3] =
    ["cost", "reasoning that came encrypted", "edits made by shell commands"];

/// Reads a rollout, with what it continues in another file.
pub(super) fn read(
    files: &SessionFiles,
    limits: Limits,
    buffer: &mut Vec<u8>,
) -> Result<Session, StoreError> {
    let path = &files.path;
    let draft = |source| Draft::new(Agent::Codex, files.id.clone(), source);
    let (mut rollout, totals, modified) = if path.extension().is_some_and(|end| end == "jsonl") {
        let source = crate::store::Source::new(path, None);
        let read = read_file(path, limits, buffer, || Rollout::new(draft(source.clone())))?;
        let mut rollout = read.visitor;
        rollout.draft.session.source = crate::store::Source::new(path, Some(read.state));
        if read.growing {
            rollout.draft.session.problems.remove(ProblemId::TornTail);
        }
        (rollout, read.totals, read.state.modified)
    } else {
        let loaded = load(path, None)?;
        let mut rollout = Rollout::new(draft(loaded.source(path)));
        let totals = if path.extension().is_some_and(|end| end == "json") {
            legacy::read(&loaded.bytes, limits, &mut rollout)
        } else {
            read_all(&loaded.bytes, limits, &mut rollout)
        };
        (rollout, totals, loaded.state.modified)
    };
    let base = rollout.base.take();
    let mut session = rollout.finish();
    session.file = facts(totals, modified);
    if let Some(base) = base {
        put_before(&mut session, &base, path, limits)?;
    }
    Ok(session)
}

fn facts(totals: Totals, modified: Option<jiff::Timestamp>) -> FileFacts {
    FileFacts {
        bytes: totals.bytes,
        lines: totals.lines,
        blank_lines: totals.blank_lines,
        bad_lines: totals.bad_lines,
        records: totals.records,
        modified,
    }
}

/// The thread that a rollout goes on from.
#[derive(Debug, Clone)]
struct Base {
    thread: String,
    /// Records of the other file that belong to this one.
    end: Option<u64>,
    end_byte: Option<u64>,
}

/// Puts what the other file holds before the session's own turns. Where the other file is gone, the
/// session says which thread it continues.
fn put_before(
    session: &mut Session,
    base: &Base,
    path: &Path,
    limits: Limits,
) -> Result<(), StoreError> {
    session.continues.push(base.thread.as_str().into());
    let Some(other) = find(path, &base.thread) else { return Ok(()) };
    let loaded = load(&other, base.end_byte.map(|end| 0..end))?;
    let mut rollout = Rollout::new(Draft::new(Agent::Codex, String::new(), loaded.source(&other)));
    rollout.cite = Some(Cite::copied());
    rollout.most = base.end;
    read_all(&loaded.bytes, limits, &mut rollout);
    let earlier = rollout.finish();
    session.turns.splice(0..0, earlier.turns);
    session.abandoned.splice(0..0, earlier.abandoned);
    session.title = earlier.title.or(session.title.take());
    session.started = earlier.started.or(session.started);
    if session.requests.shapes.is_empty() {
        session.requests = earlier.requests;
    }
    let by_type = std::mem::take(&mut session.counts.records_by_type);
    session.counts = Counts { records_by_type: by_type, ..Counts::of(&session.turns) };
    session.models = models(&session.turns, &session.abandoned);
    session.usage = usage(&session.turns, &session.abandoned);
    Ok(())
}

/// The rollout of a thread, somewhere in the same tree of years, months and days.
fn find(path: &Path, thread: &str) -> Option<PathBuf> {
    if thread.len() < 8
        || !thread.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    {
        return None;
    }
    let folder = path.parent()?;
    let is_date = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        !name.is_empty() && name.len() <= 4 && name.bytes().all(|byte| byte.is_ascii_digit())
    };
    let dated = folder.ancestors().take(3).take_while(|folder| is_date(folder)).count();
    let top = folder.ancestors().nth(dated)?;
    let mut folders = vec![(top.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            let is_rollout = name.starts_with("rollout-") && name.contains(".jsonl");
            if kind.is_dir() && depth < 3 {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() && is_rollout && name.contains(thread) && entry.path() != path
            {
                return Some(entry.path());
            }
        }
    }
    None
}
