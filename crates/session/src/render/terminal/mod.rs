//! A session for a terminal: turns as the unit, one line per call, the rest folded unless asked.
//!
//! Plain text is the same without colours and without line breaks of our own. Every piece of the
//! session passes through `escape`, so only our own colour codes reach the terminal.

mod calls;
mod prose;
mod talk;
mod wrap;

use super::call::{Attachment, CallView};
use super::heading;
use super::outline::TurnView;
use super::sink::{
    Aside, Chapter, ClientMessage, Document, Placement, Rendered, Sink, Thinking, Wants,
    hidden_words,
};
use super::summary::Summary;
use super::talk::Talk;
use super::turn_items::Group;
use super::view::View;
use super::words::Voice;
use anstyle::{AnsiColor, Style};
use backstory_model::{Outcome, TurnKind};
use backstory_text::escape;
use backstory_text::escape::terminal_line;
use backstory_text::figures::{bytes, compact, counted, duration};
use std::io::Write;

/// How it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns to wrap to; lines are left as they are without it.
    pub width: Option<usize>,
    /// Whether colours are used.
    pub colour: bool,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const PROMPT: Style = AnsiColor::Cyan.on_default();
const TOOL: Style = AnsiColor::Blue.on_default();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const NOTE: Style = AnsiColor::Yellow.on_default();
const PLAIN: Style = Style::new();

/// Lines of an edit or a summary that are shown folded.
const FOLDED_LINES: usize = 12;

pub(super) struct Terminal<'a, W> {
    out: W,
    view: &'a View,
    look: Look,
    /// What is in front of every line: one bar per subagent around it.
    bars: String,
    kind: TurnKind,
    /// Whether the last line was empty, and whether it was part of a list of calls.
    at_gap: bool,
    in_list: bool,
    /// A folded run of calls: columns that are taken, and what each call is about.
    group: Option<(usize, Vec<String>)>,
}

impl<'a, W: Write> Terminal<'a, W> {
    pub(super) fn new(out: W, view: &'a View, look: Look) -> Terminal<'a, W> {
        Terminal {
            out,
            view,
            look,
            bars: String::new(),
            kind: TurnKind::Human,
            at_gap: false,
            in_list: false,
            group: None,
        }
    }

    fn style(&self, style: Style) -> Style {
        if self.look.colour { style } else { PLAIN }
    }

    fn room(&self, indent: usize) -> Option<usize> {
        let used = self.bars.chars().count() + indent;
        self.look.width.map(|width| width.saturating_sub(used).max(20))
    }

    /// One line of safe text after the bars.
    fn line(&mut self, indent: &str, style: Style, text: &str) -> Rendered {
        let style = self.style(style);
        let bars = self.bars.trim_end();
        self.at_gap = false;
        if text.is_empty() && indent.trim().is_empty() {
            writeln!(self.out, "{bars}")?;
        } else {
            writeln!(self.out, "{}{style}{indent}{text}{style:#}", self.bars)?;
        }
        Ok(())
    }

    /// An empty line, unless there is one.
    fn blank(&mut self) -> Rendered {
        self.in_list = false;
        if !self.at_gap {
            self.line("", PLAIN, "")?;
            self.at_gap = true;
        }
        Ok(())
    }

    /// Sets words off from a list of calls.
    fn leave_list(&mut self) -> Rendered {
        if self.in_list { self.blank() } else { Ok(()) }
    }

    /// Lines of the session: made safe, wrapped; at most `limit` of them.
    fn lines(&mut self, indent: &str, style: Style, text: &str, limit: usize) -> Rendered {
        let mut shown = 0;
        let mut more = 0;
        for line in text.trim_end().split('\n') {
            if shown >= limit {
                more += 1;
                continue;
            }
            shown += 1;
            self.wrapped(indent, style, line)?;
        }
        if more > 0 {
            let words = format!("… {}", counted(more, "more line", "more lines"));
            self.line(indent, DIM, &words)?;
        }
        Ok(())
    }

    fn wrapped(&mut self, indent: &str, style: Style, line: &str) -> Rendered {
        let line = escape::lines(line);
        let line = line.replace('\t', "    ");
        match self.room(indent.chars().count()) {
            None => self.line(indent, style, &line),
            Some(width) => {
                for piece in wrap::pieces(&line, width) {
                    self.line(indent, style, piece)?;
                }
                Ok(())
            }
        }
    }

    fn fitted(&self, text: &str, indent: usize) -> String {
        let text = terminal_line(text);
        self.room(indent).map_or_else(|| text.to_string(), |width| wrap::fit(&text, width))
    }

    fn limit(&self) -> usize {
        if self.view.full { usize::MAX } else { FOLDED_LINES }
    }
}

impl<W: Write> Sink for Terminal<'_, W> {
    fn placement(&self) -> Placement {
        Placement::Inline
    }

