//! Calls: what was asked, what was changed, what came back.

use super::Html;
use crate::render::call::{CallView, Preview};
use crate::render::diff::FileDiff;
use crate::render::sink::Rendered;
use backstory_text::ansi;
use backstory_text::escape::html;
use backstory_text::excerpt::Excerpt;
use backstory_text::figures::{bytes, counted};
use std::io::Write;

impl<W: Write> Html<'_, W> {
    pub(super) fn whole_call(&mut self, call: &CallView<'_>) -> Rendered {
        let number = call.number;
        let class = if call.failed() { "call bad" } else { "call" };
        let open = if call.edits.is_empty() { "" } else { " open" };
        let mut state = call.status().to_owned();
        if call.outcome.is_some() {
            state.push_str(&format!(" · {}", bytes(call.result_size)));
        }
        // A difference and the person's words say more than the client's.
        let is_told = !call.edits.is_empty() && !call.failed() || call.objection.is_some();
        let preview = call.result.as_ref().filter(|_| !is_told);
        let preview = preview.map(|result| shown(&result.preview())).unwrap_or_default();
        writeln!(
            self.out,
            "<details class=\"{class}\" id=\"call-{number}\"{open}><summary><b>{}</b> <code>{}</code> <span class=\"state\">{state}</span>{preview}</summary>",
            html(call.name),
            html(&call.brief),
        )?;
        if let Some(agent) = call.subagent.as_ref().filter(|agent| agent.shown) {
            let (number, title) = (agent.number, html(&agent.title));
            writeln!(
                self.out,
                "<p><a href=\"#agent-{number}\">Subagent {number}: {title}</a></p>"
            )?;
        }
        if call.shows_input {
            for edit in &call.edits {
                self.diff(edit)?;
            }
            if let Some(command) = &call.command {
                self.pre("command", Excerpt::Whole(command))?;
            }
            if !call.fields.trim().is_empty() {
                self.pre("input", Excerpt::Whole(call.fields.trim_end()))?;
            }
        }
        if let Some(result) = &call.result {
            let text = result.excerpt();
            if text != Excerpt::Whole("") {
                self.output(text)?;
            }
            for attachment in &result.images {
                self.picture(attachment)?;
            }
            if let Some(persisted) = &result.persisted {
                let place = html(persisted);
                writeln!(self.out, "<p class=\"aside\">The whole output was kept in {place}</p>")?;
            }
        }
        writeln!(self.out, "</details>")?;
        self.person(call.objection.as_deref())
    }

    /// Output of a program, in its colours.
    fn output(&mut self, text: Excerpt<'_>) -> Rendered {
        let mut look = ansi::Look::default();
        self.text.clear();
        match text {
            Excerpt::Whole(text) => push_coloured(text, &mut look, &mut self.text),
            Excerpt::Cut { head, cut, tail } => {
                let head = head.strip_suffix('\n').unwrap_or(head);
                push_coloured(head, &mut look, &mut self.text);
                let words = cut.words();
                self.text.push_str(&format!("\n<span class=\"cut\">[… {words} …]</span>\n"));
                push_coloured(tail, &mut ansi::Look::default(), &mut self.text);
            }
        }
        writeln!(self.out, "<pre class=\"result\">{}</pre>", self.text)?;
        Ok(())
    }

    fn diff(&mut self, edit: &FileDiff) -> Rendered {
        let (added, removed) = edit.counts();
        let what = if edit.created { "New file" } else { "Edit" };
        let everywhere = if edit.everywhere { ", every occurrence" } else { "" };
        let path = html(&edit.path);
        writeln!(
            self.out,
            "<p class=\"state\">{what} <code>{path}</code> (+{added} −{removed}{everywhere})</p>"
        )?;
        if edit.hunks.is_empty() {
            return Ok(());
        }
        self.text.clear();
        for hunk in &edit.hunks {
            if let Some(place) = hunk.place {
                let (old, new) = (place.old_start, place.new_start);
                self.text.push_str(&format!("<span class=\"cut\">@@ -{old} +{new} @@</span>\n"));
            }
            push_hunk(&hunk.lines, &mut self.text);
        }
        writeln!(self.out, "<pre class=\"diff\">{}</pre>", self.text.trim_end_matches('\n'))?;
        Ok(())
    }
}

/// The first lines of a result, which are hidden when all of it is open.
fn shown(preview: &Preview) -> String {
    let Some((last, before)) = preview.lines.split_last() else { return String::new() };
    let mut lines: Vec<String> = before.iter().map(|line| html(line).into_owned()).collect();
    let more = match preview.more {
        0 => String::new(),
        more => {
            let more = counted(more as u64, "more line", "more lines");
            format!(" <em>… {more}</em>")
        }
    };
    lines.push(format!("{}{more}", html(last)));
    format!("<span class=\"preview\">{}</span>", lines.join("\n"))
}

/// Text in the colours of a terminal, as classes.
fn push_coloured(text: &str, look: &mut ansi::Look, out: &mut String) {
    for (look, text) in ansi::runs(text, look) {
        let mut classes: Vec<String> = Vec::new();
        classes.extend(look.colour.map(|colour| format!("c{colour}")));
        let flags =
            [(look.bold, "cb"), (look.dim, "cd"), (look.italic, "ci"), (look.underline, "cu")];
        classes.extend(flags.iter().filter(|(set, _)| *set).map(|(_, name)| (*name).to_owned()));
        if classes.is_empty() {
            out.push_str(&html(text));
        } else {
            let (classes, text) = (classes.join(" "), html(text));
            out.push_str(&format!("<span class=\"{classes}\">{text}</span>"));
        }
    }
}

/// Lines of a difference; neighbours of the same kind share an element.
fn push_hunk(lines: &str, out: &mut String) {
    let mut open = ' ';
    for line in lines.strip_suffix('\n').unwrap_or(lines).split('\n') {
        let sign = line.chars().next().filter(|sign| matches!(sign, '+' | '-')).unwrap_or(' ');
        if sign != open {
            close_sign(open, out);
            out.push_str(match sign {
                '+' => "<ins>",
                '-' => "<del>",
                _ => "",
            });
            open = sign;
        }
        out.push_str(&html(line));
        out.push('\n');
    }
    close_sign(open, out);
}

fn close_sign(sign: char, out: &mut String) {
    if sign != ' ' {
        // The elements are blocks: a line end inside would show as an empty line.
        out.truncate(out.trim_end_matches('\n').len());
        out.push_str(if sign == '+' { "</ins>" } else { "</del>" });
    }
}
