//! Markdown of other authors, made safe for our documents.
//!
//! Models answer in Markdown, so their words are kept as such, with what could break out of its
//! place changed: HTML becomes text, headings go down to the sixth level, images and odd links
//! become text, definitions of link targets too. Where that may change how the rest is read, a
//! second parse checks the outcome; what is still not contained (a fence that never ends, say) is
//! shown as code instead.

use backstory_format::slice::Part;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use std::borrow::Cow;

/// What to do with line ends inside a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// They are spaces, as Markdown has it.
    Soft,
    /// They stay, as a person typed them.
    Hard,
}

/// Longer texts are not parsed but shown as they are.
pub(crate) const LONGEST: usize = 256 << 10;

/// Safe Markdown that reads like `text`; none when it has to be shown as code.
pub(crate) fn contain(text: &str, breaks: Breaks) -> Option<Cow<'_, str>> {
    if text.len() > LONGEST {
        return None;
    }
    let lines = breaks == Breaks::Hard && text.trim().contains('\n');
    if !lines && is_plain(text) {
        return Some(Cow::Borrowed(text));
    }
    // Behind the mark of a quotation a tab is narrower, and code would stop being code.
    let text = if text.contains('\t') {
        Cow::Owned(text.replace('\t', "    "))
    } else {
        Cow::Borrowed(text)
    };
    let parsed = Parsed::of(&text, breaks);
    let verdict = (parsed.is_contained, parsed.needs_proof);
    if parsed.edits.is_empty() {
        return parsed.is_contained.then_some(text);
    }
    let edited = apply(&text, parsed.edits);
    match verdict {
        (contained, false) => contained.then_some(Cow::Owned(edited)),
        (_, true) => Parsed::of(&edited, Breaks::Soft).is_harmless().then_some(Cow::Owned(edited)),
    }
}

/// Whether nothing in it can be a heading, a fence, HTML, an image or a link.
fn is_plain(text: &str) -> bool {
    let marks = memchr::memchr3(b'<', b'#', b'[', text.as_bytes()).is_some();
    let holds = |run: &&str| memchr::memmem::find(text.as_bytes(), run.as_bytes()).is_some();
    let runs = ["```", "~~~", "---", "==", "\n-", "\n=", "    ", "\t"];
    !marks && !text.starts_with(['-', '=']) && !runs.iter().any(holds)
}

/// A change: bytes at a place become something else.
struct Edit {
    at: usize,
    removed: usize,
    added: &'static str,
}

/// What a parse says of a text.
struct Parsed {
    /// What has to be changed.
    edits: Vec<Edit>,
    /// The changes may change how the rest is read. Deeper headings and hard line ends do not.
    needs_proof: bool,
    /// What follows the text would be read as if the text were not there.
    is_contained: bool,
}

impl Parsed {
    fn of(text: &str, breaks: Breaks) -> Parsed {
        const PROBE: &str = "PROBE";
        let whole = format!("{text}\n\n{PROBE}\n");
        let mut edits = Vec::new();
        let mut needs_proof = false;
        let mut depth = 0_usize;
        let mut last = (0, 0, false);
        let events = Parser::new_ext(&whole, Options::empty()).into_offset_iter();
        for (_, definition) in events.reference_definitions().iter() {
            edits.push(Edit { at: definition.span.start, removed: 0, added: "\\" });
            needs_proof = true;
        }
        for (event, range) in events {
            let mut change = MarkdownEdits { edits: &mut edits, needs_proof: &mut needs_proof };
            change.of_event(&event, whole.part(range.clone()), range.start, breaks);
            match event {
                Event::Start(tag) => {
                    if depth == 0 {
                        last = (range.start, range.end, tag == Tag::Paragraph);
                    }
                    depth += 1;
                }
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let (start, end, is_paragraph) = last;
        let is_contained = is_paragraph && whole.get(start..end).map(str::trim) == Some(PROBE);
        Parsed { edits, needs_proof, is_contained }
    }

    /// Whether it can stay as it is.
    fn is_harmless(&self) -> bool {
        self.is_contained && self.edits.is_empty()
    }
}

/// Where changes are collected.
struct MarkdownEdits<'a> {
    edits: &'a mut Vec<Edit>,
    needs_proof: &'a mut bool,
}

impl MarkdownEdits<'_> {
    fn insert(&mut self, at: usize, removed: usize, added: &'static str) {
        self.edits.push(Edit { at, removed, added });
    }

