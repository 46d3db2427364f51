//! Edits and results under the line of their call.

use super::{BAD, DIM, GOOD, NOTE, Terminal};
use crate::render::call::{CallView, Preview};
use crate::render::diff::FileDiff;
use crate::render::sink::Rendered;
use anstyle::Style;
use backstory_text::escape::terminal_line;
use backstory_text::excerpt::Excerpt;
use backstory_text::figures::counted;
use std::io::Write;

impl<W: Write> Terminal<'_, W> {
    pub(super) fn edits(&mut self, call: &CallView<'_>) -> Rendered {
        for edit in &call.edits {
            if call.edits.len() > 1 {
                let path = self.fitted(&edit.path, 6);
                self.line("      ", NOTE, &path)?;
            }
            self.edit(edit)?;
        }
        Ok(())
    }

    fn edit(&mut self, edit: &FileDiff) -> Rendered {
        let limit = self.limit();
        let total: usize = edit.hunks.iter().map(|hunk| hunk.lines.matches('\n').count()).sum();
        let mut shown = 0;
        for (at, hunk) in edit.hunks.iter().enumerate() {
            if at > 0 && shown < limit {
                self.line("      ", DIM, "⋮")?;
            }
            let mut number = hunk.place.map(|place| place.new_start);
            for line in hunk.lines.strip_suffix('\n').unwrap_or(&hunk.lines).split('\n') {
                if shown == limit {
                    break;
                }
                shown += 1;
                let style = match line.as_bytes().first() {
                    Some(b'+') => GOOD,
                    Some(b'-') => BAD,
                    _ => DIM,
                };
                let gutter = match (number, line.starts_with(['-', '\\'])) {
                    (Some(number), false) => format!("{number:>6} "),
                    (Some(_), true) => "       ".to_owned(),
                    (None, _) => "      ".to_owned(),
                };
                if !line.starts_with(['-', '\\']) {
                    number = number.map(|number| number.saturating_add(1));
                }
                self.wrapped(&gutter, style, line)?;
            }
        }
        if total > shown {
            let more = counted((total - shown) as u64, "more line", "more lines");
            self.line("      ", DIM, &format!("… {more}"))?;
        }
        Ok(())
    }

    /// The first lines of a result, and how many more there are.
    fn preview(&mut self, preview: &Preview, style: Style) -> Rendered {
        let last = preview.lines.len().saturating_sub(1);
        for (at, line) in preview.lines.iter().enumerate() {
            let more = match preview.more {
                more if at == last && more > 0 => {
                    format!("  … {}", counted(more as u64, "more line", "more lines"))
                }
                _ => String::new(),
            };
            let line = self.fitted(line, 6 + more.chars().count());
            self.line("      ", style, &format!("{line}{more}"))?;
        }
        Ok(())
    }

    pub(super) fn result(&mut self, call: &CallView<'_>) -> Rendered {
        let Some(result) = &call.result else { return Ok(()) };
        let style = if call.failed() { BAD } else { DIM };
        if !self.view.full {
            // A difference and the person's words say more than the client's.
            let is_told = !call.edits.is_empty() && !call.failed() || call.objection.is_some();
            if is_told {
                return Ok(());
            }
            return self.preview(&result.preview(), style);
        }
        match result.excerpt() {
            Excerpt::Whole("") => {}
            Excerpt::Whole(text) => self.output("      ", style, text)?,
            Excerpt::Cut { head, cut, tail } => {
                self.output("      ", style, head)?;
                self.line("      ", NOTE, &format!("[… {} …]", cut.words()))?;
                self.output("      ", style, tail)?;
            }
        }
        for attachment in &result.images {
            let words = terminal_line(&attachment.words()).into_owned();
            self.line("      ", DIM, &format!("({words})"))?;
        }
        if let Some(persisted) = &result.persisted {
            let place = format!("the whole output was kept in {persisted}");
            self.wrapped("      ", DIM, &place)?;
        }
        Ok(())
    }
}
