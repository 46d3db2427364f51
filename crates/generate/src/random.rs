//! A small deterministic random source (xoshiro256++).
//!
//! Not for secrets. It uses integers only, no `ln` or `exp`: the platform's mathematics library would
//! make the same seed give different trees on different machines. Skewed sizes are drawn from a table
//! of quantiles instead, which is also easier to tune than a distribution with parameters.

/// A skewed size: `(cumulative share in 1/1000, value)`, rising in both; values between are interpolated.
pub(crate) type Spread = &'static [(u32, u32)];

/// The state of the generator.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: [u64; 4],
}

impl Random {
    /// A generator whose whole sequence follows from `seed`.
    #[must_use]
    pub(crate) fn new(seed: u64) -> Self {
        let mut mixed = seed;
        let state = std::array::from_fn(|_| {
            mixed = mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = mixed;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        });
        Self { state }
    }

    /// An independent generator, so that one part of a tree can change without shifting all others.
    #[must_use]
    pub(crate) fn fork(&mut self) -> Self {
        Self::new(self.word())
    }

    /// 64 random bits.
    pub(crate) fn word(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c2, d2) = (c ^ a, d ^ b);
        self.state = [a ^ d2, b ^ c2, c2 ^ (b << 17), d2.rotate_left(45)];
        result
    }

    /// A number below `limit` (0 when `limit` is 0).
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.word()) * limit as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below((high - low + 1) as usize) as u64
    }

    /// True in `share` of 1000 cases.
    pub(crate) fn permille(&mut self, share: usize) -> bool {
        self.below(1000) < share
    }

    /// One of `choices`.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// One of `choices`, each with its weight.
    pub(crate) fn weighted<T: Copy>(&mut self, choices: &[(T, u32)]) -> T {
        let total: u32 = choices.iter().map(|(_, weight)| weight).sum();
        let mut left = self.below(total as usize) as u32;
        for (choice, weight) in choices {
            if left < *weight {
                return *choice;
            }
            left -= weight;
        }
        choices[0].0
    }

    /// A size drawn from a spread.
    pub(crate) fn size(&mut self, spread: Spread) -> usize {
        // A million steps: with a thousand the last per mille would always be the same few values.
        let at = self.below(1_000_000) as u64;
        let mut before = (0_u64, u64::from(spread[0].1));
        for &(share, value) in spread {
            let (share, value) = (u64::from(share) * 1000, u64::from(value));
            if at < share {
                let span = (share - before.0).max(1);
                return (before.1 + (value - before.1) * (at - before.0) / span) as usize;
            }
            before = (share, value);
        }
        before.1 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_sequence() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        assert!((0..100).all(|_| one.word() == two.word()));
        assert_ne!(Random::new(8).word(), Random::new(7).word());
    }

    #[test]
    fn sizes_follow_their_quantiles() {
        let mut random = Random::new(1);
        let spread: Spread = &[(0, 10), (500, 100), (990, 1000), (1000, 5000)];
        let mut sizes: Vec<usize> = (0..10_000).map(|_| random.size(spread)).collect();
        sizes.sort_unstable();
        assert!((95..=105).contains(&sizes[5000]), "{}", sizes[5000]);
        assert!((900..=1200).contains(&sizes[9900]), "{}", sizes[9900]);
        assert!(sizes[9999] <= 5000 && sizes[0] >= 10);
    }
}
