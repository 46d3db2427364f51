//! From a telling word to the value that is assigned to it, in whatever syntax.
//!
//! Settings, JSON, YAML, shells, headers, command lines, XML, code and prose all write "this name
//! has that value", and a transcript quotes them inside each other. One scanner by hand reads them
//! all ([`Scan`]), because it must be linear and because a set of expressions for every nesting of
//! quotes would be unreadable.

use crate::detect::compared;
use crate::detect::fallback;
use crate::detect::inner;
use crate::detect::name::Names;
use crate::detect::scan::{self, Operator, Scan};
use crate::judge::value::{Form, is_secret};
use crate::strength::Strength;
use std::ops::Range;

/// A value with the strength of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assigned {
    pub(crate) range: Range<usize>,
    pub(crate) strength: Strength,
}

const LONGEST_NAME: usize = 64;
const MOST_ITEMS: usize = 32;
/// Shorter names have no value that hangs on them.
const SHORTEST_JOINED: usize = 24;
/// How far a setting may be indented.
const LONGEST_INDENT: usize = 40;
/// Longest value that hangs on its name.
const LONGEST_JOINED: usize = 512;
/// Behind a quote that is not closed only long values count: it may be an apostrophe.
const LONG_ENOUGH: usize = 20;

/// Where the name around the word at `word` begins and ends.
pub(crate) fn name_around(text: &str, word: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let mut start = word.start;
    while start > 0
        && word.start - start < LONGEST_NAME
        && bytes.get(start - 1).is_some_and(is_part)
    {
        start -= 1;
    }
    let mut end = word.end;
    while end - word.end < LONGEST_NAME && bytes.get(end).is_some_and(is_part) {
        end += 1;
    }
    // A full stop or dash at the end belongs to the sentence.
    while end > word.end && matches!(bytes.get(end - 1), Some(b'.' | b'-')) {
        end -= 1;
    }
    start..end
}

/// A name without the method that compares it: `password.equals`.
fn without_comparison(text: &str, name: Range<usize>) -> Range<usize> {
    let written = text.get(name.clone()).unwrap_or_default();
    let dot = memchr::memrchr(b'.', written.as_bytes());
    match dot.and_then(|dot| Some((written.get(..dot)?, written.get(dot + 1..)?))) {
        Some((before, method)) if scan::is_comparison(method.as_bytes()) => {
            name.start..name.start + before.len()
        }
        _ => name,
    }
}

/// Whether the value of a field with such a name is a secret.
pub(crate) fn is_field(strength: Strength, value: &str) -> bool {
    is_secret(value, strength, Form::Quoted)
}

/// Whether a name is only mentioned: a space and a plain word follow it, and nothing that compares or
/// expands it stands before it. Most names are, and to see that here is cheaper than to try all that
/// could be done with a name.
fn is_mentioned(text: &str, name: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let Some([b' ', rest @ ..]) = bytes.get(name.end..) else { return false };
    // What may begin an operator is left to it.
    let continues = match rest.first() {
        Some(b'a') => !rest.starts_with(b"as "),
        Some(b'c') => !rest.starts_with(b"content"),
        Some(b'i') => !rest.starts_with(b"is"),
        Some(b's') => !rest.starts_with(b"string"),
        Some(b'v') => !rest.starts_with(b"value"),
        first => first.is_some_and(u8::is_ascii_lowercase),
    };
    let before = || bytes.get(..name.start).unwrap_or_default().trim_ascii_end();
    continues
        && name.len() < SHORTEST_JOINED
        && bytes
            .get(name.clone())
            .is_some_and(|name| !name.starts_with(b"-") && !name.contains(&b'.'))
        && !matches!(before().last(), Some(b'=' | b'(' | b',' | b'{' | b'-'))
        && Scan::new(text, name.end).is_prose()
}

/// Whether a name says nothing, whole or in part.
fn says_nothing(text: &str, name: &Range<usize>, names: &Names) -> bool {
    let written = text.get(name.clone()).unwrap_or_default();
    written.len() < SHORTEST_JOINED && !written.contains('.') && names.judge(written).is_none()
}

