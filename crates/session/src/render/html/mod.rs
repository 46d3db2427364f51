//! A session as one page: no scripts, no remote loads, collapsible by the browser itself.
//!
//! Every piece of the session passes through `escape::html`; the only attributes made from it are
//! quoted titles, web links and base64 that was checked.

mod calls;
mod index;
mod page;
mod prose;
mod talk;
mod timeline;

pub use index::write_index;

use super::call::{Attachment, CallView};
use super::heading;
use super::outline::TurnView;
use super::sink::{
    Aside, Chapter, ClientMessage, Document, Placement, Rendered, Sink, Thinking, Wants,
};
use super::summary::Summary;
use super::talk::Talk;
use super::turn_items::Group;
use super::view::View;
use super::words::Voice;
use backstory_model::{Outcome, TurnKind};
use backstory_text::escape::html;
use backstory_text::excerpt::{Excerpt, excerpt};
use backstory_text::figures::{compact, counted};
use std::io::Write;

/// Turns that are listed next to the text at most.
const MOST_BESIDE: usize = 400;

pub(super) struct Html<'a, W> {
    out: W,
    view: &'a View,
    /// Scratch for text that is made of many pieces.
    text: String,
    in_chapter: bool,
}

impl<'a, W: Write> Html<'a, W> {
    pub(super) fn new(out: W, view: &'a View) -> Html<'a, W> {
        Html { out, view, text: String::new(), in_chapter: false }
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

    fn picture(&mut self, attachment: &Attachment) -> Rendered {
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

    /// The same list next to the text, for windows that are wide enough.
    fn side(&mut self, document: &Document) -> Rendered {
        if document.outline.len() > MOST_BESIDE {
            return Ok(());
        }
        writeln!(self.out, "<nav class=\"side\" aria-label=\"Turns\">\n<ol>")?;
        for turn in &document.outline {
            let (number, anchor, title) = (turn.number, &turn.anchor, html(&turn.title));
            let mark = if turn.failed > 0 || turn.outcome == Outcome::ApiError {
                " class=\"failed\""
            } else {
                ""
            };
            writeln!(
                self.out,
                "<li value=\"{number}\"{mark}><a href=\"#{anchor}\">{title}</a></li>"
            )?;
        }
        writeln!(self.out, "</ol></nav>")?;
        Ok(())
    }

    /// Links to the index and to the sessions before and after this one.
    fn neighbours(&mut self, label: &str) -> Rendered {
        let Some(near) = &self.view.neighbours else { return Ok(()) };
        let index = html(&near.index);
        writeln!(
            self.out,
            "<nav class=\"near\" aria-label=\"{label}\"><a href=\"{index}\">All sessions</a>"
        )?;
        for (link, sign) in [(&near.older, "←"), (&near.newer, "→")] {
            if let Some((file, title)) = link {
                let (file, title) = (html(file), html(title));
                writeln!(self.out, "<a href=\"{file}\">{sign} {title}</a>")?;
            }
        }
        writeln!(self.out, "</nav>")?;
        Ok(())
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
            "<nav class=\"contents\" aria-label=\"Contents\"><details><summary>{turns}</summary>\n<ol>"
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
        self.side(document)
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
        Wants { images: true, folds_client_messages: true, ..Wants::of_document(view) }
    }

    fn begin(&mut self, document: &Document) -> Rendered {
        page::begin(&document.title, &mut self.out)?;
        self.neighbours("Sessions")?;
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

    fn prompt(&mut self, text: &str, voice: Voice) -> Rendered {
        self.text.clear();
        prose::push(text.trim_matches('\n').trim_end(), prose::Writer::Person, &mut self.text);
        let (text, label) = (self.text.trim_end(), voice.label());
        match voice {
            Voice::Person => writeln!(self.out, "<div class=\"prompt\">{text}</div>")?,
            Voice::Meanwhile => writeln!(
                self.out,
                "<div class=\"prompt\"><p class=\"who\">Typed while the model worked</p>{text}</div>"
            )?,
            Voice::Editor | Voice::Summary => writeln!(
                self.out,
                "<details class=\"context\"><summary>{label}</summary>\n<div class=\"told\">{text}</div></details>"
            )?,
            Voice::Notification | Voice::Teammate | Voice::Caller => {
                writeln!(self.out, "<div class=\"told\"><p class=\"who\">{label}</p>{text}</div>")?;
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Rendered {
        self.text.clear();
        prose::push(text, prose::Writer::Model, &mut self.text);
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
        self.picture(attachment)
    }

    fn call(&mut self, call: &CallView<'_>) -> Rendered {
        self.whole_call(call)
    }

    fn talk(&mut self, talk: &Talk<'_>) -> Rendered {
        self.say(talk)
    }

    fn begin_group(&mut self, group: &Group) -> Rendered {
        let words = group.words();
        writeln!(self.out, "<details class=\"group\"><summary>{words}</summary>")?;
        Ok(())
    }

    fn end_group(&mut self) -> Rendered {
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

    fn client_messages(&mut self, messages: &[ClientMessage]) -> Rendered {
        self.folded_messages(messages)
    }

    fn summary(&mut self, summary: &Summary) -> Rendered {
        self.left_behind(summary)
    }

    fn finish(&mut self, _hidden: usize) -> Rendered {
        writeln!(self.out, "</main>")?;
        self.neighbours("Sessions, again")?;
        page::end(&mut self.out)?;
        self.out.flush()?;
        Ok(())
    }
}
