//! What a run will take, before anything is sent.
//!
//! Four bytes of a prompt as it is sent are taken for a token, the student's action for the length of the
//! answer. The first states of a run are measured, and the estimate is corrected by them.

use crate::journal::Usage;
use crate::states::{Conversation, State};
use crate::teacher::{Api, Teacher};
use crate::wire::{Request, Wire};
use backstory_model::Money;
use backstory_redact::Cleared;

const BYTES: u64 = 4;

/// What calls take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Calls.
    pub calls: u64,
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Tokens that the call before had, too, which a prompt cache reads.
    pub cached_tokens: u64,
    /// Tokens of the answers.
    pub completion_tokens: u64,
    /// None where no price is known.
    pub uncached: Option<Money>,
    /// The cost if caches work, if prices are known.
    pub cached: Option<Money>,
    /// With answers of `max_tokens`, and nothing cached.
    pub most: Option<Money>,
}

impl Estimate {
    /// Nothing yet, for a teacher that has a price or not.
    pub fn none(teacher: &Teacher) -> Estimate {
        let zero = teacher.price.is_known().then_some(Money::ZERO);
        Estimate { uncached: zero, cached: zero, most: zero, ..Estimate::default() }
    }

    /// Adds another estimate.
    pub fn add(&mut self, other: &Estimate) {
        let sum = |one: Option<Money>, other: Option<Money>| Some(one? + other?);
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.cached_tokens += other.cached_tokens;
        self.completion_tokens += other.completion_tokens;
        self.uncached = sum(self.uncached, other.uncached);
        self.cached = sum(self.cached, other.cached);
        self.most = sum(self.most, other.most);
    }
}

/// Estimates the calls of one conversation.
#[derive(Debug)]
pub struct Estimator<'c> {
    conversation: &'c Cleared<Conversation>,
    openai: Option<Wire>,
    anthropic: Option<Wire>,
}

impl<'c> Estimator<'c> {
    /// An estimator for one conversation.
    pub fn new(conversation: &'c Cleared<Conversation>) -> Estimator<'c> {
        Estimator { conversation, openai: None, anthropic: None }
    }

    fn wire(&mut self, api: Api) -> &Wire {
        let slot = match api {
            Api::OpenAi => &mut self.openai,
            Api::Anthropic => &mut self.anthropic,
        };
        slot.get_or_insert_with(|| Wire::new(self.conversation, api))
    }

    /// A call about state `at`; `before` is the state that is asked before it.
    pub fn call(&mut self, at: usize, before: Option<usize>, teacher: &Teacher) -> Estimate {
        let states = &self.conversation.get().states;
        let before = before.and_then(|before| states.get(before));
        match states.get(at) {
            Some(state) => estimate(self.wire(teacher.api), state, before, teacher),
            None => Estimate::none(teacher),
        }
    }

    /// The request about state `at`, as it will be sent.
    pub fn request(&mut self, at: usize, teacher: &Teacher) -> Option<Request> {
        let states = &self.conversation.get().states;
        self.wire(teacher.api).request(states, at, teacher)
    }
}

fn estimate(wire: &Wire, state: &State, before: Option<&State>, teacher: &Teacher) -> Estimate {
    let weight = wire.weight(state, before, teacher.tools);
    let prompt_tokens = weight.bytes.div_ceil(BYTES);
    let completion_tokens =
        (state.student_action.len() as u64).div_ceil(BYTES).clamp(1, teacher.max_tokens);
    let cached_tokens = weight.shared / BYTES;
    let plain = Usage { prompt_tokens, completion_tokens, ..Usage::default() };
    let cache_write_tokens = match teacher.api {
        Api::Anthropic => prompt_tokens - cached_tokens.min(prompt_tokens),
        Api::OpenAi => 0,
    };
    let cached = Usage { cached_tokens, cache_write_tokens, ..plain };
    Estimate {
        calls: 1,
        prompt_tokens,
        cached_tokens,
        completion_tokens,
        uncached: teacher.price.cost(&plain),
        cached: teacher.price.cost(&cached),
        most: teacher.price.most(prompt_tokens, teacher.max_tokens),
    }
}

/// What a call is expected to cost with a prompt cache.
pub(crate) fn expected_cost(
    wire: &Wire,
    state: &State,
    before: Option<&State>,
    teacher: &Teacher,
) -> Option<Money> {
    estimate(wire, state, before, teacher).cached
}
