//! Markdown on a terminal: marks become styles, lines stay lines.
//!
//! Without colours the text stays as it was written, so that what is piped can be used again. Marks
//! are taken line by line: what spans several lines keeps its marks, and nothing is ever lost.

use super::{BOLD, DIM, PLAIN, TOOL, Terminal, wrap};
use crate::render::sink::Rendered;
use anstyle::{AnsiColor, Effects, Style};
use backstory_format::slice::Part;
use backstory_text::ansi;
use backstory_text::escape;
use backstory_text::figures::counted;
use std::io::Write;
use std::ops::Range;
use unicode_width::UnicodeWidthStr;

/// A run of text in one style.
type Run<'a> = (Style, &'a str);

impl<W: Write> Terminal<'_, W> {
    /// A text in Markdown, at most `limit` lines of it.
    pub(super) fn prose(
        &mut self,
        indent: &str,
        base: Style,
        text: &str,
        limit: usize,
    ) -> Rendered {
        let lines: Vec<&str> = text.trim_matches('\n').trim_end().split('\n').collect();
        let mut fenced = false;
        let mut at = 0;
        while let Some(line) = lines.get(at).filter(|_| at < limit) {
            let fence = line.trim_start().starts_with("```");
            if !fenced && !fence && is_row(line) {
                let rows = lines.part(at..).iter().take_while(|line| is_row(line)).count();
                let rows = rows.min(limit - at);
                self.table(indent, lines.part(at..at + rows))?;
                at += rows;
                continue;
            }
            if fenced || fence {
                self.wrapped(indent, DIM, line)?;
            } else {
                self.prose_line(indent, base, line)?;
            }
            fenced ^= fence;
            at += 1;
        }
        match lines.len().saturating_sub(at) {
            0 => Ok(()),
            more => {
                let words = format!("… {}", counted(more as u64, "more line", "more lines"));
                self.line(indent, DIM, &words)
            }
        }
    }

    fn prose_line(&mut self, indent: &str, base: Style, line: &str) -> Rendered {
        let marks = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = (1..=6).contains(&marks) && line.part(marks..).starts_with(' ');
        if !self.look.colour {
            return self.wrapped(indent, base, line);
        }
        let line = escape::lines(line);
        let line = line.replace('\t', "    ");
        if is_heading {
            return self.wrapped(indent, base.bold(), line.part(marks..).trim_start());
        }
        let runs = runs(&line, base);
        let plain: String = runs.iter().map(|(_, text)| *text).collect();
        // Later lines of an item begin under its first word.
        self.styled(indent, base, &runs, hang(&plain))
    }

    /// Output of a program, in its colours where there are any.
    pub(super) fn output(&mut self, indent: &str, base: Style, text: &str) -> Rendered {
        let mut look = ansi::Look::default();
        for line in text.trim_end().split('\n') {
            let found = ansi::runs(line, &mut look);
            if !self.look.colour || found.iter().all(|(look, _)| *look == ansi::Look::default()) {
                let line: String = found.iter().map(|(_, text)| *text).collect();
                self.wrapped(indent, base, &line)?;
                continue;
            }
            let safe: Vec<(Style, String)> = found
                .into_iter()
                .map(|(look, text)| {
                    (style_of(look, base), escape::lines(text).replace('\t', "    "))
                })
                .collect();
            let runs: Vec<Run<'_>> =
                safe.iter().map(|(style, text)| (*style, text.as_str())).collect();
            self.styled(indent, base, &runs, 0)?;
        }
        Ok(())
    }

    /// Runs of text, wrapped; lines after the first begin `hang` columns further in.
    fn styled(&mut self, indent: &str, base: Style, runs: &[Run<'_>], hang: usize) -> Rendered {
        let plain: String = runs.iter().map(|(_, text)| *text).collect();
        let Some(width) = self.room(indent.chars().count()) else {
            return self.runs(indent, base, runs, 0..plain.len());
        };
        let hang = hang.min(width / 2);
        let (mut at, mut more) = (0, 0);
        for piece in wrap::hanging(&plain, width, hang) {
            let start = at + plain.part(at..).find(piece).unwrap_or(0);
            let indent = format!("{indent}{}", " ".repeat(more));
            self.runs(&indent, base, runs, start..start + piece.len())?;
            (at, more) = (start + piece.len(), hang);
        }
        Ok(())
    }

    /// The part of styled text that one line has room for.
    fn runs(
        &mut self,
        indent: &str,
        base: Style,
        runs: &[Run<'_>],
        range: Range<usize>,
    ) -> Rendered {
        if range.is_empty() && indent.trim().is_empty() {
            return self.line("", PLAIN, "");
        }
        let base = self.style(base);
        write!(self.out, "{}{base}{indent}{base:#}", self.bars)?;
        let mut at = 0;
        for (style, text) in runs {
            let (from, to) = (range.start.max(at), range.end.min(at + text.len()));
            if from < to {
                let style = self.style(*style);
                write!(self.out, "{style}{}{style:#}", text.part(from - at..to - at))?;
            }
            at += text.len();
        }
        writeln!(self.out)?;
        self.at_gap = false;
        Ok(())
    }

    /// Rows with their cells under each other, if they fit.
    fn table(&mut self, indent: &str, rows: &[&str]) -> Rendered {
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                let inside = row.trim().trim_start_matches('|').trim_end_matches('|');
                let cell = |cell: &str| escape::terminal_line(cell.trim()).into_owned();
                inside.split('|').map(cell).collect()
            })
            .collect();
        let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths = vec![0; columns];
        for row in cells.iter().filter(|row| !is_rule(row)) {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        let whole = widths.iter().sum::<usize>() + 2 * columns;
        // What fits has few columns, so that laying it out costs no more than its text.
        let fits = self.room(indent.chars().count()).is_some_and(|room| whole <= room);
        if cells.len() < 2 || !fits || !self.look.colour {
            return rows.iter().try_for_each(|row| self.wrapped(indent, PLAIN, row));
        }
        for (at, row) in cells.iter().enumerate() {
            let rule = is_rule(row);
            let mut line = String::new();
            for (column, width) in widths.iter().enumerate() {
                let cell = row.get(column).map(String::as_str).unwrap_or_default();
                let cell = if rule { "─".repeat(*width) } else { cell.to_owned() };
                let pad = width.saturating_sub(cell.width());
                line.push_str(&cell);
                line.push_str(&" ".repeat(pad + 2));
            }
            let style = match (rule, at) {
                (true, _) => DIM,
                (false, 0) => BOLD,
                (false, _) => PLAIN,
            };
            self.line(indent, style, line.trim_end())?;
        }
        Ok(())
    }
}

