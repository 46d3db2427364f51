//! Edits and results under the line of their call.

use super::{BAD, DIM, GOOD, NOTE, Terminal};
use crate::render::call::CallView;
use crate::render::diff::FileDiff;
use crate::render::sink::Rendered;
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

    pub(super) fn result(&mut self, call: &CallView<'_>) -> Rendered {
        let Some(result) = &call.result else { return Ok(()) };
        let style = if call.failed() { BAD } else { DIM };
        if !self.view.full {
            let (Excerpt::Whole(text) | Excerpt::Cut { head: text, .. }) = result.excerpt();
            let line = text.lines().map(str::trim).find(|line| !line.is_empty());
            return match line {
                Some(line) => {
                    let line = self.fitted(line, 6);
                    self.line("      ", style, &line)
                }
                None => Ok(()),
            };
        }
        match result.excerpt() {
            Excerpt::Whole("") => {}
            Excerpt::Whole(text) => self.lines("      ", style, text, usize::MAX)?,
            Excerpt::Cut { head, cut, tail } => {
                self.lines("      ", style, head, usize::MAX)?;
                self.line("      ", NOTE, &format!("[… {} …]", cut.words()))?;
                self.lines("      ", style, tail, usize::MAX)?;
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
