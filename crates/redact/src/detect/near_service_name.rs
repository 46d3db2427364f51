//! Keys of services without a recognisable form that are assigned to nothing: a random word next to
//! the name of the service and a word that tells what it is.

use crate::detect::assign::Assigned;
use crate::judge::value::{Form, is_secret};
use crate::strength::Strength;
use std::ops::Range;

const LONGEST: usize = 4 << 10;
/// Words one of which stands between the name of a service and a key of it.
const TELLING: [&str; 9] =
    ["key", "token", "secret", "access", "private", "auth", "pass", "api", "cred"];
/// What a random word may be instead, with these near it.
const HARMLESS: [&str; 5] = ["commit", "sha", "hash", "http", "uuid"];
/// How far behind the name of a service a key of it may stand.
const BESIDE: usize = 80;

/// Whether the name of a service and what follows it are a call whose first argument is a literal:
/// `mailgun.Client("`.
fn is_call(between: &str) -> bool {
    let Some((function, opening)) = between.split_once('(') else { return false };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
    function.bytes().all(is_name) && matches!(opening, "\"" | "'" | "b\"" | "b'")
}

/// A random word that follows the name of a service and a telling word, whatever stands between:
/// `mailgun secret, production: 5d1c…`.
pub(crate) fn near_service_name(text: &str, name: Range<usize>) -> Option<Assigned> {
    let bytes = text.as_bytes();
    let line = bytes.get(name.end..)?;
    let line = line.get(..BESIDE.min(line.len())).unwrap_or(line);
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or(line);
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'=');
    let mut at = name.end;
    let end = name.end + line.len();
    while at < end {
        let rest = bytes.get(at..)?;
        let length = rest.iter().take(LONGEST).take_while(|byte| is_part(byte)).count();
        let range = at..at + length;
        at += length.max(1);
        let Some(value) = text.get(range.clone()).filter(|value| value.len() >= 16) else {
            continue;
        };
        let between = text.get(name.start..range.start)?.to_ascii_lowercase();
        let digits = value.bytes().filter(u8::is_ascii_digit).count();
        if digits >= 3
            && !between.ends_with(['/', '@', '#'])
            && (TELLING.iter().any(|word| between.contains(word)) || is_call(&between))
            && !HARMLESS.iter().any(|word| between.contains(word))
            && is_secret(value, Strength::Weak, Form::Quoted)
        {
            return Some(Assigned { range, strength: Strength::Weak });
        }
    }
    None
}
