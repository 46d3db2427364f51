//! How scores are spread, and what a budget buys.

use super::{Score, Signal, pick_ranked, ranked};

/// How scores are spread, and what shares of the whole cost buy.
#[derive(Debug, Clone, PartialEq)]
pub struct GateReport {
    /// States.
    pub states: u64,
    /// The cost of asking about all of them.
    pub cost: f64,
    /// Disagreements that are expected if all states are asked about.
    pub expected: f64,
    /// By chance of a disagreement, the lowest first.
    pub bands: Vec<Band>,
    /// How many states have each signal, those that none has left out.
    pub signals: Vec<(Signal, u64)>,
    /// What shares of the whole cost buy.
    pub budgets: Vec<Buys>,
}

/// States whose chance of a disagreement is in a tenth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Where the tenth begins.
    pub from: f64,
    /// States in this tenth.
    pub states: u64,
    /// The cost of asking about them.
    pub cost: f64,
}

/// What a budget buys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Buys {
    /// The budget.
    pub budget: f64,
    /// States that it buys.
    pub states: u64,
    /// What they cost.
    pub cost: f64,
    /// Disagreements expected among them.
    pub expected: f64,
    /// The same for states taken by chance at that cost.
    pub by_chance: f64,
}

/// Shares of the whole cost that a report looks at.
const SHARES: [f64; 8] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0];

impl GateReport {
    /// Reports on scores; `budget` is looked at too where it is less than the whole cost.
    pub fn of(scores: &[Score], budget: Option<f64>) -> GateReport {
        let cost: f64 = scores.iter().map(|score| score.cost).sum();
        let expected: f64 = scores.iter().map(|score| score.probability).sum();
        let mut bands: Vec<Band> = (0..10)
            .map(|tenth| Band { from: f64::from(tenth) / 10.0, states: 0, cost: 0.0 })
            .collect();
        for score in scores {
            let tenth = ((score.probability * 10.0) as usize).min(9);
            if let Some(band) = bands.get_mut(tenth) {
                band.states += 1;
                band.cost += score.cost;
            }
        }
        let has = |score: &&Score, signal| score.parts.iter().any(|(part, _)| *part == signal);
        let signals = Signal::ALL
            .into_iter()
            .map(|signal| (signal, scores.iter().filter(|score| has(score, signal)).count() as u64))
            .filter(|(_, count)| *count > 0)
            .collect();
        let ranked = ranked(scores);
        // A little more than the whole, since sums in another order differ.
        let mut budgets: Vec<f64> =
            SHARES.iter().map(|share| share * cost * (1.0 + 1e-9)).collect();
        budgets.extend(budget.filter(|budget| (0.0..cost).contains(budget)));
        budgets.sort_by(f64::total_cmp);
        let budgets = budgets
            .into_iter()
            .map(|budget| {
                let picked = pick_ranked(scores, &ranked, budget);
                let chances = picked.places.iter().filter_map(|at| scores.get(*at));
                Buys {
                    budget,
                    states: picked.places.len() as u64,
                    cost: picked.cost,
                    expected: chances.map(|score| score.probability).sum(),
                    by_chance: if cost > 0.0 { expected * (budget / cost).min(1.0) } else { 0.0 },
                }
            })
            .collect();
        GateReport { states: scores.len() as u64, cost, expected, bands, signals, budgets }
    }
}
