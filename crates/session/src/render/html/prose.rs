//! Markdown as HTML: our own elements only, every other character as text.
//!
//! Raw HTML is shown, not used. Links lead to the web or to a mail address; nothing is loaded.

use crate::render::markdown::prose::{LONGEST, is_harmless};
use backstory_format::slice::Part;
use backstory_text::escape;
use backstory_text::figures::counted;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Deeper nesting is shown as plain text.
const DEEPEST: usize = 24;

/// Who wrote a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    /// It is Markdown.
    Model,
    /// It may be Markdown: lines stay lines, nothing that was typed is dropped, and a long text is
    /// folded.
    Person,
}

/// Lines of a person's text that are shown before the fold, and the fewest worth folding.
const OPEN_LINES: usize = 15;
const FOLDED_LINES: usize = 6;

/// Appends `text` as HTML.
pub(super) fn push(text: &str, writer: Writer, out: &mut String) {
    let start = out.len();
    if text.len() > LONGEST || push_parsed(text, writer, out).is_none() {
        out.truncate(start);
        out.push_str("<p class=\"plain\">");
        out.push_str(&escape::html(text));
        out.push_str("</p>");
    }
}

/// None when it is nested too deep, or something in it would not be shown.
fn push_parsed(text: &str, writer: Writer, out: &mut String) -> Option<()> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let parser = Parser::new_ext(text, options);
    let is_person = writer == Writer::Person;
    if is_person && parser.reference_definitions().iter().next().is_some() {
        return None;
    }
    let mut depth = 0_usize;
    let mut in_head = false;
    let mut fold = Fold::of(text, writer);
    for (event, range) in parser.into_offset_iter() {
        if depth == 0 {
            fold.before_block(range.start, out);
        }
        if is_person {
            let source = text.get(range.clone()).unwrap_or_default();
            if keep_typed(&event, source, text.part(..range.start), out) {
                continue;
            }
        }
        match event {
            Event::Start(tag) => {
                depth += 1;
                if depth > DEEPEST {
                    return None;
                }
                in_head |= tag == Tag::TableHead;
                open(&tag, in_head, out);
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                close(tag, in_head, out);
                in_head &= tag != TagEnd::TableHead;
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                out.push_str(&escape::html(&text));
            }
            Event::Code(text) => {
                out.push_str("<code>");
                out.push_str(&escape::html(&text));
                out.push_str("</code>");
            }
            Event::SoftBreak if is_person => out.push_str("<br>\n"),
            Event::SoftBreak => out.push('\n'),
            Event::HardBreak => out.push_str("<br>"),
            Event::Rule => out.push_str("<hr>"),
            Event::TaskListMarker(done) => out.push_str(if done { "☑ " } else { "☐ " }),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                out.push_str(&escape::html(&text));
            }
        }
    }
    fold.end(out);
    Some(())
}

/// Writes what a person typed as it was typed where Markdown would drop a character of it.
fn keep_typed(event: &Event<'_>, source: &str, before: &str, out: &mut String) -> bool {
    match event {
        // A character reference stays one, and a backslash that escapes something is shown.
        Event::Text(text) => {
            if before.ends_with('\\') && !before.ends_with("\\\\") {
                out.push('\\');
            }
            let shown = if source.starts_with('&') { source } else { text };
            out.push_str(&escape::html(shown));
            true
        }
        // `__init__` is a name, and not a strong word.
        Event::Start(Tag::Strong | Tag::Emphasis) => {
            let mark = source.len() - source.trim_start_matches('_').len();
            let width = if matches!(event, Event::Start(Tag::Strong)) { 2 } else { 1 };
            out.push_str("_".repeat(mark.min(width)).as_str());
            false
        }
        Event::End(TagEnd::Strong | TagEnd::Emphasis) => {
            let mark = source.len() - source.trim_end_matches('_').len();
            let width = if matches!(event, Event::End(TagEnd::Strong)) { 2 } else { 1 };
            out.push_str("_".repeat(mark.min(width)).as_str());
            false
        }
        Event::Start(Tag::Image { .. }) => {
            out.push_str(&escape::html(source));
            out.push(' ');
            false
        }
        _ => false,
    }
}

/// Where a long text is folded: between two of its blocks.
struct Fold<'a> {
    text: &'a str,
    /// Bytes that were looked at, and their lines.
    seen: usize,
    lines: usize,
    all: usize,
    is_open: bool,
}

impl Fold<'_> {
    fn of(text: &str, writer: Writer) -> Fold<'_> {
        let all = match writer {
            Writer::Person => text.lines().count(),
            Writer::Model => 0,
        };
        Fold { text, seen: 0, lines: 0, all, is_open: false }
    }

    fn before_block(&mut self, start: usize, out: &mut String) {
        if self.is_open || self.all < OPEN_LINES + FOLDED_LINES || start < self.seen {
            return;
        }
        self.lines += self.text.part(self.seen..start).matches('\n').count();
        self.seen = start;
        let more = self.all.saturating_sub(self.lines);
        if self.lines >= OPEN_LINES && more >= FOLDED_LINES {
            self.is_open = true;
            let words = counted(more as u64, "more line", "more lines");
            out.push_str(&format!("<details class=\"more\"><summary>{words}</summary>\n"));
        }
    }

    fn end(&self, out: &mut String) {
        if self.is_open {
            out.push_str("</details>");
        }
    }
}

