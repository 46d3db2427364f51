//! What teachers answered, from the lines of a journal.

use super::{JournalFigures, PairsError};
use crate::journal::{Call, Entry};
use backstory_store::open_file;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;

/// What one teacher did at a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Vote {
    /// Its place in [`Votes::teachers`].
    pub(super) teacher: usize,
    pub(super) answer: Answer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Action(String),
    /// The call failed, or there is nothing in it.
    Error,
    /// It ends where the teacher was cut off, so its action is unknown.
    Cut,
}

/// All answers of a journal.
#[derive(Debug, Default)]
pub(super) struct Votes {
    /// Ids and models, those that count first in front.
    pub(super) teachers: Vec<(String, String)>,
    /// In the order of `teachers`.
    pub(super) by_state: HashMap<String, Vec<Vote>>,
    /// States that the gate left out.
    pub(super) gated: HashSet<String>,
    pub(super) figures: JournalFigures,
}

impl Votes {
    pub(super) fn read(path: &Path, priority: &[String]) -> Result<Votes, PairsError> {
        let failed = |cause| PairsError::Read { path: path.to_path_buf(), cause };
        let mut file = BufReader::with_capacity(256 << 10, open_file(path).map_err(failed)?);
        let mut votes = Votes::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            if file.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            votes.figures.lines += 1;
            let text = std::str::from_utf8(&line).ok();
            match text.and_then(|text| Entry::parse(text.trim_end()).ok()) {
                Some(entry) => votes.note(entry),
                None => votes.figures.unreadable += 1,
            }
        }
        if votes.figures.runs == 0 && votes.figures.calls == 0 {
            return Err(PairsError::NoJournal { path: path.to_path_buf() });
        }
        votes.sort(priority)?;
        Ok(votes)
    }

    fn note(&mut self, entry: Entry) {
        match entry {
            Entry::Run(run) => {
                self.figures.runs += 1;
                for teacher in run.teachers {
                    self.teacher(&teacher.id, &teacher.model);
                }
            }
            Entry::Call(call) => self.call(call),
            Entry::Skip(skip) if skip.why == "gate" => {
                self.gated.insert(skip.state_id);
            }
            Entry::Skip(_) => self.figures.tiered += 1,
            Entry::Sent(_) | Entry::Dropped(_) => {}
        }
    }

    fn teacher(&mut self, id: &str, model: &str) -> usize {
        let known = self.teachers.iter().position(|(known, _)| known == id);
        known.unwrap_or_else(|| {
            self.teachers.push((id.to_owned(), model.to_owned()));
            self.teachers.len() - 1
        })
    }

    fn call(&mut self, call: Call) {
        self.figures.calls += 1;
        self.figures.cost_usd += call.cost_usd.unwrap_or_default();
        self.figures.unpriced += u64::from(call.cost_usd.is_none() && call.action.is_some());
        let teacher = self.teacher(&call.teacher_id, &call.model);
        let cut = matches!(call.finish_reason.as_deref(), Some("length" | "max_tokens"));
        let answer = match call.action.filter(|action| !action.trim().is_empty()) {
            Some(_) if cut => Answer::Cut,
            Some(action) => Answer::Action(action),
            None => Answer::Error,
        };
        let votes = self.by_state.entry(call.state_id).or_default();
        match votes.iter_mut().find(|vote| vote.teacher == teacher) {
            Some(vote) => {
                // Asked again: a failure does not take an answer back.
                self.figures.superseded += 1;
                if matches!(answer, Answer::Action(_)) || !matches!(vote.answer, Answer::Action(_))
                {
                    vote.answer = answer;
                }
            }
            None => votes.push(Vote { teacher, answer }),
        }
    }

    /// Puts teachers that count first in front; the others stay in the order of the journal.
    fn sort(&mut self, priority: &[String]) -> Result<(), PairsError> {
        let mut order = Vec::new();
        for id in priority {
            match self.teachers.iter().position(|(known, _)| known == id) {
                Some(at) if order.contains(&at) => {}
                Some(at) => order.push(at),
                None => return Err(PairsError::NoTeacher(id.clone())),
            }
        }
        for at in 0..self.teachers.len() {
            if !order.contains(&at) {
                order.push(at);
            }
        }
        let place: HashMap<usize, usize> =
            order.iter().enumerate().map(|(place, at)| (*at, place)).collect();
        self.teachers = order.iter().filter_map(|at| self.teachers.get(*at).cloned()).collect();
        for votes in self.by_state.values_mut() {
            for vote in votes.iter_mut() {
                vote.teacher = place.get(&vote.teacher).copied().unwrap_or(vote.teacher);
            }
            votes.sort_by_key(|vote| vote.teacher);
        }
        Ok(())
    }
}
