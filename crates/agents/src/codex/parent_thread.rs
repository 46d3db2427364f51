//! The thread that a rollout goes on from: a rollout may hold only what is its own and name the file
//! that holds what came before, which may do the same.

use super::agent::AGENT;
use super::rollout::Rollout;
use crate::common::{Cite, Draft, problem};
use backstory_format::json::{Tape, Value, scan};
use backstory_format::line::split;
use backstory_format::{ProblemId, read_all};
use backstory_model::{Counts, Inherited, Session, Turn, models, usage};
use backstory_store::Store;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// More files than this do not follow each other; they go round in a circle.
const MOST: usize = 64;

/// What a rollout says of the thread before it.
#[derive(Debug, Clone)]
pub(super) struct Base {
    pub(super) thread: String,
    /// The ordinal of the first record of the other file that does not belong to this thread.
    pub(super) end: Option<u64>,
    /// The same in bytes.
    end_byte: Option<u64>,
}

impl Base {
    /// From the facts about a thread.
    pub(super) fn of(meta: &Value<'_>) -> Option<Base> {
        let base = meta.get("history_base")?;
        Some(Base {
            thread: base.get_text("thread_id")?.into_owned(),
            end: base.get("end_ordinal_exclusive").and_then(|end| end.unsigned()),
            end_byte: base.get("end_byte_offset").and_then(|end| end.unsigned()),
        })
    }

    /// The part of the other file that belongs to the thread.
    fn part(&self) -> Option<Range<u64>> {
        self.end_byte.map(|end| 0..end)
    }
}

/// Puts what other files hold before the session's own turns. Where a file is gone, the session
/// says which thread it continues.
pub(super) fn put_before(session: &mut Session, base: Base, path: &Path, store: &Store) {
    let mut passed = vec![path.to_path_buf()];
    let mut next = Some(base);
    while let Some(base) = next.take() {
        session.continues.push(base.thread.as_str().into());
        let from = passed.last().map_or(path, PathBuf::as_path);
        let Some(other) = find(from, &base.thread) else { break };
        if passed.contains(&other) || passed.len() >= MOST {
            session.problems.push(problem(ProblemId::ParentCycle, 1));
            break;
        }
        // Ordinals hold for a copy of the file, bytes only for the file itself.
        let part = base.part().filter(|_| base.end.is_none());
        let Ok(loaded) = store.load(&other, part) else {
            session.problems.push(problem(ProblemId::UnreadFile, 1));
            break;
        };
        let draft = Draft::new(AGENT, String::new(), loaded.source(&other));
        let mut rollout = Rollout::new(draft);
        rollout.cite = Some(Cite::copied());
        rollout.end = base.end;
        read_all(&loaded.bytes, store.limits(), &mut rollout);
        next = rollout.base.take();
        join(session, rollout.finish(), &base.thread);
        passed.push(other);
    }
}

fn join(session: &mut Session, mut earlier: Session, thread: &str) {
    let left = earlier.abandoned.iter_mut();
    for branch in left {
        for id in branch.from.iter_mut().chain([&mut branch.root, &mut branch.leaf]) {
            *id = named(id, thread);
        }
        branch.turns.iter_mut().for_each(|turn| rename(turn, thread));
    }
    earlier.turns.iter_mut().for_each(|turn| rename(turn, thread));
    session.inherited = Inherited {
        turns: session.inherited.turns + earlier.turns.len(),
        branches: session.inherited.branches + earlier.abandoned.len(),
    };
    session.turns.splice(0..0, earlier.turns);
    session.abandoned.splice(0..0, earlier.abandoned);
    session.compactions.splice(0..0, earlier.compactions);
    session.orphan_results.splice(0..0, earlier.orphan_results);
    session.problems.add(&earlier.problems);
    session.title = earlier.title.or(session.title.take());
    session.started = earlier.started.or(session.started);
    for (known, before) in [
        (&mut session.cwds, earlier.cwds),
        (&mut session.versions, earlier.versions),
        (&mut session.git_branches, earlier.git_branches),
    ] {
        let new: Vec<_> = before.into_iter().filter(|one| !known.contains(one)).collect();
        known.extend(new);
    }
    if session.requests.shapes.is_empty() {
        session.requests = earlier.requests;
    }
    let by_type = std::mem::take(&mut session.counts.records_by_type);
    session.counts = Counts { records_by_type: by_type, ..Counts::of(&session.turns) };
    session.models = models(&session.turns, &session.abandoned);
    session.usage = usage(&session.turns, &session.abandoned);
}

