//! What tokens cost: a dated table of list prices, bundled or given.
//!
//! A model that the table does not name has no price. Nothing is guessed from similar names; only
//! what a name carries besides the model (a date, a region, the length of the context) is taken
//! off.

use backstory_model::{Geography, Money, Speed, Spent};
use hashbrown::HashMap;
use serde::Deserialize;

const BUNDLED: &str = include_str!("../../prices/claude.toml");

/// A table of prices.
#[derive(Debug, Clone)]
pub struct Prices {
    /// The day of the prices.
    pub date: String,
    /// Where they come from.
    pub source: String,
    web_search: Option<Rate>,
    models: HashMap<String, Model>,
}

/// Why a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// The text is not TOML, or has other fields.
    #[error("{0}")]
    Toml(String),
    /// A field is not a price.
    #[error("`{0}`: a price is a number of dollars from 0 to 1,000,000")]
    Number(String),
}

/// Trillionths of a dollar for one token: a dollar per million tokens is a million of them.
type Rate = u64;

#[derive(Debug, Clone, Copy)]
struct Rates {
    input: Rate,
    output: Rate,
    cache_read: Rate,
    cache_write_5m: Rate,
    cache_write_1h: Rate,
}

#[derive(Debug, Clone)]
struct Model {
    rates: Rates,
    /// Rates of requests that read more than this many tokens.
    above: Option<(u64, Rates)>,
    /// Factors in thousandths.
    fast: Option<u64>,
    us: Option<u64>,
    regional: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    date: String,
    source: String,
    web_search: Option<f64>,
    #[serde(default)]
    model: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write_5m: f64,
    cache_write_1h: f64,
    fast: Option<f64>,
    us: Option<f64>,
    regional: Option<f64>,
    above: Option<Above>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Above {
    tokens: u64,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write_5m: f64,
    cache_write_1h: f64,
}

impl Prices {
    /// The bundled table.
    pub fn bundled() -> Result<Prices, PricesError> {
        Prices::parse(BUNDLED)
    }

    /// A table in the form of the bundled one.
    pub fn parse(text: &str) -> Result<Prices, PricesError> {
        let file: File =
            toml::from_str(text).map_err(|error| PricesError::Toml(error.to_string()))?;
        let mut models = HashMap::new();
        for entry in file.model {
            let name = entry.name.clone();
            models.insert(name, entry.read()?);
        }
        // A price for a thousand searches is that of one in thousandths.
        let web_search =
            file.web_search.map(|price| scaled("web_search", price, 1e9)).transpose()?;
        Ok(Prices { date: file.date, source: file.source, web_search, models })
    }

    /// The cost; none if the table has no price.
    pub fn price(&self, model: &str, spent: &Spent) -> Option<Money> {
        let (model, place) = self.find(model)?;
        let factors = [
            match spent.speed {
                Speed::Standard => 1_000,
                Speed::Fast => model.fast?,
                Speed::Other => return None,
            },
            match spent.geography {
                Geography::Any => 1_000,
                Geography::UnitedStates => model.us.unwrap_or(1_000),
            },
            match place {
                Place::Anywhere => 1_000,
                Place::Region => model.regional.unwrap_or(1_000),
            },
        ];
        let tokens = &spent.tokens;
        let read = [tokens.cache_read, tokens.cache_write]
            .into_iter()
            .fold(tokens.input, u64::saturating_add);
        let rates = match &model.above {
            Some((limit, rates)) if read > *limit => rates,
            _ => &model.rates,
        };
        let hour = tokens.cache_write_1h.unwrap_or(0);
        let minutes = tokens.cache_write_5m.unwrap_or(0);
        // Writes of unknown lifetime: those of clients that knew only one, of five minutes.
        let rest = tokens.cache_write.saturating_sub(minutes.saturating_add(hour));
        let parts = [
            (tokens.input, rates.input),
            (tokens.output, rates.output),
            (tokens.cache_read, rates.cache_read),
            (minutes, rates.cache_write_5m),
            (rest, rates.cache_write_5m),
            (hour, rates.cache_write_1h),
        ];
        let mut cost: u128 =
            parts.iter().map(|(count, rate)| u128::from(*count) * u128::from(*rate)).sum();
        for factor in factors.into_iter().filter(|factor| *factor != 1_000) {
            cost = cost * u128::from(factor) / 1_000;
        }
        if spent.web_searches > 0 {
            cost += u128::from(spent.web_searches) * u128::from(self.web_search?);
        }
        Some(Money::from_picos(cost))
    }

