//! What is left of a value when the parts that a program fills in are taken away.
//!
//! A value that *is* a template is not a secret; a password that *contains* `%s`, `{{` or `...` is.
//! Only where the place says that a password stands there: anywhere else a template is one.

use crate::judge::char_stats::CharStats;
use crate::judge::false_positives::{self, MARKS};

/// Fewer characters around a template are a prefix or a suffix of what is filled in.
const SHORTEST: usize = 7;

/// Fewer characters around a template are not a key.
const SHORTEST_KEY: usize = 24;

/// Parts that a program fills in, by how they open and close.
const PARTS: [(&str, &str); 8] = [
    ("${", "}"),
    ("{{", "}}"),
    ("$(", ")"),
    ("#{", "}"),
    ("<%", "%>"),
    ("%(", ")s"),
    ("<", ">"),
    ("[", "]"),
];
/// Parts of a format string.
const VERBS: [&str; 4] = ["%s", "%d", "%v", "%%"];

/// Whether what stands around the templates and marks in `value` is a password by itself.
pub(crate) fn holds_password(value: &str) -> bool {
    if false_positives::is_wrapped(value) || value.starts_with("${") || value.contains(" + ") {
        return false;
    }
    let rest = rest(value);
    let stats = CharStats::of(&rest);
    rest.len() >= SHORTEST
        && rest.len() < value.len()
        && !rest.contains(char::is_whitespace)
        && !rest.contains(['=', '/', '('])
        && !(value.contains('[') && rest.contains('.'))
        && (stats.digits > 0 || (stats.upper > 0 && stats.lower > 0))
        && !stats.is_words()
        && stats.is_mixed_or_odd()
}

/// Whether a long random key happens to contain the signs of a template. Such keys are made of any
/// signs, so what stands around is judged by its letters alone.
pub(crate) fn holds_key(value: &str) -> bool {
    if false_positives::is_wrapped(value) || value.starts_with("${") || value.contains(" + ") {
        return false;
    }
    let rest = rest(value);
    let stats = CharStats::of(&rest);
    rest.len() >= SHORTEST_KEY
        && rest.len() * 10 >= value.len() * 8
        && !rest.contains(char::is_whitespace)
        && stats.digits > 0
        && stats.upper > 0
        && stats.lower > 0
        && !stats.is_words()
        && stats.is_random()
}

/// The value without templates and marks.
fn rest(value: &str) -> String {
    let mut rest = String::with_capacity(value.len());
    let mut at = 0;
    while let Some(here) = value.get(at..).filter(|here| !here.is_empty()) {
        let step = filled(here).unwrap_or_else(|| {
            let letter = here.chars().next().unwrap_or_default();
            rest.push(letter);
            letter.len_utf8()
        });
        at += step;
    }
    rest
}

/// The length of the part at the start of `here` that is filled in, or left open by its writer.
fn filled(here: &str) -> Option<usize> {
    for (open, close) in PARTS {
        if let Some(inside) = here.strip_prefix(open) {
            let end = inside.find(close).filter(|end| *end <= LONGEST_NAME);
            return Some(open.len() + end.map_or(0, |end| end + close.len()));
        }
    }
    if let Some(verb) = VERBS.iter().find(|verb| here.starts_with(**verb)) {
        return Some(verb.len());
    }
    let starts =
        |mark: &&&str| here.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    MARKS.iter().find(starts).map(|mark| mark.len())
}

/// A longer name is none.
const LONGEST_NAME: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_differs_from_a_password_with_its_signs() {
        for password in [
            "q7Rw2%sLp9Kd",
            "vX3kT{{x}}m8QzY1",
            "aB3dE5...fG7hJ9",
            "pQ8wR2<x>tY5uI1",
            "kd8Wqexample4Zt",
        ] {
            assert!(holds_password(password), "{password}");
        }
        for template in [
            "${DB_PASSWORD}",
            "{{ password }}",
            "%s:%s",
            "<your-password>",
            "user-%s-password",
            "prefix_${name}",
            "password=%s&user=%s",
            "********",
            "example_password",
        ] {
            assert!(!holds_password(template), "{template}");
        }
        for key in ["q7Rw(2*Lp9=Kd%dmX4vT8z&Yb6NcH3", "django-insecure-kD8(w2=Tq%v9Zm4^Rb7xL1+pF"] {
            assert!(holds_key(key), "{key}");
        }
        for template in [
            "Error %d in %s: request %v failed",
            "https://example.com/%s/items?id=%d&token=%s",
            "{{ lookup('env', 'SECRET_KEY_BASE_2') }}",
            "user=%(user)s password=%(password)s",
        ] {
            assert!(!holds_key(template), "{template}");
        }
    }
}
