//! Is this the value of a secret, or does something else stand where one would?
//!
//! Rules are generous with candidates; here most of them are turned down: placeholders, names,
//! code, types, words. Entropy only ever refuses, it never accuses.

use super::language;
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

/// What a value is made of.
#[derive(Debug, Default)]
pub(super) struct Makeup {
    pub(super) length: usize,
    pub(super) digits: usize,
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) other: usize,
    /// Letters that belong to words that programs are made of.
    in_words: usize,
    /// Letters in runs that read like a language.
    like_words: usize,
    /// Changes between letters and digits.
    changes: usize,
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
    match strength {
        Strength::Password => {
            !makeup.is_words() && (form != Form::Code || makeup.is_mixed_or_odd())
        }
        Strength::Secret => !makeup.is_words() && makeup.is_mixed_or_odd(),
        Strength::Token => !makeup.is_words() && makeup.is_mixed_or_odd(),
        Strength::Weak => makeup.is_random() && entropy(value) >= 2.8,
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

impl Makeup {
    pub(super) fn of(value: &str) -> Makeup {
        let mut makeup = Makeup { length: value.len(), ..Makeup::default() };
        let mut before = Kind::Other;
        for byte in value.bytes() {
            let kind = Kind::of(byte);
            match kind {
                Kind::Digit => makeup.digits += 1,
                Kind::Upper => makeup.upper += 1,
                Kind::Lower => makeup.lower += 1,
                Kind::Other => makeup.other += 1,
            }
            let change = (before == Kind::Digit) != (kind == Kind::Digit)
                && before != Kind::Other
                && kind != Kind::Other;
            makeup.changes += usize::from(change);
            before = kind;
        }
        for run in runs(value) {
            let lower = run.to_ascii_lowercase();
            let covered = language::covered(&lower);
            makeup.in_words +=
                if lower.len() <= 2 && language::is_word(&lower) { lower.len() } else { covered };
            let is_made_up = lower.bytes().all(|byte| matches!(byte, b'a'..=b'f'))
                || is_sequence(lower.get(..lower.len().min(12)).unwrap_or_default());
            let reads = lower.len() >= 4 && !is_made_up && language::strangeness(&lower) < 4.4;
            makeup.like_words += if reads { lower.len() } else { covered };
        }
        makeup
    }

    fn letters(&self) -> usize {
        self.upper + self.lower
    }

    /// Nearly all of it are words that programs are made of, perhaps with a number.
    fn is_words(&self) -> bool {
        let left = self.letters() - self.in_words.min(self.letters());
        left * 5 <= self.letters() && self.digits * 2 <= self.letters()
    }

    /// Digits among letters, or letters that follow each other as in no language.
    fn is_mixed_or_odd(&self) -> bool {
        let left = self.letters() - self.like_words.min(self.letters());
        self.changes >= 2
            || (self.digits >= 2 && left * 3 > self.letters())
            || left * 2 > self.letters()
    }

    /// Nothing of it reads like a language.
    fn is_random(&self) -> bool {
        let left = self.letters() - self.like_words.min(self.letters());
        if self.digits >= 3 && self.changes >= 3 && (left * 3 > self.letters() || self.changes >= 6)
        {
            return true;
        }
        if self.length >= 16 && self.digits >= 4 && self.other == 0 && left * 2 >= self.letters() {
            return true;
        }
        self.letters() >= 10 && left * 10 > self.letters() * 8 && self.other * 8 <= self.length
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Digit,
    Upper,
    Lower,
    Other,
}

impl Kind {
    fn of(byte: u8) -> Kind {
        match byte {
            b'0'..=b'9' => Kind::Digit,
            b'A'..=b'Z' => Kind::Upper,
            b'a'..=b'z' => Kind::Lower,
            _ => Kind::Other,
        }
    }
}

/// Runs of letters, cut where camel case begins a word.
pub(super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at).is_some_and(|byte| !byte.is_ascii_alphabetic()) {
            at += 1;
        }
        let start = at;
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii_alphabetic()) {
            let next_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            let before_lower = at > start && bytes.get(at - 1).is_some_and(u8::is_ascii_lowercase);
            let before_upper = at > start && bytes.get(at - 1).is_some_and(u8::is_ascii_uppercase);
            if byte.is_ascii_uppercase() && (before_lower || (before_upper && next_lower)) {
                break;
            }
            at += 1;
        }
        (at > start).then(|| text.get(start..at).unwrap_or_default())
    })
}

