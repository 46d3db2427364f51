//! Every format holds the whole session and nothing that breaks out of its place: the output is
//! parsed back with parsers of others and counted against the model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use backstory_session::escape::{self, is_unsafe};
use backstory_session::model::{Block, Session, Turn, TurnKind};
use backstory_session::render::{self, Look, View};
use common::{sessions, testdata};
use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, parse_document};
use jiff::tz::TimeZone;
use scraper::{Html, Selector};
use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

/// The bundled sessions, and real ones where the machine has some.
fn all_sessions() -> Vec<Session> {
    let mut all = common::all_sessions();
    #[allow(clippy::disallowed_methods)]
    if let Ok(folder) = std::env::var("BACKSTORY_SESSIONS") {
        all.extend(sessions(Path::new(&folder)));
    }
    all
}

/// What must be there: the session, its branches left behind, its subagents.
struct Expected {
    turns: usize,
    calls: usize,
    agents: usize,
    /// Words that people typed.
    prompts: Vec<String>,
    edits: usize,
}

fn expected(session: &Session) -> Expected {
    let shown: Vec<&Session> =
        session.walk().into_iter().filter(|one| !one.kind.is_housekeeping()).collect();
    let turns: Vec<&Turn> = shown
        .iter()
        .flat_map(|one| one.turns.iter().chain(one.abandoned.iter().flat_map(|b| &b.turns)))
        .collect();
    Expected {
        turns: turns.len(),
        calls: turns.iter().map(|turn| turn.calls().count()).sum(),
        agents: shown.len() - 1,
        prompts: shown.iter().flat_map(|one| typed(one)).collect(),
        edits: turns
            .iter()
            .flat_map(|turn| turn.calls())
            .filter(|call| call.name.as_deref().is_some_and(render::is_edit))
            .count(),
    }
}

fn typed(session: &Session) -> Vec<String> {
    let mut reader = session.source.open().unwrap();
    let left = session.abandoned.iter().flat_map(|branch| &branch.turns);
    let turns = session.turns.iter().chain(left).filter(|turn| turn.kind == TurnKind::Human);
    let mut prompts = Vec::new();
    for part in turns.flat_map(|turn| &turn.prompt.blocks).filter(|part| !part.context) {
        if let Block::Text(text) = &part.block {
            let text = reader.text(text).unwrap();
            prompts.push(escape::lines(text.trim_matches('\n').trim_end()).into_owned());
        }
    }
    prompts.retain(|prompt| !prompt.trim().is_empty());
    prompts
}

fn view() -> View {
    View::new(TimeZone::UTC)
}

