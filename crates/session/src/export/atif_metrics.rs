//! Tokens and costs of ATIF steps and trajectories.

use super::json::Canon;
use crate::model::UsageTotal;

/// Those of one message.
pub(super) fn metrics(spent: &UsageTotal, cost: Option<u128>, canon: &mut Canon<'_>) {
    canon.key("metrics");
    canon.open();
    canon.key("prompt_tokens");
    canon.number(prompt_tokens(spent));
    canon.key("completion_tokens");
    canon.number(spent.output);
    canon.key("cached_tokens");
    canon.number(spent.cache_read);
    if let Some(price) = cost {
        canon.key("cost_usd");
        canon.float(price as f64 / 1e12);
    }
    canon.key("extra");
    canon.open();
    canon.key("cache_creation_input_tokens");
    canon.number(spent.cache_write);
    if spent.incomplete {
        canon.key("completion_tokens_incomplete");
        canon.flag(true);
    }
    canon.close();
    canon.close();
}

/// Sums over the steps of one trajectory.
pub(super) fn final_metrics(steps: u64, usage: &UsageTotal, canon: &mut Canon<'_>) {
    canon.key("final_metrics");
    canon.open();
    canon.key("total_prompt_tokens");
    canon.number(prompt_tokens(usage));
    canon.key("total_completion_tokens");
    canon.number(usage.output);
    canon.key("total_cached_tokens");
    canon.number(usage.cache_read);
    canon.key("total_steps");
    canon.number(steps);
    canon.close();
}

/// All tokens that were read, from the cache or not.
fn prompt_tokens(usage: &UsageTotal) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}