    fn wants(&self, view: &View) -> Wants {
        Wants {
            inputs: view.parts.tools && view.full,
            edits: view.parts.edits,
            results: view.parts.results,
            failures: view.parts.results,
            images: false,
            outline: false,
            folds_client_messages: false,
            keep: view.result,
        }
    }

    fn begin(&mut self, document: &Document) -> Rendered {
        self.wrapped("", BOLD, &document.title)?;
        let width = document.facts.iter().map(|(label, _)| label.chars().count()).max();
        let width = width.unwrap_or(0).max(8);
        let dim = self.style(DIM);
        let mut facts = document.facts.clone();
        if document.left_out > 0 {
            let left_out = counted(document.left_out as u64, "turn", "turns");
            facts.push(("Left out".to_owned(), left_out));
        }
        for (label, value) in &facts {
            let label = terminal_line(&label.to_lowercase()).into_owned();
            let value = escape::terminal_line(value);
            let pieces = match self.room(width + 4) {
                Some(room) => wrap::pieces(&value, room),
                None => vec![value.as_ref()],
            };
            for (at, piece) in pieces.iter().enumerate() {
                let label = if at == 0 { label.as_str() } else { "" };
                writeln!(self.out, "  {dim}{label:<width$}{dim:#}  {piece}")?;
            }
        }
        Ok(())
    }

    fn chapter(&mut self, chapter: &Chapter<'_>) -> Rendered {
        let words = match chapter {
            Chapter::Agent { link, session, .. } => {
                let usage = heading::usage(&session.usage);
                format!("subagent {}: {} ({usage})", link.number, link.title)
            }
            Chapter::LeftBehind { number, branch } => {
                let turns = counted(branch.turns.len() as u64, "turn", "turns");
                format!("left behind {number}: {turns} that the conversation went back on")
            }
        };
        self.blank()?;
        self.bars.push_str("  │ ");
        let words = self.fitted(&words, 0);
        self.line("", NOTE, &words)
    }

    fn end_chapter(&mut self) -> Rendered {
        let length = self.bars.len().saturating_sub("  │ ".len());
        self.bars.truncate(length);
        Ok(())
    }

    fn turn(&mut self, turn: &TurnView) -> Rendered {
        self.kind = turn.kind;
        self.blank()?;
        let mut words = Vec::new();
        words.extend(turn.timestamp.map(|time| self.view.short_time(time)));
        words.extend(turn.duration_ms.map(duration));
        words.extend(turn.spent());
        if turn.outcome != Outcome::Completed {
            words.push(turn.outcome.name().to_owned());
        }
        let (bold, dim) = (self.style(BOLD), self.style(DIM));
        let number = turn.number;
        let words = words.join(" · ");
        let words = self.fitted(&words, 12);
        writeln!(self.out, "{}{bold}── turn {number}{bold:#} {dim}{words}{dim:#}", self.bars)?;
        self.at_gap = false;
        if matches!(turn.kind, TurnKind::Continuation) || !self.view.parts.prompts {
            let title = self.fitted(&turn.title, 2);
            self.line("  ", DIM, &title)?;
        }
        Ok(())
    }

    fn end_turn(&mut self, _turn: &TurnView) -> Rendered {
        Ok(())
    }

    fn prompt(&mut self, text: &str, voice: Voice) -> Rendered {
        self.leave_list()?;
        if voice.is_person() {
            self.prose("> ", PROMPT, text, usize::MAX)?;
        } else {
            self.line("  ", NOTE, &format!("◦ {}", voice.label().to_lowercase()))?;
            self.lines("    ", DIM, text.trim_start_matches('\n'), self.limit())?;
        }
        self.blank()
    }

    fn text(&mut self, text: &str) -> Rendered {
        self.leave_list()?;
        self.prose("  ", PLAIN, text, usize::MAX)?;
        self.blank()
    }

