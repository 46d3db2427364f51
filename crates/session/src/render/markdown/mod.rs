//! A session as Markdown: a document that reads well as it is, renders anywhere, and parses back
//! into the turns and calls it was made of.
//!
//! Headings of the first three levels and anchors are ours alone; see [`prose`] for how words of
//! the session are kept from making more.

mod index;
pub(super) mod prose;

pub use index::write_index;

use super::call::{Attachment, CallView};
use super::diff::FileDiff;
use super::heading;
use super::outline::TurnView;
use super::sink::{Aside, Chapter, Document, Placement, Rendered, Sink, Thinking, Wants};
use super::view::View;
use backstory_model::Outcome;
use backstory_text::escape;
use backstory_text::escape::{markdown_code, markdown_fence, markdown_line};
use backstory_text::excerpt::Excerpt;
use backstory_text::figures::{bytes, counted};
use prose::{Breaks, contain};
use std::io::Write;

/// Turns from which a table of contents is worth its room.
const LONG: usize = 6;

pub(super) struct Markdown<'a, W> {
    out: W,
    view: &'a View,
}

impl<'a, W: Write> Markdown<'a, W> {
    pub(super) fn new(out: W, view: &'a View) -> Markdown<'a, W> {
        Markdown { out, view }
    }

    /// Text as it is, in a fence longer than any inside.
    fn fenced(&mut self, language: &str, text: &str) -> Rendered {
        let text = escape::lines(text);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let fence = markdown_fence(text);
        writeln!(self.out, "{fence}{language}\n{text}\n{fence}\n")?;
        Ok(())
    }

    fn quoted(&mut self, text: &str, breaks: Breaks) -> Rendered {
        let text = escape::lines(text.trim_end());
        let code;
        let shown = match contain(text.trim_start_matches('\n'), breaks) {
            Some(shown) => shown,
            None => {
                let fence = markdown_fence(&text);
                code = format!("{fence}\n{text}\n{fence}");
                code.as_str().into()
            }
        };
        for line in shown.split('\n') {
            let space = if line.is_empty() { "" } else { " " };
            writeln!(self.out, ">{space}{line}")?;
        }
        writeln!(self.out)?;
        Ok(())
    }

    fn excerpt(&mut self, text: Excerpt<'_>) -> Rendered {
        match text {
            Excerpt::Whole(text) => self.fenced("", text),
            Excerpt::Cut { head, cut, tail } => {
                let joint = if head.ends_with('\n') { "" } else { "\n" };
                self.fenced("", &format!("{head}{joint}[… {} …]\n{tail}", cut.words()))
            }
        }
    }

    fn contents(&mut self, document: &Document) -> Rendered {
        if document.outline.len() < LONG && document.agents.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "## Contents\n")?;
        for turn in &document.outline {
            let (number, title) = (turn.number, markdown_line(&turn.title));
            writeln!(self.out, "- [Turn {number}](#{}): {title}", turn.anchor)?;
        }
        for agent in &document.agents {
            let (number, title) = (agent.number, markdown_line(&agent.title));
            writeln!(self.out, "- [Subagent {number}](#agent-{number}): {title}")?;
        }
        writeln!(self.out)?;
        Ok(())
    }

    fn figures(&self, turn: &TurnView) -> String {
        let mut words = turn.figures(self.view);
        if turn.outcome != Outcome::Completed {
            words.push(format!("**{}**", turn.outcome.name()));
        }
        words.join(" · ")
    }

    fn edit(&mut self, edit: &FileDiff) -> Rendered {
        let (added, removed) = edit.counts();
        let what = if edit.created { "New file" } else { "Edit" };
        let everywhere = if edit.everywhere { ", every occurrence" } else { "" };
        let path = markdown_code(&edit.path);
        writeln!(self.out, "{what} {path} (+{added} −{removed}{everywhere})\n")?;
        let mut text = String::new();
        for hunk in &edit.hunks {
            match hunk.place {
                Some(place) => {
                    let (old, new) = (place.old_start, place.new_start);
                    text.push_str(&format!("@@ -{old} +{new} @@\n"));
                }
                None => text.push_str("@@\n"),
            }
            text.push_str(&hunk.lines);
        }
        if text.is_empty() { Ok(()) } else { self.fenced("diff", &text) }
    }
}

