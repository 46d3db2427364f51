//! A session as one page: no scripts, no remote loads, collapsible by the browser itself.
//!
//! Every piece of the session passes through `escape::html`; the only attributes made from it are
//! quoted titles, web links and base64 that was checked.

mod index;
mod page;
mod prose;
mod timeline;

pub use index::write_index;

use super::call::{Attachment, CallView};
use super::diff::FileDiff;
use super::heading;
use super::outline::TurnView;
use super::sink::{Aside, Chapter, Document, Placement, Rendered, Sink, Thinking, Wants};
use super::view::View;
use backstory_model::{Outcome, TurnKind};
use backstory_text::escape::html;
use backstory_text::excerpt::{Excerpt, excerpt};
use backstory_text::figures::{bytes, compact, counted};
use std::io::Write;

pub(super) struct Html<'a, W> {
    out: W,
    view: &'a View,
    /// Scratch for text that is made of many pieces.
    text: String,
    in_chapter: bool,
    kind: TurnKind,
}

impl<'a, W: Write> Html<'a, W> {
    pub(super) fn new(out: W, view: &'a View) -> Html<'a, W> {
        Html { out, view, text: String::new(), in_chapter: false, kind: TurnKind::Human }
    }

    fn pre(&mut self, class: &str, text: Excerpt<'_>) -> Rendered {
        match text {
            Excerpt::Whole(text) => {
                writeln!(self.out, "<pre class=\"{class}\">{}</pre>", html(text))?;
            }
            Excerpt::Cut { head, cut, tail } => writeln!(
                self.out,
                "<pre class=\"{class}\">{}\n<span class=\"cut\">[… {} …]</span>\n{}</pre>",
                html(head.strip_suffix('\n').unwrap_or(head)),
                cut.words(),
                html(tail)
            )?,
        }
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

    fn figures(&self, turn: &TurnView) -> String {
        let mut words = turn.figures(self.view);
        if turn.kind != TurnKind::Human {
            words.push(turn.kind.name().to_owned());
        }
        if turn.outcome != Outcome::Completed {
            words.push(turn.outcome.name().to_owned());
        }
        words.join(" · ")
    }

    fn contents(&mut self, document: &Document) -> Rendered {
        let timeline = timeline::draw(&document.outline);
        if !timeline.is_empty() {
            write!(self.out, "<nav aria-label=\"Timeline\">\n{timeline}</nav>\n")?;
        }
        if document.outline.len() + document.agents.len() < 2 {
            return Ok(());
        }
        let turns = counted(document.outline.len() as u64, "turn", "turns");
        writeln!(
            self.out,
            "<nav aria-label=\"Contents\"><details><summary>{turns}</summary>\n<ol>"
        )?;
        for turn in &document.outline {
            let (number, anchor, title) = (turn.number, &turn.anchor, html(&turn.title));
            writeln!(self.out, "<li value=\"{number}\"><a href=\"#{anchor}\">{title}</a></li>")?;
        }
        writeln!(self.out, "</ol>")?;
        if !document.agents.is_empty() {
            writeln!(self.out, "<p>Subagents</p>\n<ol>")?;
            for agent in &document.agents {
                let (number, title) = (agent.number, html(&agent.title));
                writeln!(self.out, "<li><a href=\"#agent-{number}\">{title}</a></li>")?;
            }
            writeln!(self.out, "</ol>")?;
        }
        writeln!(self.out, "</details></nav>")?;
        Ok(())
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

/// Base64 and nothing else.
fn is_base64(data: &str) -> bool {
    let body = data.trim_end_matches('=');
    !body.is_empty()
        && data.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

impl<W: Write> Sink for Html<'_, W> {
    fn placement(&self) -> Placement {
        Placement::Chapters
    }

    fn wants(&self, view: &View) -> Wants {
        Wants { images: true, ..Wants::of_document(view) }
    }

    fn begin(&mut self, document: &Document) -> Rendered {
        page::begin(&document.title, &mut self.out)?;
        writeln!(self.out, "<header>\n<h1>{}</h1>\n<dl>", html(&document.title))?;
        for (label, value) in &document.facts {
            writeln!(self.out, "<dt>{}</dt><dd>{}</dd>", html(label), html(value))?;
        }
        if document.left_out > 0 {
            let left_out = counted(document.left_out as u64, "turn", "turns");
            writeln!(self.out, "<dt>Left out</dt><dd>{left_out}</dd>")?;
        }
        writeln!(self.out, "</dl>\n</header>")?;
        self.contents(document)?;
        writeln!(self.out, "<main id=\"content\">")?;
        Ok(())
    }

    fn chapter(&mut self, chapter: &Chapter<'_>) -> Rendered {
        self.in_chapter = true;
        match chapter {
            Chapter::Agent { link, session, call } => {
                let (number, title) = (link.number, html(&link.title));
                writeln!(
                    self.out,
                    "<section class=\"chapter\" id=\"agent-{number}\">\n<h2>Subagent {number}: {title}</h2>"
                )?;
                let call = call.map(|call| {
                    format!(" · started by <a href=\"#call-{call}\">tool call {call}</a>")
                });
                let models: Vec<&str> = session.models.iter().map(AsRef::as_ref).collect();
                writeln!(
                    self.out,
                    "<p class=\"figures\">{} · <code>{}</code>{} · {} · tokens: {}</p>",
                    session.kind.name(),
                    html(&session.id),
                    call.unwrap_or_default(),
                    html(&models.join(", ")),
                    heading::usage(&session.usage),
                )?;
            }
            Chapter::LeftBehind { number, branch } => {
                let turns = counted(branch.turns.len() as u64, "turn", "turns");
                writeln!(
                    self.out,
                    "<section class=\"chapter\" id=\"left-{number}\">\n<h2>Left behind {number}</h2>\n\
                     <p class=\"figures\">The conversation went back and on without these: {turns}.</p>"
                )?;
            }
        }
        Ok(())
    }

    fn end_chapter(&mut self) -> Rendered {
        self.in_chapter = false;
        writeln!(self.out, "</section>")?;
        Ok(())
    }

    fn turn(&mut self, turn: &TurnView) -> Rendered {
        self.kind = turn.kind;
        let level = if self.in_chapter { 3 } else { 2 };
        let (anchor, number, title) = (&turn.anchor, turn.number, html(&turn.title));
        writeln!(
            self.out,
            "<section class=\"turn\" id=\"{anchor}\">\n<h{level}><a href=\"#{anchor}\">Turn {number}</a> {title}</h{level}>\n\
             <p class=\"figures\">{}</p>",
            html(&self.figures(turn)),
        )?;
        Ok(())
    }

    fn end_turn(&mut self, _turn: &TurnView) -> Rendered {
        writeln!(self.out, "</section>")?;
        Ok(())
    }

    fn prompt(&mut self, text: &str, context: bool) -> Rendered {
        let text = html(text.trim_matches('\n').trim_end());
        if self.kind == TurnKind::Compact {
            writeln!(
                self.out,
                "<details class=\"thinking\"><summary>Summary of the conversation so far</summary>\n\
                 <div class=\"prompt\">{text}</div></details>"
            )?;
        } else {
            let class = if context { "prompt context" } else { "prompt" };
            writeln!(self.out, "<div class=\"{class}\">{text}</div>")?;
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Rendered {
        self.text.clear();
        prose::push(text, &mut self.text);
        writeln!(self.out, "<div class=\"text\">{}</div>", self.text.trim_end())?;
        Ok(())
    }

    fn thinking(&mut self, thinking: &Thinking<'_>) -> Rendered {
        match thinking {
            Thinking::Text(text) => {
                let size = compact(text.chars().count() as u64);
                let text = html(text.trim());
                writeln!(
                    self.out,
                    "<details class=\"thinking\"><summary>Thinking, {size} characters</summary>\n\
                     <p class=\"plain\">{text}</p></details>"
                )?;
            }
            Thinking::Absent { redacted } => {
                let why = if *redacted { "redacted" } else { "not in the file" };
                writeln!(self.out, "<p class=\"aside\">Thinking ({why})</p>")?;
            }
        }
        Ok(())
    }

    fn attachment(&mut self, attachment: &Attachment) -> Rendered {
        let words = attachment.words();
        let words = html(&words);
        let data = attachment.data.as_deref().filter(|data| is_base64(data));
        match (attachment.safe_type(), data) {
            (Some(kind), Some(data)) => writeln!(
                self.out,
                "<p><img alt=\"{words}\" src=\"data:{kind};base64,{data}\"></p>"
            )?,
            _ => writeln!(self.out, "<p class=\"aside\">({words})</p>")?,
        }
        Ok(())
    }

    fn call(&mut self, call: &CallView<'_>) -> Rendered {
        let number = call.number;
        let class = if call.failed() { "call bad" } else { "call" };
        let open = if !call.edits.is_empty() { " open" } else { "" };
        let mut state = call.status().to_owned();
        if call.outcome.is_some() {
            state.push_str(&format!(" · {}", bytes(call.result_size)));
        }
        writeln!(
            self.out,
            "<details class=\"{class}\" id=\"call-{number}\"{open}><summary><b>{}</b> <code>{}</code> <span class=\"state\">{state}</span></summary>",
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
                self.pre("result", text)?;
            }
            for attachment in &result.images {
                self.attachment(attachment)?;
            }
            if let Some(persisted) = &result.persisted {
                let place = html(persisted);
                writeln!(self.out, "<p class=\"aside\">The whole output was kept in {place}</p>")?;
            }
        }
        writeln!(self.out, "</details>")?;
        Ok(())
    }

    fn aside(&mut self, aside: &Aside<'_>) -> Rendered {
        let kind = aside.kind.replace('-', " ");
        let kind = html(&kind);
        let class = match (aside.is_failure, aside.is_compaction) {
            (true, _) => "aside bad",
            (false, true) => "aside mark",
            (false, false) => "aside",
        };
        if aside.text.contains('\n') || aside.text.len() > 300 {
            writeln!(self.out, "<details class=\"{class}\"><summary>{kind}</summary>")?;
            self.pre("event", excerpt(aside.text, self.view.result))?;
            writeln!(self.out, "</details>")?;
        } else {
            let gap = if aside.text.is_empty() { "" } else { ": " };
            writeln!(self.out, "<p class=\"{class}\">{kind}{gap}{}</p>", html(aside.text))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Rendered {
        writeln!(self.out, "</main>")?;
        page::end(&mut self.out)?;
        self.out.flush()?;
        Ok(())
    }
}