    fn thinking(&mut self, thinking: &Thinking<'_>) -> Rendered {
        if self.group.is_some() {
            return Ok(());
        }
        match thinking {
            Thinking::Text(text) if self.view.full => {
                self.line("  ", DIM, "∴ thinking")?;
                self.lines("    ", DIM, text, usize::MAX)?;
                self.blank()
            }
            Thinking::Text(text) => {
                let size = compact(text.chars().count() as u64);
                self.line("  ", DIM, &format!("∴ thinking, {size} characters"))
            }
            Thinking::Absent { redacted } => {
                let why = if *redacted { "redacted" } else { "not in the file" };
                self.line("  ", DIM, &format!("∴ thinking ({why})"))
            }
        }
    }

    fn attachment(&mut self, attachment: &Attachment) -> Rendered {
        let words = terminal_line(&attachment.words()).into_owned();
        self.line("  ", DIM, &format!("({words})"))
    }

    fn talk(&mut self, talk: &Talk<'_>) -> Rendered {
        self.say(talk)
    }

    fn begin_group(&mut self, group: &Group) -> Rendered {
        let (good, tool) = (self.style(GOOD), self.style(TOOL));
        let words = group.words();
        if self.view.full {
            return self.line("  ", DIM, &words);
        }
        self.group = Some((words.chars().count() + 6, Vec::new()));
        write!(self.out, "{}  {good}●{good:#} {tool}{words}{tool:#}", self.bars)?;
        Ok(())
    }

    fn end_group(&mut self) -> Rendered {
        let Some((taken, briefs)) = self.group.take() else { return Ok(()) };
        let dim = self.style(DIM);
        let briefs = self.fitted(&briefs.join(", "), taken);
        writeln!(self.out, "  {dim}{briefs}{dim:#}")?;
        (self.at_gap, self.in_list) = (false, true);
        Ok(())
    }

    fn call(&mut self, call: &CallView<'_>) -> Rendered {
        if let Some((_, briefs)) = &mut self.group {
            briefs.push(call.brief.clone());
            return Ok(());
        }
        let (tool, dim) = (self.style(TOOL), self.style(DIM));
        let state = self.style(if call.failed() { BAD } else { GOOD });
        let mark = if call.failed() { "✗" } else { "●" };
        let size = match call.outcome {
            Some(_) => format!(" · {}", bytes(call.result_size)),
            None => String::new(),
        };
        let status = format!("{}{size}", call.status());
        let name = terminal_line(call.name).into_owned();
        let taken = 2 + 2 + name.chars().count() + 2 + status.chars().count() + 2;
        let brief = self.fitted(&call.brief, taken);
        let bars = &self.bars;
        let gap = if brief.is_empty() { "" } else { "  " };
        writeln!(
            self.out,
            "{bars}  {state}{mark}{state:#} {tool}{name}{tool:#}  {brief}{gap}{dim}{status}{dim:#}",
        )?;
        (self.at_gap, self.in_list) = (false, true);
        if call.shows_input {
            self.edits(call)?;
            if let Some(command) = call.command.as_ref().filter(|text| text.contains('\n')) {
                self.lines("    $ ", PLAIN, command, usize::MAX)?;
            }
            if self.view.full && !call.fields.is_empty() {
                self.lines("      ", PLAIN, &call.fields, usize::MAX)?;
            }
        }
        self.result(call)?;
        match &call.objection {
            Some(words) => self.lines("    > ", PROMPT, words, usize::MAX),
            None => Ok(()),
        }
    }

    fn aside(&mut self, aside: &Aside<'_>) -> Rendered {
        let style = match (aside.is_failure, aside.is_compaction) {
            (true, _) => BAD,
            (false, true) => NOTE,
            (false, false) => DIM,
        };
        let kind = aside.kind.replace('-', " ");
        if (self.view.full || self.view.noise) && aside.text.contains('\n') {
            self.wrapped("  ", style, &format!("◦ {kind}"))?;
            return self.lines("      ", style, aside.text, self.limit());
        }
        let line = aside.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let words = if line.is_empty() { kind } else { format!("{kind}: {line}") };
        let words = self.fitted(&format!("◦ {words}"), 2);
        self.line("  ", style, &words)
    }

    fn client_messages(&mut self, _: &[ClientMessage]) -> Rendered {
        Ok(())
    }

    fn summary(&mut self, summary: &Summary) -> Rendered {
        self.left_behind(summary)
    }

    fn finish(&mut self, hidden: usize) -> Rendered {
        if let Some(words) = hidden_words(hidden) {
            self.blank()?;
            self.line("", DIM, &words)?;
        }
        self.out.flush()?;
        Ok(())
    }
}
