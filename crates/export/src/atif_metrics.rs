//! Tokens and costs of ATIF steps and trajectories.

use crate::context::{Context, CountedTokens};
use crate::json::CanonicalWriter;
use backstory_model::{Money, Step, UsageTotal};
use backstory_session::stats::{Cost, Prices};

/// Sums over the steps of one trajectory.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) steps: u64,
    usage: UsageTotal,
    cost: Cost,
    /// Messages without any count.
    uncounted: u64,
}

impl Sums {
    /// Adds a message; `spent` is what it took, unless that was added already.
    pub(super) fn add(&mut self, step: &Step, spent: Option<&UsageTotal>, prices: &Prices) {
        if let Some(spent) = spent {
            self.usage.add(spent);
            self.cost.add(Cost::of(prices.of_message(step)));
        }
        self.uncounted += u64::from(step.usage.is_none() && !step.synthetic);
    }

    pub(super) fn write(
        &self,
        context: &Context<'_>,
        member: usize,
        canon: &mut CanonicalWriter<'_>,
    ) {
        // Where only the sum over all messages is known, it is kept with the session itself.
        let only_sum = context.told == CountedTokens::Sum && member == 0;
        let usage = if only_sum { &context.usage } else { &self.usage };
        let reported = context.session.reported_cost.filter(|_| member == 0);
        canon.key("final_metrics");
        canon.open();
        if only_sum || self.usage.messages > 0 || self.uncounted == 0 {
            canon.key("total_prompt_tokens");
            canon.number(prompt_tokens(usage));
            canon.key("total_completion_tokens");
            canon.number(usage.output);
            canon.key("total_cached_tokens");
            canon.number(usage.cache_read);
        }
        if let Some(cost) = self.cost.whole_dollars().or(reported) {
            canon.key("total_cost_usd");
            canon.float(cost);
        }
        canon.key("total_steps");
        canon.number(self.steps);
        if usage.incomplete || self.uncounted > 0 && !only_sum {
            canon.key("extra");
            canon.open();
            canon.key("tokens_incomplete");
            canon.bool(true);
            canon.close();
        }
        canon.close();
    }
}

/// Those of one message.
pub(super) fn metrics(spent: &UsageTotal, cost: Option<Money>, canon: &mut CanonicalWriter<'_>) {
    canon.key("metrics");
    canon.open();
    canon.key("prompt_tokens");
    canon.number(prompt_tokens(spent));
    canon.key("completion_tokens");
    canon.number(spent.output);
    canon.key("cached_tokens");
    canon.number(spent.cache_read);
    if let Some(cost) = cost {
        canon.key("cost_usd");
        canon.float(cost.dollars());
    }
    canon.key("extra");
    canon.open();
    canon.key("cache_creation_input_tokens");
    canon.number(spent.cache_write);
    if spent.incomplete {
        canon.key("completion_tokens_incomplete");
        canon.bool(true);
    }
    canon.close();
    canon.close();
}

/// All tokens that were read, from the cache or not.
fn prompt_tokens(usage: &UsageTotal) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}
