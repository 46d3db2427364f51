//! Dollars, counted in whole billionths.
//!
//! Not a float: ten thousand prices must add up to the cent. Written as an exact decimal; read
//! back through a float and rounded, which is exact below nine million dollars.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An amount of US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Money(u64);

/// Billionths in a dollar.
const DOLLAR: u64 = 1_000_000_000;

impl Money {
    /// Nothing.
    pub const ZERO: Money = Money(0);

    /// An amount in billionths of a dollar.
    pub const fn from_nanos(nanos: u64) -> Money {
        Money(nanos)
    }

    /// The amount in billionths of a dollar.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The nearest amount; none for what is no amount.
    pub fn from_dollars(dollars: f64) -> Option<Money> {
        let nanos = (dollars * DOLLAR as f64).round();
        let fits = nanos.is_finite() && (0.0..9.0e18).contains(&nanos);
        fits.then_some(Money(nanos as u64))
    }

    /// The amount in dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / DOLLAR as f64
    }

    /// What is left, or nothing.
    pub fn less(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }

    /// The amount, multiplied.
    pub fn times(self, count: u64) -> Money {
        Money(self.0.saturating_mul(count))
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::ZERO, Add::add)
    }
}

/// All digits that matter: `0.000012345`.
impl fmt::Display for Money {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:09}", self.0 / DOLLAR, self.0 % DOLLAR);
        let short = text.trim_end_matches('0');
        out.write_str(short.strip_suffix('.').unwrap_or(short))
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.to_string()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Money::from_dollars(dollars).ok_or_else(|| serde::de::Error::custom("no amount of money"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_exactly_and_read_back() {
        for (nanos, text) in [
            (0, "0"),
            (1, "0.000000001"),
            (1_500_000_000, "1.5"),
            (123, "0.000000123"),
            (10 * DOLLAR, "10"),
            (8_999_999_123_456_789, "8999999.123456789"),
        ] {
            let written = serde_json::to_string(&Money(nanos)).unwrap();
            assert_eq!(written, text);
            assert_eq!(serde_json::from_str::<Money>(&written).unwrap(), Money(nanos));
        }
        assert_eq!(Money::from_dollars(-1.0), None);
        assert_eq!(Money::from_dollars(f64::NAN), None);
    }
}
