//! Dollars, counted in whole trillionths: a token can cost a fraction of a billionth.
//!
//! Not a float: ten thousand prices must add up to the cent. Written as an exact decimal; amounts
//! that come from a float are rounded to billionths, which is exact below a million dollars.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An amount of US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Money(u128);

/// Trillionths in a dollar.
const DOLLAR: u128 = 1_000_000_000_000;
/// Trillionths in a billionth.
const NANO: u128 = 1_000;

impl Money {
    /// Nothing.
    pub const ZERO: Money = Money(0);

    /// So many trillionths of a dollar.
    pub const fn from_picos(picos: u128) -> Money {
        Money(picos)
    }

    /// So many billionths of a dollar.
    pub const fn from_nanos(nanos: u64) -> Money {
        Money(nanos as u128 * NANO)
    }

    /// Trillionths of a dollar.
    pub const fn picos(self) -> u128 {
        self.0
    }

    /// The nearest amount in whole billionths; none if it is not an amount.
    pub fn from_dollars(dollars: f64) -> Option<Money> {
        let nanos = (dollars * 1e9).round();
        let fits = nanos.is_finite() && (0.0..9.0e18).contains(&nanos);
        fits.then_some(Money::from_nanos(nanos as u64))
    }

    /// Dollars, as a float for figures.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / DOLLAR as f64
    }

    /// Rounded to billionths.
    pub fn in_nanos(self) -> Money {
        Money(self.0.saturating_add(NANO / 2) / NANO * NANO)
    }

    /// The difference, or nothing.
    pub fn less(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }

    /// The same several times.
    pub fn times(self, count: u64) -> Money {
        Money(self.0.saturating_mul(count.into()))
    }

    /// One of several equal parts; the first ones hold what cannot be divided.
    pub fn share(self, parts: u64, at: u64) -> Money {
        let parts = u128::from(parts.max(1));
        Money(self.0 / parts + u128::from(u128::from(at) < self.0 % parts))
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
        let text = format!("{}.{:012}", self.0 / DOLLAR, self.0 % DOLLAR);
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
        Money::from_dollars(dollars)
            .ok_or_else(|| serde::de::Error::custom("not an amount of money"))
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
            (10_000_000_000, "10"),
            (8_999_999_123_456_789, "8999999.123456789"),
        ] {
            let written = serde_json::to_string(&Money::from_nanos(nanos)).unwrap();
            assert_eq!(written, text);
            assert_eq!(serde_json::from_str::<Money>(&written).unwrap(), Money::from_nanos(nanos));
        }
        assert_eq!(Money::from_picos(1_500).to_string(), "0.0000000015");
        assert_eq!(Money::from_picos(1_500).in_nanos(), Money::from_nanos(2));
        assert_eq!(Money::from_dollars(-1.0), None);
        assert_eq!(Money::from_dollars(f64::NAN), None);
    }
}
