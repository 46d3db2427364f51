//! What a teacher's tokens cost.

use crate::api::Api;
use crate::journal::Usage;
use backstory_model::Money;
use backstory_model::Spent;
use backstory_session::stats::Prices;
use std::sync::Arc;

/// Prices of one model.
#[derive(Debug, Clone)]
pub enum Price {
    /// Prices from the settings.
    Given(Rates),
    /// From a table of list prices.
    Listed(Arc<Prices>, String),
    /// Not known, and not guessed.
    Unknown,
}

/// Trillionths of a dollar for one token: a dollar per million tokens is a million of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Prompt tokens that are not cached.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
}

/// Where prices are looked up that a teacher does not give.
#[derive(Debug, Clone)]
pub struct PriceTable(Option<Arc<Prices>>);

impl PriceTable {
    /// A table of list prices.
    pub fn new(prices: Prices) -> PriceTable {
        PriceTable(Some(Arc::new(prices)))
    }

    /// A table without prices.
    pub fn none() -> PriceTable {
        PriceTable(None)
    }

    /// The price of a model by its name.
    pub fn of(&self, model: &str) -> Price {
        match &self.0 {
            Some(prices) if prices.price(model, &Spent::default()).is_some() => {
                Price::Listed(Arc::clone(prices), model.to_owned())
            }
            _ => Price::Unknown,
        }
    }
}

impl Price {
    /// Dollars for a million tokens: read, written, read from the cache, written to the cache. Without
    /// prices of the cache, Anthropic's are its usual shares of the first, others' are the first.
    pub(crate) fn given(api: Api, dollars: [Option<f64>; 4]) -> Option<Price> {
        let rate = |dollars: f64| {
            let rate = (dollars * 1e6).round();
            (0.0..=1e12).contains(&rate).then_some(rate as u64)
        };
        let [input, output, cache_read, cache_write] = dollars;
        let (input, output) = (input?, output?);
        let (read, write) = match api {
            Api::Anthropic => (0.1, 1.25),
            Api::OpenAi => (1.0, 1.0),
        };
        Some(Price::Given(Rates {
            input: rate(input)?,
            output: rate(output)?,
            cache_read: rate(cache_read.unwrap_or(input * read))?,
            cache_write: rate(cache_write.unwrap_or(input * write))?,
        }))
    }

    /// Whether there is a price.
    pub fn is_known(&self) -> bool {
        !matches!(self, Price::Unknown)
    }

    /// What a call cost.
    pub fn cost(&self, usage: &Usage) -> Option<Money> {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let written = usage.cache_write_tokens.min(usage.prompt_tokens - cached);
        let fresh = usage.prompt_tokens - cached - written;
        let parts = [fresh, usage.completion_tokens, cached, written];
        let cost = match self {
            Price::Unknown => return None,
            Price::Given(rates) => {
                let rates = [rates.input, rates.output, rates.cache_read, rates.cache_write];
                let cost = |(tokens, rate): (&u64, u64)| u128::from(*tokens) * u128::from(rate);
                Money::from_picos(parts.iter().zip(rates).map(cost).sum())
            }
            Price::Listed(prices, model) => {
                let mut spent = Spent::default();
                let tokens = &mut spent.tokens;
                [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write] = parts;
                prices.price(model, &spent)?
            }
        };
        Some(cost.in_nanos())
    }

    /// The most that a call can cost: nothing cached, everything written to the cache where that is
    /// costs more.
    pub fn most(&self, prompt_tokens: u64, completion_tokens: u64) -> Option<Money> {
        let usage = Usage { prompt_tokens, completion_tokens, ..Usage::default() };
        let written = Usage { cache_write_tokens: prompt_tokens, ..usage };
        Some(self.cost(&usage)?.max(self.cost(&written)?))
    }

    /// Dollars for a million tokens, as [`given`](Price::given) takes them.
    pub fn per_million(&self) -> Option<[Money; 4]> {
        const MILLION: u64 = 1_000_000;
        let one = |usage: Usage| self.cost(&usage);
        let usage = Usage::default();
        Some([
            one(Usage { prompt_tokens: MILLION, ..usage })?,
            one(Usage { completion_tokens: MILLION, ..usage })?,
            one(Usage { prompt_tokens: MILLION, cached_tokens: MILLION, ..usage })?,
            one(Usage { prompt_tokens: MILLION, cache_write_tokens: MILLION, ..usage })?,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_by_hand() {
        let price =
            Price::given(Api::OpenAi, [Some(3.0), Some(15.0), Some(0.3), Some(3.75)]).unwrap();
        let usage = Usage {
            prompt_tokens: 1_000,
            completion_tokens: 100,
            cached_tokens: 600,
            cache_write_tokens: 300,
            reasoning_tokens: 50,
        };
        // 100 · 3 + 600 · 0.3 + 300 · 3.75 + 100 · 15 millionths of a dollar
        assert_eq!(price.cost(&usage).unwrap(), Money::from_nanos(3_105_000));
        assert_eq!(price.most(1_000, 100).unwrap(), Money::from_nanos(5_250_000));
        assert_eq!(Price::Unknown.cost(&usage), None);
        let listed = PriceTable::new(Prices::bundled().unwrap()).of("claude-sonnet-4-5");
        assert_eq!(listed.cost(&usage).unwrap(), price.cost(&usage).unwrap());
        assert!(matches!(
            PriceTable::new(Prices::bundled().unwrap()).of("no-such"),
            Price::Unknown
        ));
    }
}
