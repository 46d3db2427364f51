//! Columns of text, two apart, as wide as their widest cell or as the terminal allows.

use super::{fit, fit_end};
use anstyle::Style;
use unicode_width::UnicodeWidthStr;

/// Spaces between two columns.
const GAP: usize = 2;

/// On which side of its column text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Which part of text goes where it is too wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    End,
    /// Of a path the end tells most.
    Start,
}

/// One column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    align: Align,
    cut: Cut,
    widest: usize,
}

impl Column {
    pub(crate) const fn new(align: Align) -> Column {
        Column { align, cut: Cut::End, widest: usize::MAX }
    }

    pub(crate) const fn cut(self, cut: Cut) -> Column {
        Column { cut, ..self }
    }

    /// No cell is wider than this, however much room there is.
    pub(crate) const fn at_most(self, widest: usize) -> Column {
        Column { widest, ..self }
    }

    fn fitted(self, cell: &str, width: usize) -> String {
        match self.cut {
            Cut::End => fit(&fit(cell, self.widest), width),
            Cut::Start => fit_end(&fit_end(cell, self.widest), width),
        }
    }
}

/// The column that may be cut, and the width at which it can still be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elastic {
    pub(crate) column: usize,
    pub(crate) readable: usize,
}

/// The layout of a table: columns with their widths. Cells are text that is already safe.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    columns: [Column; N],
    widths: [usize; N],
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(columns: [Column; N]) -> Table<N> {
        Table { columns, widths: [0; N] }
    }

    /// Makes room for these cells.
    pub(crate) fn measure<S: AsRef<str>>(&mut self, cells: &[S; N]) {
        for ((width, column), cell) in self.widths.iter_mut().zip(self.columns).zip(cells) {
            *width = (*width).max(column.fitted(cell.as_ref(), column.widest).width());
        }
    }

    /// Makes the columns fit into `width`: one gives way as long as it stays readable, then those
    /// are left out that tell least, in order.
    pub(crate) fn share(&mut self, width: usize, elastic: Elastic, leave_out: &[usize]) {
        let full = self.widths.get(elastic.column).copied().unwrap_or(0);
        let readable = full.min(elastic.readable);
        for column in leave_out {
            if self.width().saturating_sub(GAP + width) <= full - readable {
                break;
            }
            if let Some(left_out) = self.widths.get_mut(*column) {
                *left_out = 0;
            }
        }
        let excess = self.width().saturating_sub(GAP + width);
        if let Some(gives) = self.widths.get_mut(elastic.column) {
            *gives = gives.saturating_sub(excess).max(readable);
        }
    }

    /// Columns of the terminal that a row takes, the gap after it included.
    pub(crate) fn width(&self) -> usize {
        self.widths.iter().filter(|width| **width > 0).map(|width| width + GAP).sum()
    }

    /// A row with the gap after its last column.
    pub(crate) fn row<S: AsRef<str>>(&self, cells: &[S; N], styles: &[Style; N]) -> String {
        let mut row = String::new();
        let columns = self.columns.iter().zip(self.widths).zip(cells).zip(styles);
        for (((column, width), cell), style) in columns {
            if width == 0 {
                continue;
            }
            let cell = column.fitted(cell.as_ref(), width);
            let space = " ".repeat(width.saturating_sub(cell.width()));
            let (before, after) = match column.align {
                Align::Left => ("", &*space),
                Align::Right => (&*space, ""),
            };
            row.push_str(&format!("{before}{style}{cell}{style:#}{after}"));
            row.push_str(&" ".repeat(GAP));
        }
        row
    }

    /// A row by itself, in one style.
    pub(crate) fn line<S: AsRef<str>>(&self, cells: &[S; N], style: Style) -> String {
        let row = self.row(cells, &[Style::new(); N]);
        format!("{style}{}{style:#}", row.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: Column = Column::new(Align::Left);
    const RIGHT: Column = Column::new(Align::Right);

    #[test]
    fn table_aligns_cells_by_terminal_columns() {
        let mut table = Table::new([LEFT, RIGHT]);
        let rows = [["日本", "1"], ["abc", "1,000"]];
        rows.iter().for_each(|row| table.measure(row));
        assert_eq!(table.line(&rows[0], Style::new()), "日本      1");
        assert_eq!(table.line(&rows[1], Style::new()), "abc   1,000");
    }

    #[test]
    fn table_narrows_one_column_before_it_omits_others() {
        let cells = ["a long title", "project", "12"];
        let shared = |width: usize| {
            let mut table = Table::new([LEFT, LEFT, RIGHT]);
            table.measure(&cells);
            table.share(width, Elastic { column: 0, readable: 6 }, &[1, 2]);
            table.line(&cells, Style::new())
        };
        assert_eq!(shared(25), "a long title  project  12");
        assert_eq!(shared(21), "a long …  project  12");
        assert_eq!(shared(18), "a long title  12");
        assert_eq!(shared(7), "a long…");
    }

    #[test]
    fn table_cuts_paths_at_the_start() {
        let mut table = Table::new([LEFT.cut(Cut::Start).at_most(8)]);
        table.measure(&["src/commands/main.rs"]);
        assert_eq!(table.line(&["src/commands/main.rs"], Style::new()), "…main.rs");
    }
}
