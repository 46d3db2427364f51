//! What people and the model say to each other through calls, and what a session left behind.

use super::Markdown;
use super::prose::Breaks;
use crate::render::sink::Rendered;
use crate::render::summary::Summary;
use crate::render::talk::{Talk, TalkBody, TodoList, todo_sign};
use backstory_model::{CallOutcome, Plan, Question};
use backstory_text::escape::{markdown_code, markdown_inline, markdown_line};
use backstory_text::figures::counted;
use std::io::Write;

impl<W: Write> Markdown<'_, W> {
    pub(super) fn say(&mut self, talk: &Talk<'_>) -> Rendered {
        match &talk.body {
            TalkBody::Questions(asked) => {
                let state = match talk.outcome {
                    None => "not answered",
                    Some(CallOutcome::Ok) => "",
                    Some(other) => other.name(),
                };
                let name = if asked.len() > 1 { "Questions" } else { "Question" };
                self.talk_head(talk, name, state)?;
                asked.iter().try_for_each(|question| self.question(question))
            }
            TalkBody::Plan(plan) => self.plan(talk, plan),
            TalkBody::Todos(list) => self.todos(talk, list),
        }
    }

    fn talk_head(&mut self, talk: &Talk<'_>, name: &str, state: &str) -> Rendered {
        let mut words = vec![format!("**{name}**")];
        words.extend((!state.is_empty()).then(|| state.to_owned()));
        words.extend(talk.id.map(markdown_code));
        writeln!(self.out, "<a id=\"call-{}\"></a>{}\n", talk.number, words.join(" · "))?;
        Ok(())
    }

    fn question(&mut self, question: &Question) -> Rendered {
        if let Some(header) = &question.header {
            write!(self.out, "*{}:* ", markdown_inline(header.trim()))?;
        }
        writeln!(self.out, "{}\n", markdown_line(&question.text))?;
        for option in &question.options {
            let label = markdown_inline(option.label.trim());
            let (sign, label) =
                if option.chosen { ("☑", format!("**{label}**")) } else { ("☐", label) };
            let description = option.description.as_deref().map(markdown_inline);
            let description = description.map(|text| format!(": {text}")).unwrap_or_default();
            writeln!(self.out, "- {sign} {label}{description}")?;
        }
        if !question.options.is_empty() {
            writeln!(self.out)?;
        }
        self.person("Answer", question.own_words.as_deref())
    }

    fn plan(&mut self, talk: &Talk<'_>, plan: &Plan) -> Rendered {
        self.talk_head(talk, "Plan", plan.verdict.name())?;
        match &plan.text {
            Some(text) => self.quoted(text, Breaks::Soft)?,
            None => writeln!(self.out, "*(the session does not have its text)*\n")?,
        }
        let verdict = plan.verdict.name();
        self.person(&format!("Plan {verdict}"), plan.verdict.words())
    }

    fn todos(&mut self, talk: &Talk<'_>, list: &TodoList) -> Rendered {
        self.talk_head(talk, "Todos", &list.words())?;
        let mut count = 0;
        for line in list.changed() {
            writeln!(
                self.out,
                "- {} {}",
                todo_sign(line.state),
                markdown_inline(line.text.trim())
            )?;
            count += 1;
        }
        if count > 0 {
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// Words that the person typed.
    pub(super) fn person(&mut self, label: &str, words: Option<&str>) -> Rendered {
        let Some(words) = words else { return Ok(()) };
        writeln!(self.out, "**{label}**\n")?;
        self.quoted(words, Breaks::Hard)
    }

    pub(super) fn left_behind(&mut self, summary: &Summary) -> Rendered {
        writeln!(self.out, "## <a id=\"summary\"></a>What the session left behind\n")?;
        if !summary.files.is_empty() {
            let (added, removed) = summary.lines();
            let files = counted(summary.files.len() as u64, "file", "files");
            writeln!(self.out, "{files} changed, +{added} −{removed}:\n")?;
            for file in &summary.files {
                let new = if file.created { ", new" } else { "" };
                let (path, links) = (markdown_code(&file.path), call_links(&file.calls));
                writeln!(self.out, "- {path} (+{} −{}{new}): {links}", file.added, file.removed)?;
            }
            writeln!(self.out)?;
        }
        if !summary.commits.is_empty() {
            let commits = counted(summary.commits.len() as u64, "commit", "commits");
            writeln!(self.out, "{commits}:\n")?;
            for commit in &summary.commits {
                let (id, subject) = (markdown_code(&commit.id), markdown_inline(&commit.subject));
                writeln!(self.out, "- {id} {subject} ({})", call_links(&[commit.call]))?;
            }
            writeln!(self.out)?;
        }
        Ok(())
    }
}

/// Links to calls by their numbers.
fn call_links(calls: &[usize]) -> String {
    let links: Vec<String> = calls.iter().map(|call| format!("[{call}](#call-{call})")).collect();
    let word = if calls.len() == 1 { "tool call" } else { "tool calls" };
    format!("{word} {}", links.join(", "))
}