fn markdown(session: &Session, view: &View) -> String {
    let mut out = Vec::new();
    render::markdown(session, view, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn html(session: &Session, view: &View) -> String {
    let mut out = Vec::new();
    render::html(session, view, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn terminal(session: &Session, view: &View, look: Look) -> String {
    let mut out = Vec::new();
    render::terminal(session, view, look, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// Structure of a document as CommonMark sees it.
#[derive(Default)]
struct Structure {
    headings: Vec<u8>,
    anchors: HashSet<String>,
    links: Vec<String>,
    quotes: usize,
    foreign_html: Vec<String>,
    images: usize,
}

fn structure(text: &str) -> Structure {
    let arena = Arena::new();
    let root = parse_document(&arena, text, &Options::default());
    let mut found = Structure::default();
    visit(root, &mut found);
    found
}

fn visit<'a>(root: &'a AstNode<'a>, found: &mut Structure) {
    for node in root.descendants() {
        match &node.data.borrow().value {
            NodeValue::Heading(heading) if heading.level < 6 => found.headings.push(heading.level),
            NodeValue::BlockQuote => found.quotes += 1,
            NodeValue::Image(_) => found.images += 1,
            NodeValue::Link(link) => found.links.push(link.url.clone()),
            NodeValue::HtmlBlock(block) => found.foreign_html.push(block.literal.clone()),
            NodeValue::HtmlInline(text) => {
                let own = text.strip_prefix("<a id=\"").and_then(|rest| rest.strip_suffix("\">"));
                match own {
                    Some(anchor) => assert!(found.anchors.insert(anchor.to_owned()), "{anchor}"),
                    None if text == "</a>" => {}
                    None => found.foreign_html.push(text.clone()),
                }
            }
            _ => {}
        }
    }
}

#[test]
fn markdown_parses_back_into_what_it_was_made_of() {
    for session in all_sessions() {
        let expected = expected(&session);
        let text = markdown(&session, &view());
        let path = session.source.path().display();
        let found = structure(&text);
        let anchors = |start: &str| found.anchors.iter().filter(|id| id.starts_with(start)).count();
        let turns = found.anchors.iter().filter(|id| id.contains("turn-")).count();
        assert_eq!(turns, expected.turns, "{path}: turns");
        assert_eq!(anchors("call-"), expected.calls, "{path}: calls");
        let agents = found
            .anchors
            .iter()
            .filter(|id| id.strip_prefix("agent-").is_some_and(|rest| rest.parse::<u32>().is_ok()));
        assert_eq!(agents.count(), expected.agents, "{path}: subagents");
        assert!(found.quotes >= expected.prompts.len(), "{path}: prompts");
        assert_eq!(found.headings.iter().filter(|level| **level == 3).count(), expected.turns);
        assert_eq!(found.headings.iter().filter(|level| **level == 1).count(), 1, "{path}");
        assert!(found.headings.iter().all(|level| *level <= 3), "{path}: {:?}", found.headings);
        assert_eq!(found.foreign_html, Vec::<String>::new(), "{path}");
        assert_eq!(found.images, 0, "{path}");
        for link in found.links.iter().filter_map(|link| link.strip_prefix('#')) {
            assert!(found.anchors.contains(link), "{path}: no target for {link}");
        }
        assert!(text.lines().all(|line| !line.contains('\u{1b}')), "{path}");
    }
}

#[test]
fn pages_parse_back_into_what_they_were_made_of() {
    for session in all_sessions() {
        let expected = expected(&session);
        let path = session.source.path().display();
        let page = Html::parse_document(&html(&session, &view()));
        let select = |css: &str| page.select(&Selector::parse(css).unwrap()).count();
        assert_eq!(select("section.turn"), expected.turns, "{path}: turns");
        assert_eq!(select("details.call"), expected.calls, "{path}: calls");
        assert_eq!(select("section.chapter[id^=agent-]"), expected.agents, "{path}: subagents");
        let prompts: HashSet<String> = page
            .select(&Selector::parse(".prompt").unwrap())
            .map(|node| node.text().collect())
            .collect();
        for prompt in &expected.prompts {
            assert!(prompts.contains(prompt), "{path}: {prompt:?} not in {prompts:?}");
        }
        assert!(select("pre.diff") <= expected.edits, "{path}: edits");
        assert_eq!(live_parts(&page), Vec::<String>::new(), "{path}");
        let ids: HashSet<String> = page
            .select(&Selector::parse("[id]").unwrap())
            .map(|node| node.value().attr("id").unwrap().to_owned())
            .collect();
        for link in page.select(&Selector::parse("a[href^='#']").unwrap()) {
            let target = &link.value().attr("href").unwrap()[1..];
            assert!(ids.contains(target), "{path}: no target for {target}");
        }
    }
}

/// Whatever could run, load or leave the page.
fn live_parts(page: &Html) -> Vec<String> {
    const ELEMENTS: [&str; 42] = [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "header",
        "h1",
        "h2",
        "h3",
        "dl",
        "dt",
        "dd",
        "nav",
        "svg",
        "rect",
        "details",
        "summary",
        "ol",
        "ul",
        "li",
        "main",
        "section",
        "p",
        "div",
        "span",
        "pre",
        "code",
        "b",
        "em",
        "strong",
        "s",
        "ins",
        "del",
        "blockquote",
        "table",
        "tr",
        "th",
        "td",
        "footer",
        "img",
    ];
    let mut live = Vec::new();
    for node in page.tree.nodes() {
        let Some(element) = node.value().as_element() else { continue };
        let name = element.name();
        if !ELEMENTS.contains(&name) && !matches!(name, "tbody" | "br" | "hr") {
            live.push(format!("<{name}>"));
        }
        for (attribute, value) in element.attrs() {
            let value = value.trim().to_ascii_lowercase();
            let harmless = match attribute {
                "href" => {
                    ["#", "http://", "https://", "mailto:"].iter().any(|s| value.starts_with(s))
                }
                "src" => {
                    name == "img"
                        && ["png", "jpeg", "gif", "webp"]
                            .iter()
                            .any(|kind| value.starts_with(&format!("data:image/{kind};base64,")))
                }
                "style" | "srcset" | "formaction" | "action" | "xlink:href" => false,
                other => !other.starts_with("on"),
            };
            if !harmless {
                live.push(format!("<{name} {attribute}={value:.60}>"));
            }
        }
    }
    live
}

#[test]
fn terminals_get_every_turn_and_call_and_no_control_characters() {
    for session in all_sessions() {
        let expected = expected(&session);
        let path = session.source.path().display();
        for full in [false, true] {
            let view = View { full, ..view() };
            let text = terminal(&session, &view, Look { width: None, colour: false });
            let marks = |starts: &[&str]| {
                let bare = |line: &str| line.trim_start_matches([' ', '│']).to_owned();
                let lines = text.lines().map(bare);
                lines.filter(|line| starts.iter().any(|start| line.starts_with(start))).count()
            };
            assert_eq!(marks(&["── turn "]), expected.turns, "{path}: turns");
            assert!(marks(&["● ", "✗ "]) >= expected.calls, "{path}: calls");
            let bad = text.chars().find(|one| is_unsafe(*one) && *one != '\n');
            assert_eq!(bad, None, "{path}");
            let look = Look { width: Some(40), colour: true };
            let coloured = terminal(&session, &view, look);
            assert_eq!(first_foreign_control(&coloured), None, "{path}");
        }
    }
}

/// The first control character that is not a colour of ours.
fn first_foreign_control(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(at) = rest.find(|one: char| is_unsafe(one) && one != '\n') {
        let found = &rest[at..];
        let colour = found.strip_prefix("\u{1b}[").and_then(|code| {
            let end = code.find(|one: char| !one.is_ascii_digit() && one != ';')?;
            code[end..].strip_prefix('m')
        });
        rest = match colour {
            Some(after) => after,
            None => return Some(found.chars().take(20).collect()),
        };
    }
    None
}

/// A session in which a text stands in every place that formats show.
fn session_with(text: &str, folder: &Path) -> Session {
    use serde_json::json;
    let id = "11111111-1111-4111-8111-111111111111";
    let base = |uuid: &str, parent: Option<&str>, kind: &str| {
        json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": id,
            "timestamp": "2026-01-02T03:04:05.000Z", "cwd": text, "gitBranch": text, "version": text })
    };
    let with = |mut record: serde_json::Value, message: serde_json::Value| {
        record["message"] = message;
        record
    };
    let mut result = with(
        base("u2", Some("a1"), "user"),
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": text,
            "content": [{ "type": "text", "text": text }, { "type": "image", "source":
                { "type": "base64", "media_type": text, "data": text } }] }] }),
    );
    result["toolUseResult"] = json!({ "oldString": text, "newString": text, "filePath": text,
        "structuredPatch": [{ "oldStart": 1, "newStart": 1, "lines": [format!("+{text}")] }] });
    let records = [
        with(base("u1", None, "user"), json!({ "role": "user", "content": text })),
        with(
            base("a1", Some("u1"), "assistant"),
            json!({ "role": "assistant", "id": "m1", "model": text, "stop_reason": "tool_use",
                "content": [
                    { "type": "thinking", "thinking": text, "signature": "s" },
                    { "type": "text", "text": text },
                    { "type": text, "value": text },
                    { "type": "tool_use", "id": text, "name": "Edit", "input":
                        { "file_path": text, "old_string": text, "new_string": format!("{text}x") } },
                    { "type": "tool_use", "id": "t2", "name": text, "input": { text: text, "a": [text] } },
                ] }),
        ),
        result,
        with(
            base("a2", Some("u2"), "assistant"),
            json!({ "role": "assistant", "id": "m2", "model": text, "stop_reason": "end_turn",
                "content": [{ "type": "text", "text": text }] }),
        ),
        json!({ "type": "custom-title", "customTitle": text, "sessionId": id }),
    ];
    let path = folder.join(format!("{id}.jsonl"));
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).open(&path).unwrap();
    for record in &records {
        writeln!(file, "{record}").unwrap();
    }
    drop(file);
    sessions(&path).remove(0)
}

