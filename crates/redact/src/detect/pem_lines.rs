//! Lines of a key's body, through whatever stands before and behind them: numbers, bars, names of
//! files, quotes, commas.

use std::ops::Range;

/// A shorter run of letters of base64 is a word.
const SHORTEST: usize = 12;
/// What a line of a key is long at least; most have 64 letters.
const USUAL: usize = 40;

/// What a line is to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// One of its lines, with so many letters.
    Line(usize),
    /// Its last one, which is shorter.
    Last,
    None,
}

/// What `line` is behind a line of `before` letters.
pub(crate) fn body(line: &str, before: Option<usize>) -> Body {
    let longest = Runs::of(line).max_by_key(Range::len);
    let longest = longest.and_then(|run| line.get(run));
    if let Some(run) = longest
        && run.len() >= USUAL
        && is_mixed(run)
    {
        return Body::Line(run.len());
    }
    let Some(before) = before else { return Body::None };
    let is_last = |run: &str| {
        run.len() < before
            && (run.ends_with('=') && run.len() >= 4 || run.len() >= 8 && is_mixed(run))
    };
    let mut short = Runs { least: 4, ..Runs::of(line) };
    if short.any(|run| line.get(run).is_some_and(is_last)) { Body::Last } else { Body::None }
}

/// The parts of a key in one of its lines.
pub(crate) fn parts(line: &str) -> impl Iterator<Item = &str> {
    let runs = Runs { least: 8, ..Runs::of(line) }.filter_map(|run| line.get(run));
    runs.filter(|run| is_mixed(run))
}

/// `Proc-Type: 4,ENCRYPTED`, or nothing: what stands between the opening mark and the body.
pub(crate) fn is_header(line: &str) -> bool {
    let known = ["Proc-Type:", "DEK-Info:", "Comment:", "Version:"];
    known.iter().any(|name| line.contains(name))
        || line.chars().all(|letter| !letter.is_alphabetic())
}

/// Letters of more than one kind, as noise has and words do not.
fn is_mixed(run: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| run.as_bytes().iter().any(kind);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

fn is_part(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '=')
}

/// Runs of letters of base64 that are long enough to be of a key.
#[derive(Debug, Clone)]
pub(crate) struct Runs<'a> {
    bytes: &'a [u8],
    at: usize,
    least: usize,
}

impl<'a> Runs<'a> {
    pub(crate) fn of(text: &'a str) -> Runs<'a> {
        Runs { bytes: text.as_bytes(), at: 0, least: SHORTEST }
    }
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while self.at < self.bytes.len() {
            let rest = self.bytes.get(self.at..)?;
            let mut start = self.at;
            let length = rest.iter().take_while(|byte| is_part(char::from(**byte))).count();
            self.at += length.max(1);
            // `\n` as written inside quotes: its letter is not part of the line.
            let escaped = start > 0 && self.bytes.get(start - 1) == Some(&b'\\') && length > 0;
            start += usize::from(escaped);
            let length = length - usize::from(escaped);
            let run = self.bytes.get(start..start + length)?;
            if length >= self.least && run.iter().any(u8::is_ascii_alphanumeric) {
                return Some(start..start + length);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_lines_finds_lines_of_a_key_in_other_text() {
        let key = "MIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gun";
        for line in [
            format!("   12→  {key}\n"),
            format!("│  12 │ {key} │"),
            format!("3f2a9c1d (user 2026-01-01 10:00:00 +0000 12) {key}"),
            format!("\"{key}\\n\","),
            format!("config.yml-12-  {key}$"),
        ] {
            assert_eq!(body(&line, None), Body::Line(64), "{line}");
        }
        assert_eq!(body("   13→  q8Zr41xkT0pLm2vN==", Some(64)), Body::Last);
        assert_eq!(body("  \"q8Zr41xkT0pLm2vN\\n\" +", Some(64)), Body::Last);
        assert_eq!(body("   13→port: 8080", Some(64)), Body::None);
        assert_eq!(
            body("   13→the_name_of_a_function_that_is_long_enough_to_be_one", None),
            Body::None
        );
    }

    #[test]
    fn an_escape_is_not_part_of_a_line() {
        let text = r"-----\nq8Zr41xkT0pLm2vN\nr9Zr41xkT0pLm2vN\n-----";
        let runs: Vec<_> = Runs::of(text).filter_map(|run| text.get(run)).collect();
        assert_eq!(runs, ["q8Zr41xkT0pLm2vN", "r9Zr41xkT0pLm2vN"]);
    }
}
