//! Which states are asked about, and what that takes.

use super::{Gate, ReplayArguments};
use crate::error::CliError;
use backstory_export::gate::{Score, Signals, pick};
use backstory_format::slice::item;
use backstory_redact::Redactor;
use backstory_replay::Money;
use backstory_replay::estimate::{Estimate, Estimator};
use backstory_replay::journal::{CallState, Key, Known};
use backstory_replay::states::{State, StatesFile};
use backstory_replay::teacher::Teacher;

/// The plan of a run.
pub(super) struct Plan {
    /// By conversation and state: whether it is asked about.
    pub(super) wanted: Vec<Vec<bool>>,
    /// By teacher: calls that are not in the journal yet.
    pub(super) estimates: Vec<Estimate>,
    /// By teacher: calls that the journal has.
    pub(super) known: Vec<u64>,
    pub(super) states: u64,
    pub(super) conversations: u64,
    /// What the gate makes of each state, if it was asked.
    pub(super) scored: Vec<Scored>,
    /// States that the gate leaves out.
    pub(super) gated: u64,
    /// The teacher that comes first, if others wait for it.
    pub(super) first: Option<usize>,
}

/// A state and its score.
pub(super) struct Scored {
    pub(super) conversation: usize,
    pub(super) state: usize,
    pub(super) state_id: String,
    pub(super) score: Score,
    /// What it costs if the state before it is not asked about.
    alone: f64,
    pub(super) picked: bool,
}

impl Plan {
    pub(super) fn make(
        arguments: &ReplayArguments,
        teachers: &[Teacher],
        file: &StatesFile,
        redactor: &Redactor,
        known: &Known,
    ) -> Result<Plan, CliError> {
        let mut left = arguments.limit.unwrap_or(u64::MAX);
        let mut wanted: Vec<Vec<bool>> = Vec::new();
        for place in file.places() {
            let count = left.min(place.states as u64);
            left -= count;
            wanted.push((0..place.states as u64).map(|at| at < count).collect());
        }
        let mut plan = Plan {
            wanted,
            estimates: teachers.iter().map(Estimate::none).collect(),
            known: vec![0; teachers.len()],
            states: 0,
            conversations: 0,
            scored: Vec::new(),
            gated: 0,
            first: None,
        };
        let scores = arguments.gate.is_some() || arguments.gate_report;
        if scores {
            plan.score(teachers, file, redactor)?;
        }
        if arguments.gate == Some(Gate::Voi) {
            plan.gate(arguments.budget);
        }
        plan.estimate(teachers, file, redactor, known)?;
        if arguments.tiers {
            plan.first = cheapest(teachers, &plan.estimates);
        }
        Ok(plan)
    }

    /// Scores all states that are wanted, by what all teachers together cost.
    fn score(
        &mut self,
        teachers: &[Teacher],
        file: &StatesFile,
        redactor: &Redactor,
    ) -> Result<(), CliError> {
        let mut scored = Vec::new();
        for (conversation, place) in file.places().iter().enumerate() {
            let loaded = file.load(*place, redactor)?;
            let mut estimator = Estimator::new(&loaded);
            for (at, state) in loaded.get().states.iter().enumerate() {
                if !self.wants(conversation, at) {
                    continue;
                }
                let before = at.checked_sub(1);
                let (mut cost, mut alone) = (0.0, 0.0);
                for teacher in teachers {
                    let call = estimator.call(at, before, teacher);
                    // Without a price, tokens say what is dearer.
                    let tokens = call.prompt_tokens as f64 * 1e-6;
                    cost += call.cached.map_or(tokens, Money::dollars);
                    let single = estimator.call(at, None, teacher);
                    alone += single.cached.map_or(tokens, Money::dollars);
                }
                scored.push(Scored {
                    conversation,
                    state: at,
                    state_id: state.state_id.clone(),
                    score: Score::of(signals(state), cost),
                    alone,
                    picked: true,
                });
            }
        }
        self.scored = scored;
        Ok(())
    }

    /// Keeps what the budget buys; without one, what any signal speaks for.
    fn gate(&mut self, budget: Option<Money>) {
        let scores: Vec<Score> = self.scored.iter().map(|one| one.score.clone()).collect();
        let picked = match budget {
            Some(budget) => self.affordable(&scores, budget.dollars()),
            None => {
                let has_signal = |score: &Score| !score.parts.is_empty();
                (0..scores.len()).filter(|at| scores.get(*at).is_some_and(has_signal)).collect()
            }
        };
        let mut picked = picked.into_iter().peekable();
        for (at, one) in self.scored.iter_mut().enumerate() {
            one.picked = picked.next_if_eq(&at).is_some();
            if !one.picked {
                self.gated += 1;
                let row = self.wanted.get_mut(one.conversation);
                if let Some(slot) = row.and_then(|row| row.get_mut(one.state)) {
                    *slot = false;
                }
            }
        }
    }