const PAYLOADS: [&str; 18] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "<!-- <textarea><style>",
    "javascript:alert(1)",
    "[x](javascript:alert(1)) ![y](http://e.com/b.png) <javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "```\n# out\n````\n<b>x</b>\n```````",
    "# a\n\n## b\n\nc\n===\n\nd\n---\n\n### e",
    "~~~\nnever closed",
    "<div>\n```\n</div>\n\n```\n<img src=x onerror=y>\n```",
    "\t<b>code by tab</b>\n\n1.\t<i>x</i>\n\n-\t\t<u>y</u>",
    "text\n    <b>lazy</b>\n\n    <b>code</b>",
    "> > quote\n<b>lazy</b>\n***\n| a | b |\n|---|---|\n| <b> | `|` |",
    "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}abc\u{2066}\r\noverprint\rx",
    "&lt;script&gt; &#60;b&#62; &amp;lt;",
    "../../../../tmp/escape\0.html",
    "</pre></details></section></main></body></html><script>x</script>",
];

#[test]
fn hostile_text_in_every_position_stays_text() {
    let folder = tempfile::tempdir().unwrap();
    for payload in PAYLOADS {
        let session = session_with(payload, folder.path());
        check_hostile(&session, payload);
    }
}

fn check_hostile(session: &Session, payload: &str) {
    let page = html(session, &view());
    assert!(!page.chars().any(|one| is_unsafe(one) && !matches!(one, '\n' | '\t')), "{payload}");
    let page = Html::parse_document(&page);
    assert_eq!(live_parts(&page), Vec::<String>::new(), "{payload}");
    let select = |css: &str| page.select(&Selector::parse(css).unwrap()).count();
    assert_eq!((select("section.turn"), select("details.call")), (1, 2), "{payload}");
    let text = markdown(session, &view());
    let found = structure(&text);
    assert_eq!(found.headings, [1, 2, 3], "{payload}\n{text}");
    assert_eq!(found.foreign_html, Vec::<String>::new(), "{payload}\n{text}");
    assert_eq!((found.images, found.anchors.len()), (0, 3), "{payload}\n{text}");
    let odd = found.links.iter().find(|link| link.to_lowercase().contains("script:"));
    assert_eq!(odd, None, "{payload}\n{text}");
    let look = Look { width: Some(60), colour: true };
    let text = terminal(session, &View { full: true, ..view() }, look);
    assert_eq!(first_foreign_control(&text), None, "{payload}");
}

