//! Values that were wrapped at the width of a screen.
//!
//! Nothing in a text says that a line goes on in the next one. Where what follows a keyword runs to
//! the end of its line, the lines are searched once more as one. What a rule finds only then is
//! believed; what goes on behind a value that was found already is believed if the line is as wide as
//! screens are, or as its neighbours.

use crate::detect::encoding::{View, line};
use std::ops::Range;

/// How far behind a keyword the line may end.
const FARTHEST: usize = 400;
/// How far its end is searched for at once.
const AHEAD: usize = 4 << 10;
const NEAR: usize = 48;
/// So few letters behind a keyword are none of a value.
const FEWEST: usize = 2;
const MOST_SPACES: usize = 3;
const MOST_LINES: usize = 5;
/// Narrower lines are not wrapped.
const NARROWEST: usize = 24;
/// Nor are longer ones: no screen is as wide.
const WIDEST: usize = 1 << 10;

/// What a keyword belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeywordOf {
    Rule,
    Name,
}

/// Lines of a text that may be one.
#[derive(Debug)]
pub(crate) struct Wrapped<'a> {
    text: &'a str,
    done: usize,
    parts: Vec<Range<usize>>,
    /// What was searched last for the end of a line: none is in it.
    within_line: Range<usize>,
    /// Where the line ends whose width was measured last, and whether it may go on.
    measured: Option<(usize, bool)>,
}

/// Some lines as one.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) view: View,
    /// Where the first of them ends.
    pub(crate) first_end: usize,
    /// Whether they are as wide as wrapped lines are.
    pub(crate) is_wide: bool,
}

impl<'a> Wrapped<'a> {
    pub(crate) fn new(text: &'a str) -> Wrapped<'a> {
        Wrapped { text, done: 0, parts: Vec::new(), within_line: 0..0, measured: None }
    }

    /// Notes the line of a keyword, if its word runs to the end.
    pub(crate) fn note(&mut self, keyword: &Range<usize>, of: KeywordOf) {
        if keyword.start < self.done {
            return;
        }
        let Some(length) = self.rest_of_line(keyword.end) else { return };
        let text = self.text;
        let behind = text.as_bytes().get(keyword.end..).and_then(|rest| rest.get(..length));
        let behind = behind.unwrap_or_default().trim_ascii_end();
        // Most lines go on with words; between a name and its value there are few spaces.
        let near = behind.get(..NEAR).unwrap_or_default();
        if behind.len() < FEWEST || spaces(near) > MOST_SPACES {
            return;
        }
        let spaces = spaces(behind);
        if spaces > MOST_SPACES {
            return;
        }
        // Of most lines nothing would be believed, so they are not searched again.
        let needs_width = of == KeywordOf::Name || spaces > 0;
        if needs_width && !self.measure(keyword, length) {
            return;
        }
        let first = line(text, keyword.start);
        self.done = first.end;
        self.parts.push(first);
    }

    /// How long the rest of a line is, if it ends near. Keywords come in order, so what was searched
    /// for the end is not searched again.
    fn rest_of_line(&mut self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let ends = |at: usize| bytes.get(at) == Some(&b'\n');
        let Range { start, end } = self.within_line;
        let is_known = start <= at && at < end && (ends(end) || end - at >= FARTHEST);
        if !is_known {
            let rest = bytes.get(at..).unwrap_or_default();
            let near = rest.get(..AHEAD).unwrap_or(rest);
            self.within_line = at..at + memchr::memchr(b'\n', near).unwrap_or(near.len());
        }
        let end = self.within_line.end;
        (end - at < FARTHEST && ends(end)).then_some(end - at)
    }

    /// Whether the line of a keyword is wide that ends `rest` bytes behind it, and may go on in the
    /// next. Lines have many keywords.
    fn measure(&mut self, keyword: &Range<usize>, rest: usize) -> bool {
        let end = keyword.end + rest;
        if let Some((_, wide)) = self.measured.filter(|(measured, _)| *measured == end) {
            return wide;
        }
        let bytes = self.text.as_bytes();
        // A keyword may hold the end of its line.
        let inside = bytes.get(keyword.clone()).and_then(|word| memchr::memchr(b'\n', word));
        let end_of_first = inside.map_or(end, |at| keyword.start + at);
        let wide = start_of_line(bytes, keyword.start)
            .map(|start| start..end_of_first)
            .is_some_and(|line| may_go_on(self.text, &line) && is_wide(self.text, &line));
        self.measured = Some((end, wide));
        wide
    }

    pub(crate) fn joined(self) -> impl Iterator<Item = Joined> {
        self.parts.into_iter().filter_map(|first| joined(self.text, first))
    }
}

/// Where the line begins that holds `at`; none if that is so far before that no screen is as wide.
fn start_of_line(bytes: &[u8], at: usize) -> Option<usize> {
    let least = at.saturating_sub(WIDEST);
    let before = memchr::memrchr(b'\n', bytes.get(least..at)?);
    before.map(|found| least + found + 1).or((least == 0).then_some(0))
}

fn spaces(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b' ').count()
}

