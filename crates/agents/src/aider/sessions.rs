//! The sessions of a chat history, and what a copy of one is named after.

use super::agent::HEADING;
use crate::split::Part;
use backstory_format::line::split;
use backstory_format::slice::Part as _;

/// Below `# aider chat started at 2026-01-31 09:30:00`. A line of the same words inside a fence
/// would be taken for one; the date after it makes that unlikely.
pub(super) fn headings(bytes: &[u8], name: &str) -> Vec<Part> {
    let mut starts: Vec<(u64, String)> = Vec::new();
    let mut at = 0;
    for line in split(bytes) {
        if let Some(date) = line.content.strip_prefix(HEADING.as_bytes()) {
            let date = String::from_utf8_lossy(date.trim_ascii());
            let plain = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | ':' | ' ');
            if date.len() == 19 && date.chars().all(plain) {
                starts.push((at, date.replace(' ', "T")));
            }
        }
        at += line.width() as u64;
    }
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([at]);
    // A history that was cut begins in the middle of a session.
    let first = starts.first().map_or(at, |(start, _)| *start);
    let head = bytes.part(..first as usize);
    let cut = (!head.trim_ascii().is_empty())
        .then(|| Part { id: format!("{name}-start"), range: Some(0..first) });
    cut.into_iter()
        .chain(starts.iter().zip(ends).map(|((start, date), end)| Part {
            id: format!("{name}-{date}"),
            range: Some(*start..end),
        }))
        .collect()
}

/// `aider-project` of `aider-project-2026-01-31T09-30-00`, of that with a number after it, and of
/// `aider-project-start`.
pub(super) fn before_date(name: &str) -> &str {
    const DATE: &[u8] = b"-0000-00-00T00-00-00";
    let dated = |name: &'_ str| -> Option<usize> {
        let start = name.len().checked_sub(DATE.len())?;
        let alike = |(letter, form): (&u8, &u8)| match form {
            b'0' => letter.is_ascii_digit(),
            form => letter == form,
        };
        name.as_bytes().get(start..)?.iter().zip(DATE).all(alike).then_some(start)
    };
    let numbered = || {
        let (head, number) = name.rsplit_once('-')?;
        dated(head).filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let start = || name.strip_suffix("-start").map(str::len);
    dated(name).or_else(numbered).or_else(start).and_then(|end| name.get(..end)).unwrap_or(name)
}