    /// What has to be changed because of an event that covers `part`, which begins at `start`.
    fn of_event(&mut self, event: &Event<'_>, part: &str, start: usize, breaks: Breaks) {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                *self.needs_proof = true;
                for (at, _) in part.match_indices('<') {
                    self.insert(start + at, 1, "&lt;");
                }
            }
            Event::Start(Tag::Heading { level: HeadingLevel::H6, .. }) => {}
            Event::Start(Tag::Heading { level, .. }) => {
                if is_marked(part) {
                    self.insert(start, 0, deeper(*level));
                } else {
                    *self.needs_proof = true;
                    self.insert(start, 0, "###### ");
                    // The line below that made it a heading.
                    let line = part.trim_end().rfind('\n').map_or(0, |at| at + 1);
                    let under = part.part(line..);
                    for (at, _) in under.match_indices(['=', '-']) {
                        self.insert(start + line + at, 1, "");
                    }
                }
            }
            Event::Start(Tag::Image { .. }) => {
                *self.needs_proof = true;
                self.insert(start, 0, "\\");
            }
            Event::Start(Tag::Link { dest_url, .. }) if !is_harmless(dest_url) => {
                *self.needs_proof = true;
                if part.starts_with('<') {
                    self.insert(start, 1, "&lt;");
                } else {
                    self.insert(start, 0, "\\");
                }
            }
            Event::SoftBreak if breaks == Breaks::Hard => self.insert(start, 0, "\\"),
            _ => {}
        }
    }
}

/// Whether a heading is one by the marks before it, and not by a line below.
fn is_marked(heading: &str) -> bool {
    let rest = heading.trim_start_matches('#');
    let marks = heading.len() - rest.len();
    (1..=6).contains(&marks) && (rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
}

fn deeper(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "#####",
        HeadingLevel::H2 => "####",
        HeadingLevel::H3 => "###",
        HeadingLevel::H4 => "##",
        HeadingLevel::H5 => "#",
        HeadingLevel::H6 => "",
    }
}

/// Whether a link leads to the web, to a mail address, or to a place next to the document.
pub(crate) fn is_harmless(target: &str) -> bool {
    let target: String =
        target.chars().filter(|character| !character.is_control() && *character != ' ').collect();
    match target.split_once(':') {
        None => true,
        Some((scheme, _)) if scheme.contains(['/', '?', '#']) => true,
        Some((scheme, _)) => {
            ["http", "https", "mailto"].iter().any(|safe| scheme.eq_ignore_ascii_case(safe))
        }
    }
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.at, edit.removed));
    let mut out = String::with_capacity(text.len() + edits.len() * 4);
    let mut at = 0;
    for edit in edits {
        out.push_str(text.part(at.min(edit.at)..edit.at));
        out.push_str(edit.added);
        at = at.max(edit.at + edit.removed);
    }
    out.push_str(text.part(at..));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contained(text: &str) -> String {
        contain(text, Breaks::Soft).unwrap().into_owned()
    }

    #[test]
    fn ordinary_answers_stay_as_they_are() {
        for text in [
            "Done. **All** `tests` pass.\n\n- one\n- two",
            "```rust\nlet a: Vec<u8> = b\"# no heading\";\n```\n\nThat is it.",
            "See [the book](https://example.com/a) and [here](docs/a.md).",
        ] {
            assert_eq!(contained(text), text);
        }
    }

    #[test]
    fn nothing_breaks_out() {
        assert_eq!(contained("# Top\ntext"), "###### Top\ntext");
        assert_eq!(contained("Top\n===\ntext"), "###### Top\n\ntext");
        assert_eq!(contained("#1\n===\ntext"), "###### #1\n\ntext");
        assert_eq!(contained("a <b>x</b> `<c>`"), "a &lt;b>x&lt;/b> `<c>`");
        assert_eq!(
            contained("<script>\nalert(1)\n</script>"),
            "&lt;script>\nalert(1)\n&lt;/script>"
        );
        assert_eq!(contained("![x](http://e.com/p.png)"), "\\![x](http://e.com/p.png)");
        assert_eq!(contained("[x](javascript:alert%281%29)"), "\\[x](javascript:alert%281%29)");
        assert_eq!(contained("[a]: http://e.com"), "\\[a]: http://e.com");
        assert_eq!(contain("```\nno end", Breaks::Soft), None);
        assert_eq!(contain("<!-- no end", Breaks::Soft).as_deref(), Some("&lt;!-- no end"));
    }

    #[test]
    fn what_a_person_typed_keeps_its_lines() {
        assert_eq!(contain("a\nb\n\nc", Breaks::Hard).as_deref(), Some("a\\\nb\n\nc"));
    }

    #[test]
    fn schemes_are_judged_without_regard_to_tricks() {
        assert!(is_harmless("HTTPS://x") && is_harmless("a/b:c") && is_harmless("#x:y"));
        for bad in ["javascript:x", "JAVA\tSCRIPT:x", "data:text/html,x", " vbscript:x", "file:/x"]
        {
            assert!(!is_harmless(bad), "{bad}");
        }
    }
}
