//! What people and the model say to each other through calls, and what a session left behind.

use super::{Html, prose};
use crate::render::sink::{ClientMessage, Rendered};
use crate::render::summary::Summary;
use crate::render::talk::{Extent, Talk, TalkBody, TodoList, todo_sign};
use backstory_model::{CallOutcome, Plan, Question, TodoState, Verdict};
use backstory_text::escape::html;
use backstory_text::excerpt::excerpt;
use backstory_text::figures::counted;
use std::io::Write;

impl<W: Write> Html<'_, W> {
    pub(super) fn say(&mut self, talk: &Talk<'_>) -> Rendered {
        let number = talk.number;
        match &talk.body {
            TalkBody::Questions(asked) => {
                let state = match talk.outcome {
                    None => " · not answered",
                    Some(CallOutcome::Ok) => "",
                    Some(CallOutcome::Rejected) => " · rejected",
                    Some(_) => " · interrupted",
                };
                let name = if asked.len() > 1 { "Questions" } else { "Question" };
                writeln!(
                    self.out,
                    "<div class=\"call talk\" id=\"call-{number}\"><p class=\"who\">{name}{state}</p>"
                )?;
                asked.iter().try_for_each(|question| self.question(question))?;
                writeln!(self.out, "</div>")?;
            }
            TalkBody::Plan(plan) => self.plan(number, plan)?,
            TalkBody::Todos(list) => self.todos(number, list)?,
        }
        Ok(())
    }

    fn question(&mut self, question: &Question) -> Rendered {
        let header = question.header.as_deref().map(str::trim).filter(|header| !header.is_empty());
        let header = header.map(|header| format!("<span class=\"state\">{}</span> ", html(header)));
        let (header, text) = (header.unwrap_or_default(), html(question.text.trim()));
        writeln!(self.out, "<p class=\"question\">{header}{text}</p>")?;
        if !question.options.is_empty() {
            writeln!(self.out, "<ul class=\"options\">")?;
            for option in &question.options {
                let (class, sign) = if option.chosen { ("chosen", "✓") } else { ("other", "·") };
                let description = option.description.as_deref().unwrap_or_default().trim();
                let description = match html(description) {
                    text if text.is_empty() => String::new(),
                    text => format!(" <span>– {text}</span>"),
                };
                let label = html(option.label.trim());
                writeln!(
                    self.out,
                    "<li class=\"{class}\">{sign} <b>{label}</b>{description}</li>"
                )?;
            }
            writeln!(self.out, "</ul>")?;
        }
        self.person(question.own_words.as_deref())
    }

    fn plan(&mut self, number: usize, plan: &Plan) -> Rendered {
        let verdict = plan.verdict.name();
        let class = match plan.verdict {
            Verdict::Approved(_) => "good",
            Verdict::Rejected(_) => "bad",
            Verdict::Unknown => "open",
        };
        writeln!(
            self.out,
            "<div class=\"call talk plan\" id=\"call-{number}\"><p class=\"who\">Plan · <span class=\"verdict {class}\">{verdict}</span></p>"
        )?;
        match &plan.text {
            Some(text) => {
                self.text.clear();
                prose::push(text, prose::Writer::Model, &mut self.text);
                writeln!(self.out, "<div class=\"text\">{}</div>", self.text.trim_end())?;
            }
            None => {
                writeln!(self.out, "<p class=\"aside\">(the session does not have its text)</p>")?;
            }
        }
        self.person(plan.verdict.words())?;
        writeln!(self.out, "</div>")?;
        Ok(())
    }

    fn todos(&mut self, number: usize, list: &TodoList) -> Rendered {
        if let (Extent::One, [line]) = (list.extent, list.lines.as_slice()) {
            let (sign, text) = (todo_sign(line.state), html(line.text.trim()));
            let (state, words) = (line.state.name(), list.words());
            writeln!(
                self.out,
                "<p class=\"call talk todo\" id=\"call-{number}\"><span title=\"{state}\">{sign}</span> {text} <span class=\"state\">to-do · {words}</span></p>"
            )?;
            return Ok(());
        }
        let now = list.lines.iter().find(|line| line.state == TodoState::Active);
        let now = now.map(|line| format!(" · now: {}", html(line.text.trim()))).unwrap_or_default();
        writeln!(
            self.out,
            "<details class=\"call talk todos\" id=\"call-{number}\"><summary><b>Todos</b> <span class=\"state\">{}{now}</span></summary>\n<ul class=\"options\">",
            list.words()
        )?;
        for line in &list.lines {
            let class = match line.state {
                TodoState::Done | TodoState::Dropped => "other",
                TodoState::Active => "chosen",
                TodoState::Open => "todo",
            };
            let (sign, text) = (todo_sign(line.state), html(line.text.trim()));
            let state = line.state.name();
            writeln!(
                self.out,
                "<li class=\"{class}\"><span title=\"{state}\">{sign}</span> {text}</li>"
            )?;
        }
        writeln!(self.out, "</ul></details>")?;
        Ok(())
    }

    /// Words that the person typed.
    pub(super) fn person(&mut self, words: Option<&str>) -> Rendered {
        let Some(words) = words else { return Ok(()) };
        self.text.clear();
        prose::push(words, prose::Writer::Person, &mut self.text);
        writeln!(self.out, "<div class=\"prompt\">{}</div>", self.text.trim_end())?;
        Ok(())
    }

    pub(super) fn folded_messages(&mut self, messages: &[ClientMessage]) -> Rendered {
        let words = counted(messages.len() as u64, "client message", "client messages");
        writeln!(self.out, "<details class=\"noise\"><summary>{words}</summary>")?;
        for message in messages {
            let kind = message.kind.replace('-', " ");
            writeln!(self.out, "<p class=\"aside\">{}</p>", html(&kind))?;
            if !message.text.trim().is_empty() {
                self.pre("event", excerpt(message.text.trim(), self.view.result))?;
            }
        }
        writeln!(self.out, "</details>")?;
        Ok(())
    }

    pub(super) fn left_behind(&mut self, summary: &Summary) -> Rendered {
        writeln!(
            self.out,
            "<section class=\"summary\" id=\"summary\">\n<h2>What the session left behind</h2>"
        )?;
        if !summary.files.is_empty() {
            let (added, removed) = summary.lines();
            let files = counted(summary.files.len() as u64, "file", "files");
            writeln!(
                self.out,
                "<p>{files} changed, <span class=\"plus\">+{added}</span> <span class=\"minus\">−{removed}</span></p>\n<ul class=\"files\">"
            )?;
            for file in &summary.files {
                let new = if file.created { " <span class=\"state\">new</span>" } else { "" };
                writeln!(
                    self.out,
                    "<li><span class=\"count\"><span class=\"plus\">+{}</span> <span class=\"minus\">−{}</span></span> <span><code>{}</code>{new} {}</span></li>",
                    file.added,
                    file.removed,
                    html(&file.path),
                    call_links(&file.calls)
                )?;
            }
            writeln!(self.out, "</ul>")?;
        }
        if !summary.commits.is_empty() {
            let commits = counted(summary.commits.len() as u64, "commit", "commits");
            writeln!(self.out, "<p>{commits}</p>\n<ul class=\"files\">")?;
            for commit in &summary.commits {
                writeln!(
                    self.out,
                    "<li><span class=\"count\"><code>{}</code></span> <span>{} {}</span></li>",
                    html(&commit.id),
                    html(&commit.subject),
                    call_links(&[commit.call])
                )?;
            }
            writeln!(self.out, "</ul>")?;
        }
        writeln!(self.out, "</section>")?;
        Ok(())
    }
}

/// Links to calls by their numbers.
fn call_links(calls: &[usize]) -> String {
    let link = |(at, call): (usize, &usize)| {
        let name = if at == 0 { format!("call {call}") } else { call.to_string() };
        format!("<a href=\"#call-{call}\">{name}</a>")
    };
    let links: Vec<String> = calls.iter().enumerate().map(link).collect();
    format!("<span class=\"links\">{}</span>", links.join(", "))
}
