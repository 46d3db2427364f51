//! Decides whether a candidate value is a secret.
//!
//! Rules are generous with candidates; here most of them are turned down: placeholders, names,
//! code, types, words. Entropy only ever refuses, it never accuses.

use crate::judge::char_stats::CharStats;
use crate::judge::false_positives::{
    is_labelled_hash, is_number, is_path_or_address, is_placeholder, is_sequence, is_timestamp,
    looks_like_code, looks_like_template,
};
use crate::judge::template::{holds_key, holds_password};
use crate::judge::wordlike;
use crate::placeholder::OPENING;
use crate::strength::Strength;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Between quotes or tags.
    Quoted,
    /// Bare, as in a shell, a header or a configuration file.
    Bare,
    /// Bare where a program may stand, so it may be a name.
    Code,
    /// After a word and a space.
    Prose,
}

/// Whether `value` is to be taken out.
pub(crate) fn is_secret(value: &str, strength: Strength, form: Form) -> bool {
    let value = beginning(value.trim());
    let shortest = match (strength, form) {
        (Strength::Password, Form::Quoted | Form::Bare) => 4,
        (Strength::Password, _) => 5,
        (Strength::Secret, _) => 6,
        (Strength::Token, _) => 7,
        (Strength::Weak, _) => 10,
        (Strength::Meta, _) => 16,
    };
    if value.len() < shortest || value.contains(OPENING) {
        return false;
    }
    if strength == Strength::Password && form == Form::Quoted && is_spaced(value) {
        return true;
    }
    let is_open = is_placeholder(value)
        || (form == Form::Quoted && looks_like_template(value))
        || (matches!(form, Form::Bare | Form::Prose)
            && value.contains(['{', '$', '<', '[', ':'])
            && looks_like_code(value));
    if is_open && strength == Strength::Password && holds_password(value) {
        return true;
    }
    if is_open
        && matches!(strength, Strength::Password | Strength::Secret | Strength::Token)
        && holds_key(value)
    {
        return true;
    }
    if is_placeholder(value) {
        return false;
    }
    let stats = CharStats::of(value);
    if stats.upper + stats.lower == 0 {
        return numbers(value, &stats, strength, form);
    }
    if value.contains(char::is_whitespace) || is_path_or_address(value) {
        return false;
    }
    let is_dressed = strength == Strength::Password && stats.is_decorated_word();
    let is_code = match form {
        Form::Quoted => looks_like_template(value),
        _ => looks_like_code(value),
    };
    let is_leet = strength == Strength::Password
        && value.starts_with('@')
        && stats.joins_nothing()
        && stats.is_mixed_or_odd();
    if is_code && !(is_dressed && is_signed(value)) && !is_leet {
        return false;
    }
    if strength != Strength::Password && is_timestamp(value) {
        return false;
    }
    match strength {
        Strength::Password => {
            is_dressed || !stats.is_words() && (form != Form::Code || stats.is_mixed_or_odd())
        }
        Strength::Secret => !stats.is_words() && stats.is_mixed_or_odd(),
        Strength::Token => !stats.is_words() && stats.is_mixed_or_odd(),
        Strength::Weak => {
            stats.is_random()
                && entropy(value) >= 2.8
                && !is_labelled_hash(value)
                && !is_number(value)
        }
        Strength::Meta => stats.is_random() && entropy(value) >= 3.5 && stats.digits > 0,
    }
}

/// A sign that also opens a variable, and then a word: `$Summer2024`, `@Winter653`.
fn is_signed(value: &str) -> bool {
    let word = value.strip_prefix(['$', '@', '*', '&']);
    word.is_some_and(|word| {
        word.starts_with(|first: char| first.is_ascii_uppercase())
            && word.contains(|letter: char| letter.is_ascii_lowercase())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#@$%^&*".contains(&byte))
    })
}

/// A password of several words, which are not those of a sentence: `q7 Lp-9x mR4`.
fn is_spaced(value: &str) -> bool {
    let parts: Vec<&str> = value.split(' ').collect();
    let is_word = |part: &&str| {
        let letters: String =
            part.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
        part.is_empty()
            || letters.len() + 1 >= part.len() && wordlike::bigram_surprisal(&letters) < 4.4
    };
    (2..=4).contains(&parts.len())
        && !parts.iter().any(is_word)
        && !value.contains(['=', '(', '{', '$', '%', '<', ':', '|'])
        && parts.iter().any(|part| CharStats::of(part).is_mixed_or_odd())
}

/// As much of a value as is looked at: enough to judge, and a bound on the work.
fn beginning(value: &str) -> &str {
    const ENOUGH: usize = 256;
    let mut end = value.len().min(ENOUGH);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    value.get(..end).unwrap_or(value)
}

/// Whether a value is written out, and not filled in or left open by its writer.
pub(crate) fn is_literal(value: &str) -> bool {
    let is_open = is_placeholder(value) || looks_like_template(value) || value.starts_with('$');
    !value.contains(OPENING) && (!is_open || holds_password(value))
}

/// Whether a value is like no word, so that it may be looked for anywhere.
pub(crate) fn is_unmistakable(value: &str) -> bool {
    let stats = CharStats::of(beginning(value));
    value.len() >= 8 && (stats.is_mixed_or_odd() || value.len() >= 40) && !is_placeholder(value)
}

/// A value without letters.
fn numbers(value: &str, stats: &CharStats, strength: Strength, form: Form) -> bool {
    let plain = value.bytes().all(|byte| byte.is_ascii_digit());
    if value.len() < 20 && is_sequence(value) {
        return false;
    }
    match strength {
        Strength::Password => plain && form != Form::Prose && value.len() >= 6,
        Strength::Secret | Strength::Token => plain && stats.digits >= 16,
        Strength::Weak => plain && stats.digits >= 20,
        Strength::Meta => false,
    }
}

/// Shannon entropy of the bytes, in bits per byte.
pub(crate) fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let all = text.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / all);
    shares.map(|share| -share * share.log2()).sum()
}
