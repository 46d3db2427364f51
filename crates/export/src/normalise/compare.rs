//! How much of two actions is common, by the words they are made of.
//!
//! Twice the common words over all words of both, each as often as it is there: linear in their length,
//! the same both ways, and 1 only for equal bags of words.

use super::Called;
use crate::canonical_json;
use hashbrown::HashMap;

fn bag(text: &str) -> HashMap<&str, u64> {
    let mut bag = HashMap::new();
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    for word in words.filter(|word| !word.is_empty()) {
        *bag.entry(word).or_default() += 1;
    }
    bag
}

pub(super) fn common_words(one: &str, two: &str) -> f64 {
    if one == two {
        return 1.0;
    }
    let (one, two) = (bag(one), bag(two));
    let all: u64 = one.values().chain(two.values()).sum();
    let common: u64 =
        one.iter().map(|(word, count)| two.get(word).map_or(0, |other| *count.min(other))).sum();
    if all == 0 { 0.0 } else { 2.0 * common as f64 / all as f64 }
}

/// Calls in their normal order; 0 if the tools differ.
pub(super) fn common_calls(one: &[Called], two: &[Called]) -> f64 {
    let named = |calls: &[Called]| calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>();
    if one.len() != two.len() || one.is_empty() || named(one) != named(two) {
        return 0.0;
    }
    let each = one.iter().zip(two);
    let sum: f64 = each
        .map(|(one, two)| common_words(&canonical_json(&one.input), &canonical_json(&two.input)))
        .sum();
    sum / one.len() as f64
}