impl<W: Write> Sink for Markdown<'_, W> {
    fn placement(&self) -> Placement {
        Placement::Chapters
    }

    fn wants(&self, view: &View) -> Wants {
        Wants::of_document(view)
    }

    fn begin(&mut self, document: &Document) -> Rendered {
        writeln!(self.out, "# {}\n", markdown_line(&document.title))?;
        for (label, value) in &document.facts {
            writeln!(self.out, "- **{}:** {}", markdown_line(label), markdown_line(value))?;
        }
        if document.left_out > 0 {
            let left_out = counted(document.left_out as u64, "turn", "turns");
            writeln!(self.out, "- **Left out:** {left_out}")?;
        }
        writeln!(self.out)?;
        self.contents(document)?;
        writeln!(self.out, "## Conversation\n")?;
        Ok(())
    }

    fn chapter(&mut self, chapter: &Chapter<'_>) -> Rendered {
        match chapter {
            Chapter::Agent { link, session, call } => {
                let (number, title) = (link.number, markdown_line(&link.title));
                writeln!(self.out, "## <a id=\"agent-{number}\"></a>Subagent {number}: {title}\n")?;
                let mut words = vec![session.kind.name().to_owned(), markdown_code(&session.id)];
                words.extend(
                    call.map(|call| format!("started by [tool call {call}](#call-{call})")),
                );
                words.extend(session.models.iter().map(|model| markdown_line(model)));
                words.push(heading::usage(&session.usage));
                writeln!(self.out, "{}\n", words.join(" · "))?;
            }
            Chapter::LeftBehind { number, branch } => {
                writeln!(self.out, "## <a id=\"left-{number}\"></a>Left behind {number}\n")?;
                let turns = counted(branch.turns.len() as u64, "turn", "turns");
                writeln!(self.out, "The conversation went back and on without these: {turns}.\n")?;
            }
        }
        Ok(())
    }

    fn end_chapter(&mut self) -> Rendered {
        Ok(())
    }

    fn turn(&mut self, turn: &TurnView) -> Rendered {
        let (anchor, number, title) = (&turn.anchor, turn.number, markdown_line(&turn.title));
        writeln!(self.out, "### <a id=\"{anchor}\"></a>Turn {number}: {title}\n")?;
        let figures = self.figures(turn);
        if !figures.is_empty() {
            writeln!(self.out, "{figures}\n")?;
        }
        Ok(())
    }

    fn end_turn(&mut self, _turn: &TurnView) -> Rendered {
        Ok(())
    }

    fn prompt(&mut self, text: &str, context: bool) -> Rendered {
        let label = if context { "Context from the editor" } else { "Prompt" };
        writeln!(self.out, "**{label}**\n")?;
        self.quoted(text, Breaks::Hard)
    }

    fn text(&mut self, text: &str) -> Rendered {
        let text = escape::lines(text.trim_end());
        let text = text.trim_start_matches('\n');
        match contain(text, Breaks::Soft) {
            Some(shown) => {
                writeln!(self.out, "{shown}\n")?;
                Ok(())
            }
            None => self.fenced("markdown", text),
        }
    }

    fn thinking(&mut self, thinking: &Thinking<'_>) -> Rendered {
        match thinking {
            Thinking::Text(text) => {
                writeln!(self.out, "**Thinking**\n")?;
                self.quoted(text, Breaks::Soft)
            }
            Thinking::Absent { redacted } => {
                let why = if *redacted { "redacted" } else { "not in the file" };
                writeln!(self.out, "**Thinking** ({why})\n")?;
                Ok(())
            }
        }
    }

    fn attachment(&mut self, attachment: &Attachment) -> Rendered {
        writeln!(self.out, "*({})*\n", markdown_line(&attachment.words()))?;
        Ok(())
    }

    fn call(&mut self, call: &CallView<'_>) -> Rendered {
        let number = call.number;
        let mut words = vec![markdown_code(call.name)];
        words.push(if call.failed() {
            format!("**{}**", call.status())
        } else {
            call.status().to_owned()
        });
        if call.outcome.is_some() {
            words.push(bytes(call.result_size));
        }
        words.extend(call.finished.map(|time| self.view.short_time(time)));
        words.extend(call.id.map(markdown_code));
        if let Some(agent) = call.subagent.as_ref().filter(|agent| agent.shown) {
            words.push(format!("[subagent {0}](#agent-{0})", agent.number));
        }
        let words = words.join(" · ");
        writeln!(self.out, "<a id=\"call-{number}\"></a>**Tool call {number}:** {words}\n")?;
        if call.shows_input {
            for edit in &call.edits {
                self.edit(edit)?;
            }
            if let Some(command) = &call.command {
                self.fenced("sh", command)?;
            }
            if !call.fields.trim().is_empty() {
                self.fenced("", &call.fields)?;
            }
        }
        let Some(result) = &call.result else { return Ok(()) };
        let text = result.excerpt();
        if text != Excerpt::Whole("") {
            writeln!(self.out, "Result:\n")?;
            self.excerpt(text)?;
        }
        for attachment in &result.images {
            self.attachment(attachment)?;
        }
        if let Some(persisted) = &result.persisted {
            writeln!(self.out, "The whole output was kept in {}\n", markdown_code(persisted))?;
        }
        Ok(())
    }

    fn aside(&mut self, aside: &Aside<'_>) -> Rendered {
        let kind = markdown_line(&aside.kind.replace('-', " "));
        if aside.is_compaction && !aside.text.contains('\n') {
            writeln!(self.out, "**Compaction:** {}\n", markdown_line(aside.text))?;
            return Ok(());
        }
        let mark = if aside.is_failure { "**" } else { "*" };
        if aside.text.contains('\n') || aside.text.len() > 200 {
            writeln!(self.out, "{mark}{kind}:{mark}\n")?;
            return self.excerpt(backstory_text::excerpt::excerpt(aside.text, self.view.result));
        }
        match markdown_line(aside.text) {
            text if text.is_empty() => writeln!(self.out, "{mark}{kind}{mark}\n")?,
            text => writeln!(self.out, "{mark}{kind}:{mark} {text}\n")?,
        }
        Ok(())
    }

    fn finish(&mut self) -> Rendered {
        self.out.flush()?;
        Ok(())
    }
}
