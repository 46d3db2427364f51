//! Is this the value of a secret, or does something else stand where one would?
//!
//! Rules are generous with candidates; here most of them are turned down: placeholders, names,
//! code, types, words. Entropy only ever refuses, it never accuses.

use super::guise::{
    is_labelled_hash, is_number, is_path_or_address, is_placeholder, is_sequence, is_timestamp,
    looks_like_code, looks_like_template,
};
use super::language;
use super::makeup::Makeup;
use super::name::Strength;
use super::placeholder::OPENING;
use super::template::{holds_key, holds_password};

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
    let makeup = Makeup::of(value);
    if makeup.upper + makeup.lower == 0 {
        return numbers(value, &makeup, strength, form);
    }
    if value.contains(char::is_whitespace) || is_path_or_address(value) {
        return false;
    }
    let is_dressed = strength == Strength::Password && makeup.is_dressed_word();
    let is_code = match form {
        Form::Quoted => looks_like_template(value),
        _ => looks_like_code(value),
    };
    let is_leet = strength == Strength::Password
        && value.starts_with('@')
        && makeup.joins_nothing()
        && makeup.is_mixed_or_odd();
    if is_code && !(is_dressed && is_signed(value)) && !is_leet {
        return false;
    }
    if strength != Strength::Password && is_timestamp(value) {
        return false;
    }
    match strength {
        Strength::Password => {
            is_dressed || !makeup.is_words() && (form != Form::Code || makeup.is_mixed_or_odd())
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
        part.is_empty() || letters.len() + 1 >= part.len() && language::strangeness(&letters) < 4.4
    };
    (2..=4).contains(&parts.len())
        && !parts.iter().any(is_word)
        && !value.contains(['=', '(', '{', '$', '%', '<', ':', '|'])
        && parts.iter().any(|part| Makeup::of(part).is_mixed_or_odd())
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
    let is_open = is_placeholder(value) || looks_like_template(value) || value.starts_with('$');
    !value.contains(OPENING) && (!is_open || holds_password(value))
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