/// The values assigned to the name at `name`, if they are secrets.
pub(crate) fn values(text: &str, name: Range<usize>, names: &Names, found: &mut Vec<Assigned>) {
    if says_nothing(text, &name, names) || is_mentioned(text, &name) {
        return;
    }
    if let Some(joined) = joined(text, name.clone(), names) {
        return found.push(joined);
    }
    let name = without_comparison(text, name);
    if let Some(value) = compared::before(text, &name)
        && let Some(strength) = text.get(name.clone()).and_then(|name| names.judge(name))
        && text.get(value.clone()).is_some_and(|value| is_secret(value, strength, Form::Quoted))
    {
        return found.push(Assigned { range: value, strength });
    }
    if let Some(value) = fallback::braced(text, &name) {
        if let Some(strength) = text.get(name).and_then(|name| names.judge(name))
            && text.get(value.clone()).is_some_and(|value| is_secret(value, strength, Form::Bare))
        {
            found.push(Assigned { range: value, strength });
        }
        return;
    }
    let mut scan = Scan::new(text, name.end);
    let flag = text.get(..name.start).is_some_and(|before| before.ends_with('-'))
        || text.get(name.clone()).is_some_and(|name| name.starts_with('-'));
    let tag = name.start > 0 && scan.bytes.get(name.start - 1) == Some(&b'<');
    // Most names are only mentioned. To see that is cheaper than to judge them.
    let Some(operator) = scan.operator(flag, tag) else { return };
    if operator == Operator::Space && !flag && scan.is_prose() {
        return;
    }
    let verdict = is_verdict(text, &name);
    if verdict && operator == Operator::Space {
        return;
    }
    let strength = text.get(name.clone()).and_then(|name| names.judge(name));
    let Some(strength) = strength else { return };
    let mut keep = |range: Range<usize>, form: Form, strength: Strength| {
        if let Some(value) = text.get(range.clone())
            && is_secret(value, strength, form)
            && !(verdict && form != Form::Quoted && is_judged(value))
        {
            found.push(Assigned { range, strength });
        }
    };
    if operator == Operator::Tag {
        let end = scan.until(|byte| byte == b'<' || byte == b'\n');
        return keep(scan.at..end, Form::Quoted, strength);
    }
    scan.gap(operator != Operator::Space);
    scan.colour();
    scan.borrowed();
    scan.ornament();
    if let Some(numbers) = scan.number_list() {
        if strength != Strength::Meta {
            found.push(Assigned { range: numbers, strength });
        }
        return;
    }
    if scan.peek() == Some(b'[') || scan.peek() == Some(b'{') {
        scan.at += 1;
        for _ in 0..MOST_ITEMS {
            scan.gap(true);
            let Some(item) = scan.quoted() else { break };
            keep(item, Form::Quoted, strength);
            scan.gap(true);
            if scan.peek() != Some(b',') {
                break;
            }
            scan.at += 1;
        }
        return;
    }
    let before = scan.at;
    let literal = scan.literal();
    if let Some(value) = literal {
        let inner = fallback::within(text, &value);
        if strength >= Strength::Token {
            for inner in inner::values(text, &value) {
                keep(inner, Form::Quoted, Strength::Weak);
            }
        }
        return keep(inner.unwrap_or(value), Form::Quoted, strength);
    }
    if strength >= Strength::Token
        && let Some(value) = fallback::behind(text, before)
    {
        return keep(value, Form::Quoted, strength);
    }
    let is_cut = operator == Operator::Comma
        && scan.peek().is_some_and(|byte| byte == b'\'' || byte == b'"');
    if let Some(open) = scan.open_quoted().filter(|open| is_cut && open.len() >= LONG_ENOUGH) {
        return keep(open, Form::Code, strength);
    }
    if operator == Operator::Comma && flag && scan.option_default() {
        if let Some(value) = scan.quoted() {
            keep(value, Form::Quoted, strength);
        }
        return;
    }
    if matches!(operator, Operator::Comma | Operator::Call) {
        return;
    }
    if let Some(open) = scan.open_quoted().filter(|open| open.len() >= LONG_ENOUGH) {
        return keep(open, Form::Code, strength);
    }
    if let Some(value) = fallback::expanded(text, scan.at) {
        return keep(value, Form::Bare, strength);
    }
    let start = scan.at;
    let end = scan.bare_end();
    if let Some(line) = whole_line(text, name, &scan)
        && (line.end > end || text.get(line.clone()).is_some_and(|line| line.contains('(')))
        && !verdict
        && line_is_secret(text, &line, strength)
    {
        return found.push(Assigned { range: line, strength });
    }
    let form = match operator {
        Operator::Space if flag => Form::Bare,
        Operator::Space | Operator::Is => Form::Prose,
        _ => match scan.bytes.get(end) {
            // Statements of a shell stand in one line: `PASSWORD=… ; run`.
            Some(b';') if is_setting(text, start) => Form::Bare,
            Some(b',' | b')' | b';' | b'(' | b'[' | b'}') => Form::Code,
            // More words follow: a sentence.
            Some(b' ') if scan.bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic) => {
                Form::Prose
            }
            _ if operator == Operator::Loose => Form::Code,
            _ => Form::Bare,
        },
    };
    // `password: str = "…"`
    if form != Form::Prose {
        let mut behind = Scan::new(text, end);
        behind.gap(false);
        if behind.peek() == Some(b'=') && behind.bytes.get(behind.at + 1) != Some(&b'=') {
            behind.at += 1;
            behind.gap(true);
            if let Some(value) = behind.literal() {
                return keep(value, Form::Quoted, strength);
            }
        }
    }
    if scan.bytes.get(end) == Some(&b'(') {
        return;
    }
    keep(start..end, form, strength);
}

