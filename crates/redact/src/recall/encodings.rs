//! The forms in which a value may stand elsewhere in a session.
//!
//! A secret that a tool printed in clear is often sent on in a URL, a header or a JSON text inside
//! another JSON text. Base64 of something that holds the value depends on where in it the value
//! begins, so there are three forms; the letters at both ends, which depend on the neighbours, are
//! left out of them.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SHORTEST_BASE64: usize = 10;

/// Every form of `value`, itself first, without repetition.
pub(crate) fn forms(value: &str) -> Vec<String> {
    let mut all = vec![value.to_owned()];
    let escaped = json_escaped(value);
    let twice = json_escaped(&escaped);
    all.push(escaped);
    all.push(twice);
    all.push(value.replace('/', "\\/"));
    all.push(value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
    all.push(percent(value, Case::Upper, Space::Percent));
    all.push(percent(value, Case::Lower, Space::Percent));
    all.push(percent(value, Case::Upper, Space::Plus));
    all.push(percent(value, Case::Upper, Space::Strict));
    all.push(percent(value, Case::Lower, Space::Strict));
    all.push(percent(&percent(value, Case::Upper, Space::Percent), Case::Upper, Space::Percent));
    let trimmed = value.trim_end();
    for phase in 0..3 {
        for form in [base64(value.as_bytes(), phase), base64(trimmed.as_bytes(), phase)] {
            if form.len() >= SHORTEST_BASE64 {
                all.push(form.replace('+', "-").replace('/', "_"));
                all.push(form.replace('+', "%2B").replace('/', "%2F"));
                all.push(form.replace('/', "\\/"));
                all.push(form);
            }
        }
    }
    if value.len() >= 8 {
        all.push(value.bytes().map(|byte| format!("{byte:02x}")).collect());
        all.push(value.bytes().map(|byte| format!("{byte:02X}")).collect());
    }
    let mut seen = hashbrown::HashSet::new();
    all.retain(|form| seen.insert(form.clone()));
    all
}

fn json_escaped(value: &str) -> String {
    let mut out = Vec::with_capacity(value.len() + 8);
    backstory_format::json::text::encode_into(value, &mut out);
    String::from_utf8(out).unwrap_or_else(|_| value.to_owned())
}

#[derive(Clone, Copy)]
enum Case {
    Upper,
    Lower,
}

#[derive(Clone, Copy, PartialEq)]
enum Space {
    Percent,
    Plus,
    /// Everything but letters and digits is written in hexadecimal.
    Strict,
}

fn percent(value: &str, case: Case, space: Space) -> String {
    let mut out = String::with_capacity(value.len() + 16);
    for byte in value.bytes() {
        match (byte, case) {
            (b' ', _) if space == Space::Plus => out.push('+'),
            (b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9', _) => out.push(char::from(byte)),
            (b'-' | b'_' | b'.' | b'~', _) if space != Space::Strict => out.push(char::from(byte)),
            (byte, Case::Upper) => out.push_str(&format!("%{byte:02X}")),
            (byte, Case::Lower) => out.push_str(&format!("%{byte:02x}")),
        }
    }
    out
}

/// Base64 of `value` when `phase` bytes stand before it in its group; only the letters that depend
/// on nothing else.
fn base64(value: &[u8], phase: usize) -> String {
    let bit = |at: usize| {
        let place = at.checked_sub(phase * 8)?;
        let byte = value.get(place / 8)?;
        Some(byte >> (7 - place % 8) & 1)
    };
    let mut out = String::with_capacity(value.len() * 4 / 3 + 2);
    let letters = (phase + value.len()) * 8 / 6;
    for letter in 0..letters {
        let index = (0..6).try_fold(0usize, |index, offset| {
            Some(index << 1 | usize::from(bit(letter * 6 + offset)?))
        });
        if let Some(letter) = index.and_then(|index| ALPHABET.get(index)) {
            out.push(char::from(*letter));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_found_in_every_phase() {
        // "s3cr3t-value" behind nothing, one and two other bytes.
        let all = forms("s3cr3t-value");
        for whole in ["czNjcjN0LXZhbHVl", "eHMzY3IzdC12YWx1ZQ==", "eHlzM2NyM3QtdmFsdWV6"] {
            assert!(all.iter().any(|form| whole.contains(form.as_str())), "{whole}");
        }
    }

    #[test]
    fn encodings_cover_urls_json_and_pages() {
        let all = forms("a/b\"c&d");
        for form in ["a%2Fb%22c%26d", "a/b\\\"c&d", "a/b\"c&amp;d", "a%2fb%22c%26d"] {
            assert!(all.iter().any(|one| one == form), "{form}");
        }
    }
}
