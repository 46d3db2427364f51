//! In which order things happened, where clocks do not tell.
//!
//! A file is written in order, whatever the machine's clock did meanwhile. Its times are believed as
//! far as they go with that order: the longest series of records whose times never go back. What lies
//! between two of them happened then. A subagent worked between the call that started it and its
//! result. Times order what happened in different sessions, and nothing else can.

use backstory_format::Limits;
use backstory_format::json::{Tape, scan};
use backstory_model::{Call, Content, Session, Step, Turn};
use hashbrown::HashMap;
use jiff::Timestamp;
use std::path::Path;

/// When something happened: what is sorted by it stands in the order of its session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct When {
    /// Not always the time that the record has: that may contradict the order.
    pub time: Option<Timestamp>,
    /// Place in the session, and in the file of a subagent that worked there.
    place: [u32; 2],
}

/// What happened when in one session with its subagents.
#[derive(Debug, Default)]
pub(super) struct Order {
    calls: HashMap<*const Call, Moments>,
    /// Recorded times of each file with what they mean, where some of them go back.
    doubtful: HashMap<Box<Path>, Vec<(Timestamp, When)>>,
}

/// Beginning and end of a call.
#[derive(Debug, Clone, Copy)]
struct Moments {
    began: When,
    ended: When,
}

/// Something in a file that has a time.
struct Entry {
    line: u64,
    time: Option<Timestamp>,
    /// Calls that begin here, and the one that ends here.
    begun: Vec<*const Call>,
    ended: Option<*const Call>,
}

impl Order {
    /// The order of a session's members, each after the one that started it.
    pub(super) fn of(members: &[&Session]) -> Order {
        let mut order = Order::default();
        let mut starters: HashMap<&str, (&Session, &Call)> = HashMap::new();
        for member in members {
            for call in turns(member).flat_map(Turn::calls).filter(|call| call.subagent.is_some()) {
                starters.extend(call.id.as_deref().map(|id| (id, (*member, call))));
            }
        }
        let mut done: Vec<&Path> = Vec::new();
        for member in members {
            let path = member.source.path();
            if done.contains(&path) {
                continue;
            }
            done.push(path);
            // Old clients wrote subagents into the session's own file.
            let here = members.iter().filter(|one| one.source.path() == path);
            let mut entries: Vec<Entry> = here.flat_map(|one| entries(one)).collect();
            entries.sort_by_key(|entry| entry.line);
            let call = member.parent.as_ref().and_then(|parent| parent.call.as_deref());
            let starter = call.and_then(|call| starters.get(call));
            order.file(path, &entries, starter.copied());
        }
        order
    }

    fn file(&mut self, path: &Path, entries: &[Entry], starter: Option<(&Session, &Call)>) {
        let times: Vec<Option<Timestamp>> = entries.iter().map(|entry| entry.time).collect();
        let bounds = starter.and_then(|(holder, call)| {
            let moments = self.calls.get(&std::ptr::from_ref(call))?;
            let ended = (!was_launched(holder, call)).then_some(moments.ended);
            Some((moments.began, ended.filter(|ended| ended.time.is_some())))
        });
        let mut known = Vec::new();
        let mut believed = believed(&times);
        let mut doubtful = believed != times;
        for (at, (entry, time)) in entries.iter().zip(&mut believed).enumerate() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let mut place = [at, 0];
            if let Some((began, ended)) = bounds {
                let within = (*time).max(began.time);
                let within = ended.map_or(within, |ended| within.min(ended.time));
                doubtful |= within != *time;
                *time = within;
                let outer = ended.unwrap_or(began).place.first().copied().unwrap_or(0);
                place = [outer, at.saturating_add(1)];
            }
            let when = When { time: *time, place };
            for call in &entry.begun {
                self.calls.insert(*call, Moments { began: when, ended: when });
            }
            let ended = entry.ended.and_then(|call| self.calls.get_mut(&call));
            if let Some(moments) = ended {
                moments.ended = when;
            }
            known.extend(entry.time.map(|recorded| (recorded, when)));
        }
        if doubtful {
            known.sort_by_key(|(recorded, _)| *recorded);
            self.doubtful.insert(path.into(), known);
        }
    }

    /// When a call did its work: when its result came.
    pub(super) fn of_call(&self, call: &Call) -> When {
        self.calls.get(&std::ptr::from_ref(call)).map(|moments| moments.ended).unwrap_or_default()
    }

    /// When something happened that only has a time: before whatever comes next by the same clock.
    pub(super) fn at(&self, path: &Path, time: Option<Timestamp>) -> When {
        let plain = When { time, place: [0, 0] };
        let (Some(time), Some(known)) = (time, self.doubtful.get(path)) else { return plain };
        let next = known.partition_point(|(recorded, _)| *recorded < time);
        known.get(next).map_or(plain, |(_, when)| *when)
    }
}