/// A list of thousands of payloads, where the machine has one.
#[test]
fn a_list_of_payloads_stays_text() {
    #[allow(clippy::disallowed_methods)]
    let Ok(list) = std::env::var("BACKSTORY_PAYLOADS") else { return };
    let bytes = std::fs::read(list).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for payload in String::from_utf8_lossy(&bytes).lines().filter(|line| !line.trim().is_empty()) {
        check_hostile(&session_with(payload, folder.path()), payload);
    }
}

#[test]
fn parts_and_turns_can_be_left_out() {
    let session = sessions(&testdata("sample")).into_iter().find(|one| one.turns.len() > 1);
    let session = session.unwrap();
    let mut only = view();
    only.parts = render::Parts::only(["prompts"]).unwrap();
    let text = markdown(&session, &only);
    assert_eq!((count(&text, "**Prompt**"), count(&text, "**Tool call")), (session.turns.len(), 0));
    let mut last = view();
    last.turns = render::TurnRange::parse("2..").unwrap();
    let text = markdown(&session, &last);
    assert!(!text.contains("### <a id=\"turn-1\"") && text.contains("### <a id=\"turn-2\""));
    assert!(text.contains("- **Left out:** 1 turn\n"));
    let none = View { result: backstory_session::excerpt::Keep::Ends(0), ..view() };
    assert!(markdown(&session, &none).len() < markdown(&session, &view()).len());
}

#[test]
fn subagents_and_their_calls_are_linked_both_ways() {
    let session = all_sessions().into_iter().find(|session| {
        let calls = session.turns.iter().flat_map(|turn| turn.calls());
        calls.into_iter().any(|call| call.subagent.is_some())
    });
    let session = session.unwrap();
    let text = markdown(&session, &view());
    assert!(text.contains("[subagent 1](#agent-1)") && text.contains("started by [tool call "));
    let page = html(&session, &view());
    assert!(
        page.contains("<a href=\"#agent-1\">Subagent 1") && page.contains("started by <a href=")
    );
}