    fn find(&self, name: &str) -> Option<(&Model, Place)> {
        if let Some(model) = self.models.get(name) {
            return Some((model, Place::Anywhere));
        }
        let (plain, place) = plain_name(name);
        self.models.get(plain).map(|model| (model, place))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Anywhere,
    /// A region of a cloud, which some models cost more in.
    Region,
}

/// The model in names such as `claude-opus-4-1-20250805`, `claude-sonnet-4-5@20250929`,
/// `us.anthropic.claude-sonnet-4-20250514-v1:0` or `claude-sonnet-4-5[1m]`.
fn plain_name(name: &str) -> (&str, Place) {
    let name = name.strip_suffix("[1m]").unwrap_or(name);
    let name = name.strip_prefix("anthropic/").unwrap_or(name);
    let (name, place) = match name.split_once("anthropic.") {
        Some(("" | "global.", rest)) => (rest, Place::Anywhere),
        Some((region, rest)) if region.ends_with('.') => (rest, Place::Region),
        _ => (name, Place::Anywhere),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match name.rsplit_once("-v") {
        Some((rest, version))
            if version.split_once(':').map_or(digits(version), |(a, b)| digits(a) && digits(b)) =>
        {
            rest
        }
        _ => name,
    };
    let name = match name.rsplit_once(['-', '@']) {
        Some((rest, date)) if date.len() == 8 && digits(date) => rest,
        Some((rest, "latest")) => rest,
        _ => name,
    };
    (name, place)
}

impl Entry {
    fn read(self) -> Result<Model, PricesError> {
        let name = &self.name;
        let rate = |price| scaled(name, price, 1e6);
        let factor = |value: Option<f64>| value.map(|value| scaled(name, value, 1e3)).transpose();
        let above = self.above.as_ref().map(|above| {
            let rates = Rates {
                input: rate(above.input)?,
                output: rate(above.output)?,
                cache_read: rate(above.cache_read)?,
                cache_write_5m: rate(above.cache_write_5m)?,
                cache_write_1h: rate(above.cache_write_1h)?,
            };
            Ok((above.tokens, rates))
        });
        Ok(Model {
            rates: Rates {
                input: rate(self.input)?,
                output: rate(self.output)?,
                cache_read: rate(self.cache_read)?,
                cache_write_5m: rate(self.cache_write_5m)?,
                cache_write_1h: rate(self.cache_write_1h)?,
            },
            above: above.transpose()?,
            fast: factor(self.fast)?,
            us: factor(self.us)?,
            regional: factor(self.regional)?,
        })
    }
}

fn scaled(name: &str, value: f64, unit: f64) -> Result<u64, PricesError> {
    if !(0.0..=1e6).contains(&value) {
        return Err(PricesError::Number(name.to_owned()));
    }
    Ok((value * unit).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstory_format::claude::Usage;

    fn dollars(model: &str, spent: Spent) -> Option<f64> {
        Prices::bundled().unwrap().price(model, &spent).map(Money::dollars)
    }

    fn tokens(tokens: Usage) -> Spent {
        Spent { tokens, ..Spent::default() }
    }

    #[test]
    fn hours_and_minutes_in_the_cache_cost_differently() {
        let write = |five, hour| {
            tokens(Usage {
                cache_write: 100_000,
                cache_write_5m: five,
                cache_write_1h: hour,
                ..Usage::default()
            })
        };
        let model = "claude-sonnet-4-5-20250929";
        assert_eq!(dollars(model, write(Some(0), Some(100_000))), Some(0.6));
        assert_eq!(dollars(model, write(Some(100_000), Some(0))), Some(0.375));
        assert_eq!(dollars(model, write(None, None)), Some(0.375));
        assert_eq!(dollars(model, write(Some(50_000), Some(50_000))), Some(0.4875));
    }

    #[test]
    fn names_carry_more_than_the_model() {
        let spent = tokens(Usage { output: 1_000_000, ..Usage::default() });
        for name in [
            "claude-opus-4-1",
            "claude-opus-4-1-20250805",
            "claude-opus-4-1@20250805",
            "us.anthropic.claude-opus-4-1-20250805-v1:0",
            "anthropic/claude-opus-4-1",
            "claude-opus-4-1[1m]",
        ] {
            assert_eq!(dollars(name, spent), Some(75.0), "{name}");
        }
        for name in ["claude-opus-9", "glm-4.7", "claude-opus", "claude-opus-4-1-mini", ""] {
            assert_eq!(dollars(name, spent), None, "{name}");
        }
    }

    #[test]
    fn a_long_request_is_priced_as_a_whole() {
        let usage = Usage { input: 1_000, cache_read: 200_000, output: 1_000, ..Usage::default() };
        let short = Usage { cache_read: 199_000, ..usage };
        assert_eq!(dollars("claude-sonnet-4-20250514", tokens(short)), Some(0.0777));
        assert_eq!(dollars("claude-sonnet-4-20250514", tokens(usage)), Some(0.1485));
    }

    #[test]
    fn speed_place_and_searches_count() {
        let spent = tokens(Usage { input: 1_000_000, ..Usage::default() });
        let fast = Spent { speed: Speed::Fast, ..spent };
        assert_eq!(dollars("claude-opus-5", spent), Some(5.0));
        assert_eq!(dollars("claude-opus-5", fast), Some(10.0));
        assert_eq!(dollars("claude-sonnet-4-20250514", fast), None, "no such price");
        assert_eq!(dollars("claude-opus-5", Spent { speed: Speed::Other, ..spent }), None);
        let here = Spent { geography: Geography::UnitedStates, ..spent };
        assert_eq!(dollars("claude-opus-5", here), Some(5.5));
        let searched = Spent { web_searches: 3, ..spent };
        assert_eq!(dollars("claude-opus-5", searched), Some(5.03));
    }

    #[test]
    fn a_table_with_a_mistake_is_refused() {
        for text in [
            "",
            "date = '2026-01-01'\nsource = 'x'\n[[model]]\nname = 'a'\ninput = -1\noutput = 1\ncache_read = 1\ncache_write_5m = 1\ncache_write_1h = 1",
            "date = '2026-01-01'\nsource = 'x'\n[[model]]\nname = 'a'\ninput = 1",
            "date = '2026-01-01'\nsource = 'x'\n[[model]]\nname = 'a'\ninput = 1\nprice = 2",
        ] {
            assert!(Prices::parse(text).is_err(), "{text}");
        }
    }
}
