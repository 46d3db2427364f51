//! False positives: placeholders, sequences, paths, code and templates found in the position of a
//! secret.

use crate::judge::char_stats::CharStats;
use crate::judge::wordlike::is_word;
use aho_corasick::AhoCorasick;
use std::sync::OnceLock;

/// Whoever writes one of these does not write a value.
pub(crate) const MARKS: [&str; 23] = [
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

/// Stands for a value that the writer did not want to write.
pub(crate) fn is_placeholder(value: &str) -> bool {
    static SEARCH: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let search = SEARCH
        .get_or_init(|| AhoCorasick::builder().ascii_case_insensitive(true).build(MARKS).ok());
    if search.as_ref().is_some_and(|search| search.is_match(value)) {
        return true;
    }
    let first = value.bytes().next();
    if is_wrapped(value) {
        return true;
    }
    if value.bytes().all(|byte| Some(byte) == first) {
        return true;
    }
    let mut different = [false; 256];
    for byte in value.bytes() {
        if let Some(seen) = different.get_mut(usize::from(byte.to_ascii_lowercase())) {
            *seen = true;
        }
    }
    let different = different.iter().filter(|seen| **seen).count();
    (value.len() >= 8 && different <= 2)
        || (value.len() < 20 && is_sequence(&value.to_ascii_lowercase()))
}

/// `<password>`, `{password}`, `%PASSWORD%`.
pub(crate) fn is_wrapped(value: &str) -> bool {
    let wraps = [('<', '>'), ('{', '}'), ('[', ']'), ('(', ')'), ('%', '%'), ('@', '@')];
    wraps.iter().any(|(open, close)| value.starts_with(*open) && value.ends_with(*close))
}

/// `123456`, `abcdef`, `1234567890abcdefghij`, `0123…`.
pub(crate) fn is_sequence(value: &str) -> bool {
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

pub(crate) fn is_path_or_address(value: &str) -> bool {
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
                | "config"
                | "cfg"
                | "ini"
                | "lock"
                | "log"
        )
    });
    let bytes = value.as_bytes();
    let drive = bytes.get(1) == Some(&b':') && matches!(bytes.get(2), Some(b'\\' | b'/'));
    is_file || drive || value.contains("://")
}

/// `2024-01-14T10:22:01.123Z`
pub(crate) fn is_timestamp(value: &str) -> bool {
    let pattern = b"0000-00-00T00:00";
    value.len() >= pattern.len()
        && value.bytes().zip(pattern).all(|(byte, model)| match model {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't' | b' ' | b'_'),
            _ => byte == *model,
        })
}

/// `0x9E3779B97F4A7C15`: what fits into a register is no key.
pub(crate) fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix("0x").or_else(|| value.strip_prefix("0X"));
    digits.is_some_and(|digits| {
        digits.len() <= 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_')
    })
}

/// A hash behind words that say of what: `Linux-npm-14c77844088bf6ce`, as caches are named.
pub(crate) fn is_labelled_hash(value: &str) -> bool {
    let Some((label, hash)) = value.rsplit_once('-') else { return false };
    let is_label = |part: &str| {
        let letters = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let telling = ["sk", "pk", "key", "api", "token", "secret", "live", "prod", "test", "auth"];
        !letters.is_empty()
            && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && (letters.len() == 1 || is_word(&letters.to_ascii_lowercase()))
            && !telling.iter().any(|word| letters.eq_ignore_ascii_case(word))
    };
    hash.len() >= 8
        && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && label.contains('-')
        && label.split('-').all(is_label)
}

/// A bare value that is an expression of a program.
pub(crate) fn looks_like_code(value: &str) -> bool {
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
                && CharStats::of(part).changes < 3
        })
}

/// A quoted value that a program fills in.
pub(crate) fn looks_like_template(value: &str) -> bool {
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
