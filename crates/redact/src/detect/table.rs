//! Values in columns whose header tells what they are: CSV, Markdown, what databases print.
//!
//! A header is a line of names between separators. Its telling columns are read together down to
//! where the table ends, so that a table costs its length, however many headers it repeats.

use crate::detect::assign::Assigned;
use crate::detect::encoding::line;
use crate::detect::name::Names;
use crate::judge::value::{Form, is_secret};
use crate::strength::Strength;
use std::ops::Range;

const SEPARATORS: [char; 6] = ['|', '│', '┃', '\t', ',', ';'];
const LONGEST_HEADER: usize = 2 << 10;
const LONGEST_NAME: usize = 48;
const MOST_COLUMNS: usize = 64;

/// The tables of one text.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    done: usize,
}

impl Tables {
    /// Whether a name may be in a table. Most stand between words.
    #[inline]
    pub(crate) fn may_hold(text: &str, name: &Range<usize>) -> bool {
        let bytes = text.as_bytes();
        if matches!(bytes.get(name.end..), Some([b' ', next, ..]) if next.is_ascii_alphanumeric()) {
            return false;
        }
        let is_word = |at: Option<usize>| {
            let byte = at.and_then(|at| bytes.get(at));
            byte.is_some_and(|byte| {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'=' | b':' | b'(' | b')' | b'[' | b']' | b'/' | b'.' | b'$')
            })
        };
        !is_word(name.start.checked_sub(1)) && !is_word(Some(name.end))
    }

    /// Finds secrets below the header that `name` stands in, if it does, or in the cell behind it.
    pub(crate) fn find(
        &mut self,
        text: &str,
        name: &Range<usize>,
        names: &Names,
        found: &mut Vec<Assigned>,
    ) {
        if name.start < self.done {
            return;
        }
        let Some(separator) = separator(text, name) else { return };
        let header = line(text, name.start);
        self.done = header.end;
        if header.len() > LONGEST_HEADER {
            return;
        }
        let columns = cells(text, header.clone(), separator);
        if columns.len() < 2 || columns.len() > MOST_COLUMNS {
            return;
        }
        let judge = |cell: &Range<usize>| {
            let name = text.get(cell.clone()).filter(|name| is_name(name))?;
            names.judge(name).filter(|strength| *strength > Strength::Weak)
        };
        let telling: Vec<Option<Strength>> = columns.iter().map(judge).collect();
        let is_header = columns.iter().all(|cell| text.get(cell.clone()).is_some_and(is_name));
        if !is_header {
            // A name and its value in the next cell.
            if matches!(separator, '|' | '│' | '┃' | '\t') {
                let pairs = telling.iter().zip(columns.iter().skip(1));
                for (strength, cell) in pairs.filter_map(|(one, cell)| Some(((*one)?, cell))) {
                    keep(text, cell.clone(), strength, found);
                }
            }
            return;
        }
        let mut at = header.end;
        // Columns repeat values, and tables repeat rows.
        let mut last: Vec<Option<(&str, bool)>> = vec![None; columns.len()];
        while at < text.len() {
            let row = line(text, at + 1);
            at = row.end;
            let Some(written) = text.get(row.clone()) else { return };
            if is_rule(written) {
                continue;
            }
            let cells = cells(text, row.clone(), separator);
            if cells.len() != columns.len() {
                return;
            }
            for ((strength, cell), last) in telling.iter().zip(cells).zip(&mut last) {
                let Some(strength) = *strength else { continue };
                let value = text.get(cell.clone()).unwrap_or_default();
                let known = last.filter(|(one, _)| *one == value).map(|(_, is_secret)| is_secret);
                let is_secret = known.unwrap_or_else(|| is_secret(value, strength, Form::Quoted));
                *last = Some((value, is_secret));
                if is_secret {
                    found.push(Assigned { range: cell, strength });
                }
            }
            self.done = row.end;
        }
    }
}

fn keep(text: &str, cell: Range<usize>, strength: Strength, found: &mut Vec<Assigned>) {
    let value = text.get(cell.clone()).unwrap_or_default();
    if is_secret(value, strength, Form::Quoted) {
        found.push(Assigned { range: cell, strength });
    }
}

/// The sign that a name stands beside, if it may be in a header: at the beginning of a line or behind
/// the same sign, and at the end of one or before it.
fn separator(text: &str, name: &Range<usize>) -> Option<char> {
    let is_padding = |one: char| matches!(one, ' ' | '"' | '\'' | '*' | '`' | '\r');
    let mut before = text.get(..name.start)?.chars().rev().take(LONGEST_NAME);
    let before = before.find(|one| !is_padding(*one)).unwrap_or('\n');
    let mut behind = text.get(name.end..)?.chars().take(LONGEST_NAME);
    let behind = behind.find(|one| !is_padding(*one)).unwrap_or('\n');
    match (before, behind) {
        ('\n', one) | (one, '\n') => SEPARATORS.contains(&one).then_some(one),
        (one, other) => (one == other && SEPARATORS.contains(&one)).then_some(one),
    }
}

/// The cells of a line, without spaces and quotes around them, and without empty ones at the edges.
fn cells(text: &str, line: Range<usize>, separator: char) -> Vec<Range<usize>> {
    let Some(written) = text.get(line.clone()) else { return Vec::new() };
    let mut cells = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, one) in written.char_indices() {
        if one == '"' {
            quoted = !quoted;
        } else if one == separator && !quoted {
            cells.push(start..at);
            start = at + one.len_utf8();
        }
    }
    cells.push(start..written.len());
    if matches!(separator, '|' | '│' | '┃') {
        let is_empty = |cell: &Range<usize>| {
            written.get(cell.clone()).is_some_and(|cell| cell.trim().is_empty())
        };
        if cells.last().is_some_and(is_empty) {
            cells.pop();
        }
        if cells.first().is_some_and(is_empty) {
            cells.remove(0);
        }
    }
    let trimmed = |cell: Range<usize>| {
        let within = written.get(cell.clone()).unwrap_or_default();
        let is_edge = |one: char| one.is_whitespace() || matches!(one, '"' | '\'' | '`' | '*');
        let ahead = within.len() - within.trim_start_matches(is_edge).len();
        let value = within.trim_matches(is_edge);
        let start = line.start + cell.start + ahead;
        start..start + value.len()
    };
    cells.into_iter().map(trimmed).collect()
}

/// Whether a cell may name a column.
fn is_name(cell: &str) -> bool {
    let digits = cell.bytes().filter(u8::is_ascii_digit).count();
    (1..=LONGEST_NAME).contains(&cell.len())
        && cell.chars().all(|one| one.is_alphanumeric() || matches!(one, '_' | '-' | '.' | ' '))
        && cell.split(' ').count() <= 3
        && digits <= 2
}

/// Whether a line only separates the header from what is below it.
fn is_rule(line: &str) -> bool {
    let is_part = |one: char| {
        matches!(
            one,
            '-' | '+' | '|' | '=' | ':' | ' ' | '─' | '┼' | '│' | '├' | '┤' | '╪' | '═' | '\r'
        )
    };
    line.len() >= 3 && line.chars().all(is_part)
}