/// The value of a setting that has its line for itself, as in an `.env` file or in YAML: it runs to
/// the end of the line, whatever signs are in it.
fn whole_line(text: &str, name: Range<usize>, scan: &Scan) -> Option<Range<usize>> {
    let sign = text.get(name.end..scan.at)?;
    if !matches!(sign.trim_end_matches(' '), "=" | ":" | " =") {
        return None;
    }
    let near = text.as_bytes().get(name.start.saturating_sub(LONGEST_INDENT)..name.start)?;
    let line = near.rsplit(|byte| matches!(byte, b'\n')).next()?.trim_ascii();
    let starts = [&b""[..], b"export", b"set", b"ENV", b"-", b"+"];
    starts.contains(&line).then(|| scan.rest_of_line())?
}

/// Whether the value at `start` is that of a variable of a shell: `NAME=`.
fn is_setting(text: &str, start: usize) -> bool {
    let name = text.get(..start).and_then(|before| before.strip_suffix('='));
    name.is_some_and(|name| {
        name.ends_with(|last: char| {
            last.is_ascii_uppercase() || last == '_' || last.is_ascii_digit()
        })
    })
}

/// Whether the rest of a line is a secret. As it may hold any sign, a word is not enough.
fn line_is_secret(text: &str, line: &Range<usize>, strength: Strength) -> bool {
    let Some(value) = text.get(line.clone()) else { return false };
    let strength = strength.min(Strength::Token);
    let is_plain = !value.starts_with(['$', '(', '[', '{', '@', '*']) && !value.ends_with(')');
    // A variable of a shell holds no code.
    if is_plain && is_setting(text, line.start) {
        is_secret(value, strength, Form::Quoted)
    } else {
        is_secret(value, strength, Form::Bare)
    }
}

/// Whether the name is `pass` alone, before a colon or a space: mostly what a test did, or a verb.
fn is_verdict(text: &str, name: &Range<usize>) -> bool {
    text.get(name.clone()).is_some_and(|name| name.eq_ignore_ascii_case("pass"))
        && matches!(text.as_bytes().get(name.end), Some(b':' | b' '))
}

/// What may have passed: a name of letters, or of a test.
fn is_judged(value: &str) -> bool {
    let is_name =
        |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'.' | b'/');
    let tests = ["Test", "Benchmark", "Example", "Fuzz", "test_"];
    value.bytes().all(is_name) || tests.iter().any(|test| value.starts_with(test))
}

/// A value that hangs on its name: `service-token-0024a29224affe29d173c0bf99e5a89d`.
fn joined(text: &str, name: Range<usize>, names: &Names) -> Option<Assigned> {
    if name.len() < SHORTEST_JOINED {
        return None;
    }
    // A name ends somewhere, a value where it does.
    let rest = text.as_bytes().get(name.end..)?.iter().take(LONGEST_JOINED);
    let rest = rest.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let name = name.start..name.end + rest.count();
    let whole = text.get(name.clone())?;
    let first = whole.find(['-', '.', '_'])?;
    let cuts = whole.match_indices(['-', '.', '_']).map(|(at, _)| at).filter(|at| *at >= first);
    for cut in cuts.take(6) {
        let (head, tail) = whole.split_at_checked(cut)?;
        let tail = tail.get(1..)?;
        let digits = tail.bytes().filter(u8::is_ascii_digit).count();
        if tail.len() < 20 || digits < 4 {
            continue;
        }
        if names.judge(head).is_some() && is_secret(tail, Strength::Weak, Form::Quoted) {
            let range = name.start + cut + 1..name.end;
            return Some(Assigned { range, strength: Strength::Weak });
        }
    }
    None
}
