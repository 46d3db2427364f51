//! Who agrees with whom, by teacher, by tool and by level.

use super::consensus::{Verdict, decide};
use backstory_export::normalise::{Level, Normal};
use serde::Serialize;
use std::collections::BTreeMap;

/// Answers, and how many of them are the student's action at each level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Answers compared.
    pub answers: u64,
    /// By the name of the level.
    pub same_as_student: BTreeMap<&'static str, u64>,
}

impl Counts {
    fn note(&mut self, answer: &Normal, student: &Normal, levels: &[Level]) {
        self.answers += 1;
        for level in levels {
            let same = u64::from(answer.same(student, *level));
            *self.same_as_student.entry(level.name()).or_default() += same;
        }
    }
}

/// A teacher.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TeacherCounts {
    pub id: String,
    pub model: String,
    pub errors: u64,
    /// Answers that were cut off.
    pub cut: u64,
    /// States with a consensus that it answered, and how often it was part of it.
    pub with_consensus: u64,
    pub in_consensus: u64,
    #[serde(flatten)]
    pub counts: Counts,
}

/// What a level would have given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LevelCounts {
    pub level: String,
    /// States with an answer.
    pub states: u64,
    pub consensus: u64,
    pub agree_with_student: u64,
    pub differ: u64,
}

/// Agreement over all states.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agreement {
    /// Each teacher compared with the student.
    pub teachers: Vec<TeacherCounts>,
    /// By what the student used.
    pub tools: BTreeMap<String, Counts>,
    /// Teachers compared with each other, by level.
    pub levels: Vec<LevelCounts>,
    compared: Vec<Level>,
}

impl Agreement {
    /// Compares at the usual levels; the one that pairs are made with stands for its kind.
    pub(super) fn new(teachers: &[(String, String)], level: Level) -> Agreement {
        let own = |usual: Level| if usual.name() == level.name() { level } else { usual };
        let compared: Vec<Level> = Level::ALL.into_iter().map(own).collect();
        let named =
            |level: &Level| LevelCounts { level: level.to_string(), ..LevelCounts::default() };
        let teacher = |(id, model): &(String, String)| TeacherCounts {
            id: id.clone(),
            model: model.clone(),
            ..TeacherCounts::default()
        };
        Agreement {
            teachers: teachers.iter().map(teacher).collect(),
            tools: BTreeMap::new(),
            levels: compared.iter().map(named).collect(),
            compared,
        }
    }

    /// Notes the answers at a state; `of` are the teachers who gave them.
    pub(super) fn note(
        &mut self,
        of: &[usize],
        answers: &[Normal],
        student: &Normal,
        min_agree: Option<usize>,
        verdict: &Verdict,
    ) {
        if answers.is_empty() {
            return;
        }
        let mut tools = student.tools();
        tools.dedup();
        let by_tool = self.tools.entry(tools.join("+")).or_default();
        for (at, (teacher, answer)) in of.iter().zip(answers).enumerate() {
            by_tool.note(answer, student, &self.compared);
            let Some(teacher) = self.teachers.get_mut(*teacher) else { continue };
            teacher.counts.note(answer, student, &self.compared);
            if let Verdict::Agrees(group) | Verdict::Differs(group) = verdict {
                teacher.with_consensus += 1;
                teacher.in_consensus += u64::from(group.contains(&at));
            }
        }
        for (level, counts) in self.compared.iter().zip(&mut self.levels) {
            counts.states += 1;
            match decide(answers, student, *level, min_agree) {
                Verdict::Agrees(_) => counts.agree_with_student += 1,
                Verdict::Differs(_) => counts.differ += 1,
                _ => continue,
            }
            counts.consensus += 1;
        }
    }
}
