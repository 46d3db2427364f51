//! A message's figures divided among the calls it made.
//!
//! A model answers with one message that may call several tools; nothing says which of its tokens
//! belong to which call. They are divided evenly, remainders going to the first, so that the parts
//! add up to the whole.

use super::spent::Figures;

/// The share of part `at` of `parts`.
pub(super) fn share(figures: &Figures, parts: u64, at: u64) -> Figures {
    let part = |whole: u64| whole / parts + u64::from(at < whole % parts);
    let mut share = Figures {
        calls: 1,
        input: part(figures.input),
        output: part(figures.output),
        cache_read: part(figures.cache_read),
        cache_write: part(figures.cache_write),
        cache_write_5m: part(figures.cache_write_5m),
        cache_write_1h: part(figures.cache_write_1h),
        web_searches: part(figures.web_searches),
        ..*figures
    };
    share.cost.money = figures.cost.money.share(parts, at);
    share
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstory_model::Money;

    #[test]
    fn shares_add_up() {
        let mut whole = Figures { messages: 1, input: 10, output: 7, ..Figures::default() };
        whole.cost.money = Money::from_picos(101);
        let mut sum = Figures::default();
        for at in 0..4 {
            sum.add(&share(&whole, 4, at));
        }
        assert_eq!((sum.input, sum.output, sum.cost.money.picos()), (10, 7, 101));
        assert_eq!(sum.calls, 4);
    }
}
