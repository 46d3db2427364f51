//! What people and the model say to each other through calls, and what a session left behind.

use super::{BAD, BOLD, DIM, GOOD, NOTE, PLAIN, PROMPT, TOOL, Terminal};
use crate::render::sink::Rendered;
use crate::render::summary::Summary;
use crate::render::talk::{Talk, TalkBody, TodoLine, TodoList, todo_sign};
use anstyle::Style;
use backstory_model::{CallOutcome, Plan, Question, TodoState, Verdict};
use backstory_text::escape::terminal_line;
use backstory_text::figures::counted;
use std::io::Write;

/// Lines of a plan that are shown folded.
const PLAN_LINES: usize = 24;
/// Files of the summary that are shown folded.
const SUMMARY_LINES: usize = 20;

impl<W: Write> Terminal<'_, W> {
    pub(super) fn say(&mut self, talk: &Talk<'_>) -> Rendered {
        match &talk.body {
            TalkBody::Questions(asked) => self.questions(asked, talk.outcome),
            TalkBody::Plan(plan) => self.plan(plan),
            TalkBody::Todos(list) => self.todos(list),
        }
    }

    fn talk_head(&mut self, name: &str, style: Style, words: &str) -> Rendered {
        let (good, tool, style) = (self.style(GOOD), self.style(TOOL), self.style(style));
        let words = self.fitted(words, 6 + name.chars().count());
        write!(self.out, "{}  {good}●{good:#} {tool}{name}{tool:#}", self.bars)?;
        if words.is_empty() {
            writeln!(self.out)?;
        } else {
            writeln!(self.out, "  {style}{words}{style:#}")?;
        }
        self.at_gap = false;
        Ok(())
    }

    fn questions(&mut self, asked: &[Question], outcome: Option<CallOutcome>) -> Rendered {
        self.leave_list()?;
        let name = if asked.len() > 1 { "Questions" } else { "Question" };
        let state = match outcome {
            None => "not answered",
            Some(CallOutcome::Ok) => "",
            Some(other) => other.name(),
        };
        self.talk_head(name, DIM, state)?;
        for question in asked {
            self.lines("    ", BOLD, &question.text, usize::MAX)?;
            for option in &question.options {
                let (sign, style) = if option.chosen { ("✓", PROMPT) } else { ("·", DIM) };
                let mut words = option.label.clone();
                if let Some(description) = &option.description {
                    words.push_str(" – ");
                    words.push_str(description);
                }
                self.hanging(&format!("      {sign} "), style, &words)?;
            }
            if let Some(words) = &question.own_words {
                self.lines("    > ", PROMPT, words, usize::MAX)?;
            }
        }
        self.blank()
    }

    fn plan(&mut self, plan: &Plan) -> Rendered {
        self.leave_list()?;
        let style = match plan.verdict {
            Verdict::Approved(_) => GOOD,
            Verdict::Rejected(_) => BAD,
            Verdict::Unknown => NOTE,
        };
        self.talk_head("Plan", style, plan.verdict.name())?;
        match &plan.text {
            Some(text) => {
                let limit = if self.view.full { usize::MAX } else { PLAN_LINES };
                self.prose("    ", PLAIN, text, limit)?;
            }
            None => self.line("    ", DIM, "(the session does not have its text)")?,
        }
        if let Some(words) = plan.verdict.words() {
            self.lines("    > ", PROMPT, words, usize::MAX)?;
        }
        self.blank()
    }

    fn todos(&mut self, list: &TodoList) -> Rendered {
        self.talk_head("Todos", DIM, &list.words())?;
        self.in_list = true;
        let whole = self.view.full;
        for line in list.lines.iter().filter(|line| whole || line.changed) {
            self.todo(line)?;
        }
        Ok(())
    }

    fn todo(&mut self, line: &TodoLine) -> Rendered {
        let style = match line.state {
            TodoState::Open => PLAIN,
            TodoState::Active => BOLD,
            TodoState::Done | TodoState::Dropped => DIM,
        };
        self.hanging(&format!("      {} ", todo_sign(line.state)), style, &line.text)
    }

    /// A paragraph whose later lines begin under the first word.
    fn hanging(&mut self, first: &str, style: Style, text: &str) -> Rendered {
        let columns = first.chars().count();
        let text = terminal_line(text);
        let pieces = match self.room(columns) {
            Some(width) => super::wrap::pieces(&text, width),
            None => vec![text.as_ref()],
        };
        let later = " ".repeat(columns);
        for (at, piece) in pieces.into_iter().enumerate() {
            self.line(if at == 0 { first } else { &later }, style, piece)?;
        }
        Ok(())
    }

    pub(super) fn left_behind(&mut self, summary: &Summary) -> Rendered {
        self.blank()?;
        if !summary.files.is_empty() {
            let (added, removed) = summary.lines();
            let files = counted(summary.files.len() as u64, "file", "files");
            self.line("", BOLD, &format!("── {files} changed, +{added} −{removed}"))?;
            let limit = if self.view.full { usize::MAX } else { SUMMARY_LINES };
            for file in summary.files.iter().take(limit) {
                let figures = format!("+{} −{}", file.added, file.removed);
                let new = if file.created { " (new)" } else { "" };
                let path = self.fitted(&file.path, 22);
                self.line("  ", PLAIN, &format!("{figures:<12}  {path}{new}"))?;
            }
            let more = summary.files.len().saturating_sub(limit);
            if more > 0 {
                let words = format!("… {}", counted(more as u64, "more file", "more files"));
                self.line("  ", DIM, &words)?;
            }
        }
        if !summary.commits.is_empty() {
            let commits = counted(summary.commits.len() as u64, "commit", "commits");
            self.line("", BOLD, &format!("── {commits}"))?;
            for commit in &summary.commits {
                let words = format!("{}  {}", commit.id, commit.subject);
                let words = self.fitted(&words, 2);
                self.line("  ", PLAIN, &words)?;
            }
        }
        Ok(())
    }
}