/// Letters as a program wanted them, in a style that is safe.
fn style_of(look: ansi::Look, base: Style) -> Style {
    const COLOURS: [AnsiColor; 16] = [
        AnsiColor::BrightBlack,
        AnsiColor::Red,
        AnsiColor::Green,
        AnsiColor::Yellow,
        AnsiColor::Blue,
        AnsiColor::Magenta,
        AnsiColor::Cyan,
        AnsiColor::White,
        AnsiColor::BrightBlack,
        AnsiColor::BrightRed,
        AnsiColor::BrightGreen,
        AnsiColor::BrightYellow,
        AnsiColor::BrightBlue,
        AnsiColor::BrightMagenta,
        AnsiColor::BrightCyan,
        AnsiColor::BrightWhite,
    ];
    if look == ansi::Look::default() {
        return base;
    }
    // Black and white could be the background's colour.
    let plain = |colour: &u8| !matches!(colour, 7 | 15);
    let colour = look.colour.filter(plain).and_then(|colour| COLOURS.get(usize::from(colour)));
    let mut style = colour.map_or(PLAIN, |colour| colour.on_default());
    for (set, effect) in [
        (look.bold, Effects::BOLD),
        (look.dim, Effects::DIMMED),
        (look.italic, Effects::ITALIC),
        (look.underline, Effects::UNDERLINE),
    ] {
        if set {
            style = style.effects(style.get_effects() | effect);
        }
    }
    style
}

fn is_row(line: &str) -> bool {
    line.trim().starts_with('|') && line.trim().len() > 1
}

/// Whether a row only divides the head from the body.
fn is_rule(row: &[String]) -> bool {
    let dashes =
        |cell: &String| !cell.is_empty() && cell.bytes().all(|byte| matches!(byte, b'-' | b':'));
    row.iter().all(dashes)
}

/// Columns of a list's mark and the space around it.
fn hang(line: &str) -> usize {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest.part(digits..);
    match (rest.get(..2), digits) {
        (Some("- " | "* " | "+ "), _) => indent + 2,
        (_, 1..=3) if after.starts_with(". ") || after.starts_with(") ") => indent + digits + 2,
        _ => indent,
    }
}

/// A line without the marks of code and of strong words, in runs of one style.
fn runs(line: &str, base: Style) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '*']) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let (mark, style) = if from.starts_with("**") { ("**", base.bold()) } else { ("`", TOOL) };
        let inside = from.strip_prefix(mark).and_then(|inner| inner.split_once(mark));
        let tight = |inner: &str| {
            !inner.is_empty() && !inner.starts_with([' ', '`', '*']) && !inner.ends_with(' ')
        };
        match inside.filter(|(inner, _)| tight(inner)) {
            Some((inner, after)) => {
                runs.push((base, before));
                runs.push((style, inner));
                rest = after;
            }
            None => {
                let run = from.len() - from.trim_start_matches(['`', '*']).len();
                runs.push((base, rest.part(..at + run)));
                rest = rest.part(at + run..);
            }
        }
    }
    runs.push((base, rest));
    runs.retain(|(_, text)| !text.is_empty());
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_styles_and_lone_ones_stay() {
        let shown = |line| runs(line, PLAIN).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(shown("a **b c** `d`"), ["a ", "b c", " ", "d"]);
        assert_eq!(shown("2 * 3 ** 4 `` x"), ["2 *", " 3 **", " 4 ``", " x"]);
        assert_eq!(shown("rm *.rs `open"), ["rm *", ".rs `", "open"]);
        assert_eq!((hang("- a"), hang("  12. a"), hang("text")), (2, 6, 0));
    }
}
