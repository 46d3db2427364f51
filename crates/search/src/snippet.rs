//! The lines of a text that are shown.

use std::ops::Range;

/// Lines that are shown, at most, if no more are asked for.
const LINES: usize = 3;
/// Bytes of a line that are kept around a match.
const AROUND: usize = 200;

/// Lines of a text around what was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// In their order.
    pub lines: Vec<SnippetLine>,
}

/// A line, or the part of a long one around the first match in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnippetLine {
    /// Its number in the text, from 1.
    pub number: usize,
    /// As it is in the text.
    pub text: String,
    /// What was found in it, in bytes of `text`.
    pub marks: Vec<Range<usize>>,
    /// The line goes on before or after the text.
    pub cut: (bool, bool),
}

/// The lines with matches (sorted, by bytes of the text), or `context` lines on both sides of the
/// first.
pub(crate) fn snippet(text: &str, matches: &[Range<usize>], context: Option<usize>) -> Snippet {
    let first = matches.first().map_or(0, |place| place.start);
    let mut lines = Vec::new();
    let mut before: Vec<(usize, Range<usize>)> = Vec::new();
    let mut after = None;
    let mut start = 0;
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let place = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        if start <= first && start < text.len() {
            if let Some(context) = context {
                before.push((number, place));
                if before.len() > context {
                    before.remove(0);
                }
            }
            continue;
        }
        match context {
            Some(context) => {
                for (number, place) in before.drain(..) {
                    lines.push(shown(text, number, place, matches));
                }
                lines.push(shown(text, number, place, matches));
                let left = after.get_or_insert(context);
                if *left == 0 {
                    break;
                }
                *left -= 1;
            }
            None => {
                let has_match =
                    matches.iter().any(|found| found.start < start && found.end > place.start);
                if (has_match || lines.is_empty())
                    && !text.get(place.clone()).unwrap_or_default().trim().is_empty()
                {
                    lines.push(shown(text, number, place, matches));
                }
                if lines.len() == LINES {
                    break;
                }
            }
        }
    }
    Snippet { lines }
}

fn shown(text: &str, number: usize, line: Range<usize>, matches: &[Range<usize>]) -> SnippetLine {
    let inside = matches.iter().filter(|found| found.start < line.end && found.end > line.start);
    let first = inside.clone().next().map_or(line.start, |found| found.start.max(line.start));
    let from = boundary(text, first.saturating_sub(AROUND).max(line.start));
    let from = if from < line.start + AROUND / 4 { line.start } else { from };
    let to = boundary(text, (first + 2 * AROUND).min(line.end));
    let marks = inside
        .map(|found| found.start.max(from).min(to) - from..found.end.max(from).min(to) - from)
        .filter(|mark| !mark.is_empty());
    SnippetLine {
        number,
        text: text.get(from..to).unwrap_or_default().to_owned(),
        marks: marks.collect(),
        cut: (from > line.start, to < line.end),
    }
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_matches() {
        let text = "one\ntwo x\n\nthree\nfour x x\nx\nx";
        let matches: Vec<Range<usize>> =
            text.match_indices('x').map(|(at, _)| at..at + 1).collect();
        let found = snippet(text, &matches, None);
        let numbers: Vec<usize> = found.lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [2, 5, 6]);
        assert_eq!(found.lines[1].marks, [5..6, 7..8]);
        let around = snippet(text, &matches[..1], Some(1));
        let texts: Vec<&str> = around.lines.iter().map(|line| &*line.text).collect();
        assert_eq!(texts, ["one", "two x", ""]);
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let text = format!("{}éx{}", "ä".repeat(5_000), "ö".repeat(5_000));
        let at = text.find('x').unwrap();
        let place = at..at + 1;
        let found = snippet(&text, std::slice::from_ref(&place), None);
        let line = &found.lines[0];
        assert_eq!(&line.text[line.marks[0].clone()], "x");
        assert!(line.text.len() < 4 * AROUND && line.cut == (true, true));
    }
}