fn turns(session: &Session) -> impl Iterator<Item = &Turn> {
    session.turns.iter().chain(session.abandoned.iter().flat_map(|branch| &branch.turns))
}

fn entries(session: &Session) -> Vec<Entry> {
    let mut entries = Vec::new();
    for step in turns(session).flat_map(|turn| &turn.steps) {
        entries.push(beginning(step));
        for call in step.calls() {
            let Some(result) = &call.result else { continue };
            let ended = Some(std::ptr::from_ref(call));
            let (line, time) = (result.line, result.timestamp.or(step.timestamp));
            entries.push(Entry { line, time, begun: Vec::new(), ended });
        }
    }
    entries
}

fn beginning(step: &Step) -> Entry {
    Entry {
        line: step.lines.first().copied().unwrap_or(0),
        time: step.timestamp,
        begun: step.calls().map(std::ptr::from_ref).collect(),
        ended: None,
    }
}

/// Whether a call only started its subagent, which went on after the result.
fn was_launched(holder: &Session, call: &Call) -> bool {
    let Some(result) = &call.result else { return true };
    let Ok(mut reader) = holder.source.open() else { return false };
    if let Some(Content::Json(span)) = result.structured {
        let mut tape = Tape::new();
        let Ok(bytes) = reader.bytes(span) else { return false };
        if scan(bytes, 0, Limits::DEPTH, &mut tape).is_err() {
            return false;
        }
        let status = tape.root(bytes).and_then(|result| result.get("status"));
        return status.is_some_and(|status| !status.is_text("completed"));
    }
    let text = result.text.first().and_then(|text| reader.text(text).ok());
    text.is_some_and(|text| text.starts_with("Async agent launched"))
}

/// Times that never go back: those of the longest such series, and between two of them the earlier.
fn believed(times: &[Option<Timestamp>]) -> Vec<Option<Timestamp>> {
    let known: Vec<Timestamp> = times.iter().flatten().copied().collect();
    let series = if known.is_sorted() { vec![true; known.len()] } else { longest_series(&known) };
    let first = known.iter().zip(&series).find(|(_, taken)| **taken).map(|(time, _)| *time);
    let (mut last, mut series) = (first, series.into_iter());
    let mut out = Vec::with_capacity(times.len());
    for time in times {
        if time.is_some() && series.next() == Some(true) {
            last = *time;
        }
        out.push(last);
    }
    out
}

/// Which of these belong to the longest series that never goes back.
fn longest_series(times: &[Timestamp]) -> Vec<bool> {
    // The last of the best series of each length, and what stands before each in its own.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(times.len());
    let of = |at: &usize| times.get(*at).copied();
    for (at, time) in times.iter().enumerate() {
        let length = ends.partition_point(|end| of(end) <= Some(*time));
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter)).copied());
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut taken = vec![false; times.len()];
    let mut at = ends.last().copied();
    while let Some(place) = at {
        if let Some(slot) = taken.get_mut(place) {
            *slot = true;
        }
        at = before.get(place).copied().flatten();
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(seconds: &[i64]) -> Vec<i64> {
        let time = |second: &i64| (*second >= 0).then(|| Timestamp::from_second(*second).unwrap());
        let times: Vec<_> = seconds.iter().map(time).collect();
        believed(&times).into_iter().map(|time| time.map_or(-1, |time| time.as_second())).collect()
    }

    #[test]
    fn times_that_go_with_the_order_are_believed() {
        assert_eq!(order_of(&[1, 2, 2, 5]), [1, 2, 2, 5]);
        // One wrong time, ahead or behind, moves nothing else.
        assert_eq!(order_of(&[10, 99, 11, 12]), [10, 10, 11, 12]);
        assert_eq!(order_of(&[10, 11, 3, 12]), [10, 11, 11, 12]);
        // The clock was set back: the longer part is believed.
        assert_eq!(order_of(&[50, 51, 5, 6, 7]), [5, 5, 5, 6, 7]);
        assert_eq!(order_of(&[50, 51, 52, 5, 6]), [50, 51, 52, 52, 52]);
        // No time at all is a time like the one before.
        assert_eq!(order_of(&[-1, 4, -1, 6]), [4, 4, 4, 6]);
        assert_eq!(order_of(&[-1, -1]), [-1, -1]);
    }
}
