//! Money: what messages cost by the tokens that a session's model holds.
//!
//! The model does not count web searches and does not know regions; [`gather`](super::gather) reads
//! those, too.

use super::prices::Prices;
use backstory_model::{Money, Speed, Spent, Step};
use backstory_text::figures::grouped;

/// Money, and what is missing in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Of the messages that have a price.
    pub money: Money,
    /// Messages that have a price.
    pub priced: u64,
    /// Messages whose model, or whose speed, has none.
    pub unpriced: u64,
}

impl Cost {
    /// The cost of one message, where there is a price.
    pub fn of(money: Option<Money>) -> Cost {
        match money {
            Some(money) => Cost { money, priced: 1, unpriced: 0 },
            None => Cost { money: Money::ZERO, priced: 0, unpriced: 1 },
        }
    }

    /// What these messages cost, as far as they say what they took.
    pub fn of_messages<'s>(steps: impl Iterator<Item = &'s Step>, prices: &Prices) -> Cost {
        let mut cost = Cost::default();
        for step in steps.filter(|step| !step.synthetic && step.usage.is_some()) {
            cost.add(Cost::of(prices.of_message(step)));
        }
        cost
    }

    /// Adds another cost.
    pub fn add(&mut self, other: Cost) {
        self.money += other.money;
        self.priced = self.priced.saturating_add(other.priced);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }

    /// US dollars, of the messages with a price.
    pub fn dollars(&self) -> f64 {
        self.money.dollars()
    }

    /// Dollars, where every message has a price.
    pub fn whole_dollars(&self) -> Option<f64> {
        (self.priced > 0 && self.unpriced == 0).then(|| self.dollars())
    }

    /// `$1,234.56`, or `$0.0123` where there is less than a dollar.
    pub fn text(&self) -> String {
        let picos = self.money.picos();
        let cents = picos.saturating_add(5_000_000_000) / 10_000_000_000;
        if picos > 0 && cents < 100 {
            return format!("${:.4}", self.dollars());
        }
        let whole = grouped(u64::try_from(cents / 100).unwrap_or(u64::MAX));
        format!("${whole}.{:02}", cents % 100)
    }
}

impl Prices {
    /// What a message cost, by its tokens alone; none if it does not say what it took, or the table
    /// has no price for its model.
    pub fn of_message(&self, step: &Step) -> Option<Money> {
        let tokens = step.usage.as_ref()?.tokens();
        let speed = match step.speed.as_deref() {
            None | Some("standard") => Speed::Standard,
            Some("fast") => Speed::Fast,
            Some(_) => Speed::Other,
        };
        self.price(step.model.as_deref()?, &Spent { tokens, speed, ..Spent::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_as_people_write_it() {
        let text = |dollars: f64| {
            Cost { money: Money::from_dollars(dollars).unwrap(), ..Cost::default() }.text()
        };
        assert_eq!(text(0.0), "$0.00");
        assert_eq!(text(0.0123), "$0.0123");
        assert_eq!(text(0.999), "$1.00");
        assert_eq!(text(1234.567), "$1,234.57");
    }
}