/// Stands for a value that the writer did not want to write.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    const MARKS: [&str; 23] = [
        "...",
        "…",
        "***",
        "•••",
        "xxxx",
        "____",
        "example",
        "placeholder",
        "redacted",
        "your_",
        "your-",
        "yourown",
        "changeme",
        "change_me",
        "change-me",
        "replace",
        "dummy",
        "insert",
        "removed",
        "<your",
        "my_secret",
        "goes_here",
        "goes-here",
    ];
    if MARKS.iter().any(|mark| lower.contains(mark)) {
        return true;
    }
    let first = value.bytes().next();
    let wraps = [('<', '>'), ('{', '}'), ('[', ']'), ('(', ')'), ('%', '%'), ('@', '@')];
    if wraps.iter().any(|(open, close)| value.starts_with(*open) && value.ends_with(*close)) {
        return true;
    }
    if value.bytes().all(|byte| Some(byte) == first) {
        return true;
    }
    let mut different = [false; 256];
    for byte in lower.bytes() {
        if let Some(seen) = different.get_mut(usize::from(byte)) {
            *seen = true;
        }
    }
    let different = different.iter().filter(|seen| **seen).count();
    (value.len() >= 8 && different <= 2) || (value.len() < 20 && is_sequence(&lower))
}

/// `123456`, `abcdef`, `1234567890abcdefghij`, `0123…`.
fn is_sequence(value: &str) -> bool {
    let bytes = value.as_bytes();
    // A long one may be what somebody made up for a key, and is as good as one.
    if bytes.len() < 4 || (bytes.len() >= 12 && value.bytes().any(|byte| !byte.is_ascii_digit())) {
        return false;
    }
    let steps = bytes.windows(2).filter(|pair| match pair {
        [a, b] => b.wrapping_sub(*a) == 1 || a.wrapping_sub(*b) == 1 || (*a == b'9' && *b == b'0'),
        _ => false,
    });
    steps.count() * 10 >= (bytes.len() - 1) * 7
}

fn is_path_or_address(value: &str) -> bool {
    let starts = ["http://", "https://", "/", "./", "../", "~/", "file:", "urn:", "arn:", "data:"];
    if let Some(start) = starts.iter().find(|start| value.starts_with(**start)) {
        // A base64 value may begin with a slash.
        return *start != "/"
            || value.len() < 24
            || value.matches('/').count() > 3
            || value.contains('.');
    }
    let is_file = value.rsplit_once('.').is_some_and(|(_, end)| {
        matches!(
            end,
            "py" | "js"
                | "ts"
                | "rs"
                | "go"
                | "rb"
                | "java"
                | "json"
                | "yml"
                | "yaml"
                | "toml"
                | "pem"
                | "key"
                | "crt"
                | "txt"
                | "md"
                | "html"
                | "xml"
                | "php"
                | "sh"
                | "conf"
                | "com"
                | "org"
                | "net"
                | "io"
                | "env"
                | "p12"
                | "jks"
                | "pub"
                | "cs"
                | "kt"
        )
    });
    let bytes = value.as_bytes();
    let drive = bytes.get(1) == Some(&b':') && matches!(bytes.get(2), Some(b'\\' | b'/'));
    is_file || drive || value.contains("://")
}

/// A bare value that is an expression of a program.
fn looks_like_code(value: &str) -> bool {
    let bytes = value.as_bytes();
    let first = bytes.first().copied().unwrap_or(0);
    if matches!(
        first,
        b'$' | b'&'
            | b'*'
            | b'{'
            | b'['
            | b'('
            | b'<'
            | b'`'
            | b'@'
            | b'|'
            | b'>'
            | b'='
            | b':'
            | b'?'
    ) {
        // `$ecret!` is a password, `$secret` a variable.
        return !(first == b'$'
            && bytes.iter().skip(1).any(|byte| {
                !byte.is_ascii_alphanumeric()
                    && *byte != b'_'
                    && *byte != b'.'
                    && *byte != b'-'
                    && *byte != b'>'
                    && *byte != b'{'
                    && *byte != b'}'
                    && *byte != b'('
                    && *byte != b':'
                    && *byte != b'['
                    && *byte != b']'
                    && *byte != b'\''
            }));
    }
    let calls = value.contains('(')
        && value.find('(').is_some_and(|at| {
            at > 0
                && bytes
                    .get(at - 1)
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        });
    if calls
        || value.contains("::")
        || value.contains("->")
        || value.contains("=>")
        || value.contains("${")
        || value.contains("$(")
        || value.contains("&&")
    {
        return true;
    }
    if value.contains('[') {
        return true;
    }
    // a.b.c with names between the dots
    let dotted = value.trim_end_matches([';', ',', ')']);
    dotted.contains('.')
        && dotted.split('.').all(|part| {
            let part = part.trim_end_matches(['?', '!']);
            part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && part.len() < 32
                && Makeup::of(part).changes < 3
        })
}

/// A quoted value that a program fills in.
fn looks_like_template(value: &str) -> bool {
    value.contains("${")
        || value.contains("$(")
        || value.contains("{{")
        || value.contains("#{")
        || value.contains("%s")
        || value.contains("%d")
        || value.contains("%v")
        || (value.contains("%(") && value.contains(")s"))
        || value.contains("<%")
        || value.contains(" + ")
        || (value.starts_with('{') && value.ends_with('}'))
        || (value.starts_with('$')
            && value.len() > 1
            && value.bytes().skip(1).all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        || (value.starts_with('%') && value.ends_with('%'))
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