    /// What a budget buys. A state whose forerunner is not asked about has nothing in the cache, so
    /// less is picked until the whole fits.
    fn affordable(&self, scores: &[Score], budget: f64) -> Vec<usize> {
        let mut limit = budget;
        loop {
            let picked = pick(scores, limit).places;
            let cost = self.cost(&picked);
            if cost <= budget || picked.is_empty() {
                return picked;
            }
            limit *= (budget / cost).clamp(0.5, 0.98);
        }
    }

    fn cost(&self, picked: &[usize]) -> f64 {
        let mut before = None;
        let mut cost = 0.0;
        for one in picked.iter().filter_map(|at| self.scored.get(*at)) {
            let follows = before == Some((one.conversation, one.state.wrapping_sub(1)));
            cost += if follows { one.score.cost } else { one.alone };
            before = Some((one.conversation, one.state));
        }
        cost
    }

    fn estimate(
        &mut self,
        teachers: &[Teacher],
        file: &StatesFile,
        redactor: &Redactor,
        known: &Known,
    ) -> Result<(), CliError> {
        for (conversation, place) in file.places().iter().enumerate() {
            let row = item(&self.wanted, conversation);
            if !row.contains(&true) {
                continue;
            }
            self.conversations += 1;
            let loaded = file.load(*place, redactor)?;
            let mut estimator = Estimator::new(&loaded);
            let mut before = None;
            for (at, state) in loaded.get().states.iter().enumerate() {
                if !row.get(at).copied().unwrap_or(false) {
                    continue;
                }
                self.states += 1;
                for (number, teacher) in teachers.iter().enumerate() {
                    if is_known(known, &mut estimator, at, state, teacher) {
                        self.known.iter_mut().skip(number).take(1).for_each(|count| *count += 1);
                        continue;
                    }
                    let call = estimator.call(at, before, teacher);
                    self.estimates.iter_mut().skip(number).take(1).for_each(|sum| sum.add(&call));
                }
                before = Some(at);
            }
        }
        Ok(())
    }

    pub(super) fn wants(&self, conversation: usize, state: usize) -> bool {
        self.wanted.get(conversation).and_then(|row| row.get(state)).copied().unwrap_or(false)
    }

    /// The first states that are asked about.
    pub(super) fn first_states(&self, count: usize) -> Vec<(usize, usize)> {
        let rows = self.wanted.iter().enumerate();
        let all = rows.flat_map(|(conversation, row)| {
            let wanted = row.iter().enumerate().filter(|(_, wanted)| **wanted);
            wanted.map(move |(state, _)| (conversation, state))
        });
        all.take(count).collect()
    }

    /// What it is expected to cost; none if a price is missing.
    pub(super) fn expected(&self) -> Option<Money> {
        self.estimates.iter().map(|estimate| estimate.cached).sum()
    }
}

/// Whether the journal has the answer. Only then the request is put together, for its hash.
fn is_known(
    known: &Known,
    estimator: &mut Estimator<'_>,
    at: usize,
    state: &State,
    teacher: &Teacher,
) -> bool {
    if known.is_empty() {
        return false;
    }
    let Some(request) = estimator.request(at, teacher) else { return false };
    let key = Key::new(&state.state_id, &teacher.id, &request.hash);
    !matches!(known.state(&key), CallState::Open { .. })
}

/// What the trace says about a state.
fn signals(state: &State) -> Signals {
    let names = state.meta.get("signals").and_then(|signals| signals.as_array());
    Signals::named(names.into_iter().flatten().filter_map(|name| name.as_str()))
}

/// The teacher whose price for these states is least; the first of all if a price is missing.
fn cheapest(teachers: &[Teacher], estimates: &[Estimate]) -> Option<usize> {
    let price = |teacher: &Teacher| teacher.price.most(3_000, 1_000);
    let prices: Option<Vec<Money>> = teachers.iter().map(price).collect();
    match prices {
        Some(prices) => (0..estimates.len()).min_by_key(|at| prices.get(*at).copied()),
        None => Some(0),
    }
}
