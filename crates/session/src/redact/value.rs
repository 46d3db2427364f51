//! Is this the value of a secret, or does something else stand where one would?
//!
//! Rules are generous with candidates; here most of them are turned down: placeholders, names,
//! code, types, words. Entropy only ever refuses, it never accuses.

use super::guise::{
    is_labelled_hash, is_number, is_path_or_address, is_placeholder, is_sequence, is_timestamp,
    looks_like_code, looks_like_template,
};
use super::makeup::Makeup;
use super::name::Strength;
use super::placeholder::OPENING;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
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
pub(super) fn is_secret(value: &str, strength: Strength, form: Form) -> bool {
    let value = beginning(value.trim());
    let shortest = match (strength, form) {
        (Strength::Password, Form::Quoted | Form::Bare) => 4,
        (Strength::Password, _) => 5,
        (Strength::Secret, _) => 6,
        (Strength::Token, _) => 7,
        (Strength::Weak, _) => 10,
        (Strength::Meta, _) => 16,
    };
    if value.len() < shortest || value.contains(OPENING) || is_placeholder(value) {
        return false;
    }
    let makeup = Makeup::of(value);
    if makeup.upper + makeup.lower == 0 {
        return numbers(value, &makeup, strength, form);
    }
    if value.contains(char::is_whitespace) || is_path_or_address(value) {
        return false;
    }
    if form != Form::Quoted && looks_like_code(value) {
        return false;
    }
    if form == Form::Quoted && looks_like_template(value) {
        return false;
    }
    if strength != Strength::Password && is_timestamp(value) {
        return false;
    }
    match strength {
        Strength::Password => {
            !makeup.is_words() && (form != Form::Code || makeup.is_mixed_or_odd())
        }
        Strength::Secret => !makeup.is_words() && makeup.is_mixed_or_odd(),
        Strength::Token => !makeup.is_words() && makeup.is_mixed_or_odd(),
        Strength::Weak => {
            makeup.is_random()
                && entropy(value) >= 2.8
                && !is_labelled_hash(value)
                && !is_number(value)
        }
        Strength::Meta => makeup.is_random() && entropy(value) >= 3.5 && makeup.digits > 0,
    }
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
pub(super) fn is_literal(value: &str) -> bool {
    !value.contains(OPENING)
        && !is_placeholder(value)
        && !looks_like_template(value)
        && !value.starts_with('$')
}

/// Whether a value is like no word, so that it may be looked for anywhere.
pub(super) fn is_unmistakable(value: &str) -> bool {
    let makeup = Makeup::of(beginning(value));
    value.len() >= 8 && (makeup.is_mixed_or_odd() || value.len() >= 40) && !is_placeholder(value)
}

/// A value without letters.
fn numbers(value: &str, makeup: &Makeup, strength: Strength, form: Form) -> bool {
    let plain = value.bytes().all(|byte| byte.is_ascii_digit());
    if value.len() < 20 && is_sequence(value) {
        return false;
    }
    match strength {
        Strength::Password => plain && form != Form::Prose && value.len() >= 6,
        Strength::Secret | Strength::Token => plain && makeup.digits >= 16,
        Strength::Weak => plain && makeup.digits >= 20,
        Strength::Meta => false,
    }
}

/// Shannon entropy of the bytes, in bits per byte.
pub(super) fn entropy(text: &str) -> f64 {
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
