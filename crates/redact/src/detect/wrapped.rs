//! Values that were wrapped at the width of a screen.
//!
//! Nothing in a text says that a line goes on in the next one. Where what follows a keyword runs to
//! the end of its line, the lines are searched once more as one. What a rule finds only then is
//! believed; what goes on behind a value that was found already is believed if the line is as wide as
//! screens are, or as its neighbours.

use crate::detect::encoding::{View, line};
use backstory_format::json::marks::{Byte, Marks};
use std::ops::Range;

/// How far behind a keyword the line may end.
const FARTHEST: usize = 400;
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
    lines: Option<Lines<'a>>,
    /// Where the line begins whose width was measured last, and whether it is wide.
    measured: Option<(usize, bool)>,
}

/// The line of the last keyword, and the one before it. Keywords come in order, so each line end
/// is searched for once.
#[derive(Debug)]
struct Lines<'a> {
    bytes: &'a [u8],
    ends: Marks<'a, Byte<b'\n'>>,
    before: Option<Range<usize>>,
    here: Range<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        let bytes = text.as_bytes();
        let mut lines = Lines { bytes, ends: Marks::new(bytes, 0), before: None, here: 0..0 };
        lines.here.end = lines.end();
        lines
    }

    /// The next end of a line.
    fn end(&mut self) -> usize {
        self.ends.peek().unwrap_or(self.bytes.len())
    }

    /// Goes to the line around a place.
    fn go_to(&mut self, at: usize) {
        if at < self.here.start {
            let before = self.bytes.get(..at).unwrap_or_default();
            let near = before.get(before.len().saturating_sub(WIDEST)..).unwrap_or_default();
            let start = memchr::memrchr(b'\n', near)
                .map_or(at - near.len(), |end| at - near.len() + end + 1);
            self.ends = Marks::new(self.bytes, start);
            self.here = start..self.end();
            self.before = None;
        }
        while at > self.here.end {
            let start = self.here.end + 1;
            self.ends.pass_to(start);
            self.before = Some(std::mem::replace(&mut self.here, start..start));
            self.here.end = self.end();
        }
    }
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
        Wrapped { text, done: 0, parts: Vec::new(), lines: None, measured: None }
    }

    /// Notes the line of a keyword, if its word runs to the end.
    pub(crate) fn note(&mut self, keyword: &Range<usize>, of: KeywordOf) {
        if keyword.start < self.done {
            return;
        }
        let text = self.text;
        let lines = self.lines.get_or_insert_with(|| Lines::new(text));
        lines.go_to(keyword.start);
        let is_narrow = self.measured == Some((lines.here.start, false));
        if is_narrow && of == KeywordOf::Name {
            return;
        }
        let mut end = lines.here.end;
        if end < keyword.end {
            let rest = text.as_bytes().get(keyword.end..).unwrap_or_default();
            end = memchr::memchr(b'\n', rest).map_or(text.len(), |found| keyword.end + found);
        }
        if end == text.len() || end - keyword.end >= FARTHEST {
            return;
        }
        let behind = text.as_bytes().get(keyword.end..end).unwrap_or_default().trim_ascii_end();
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
        if needs_width && !self.measure() {
            return;
        }
        let first = line(text, keyword.start);
        self.done = first.end;
        self.parts.push(first);
    }

    /// Whether the line is wide. Lines have many keywords.
    fn measure(&mut self) -> bool {
        let Some(Lines { here, before, .. }) = &self.lines else { return false };
        if let Some((_, wide)) = self.measured.filter(|(start, _)| *start == here.start) {
            return wide;
        }
        let wide = is_wide(self.text, here, || match before {
            Some(before) if before.len() < WIDEST => Some(before.clone()),
            _ => here.start.checked_sub(1).map(|end| line(self.text, end)),
        });
        self.measured = Some((here.start, wide));
        wide
    }

    pub(crate) fn joined(self) -> impl Iterator<Item = Joined> {
        self.parts.into_iter().filter_map(|first| joined(self.text, first))
    }
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
    let before = || first.start.checked_sub(1).map(|end| line(text, end));
    let is_wide = is_wide(text, &first, before);
    (last != first).then_some(Joined { view, first_end: first.end, is_wide })
}

/// What stands before the words of a line: spaces, a frame, marks of a quotation.
fn margin(line: &str) -> &str {
    let words = line.trim_start_matches([' ', '\t', '│', '┃', '|', '>']);
    line.get(..line.len() - words.len()).unwrap_or_default()
}

/// Whether a line assigns something, so that it goes on from nothing.
fn begins_anew(words: &str) -> bool {
    let word = words.split_ascii_whitespace().next().unwrap_or_default();
    let name = word.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'_').count();
    let sign = word.as_bytes().get(name);
    (name >= 3 && matches!(sign, Some(b'=' | b':')))
        || words.starts_with(['#', '-', '*', '$', '{', '}', '[', ']', '(', '<', '"', '\''])
}

/// Whether a line is as wide as screens are, or as the one before it.
fn is_wide(
    text: &str,
    line_of: &Range<usize>,
    before: impl FnOnce() -> Option<Range<usize>>,
) -> bool {
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
    let Some(before) = before() else { return false };
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