/// A line and those that it may go on in.
fn joined(text: &str, first: Range<usize>) -> Option<Joined> {
    let margin = margin(text.get(first.clone())?);
    let mut view = View::default();
    let mut last = first.clone();
    let mut start = first.start;
    for _ in 1..MOST_LINES {
        if last.end >= text.len() {
            break;
        }
        let next = line(text, last.end + 1);
        let Some(words) = text.get(next.clone())?.strip_prefix(margin) else { break };
        let continues = words.starts_with(|one: char| one.is_ascii_graphic())
            && !begins_anew(words)
            && next.len() <= first.len();
        if !continues {
            break;
        }
        let end = first.start + text.get(first.start..last.end)?.trim_end_matches('\r').len();
        view.copy(text, start..end);
        start = next.end - words.len();
        let is_last = next.len() < last.len() || words.trim_end_matches('\r').contains(' ');
        last = next;
        if is_last {
            break;
        }
    }
    view.copy(text, start..last.end);
    let is_wide = is_wide(text, &first);
    (last != first).then_some(Joined { view, first_end: first.end, is_wide })
}

/// What stands before the words of a line: spaces, a frame, marks of a quotation.
fn margin(line: &str) -> &str {
    let words = line.trim_start_matches([' ', '\t', '│', '┃', '|', '>']);
    line.get(..line.len() - words.len()).unwrap_or_default()
}

/// Whether the next line may go on where a line ends. Most are indented otherwise or begin with a
/// sign, which is cheaper to see than how wide the line is.
fn may_go_on(text: &str, line: &Range<usize>) -> bool {
    let next = text.get(line.clone()).and_then(|written| {
        let next = text.get(line.end + 1..)?;
        next.strip_prefix(margin(written))
    });
    next.is_some_and(|words| {
        words.starts_with(|one: char| one.is_ascii_graphic()) && !words.starts_with(OPENINGS)
    })
}

/// What a line begins with that goes on from nothing.
const OPENINGS: [char; 12] = ['#', '-', '*', '$', '{', '}', '[', ']', '(', '<', '"', '\''];

/// Whether a line assigns something, so that it goes on from nothing.
fn begins_anew(words: &str) -> bool {
    let word = words.split_ascii_whitespace().next().unwrap_or_default();
    let name = word.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'_').count();
    let sign = word.as_bytes().get(name);
    (name >= 3 && matches!(sign, Some(b'=' | b':'))) || words.starts_with(OPENINGS)
}

/// Whether a line is as wide as screens are, or as the one before it.
fn is_wide(text: &str, line_of: &Range<usize>) -> bool {
    if line_of.len() < NARROWEST || line_of.len() > WIDEST {
        return false;
    }
    let Some(written) = text.get(line_of.clone()) else { return false };
    let whole = characters(written);
    if whole < NARROWEST || is_width(whole) {
        return whole >= NARROWEST;
    }
    let margin = margin(written);
    if !margin.is_empty() && is_width(whole - characters(margin)) {
        return true;
    }
    let before = line_of.start.checked_sub(1).map(|end| line(text, end));
    let Some(before) = before else { return false };
    // No character has more than four bytes.
    (whole..=4 * whole).contains(&before.len())
        && text.get(before).is_some_and(|before| characters(before) == whole)
}

/// How many characters are in a line; mostly as many as bytes.
fn characters(line: &str) -> usize {
    if line.is_ascii() { line.len() } else { line.chars().count() }
}

/// Whether screens are so many characters wide.
fn is_width(characters: usize) -> bool {
    matches!(
        characters,
        40 | 50 | 60 | 64 | 70 | 72 | 76 | 78 | 79 | 80 | 100 | 119 | 120 | 132 | 160
    )
}
