//! What teachers agree on.
//!
//! Answers that are the same at a level form a group; the largest group is the consensus if it is large
//! enough. At a fuzzy level an answer joins the first group whose first answer it is the same as. Of groups
//! of one size the one with the teacher that counts first wins, even if another one agrees with the student.

use backstory_export::normalise::{Level, Normal};

/// What answers come to. Groups are places of answers, the first of them being the one that counts
/// first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No teacher answered.
    NoAnswers,
    /// Fewer answered than must agree.
    TooFew,
    /// No group is large enough.
    NoConsensus,
    /// They would have done what the student did.
    Agrees(Vec<usize>),
    /// They would have done something else.
    Differs(Vec<usize>),
}

/// The default of how many must agree: a majority, and two at least.
pub(super) fn needed(answers: usize, min_agree: Option<usize>) -> usize {
    min_agree.unwrap_or_else(|| (answers / 2 + 1).max(2)).max(1)
}

/// Decides; `answers` are in the order in which they count.
pub fn decide(
    answers: &[Normal],
    student: &Normal,
    level: Level,
    min_agree: Option<usize>,
) -> Verdict {
    if answers.is_empty() {
        return Verdict::NoAnswers;
    }
    let needed = needed(answers.len(), min_agree);
    if answers.len() < needed {
        return Verdict::TooFew;
    }
    let mut groups: Vec<(&Normal, Vec<usize>)> = Vec::new();
    for (at, answer) in answers.iter().enumerate() {
        match groups.iter_mut().find(|(first, _)| first.same(answer, level)) {
            Some((_, group)) => group.push(at),
            None => groups.push((answer, vec![at])),
        }
    }
    // The first of the largest.
    let mut best: Option<(&Normal, Vec<usize>)> = None;
    for group in groups {
        if best.as_ref().is_none_or(|(_, best)| group.1.len() > best.len()) {
            best = Some(group);
        }
    }
    match best {
        Some((_, group)) if group.len() < needed => Verdict::NoConsensus,
        Some((first, group)) if first.same(student, level) => Verdict::Agrees(group),
        Some((_, group)) => Verdict::Differs(group),
        None => Verdict::NoAnswers,
    }
}