fn open(tag: &Tag<'_>, in_head: bool, out: &mut String) {
    match tag {
        Tag::Paragraph => out.push_str("<p>"),
        Tag::Heading { .. } => out.push_str("<p class=\"heading\">"),
        Tag::BlockQuote(_) => out.push_str("<blockquote>"),
        Tag::CodeBlock(kind) => {
            out.push_str("<pre><code>");
            if let CodeBlockKind::Fenced(language) = kind
                && !language.is_empty()
            {
                out.truncate(out.len() - "<code>".len());
                out.push_str("<code title=\"");
                out.push_str(&escape::html(language));
                out.push_str("\">");
            }
        }
        Tag::List(None) => out.push_str("<ul>"),
        Tag::List(Some(1)) => out.push_str("<ol>"),
        Tag::List(Some(first)) => out.push_str(&format!("<ol start=\"{first}\">")),
        Tag::Item => out.push_str("<li>"),
        Tag::Table(_) => out.push_str("<table>"),
        Tag::TableHead | Tag::TableRow => out.push_str("<tr>"),
        Tag::TableCell => out.push_str(if in_head { "<th>" } else { "<td>" }),
        Tag::Emphasis => out.push_str("<em>"),
        Tag::Strong => out.push_str("<strong>"),
        Tag::Strikethrough => out.push_str("<s>"),
        Tag::Link { dest_url, .. } => {
            let mail = dest_url.contains('@') && !dest_url.contains([':', '/']);
            let absolute = dest_url.contains(':') && is_harmless(dest_url);
            let target = if mail { format!("mailto:{dest_url}") } else { dest_url.to_string() };
            if mail || absolute {
                out.push_str("<a rel=\"noopener noreferrer nofollow\" href=\"");
                out.push_str(&escape::html(target.trim()));
                out.push_str("\">");
            } else {
                // Closed like the other, so that pairs match.
                out.push_str("<a title=\"");
                out.push_str(&escape::html(&target));
                out.push_str("\">");
            }
        }
        Tag::Image { dest_url, .. } => {
            let host = dest_url.split("//").nth(1).and_then(|rest| rest.split('/').next());
            let place = host.filter(|host| !host.is_empty()).unwrap_or("a file");
            out.push_str("<em>[image from ");
            out.push_str(&escape::html(place));
            out.push_str(": ");
        }
        _ => out.push_str("<span>"),
    }
}

fn close(tag: TagEnd, in_head: bool, out: &mut String) {
    out.push_str(match tag {
        TagEnd::Paragraph | TagEnd::Heading(_) => "</p>\n",
        TagEnd::BlockQuote(_) => "</blockquote>\n",
        TagEnd::CodeBlock => "</code></pre>\n",
        TagEnd::List(false) => "</ul>\n",
        TagEnd::List(true) => "</ol>\n",
        TagEnd::Item => "</li>\n",
        TagEnd::Table => "</table>\n",
        TagEnd::TableHead | TagEnd::TableRow => "</tr>\n",
        TagEnd::TableCell if in_head => "</th>",
        TagEnd::TableCell => "</td>",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        TagEnd::Strikethrough => "</s>",
        TagEnd::Link => "</a>",
        TagEnd::Image => "]</em>",
        _ => "</span>",
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let mut out = String::new();
        push(text, Writer::Model, &mut out);
        out.trim_end().to_owned()
    }

    #[test]
    fn markdown_becomes_elements_and_html_stays_text() {
        assert_eq!(
            html("# T\n\n**b** `c<`"),
            "<p class=\"heading\">T</p>\n<p><strong>b</strong> <code>c&lt;</code></p>"
        );
        assert_eq!(html("a <img src=x onerror=y>"), "<p>a &lt;img src=x onerror=y&gt;</p>");
        assert_eq!(
            html("[x](https://e.com/?a=\"b)"),
            "<p><a rel=\"noopener noreferrer nofollow\" href=\"https://e.com/?a=&quot;b\">x</a></p>"
        );
        assert_eq!(html("[x](javascript:a)"), "<p><a title=\"javascript:a\">x</a></p>");
        assert_eq!(html("![alt](https://e.com/p.png)"), "<p><em>[image from e.com: alt]</em></p>");
    }

    #[test]
    fn deep_nesting_is_shown_as_it_is() {
        let deep = "> ".repeat(1_000) + "<x>";
        assert!(html(&deep).starts_with("<p class=\"plain\">&gt; &gt; "));
    }
}
