//! Which states are worth asking a teacher about.
//!
//! A teacher's answer is worth most where it differs from the student's, and a trace often shows where that is:
//! the next result is a failure, the user says no, the same call comes again. Each such [`Signal`] adds to the
//! odds of a disagreement; the score of a state is the chance of one, times what it is worth, over what asking
//! costs. States are then taken by their score until the budget is spent.
//!
//! The weights are set by hand, not learnt: there is nothing to learn them from before teachers were asked, and
//! a rule that can be read can be argued with. Not here: finding signals (the export of states does) and
//! estimating costs (the caller knows prices).

mod report;
mod signal;

pub use report::{Band, Buys, GateReport};
pub use signal::{Signal, Signals};

/// Log-odds of a disagreement where nothing points to one: about one state in twenty.
const BASE: f64 = -3.0;

/// What a state is worth asking about, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Chance that a teacher does something else than the student.
    pub probability: f64,
    /// What a disagreement is worth, an ordinary one being 1: one about a change counts half more.
    pub value: f64,
    /// What asking costs, in any unit.
    pub cost: f64,
    /// What each signal added to the log-odds.
    pub parts: Vec<(Signal, f64)>,
}

impl Score {
    /// Scores a state by its signals and the estimated cost of asking about it. Costs below the
    /// smallest positive number count as that, so that free states come first and by their worth.
    pub fn of(signals: Signals, cost: f64) -> Score {
        let parts: Vec<(Signal, f64)> =
            signals.iter().map(|signal| (signal, signal.weight())).collect();
        let odds = BASE + parts.iter().map(|(_, weight)| weight).sum::<f64>();
        let cost = if cost.is_finite() { cost.max(f64::MIN_POSITIVE) } else { f64::MAX };
        let value = if signals.holds(Signal::Mutating) { 1.5 } else { 1.0 };
        Score { probability: 1.0 / (1.0 + (-odds).exp()), value, cost, parts }
    }

    /// What asking is expected to bring.
    pub fn worth(&self) -> f64 {
        self.probability * self.value
    }

    /// What it is expected to bring for its cost.
    pub fn ratio(&self) -> f64 {
        self.worth() / self.cost
    }

    /// The score in words: `p 0.71 (base -3, result_error +3.5, mutating +0.4) × 1.5 / 0.0031`.
    pub fn explain(&self) -> String {
        let mut words = format!("p {:.2} (base {BASE}", self.probability);
        for (signal, weight) in &self.parts {
            words.push_str(&format!(", {} {weight:+}", signal.name()));
        }
        words.push_str(&format!(") \u{d7} {} / {}", self.value, short(self.cost)));
        words
    }
}

fn short(cost: f64) -> String {
    match cost {
        cost if cost >= 100.0 => format!("{cost:.0}"),
        cost if cost >= 1.0 => format!("{cost:.2}"),
        cost => format!("{cost:.6}"),
    }
}

/// States that were taken.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Picked {
    /// Their places, in the order in which they were given.
    pub places: Vec<usize>,
    /// The sum of their costs.
    pub cost: f64,
    /// What they are expected to bring.
    pub worth: f64,
}

/// Places of all states, the best for their cost first; of equals the one that is first.
pub fn ranked(scores: &[Score]) -> Vec<usize> {
    let mut places: Vec<(f64, usize)> =
        scores.iter().enumerate().map(|(at, score)| (score.ratio(), at)).collect();
    places.sort_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(&two.1)));
    places.into_iter().map(|(_, at)| at).collect()
}

/// Takes states by what they bring for their cost, and skips those that no longer fit.
pub fn pick(scores: &[Score], budget: f64) -> Picked {
    pick_ranked(scores, &ranked(scores), budget)
}

fn pick_ranked(scores: &[Score], ranked: &[usize], budget: f64) -> Picked {
    let mut picked = Picked::default();
    for at in ranked {
        let Some(score) = scores.get(*at) else { continue };
        if picked.cost + score.cost > budget {
            continue;
        }
        picked.cost += score.cost;
        picked.worth += score.worth();
        picked.places.push(*at);
    }
    picked.places.sort_unstable();
    picked
}

#[cfg(test)]
mod tests;