/// Ids that the reader made up are those of every file; with the thread they are one file's.
fn rename(turn: &mut Turn, thread: &str) {
    if let Some(id) = &mut turn.uuid {
        *id = named(id, thread);
    }
    for step in turn.steps.iter_mut().filter(|step| step.message_id.is_none()) {
        for id in &mut step.uuids {
            *id = named(id, thread);
        }
    }
}

fn named(id: &str, thread: &str) -> Box<str> {
    format!("{thread}:{id}").into()
}

/// The files that stand before a rollout, the nearest first, each with the part of it that does.
pub(super) fn files(path: &Path, store: &Store) -> Vec<(PathBuf, Option<Range<u64>>)> {
    let mut found: Vec<(PathBuf, Option<Range<u64>>)> = Vec::new();
    let mut at = path.to_path_buf();
    while let Some(base) = base_of(&at, store).filter(|_| found.len() < MOST) {
        let Some(other) = find(&at, &base.thread) else { break };
        if other == path || found.iter().any(|(known, _)| *known == other) {
            break;
        }
        found.push((other.clone(), base.part()));
        at = other;
    }
    found
}

/// What the first records of a rollout say.
fn base_of(path: &Path, store: &Store) -> Option<Base> {
    const HEAD: u64 = 1 << 20;
    let head = store.load(path, Some(0..HEAD)).ok()?;
    let whole = memchr::memchr(b'\n', &head.bytes).is_some() || (head.bytes.len() as u64) < HEAD;
    let head = if whole { head } else { store.load(path, None).ok()? };
    let mut tape = Tape::new();
    let mut metas = split(&head.bytes).take(8).filter_map(|line| {
        scan(line.content, 0, 256, &mut tape).ok()?;
        let value = tape.root(line.content)?;
        let meta = value
            .get("payload")
            .filter(|_| value.get_text("type").as_deref() == Some("session_meta"))?;
        Some(Base::of(&meta))
    });
    metas.next().flatten()
}

/// The rollout of a thread: in the same folder, or somewhere in the trees of years, months and days
/// of the threads that are in use and of those that were put away.
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
    let own = ["sessions", "archived_sessions"];
    let is_own = own.iter().any(|name| top.file_name().is_some_and(|top| top == *name));
    let trees = match top.parent().filter(|_| is_own) {
        Some(home) => own.map(|name| home.join(name)).to_vec(),
        None => vec![top.to_path_buf()],
    };
    let near = trees.iter().flat_map(|tree| days(thread).map(|day| tree.join(day)));
    std::iter::once(folder.to_path_buf())
        .chain(near)
        .find_map(|folder| look(&folder, path, thread, 0))
        .or_else(|| trees.iter().find_map(|tree| look(tree, path, thread, 3)))
}

/// The folders of the days on which a thread may have begun, if its id holds the time: folders
/// are named by the clock on the wall, ids by that of the world.
fn days(thread: &str) -> impl Iterator<Item = String> {
    let date = (thread.as_bytes().get(14) == Some(&b'7')).then(|| {
        let digits = thread.get(..8)?.to_owned() + thread.get(9..13)?;
        let time = i64::from_str_radix(&digits, 16).ok()?;
        Some(Timestamp::from_millisecond(time).ok()?.to_zoned(TimeZone::UTC).date())
    });
    let day = date.flatten();
    [0, 1, -1].into_iter().filter_map(move |days| {
        let date = day?.checked_add(days.days()).ok()?;
        Some(date.strftime("%Y/%m/%d").to_string())
    })
}

/// Looks for another rollout of that name in a folder and a number of levels below it.
fn look(top: &Path, path: &Path, thread: &str, levels: usize) -> Option<PathBuf> {
    let mut folders = vec![(top.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            let is_rollout = name.starts_with("rollout-") && name.contains(".jsonl");
            if kind.is_dir() && depth < levels {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() && is_rollout && name.contains(thread) && entry.path() != path
            {
                return Some(entry.path());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_from_ids() {
        let found: Vec<String> = days("019bd1a0-0000-7000-8000-000000000000").collect();
        assert_eq!(found, ["2026/01/18", "2026/01/19", "2026/01/17"]);
        assert_eq!(days("11111111-aaaa-4bbb-8ccc-000000000001").count(), 0);
        assert_eq!(days("short").count(), 0);
    }
}
