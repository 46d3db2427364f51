//! What must hold for a session with any text in every place that formats show: pages and
//! documents, parsed with parsers of others, hold what the session holds and nothing that could
//! run, load or leave the page; a terminal gets no control characters.

use backstory_model::{Block, Call, Change, Content, Effect, Session, Turn, TurnKind};
use backstory_session::discover::{Root, discover};
use backstory_session::render::{self, Look, View};
use backstory_store::{ReadContext, SourceReader, Store};
use backstory_text::escape;
use backstory_text::escape::is_unsafe;
use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, Options, parse_document};
use jiff::tz::TimeZone;
use scraper::{Html, Selector};
use serde_json::Value;
use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

/// Shows the data as text everywhere.
pub fn render(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let text = String::from_utf8_lossy(data);
    check_hostile(&session_with(&text, folder.path()), &text);
}

/// What must be there: the session, its branches left behind, its subagents.
#[derive(Debug)]
pub struct Expected {
    pub turns: usize,
    pub calls: usize,
    pub agents: usize,
    /// Words that people typed.
    pub prompts: Vec<String>,
    /// Changes of files, each of which is drawn.
    pub diffs: usize,
}

pub fn expected(session: &Session) -> Expected {
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
        diffs: shown.iter().map(|one| drawn(one)).sum(),
    }
}

/// How many changes of files the calls of a session made or wanted to make, by what their inputs and
/// results say.
fn drawn(session: &Session) -> usize {
    let mut reader = session.source.open().unwrap();
    let left = session.abandoned.iter().flat_map(|branch| &branch.turns);
    let calls = session.turns.iter().chain(left).flat_map(|turn| turn.calls());
    calls.map(|call| changes(call, &mut reader) + usize::from(asks(call, &mut reader))).sum()
}

/// Changes that the reader of an agent's traces found.
fn changes(call: &Call, reader: &mut SourceReader) -> usize {
    let mut text = |content: &Content| reader.text(content).unwrap().into_owned();
    let mut count = 0;
    for effect in &call.effects {
        let Effect::Edit(edit) = effect else { continue };
        count += usize::from(match (&edit.before, &edit.after, &edit.change) {
            (Some(before), Some(after), _) => text(before) != text(after),
            (Some(before), None, Change::Delete) => !text(before).is_empty(),
            (_, _, Change::Write { content, .. }) => content.size() > 0,
            (_, _, Change::Replace(list)) => {
                list.iter().any(|part| part.old.size() + part.new.size() > 0)
            }
            (_, _, Change::Cell { source }) => source.as_ref().is_some_and(|text| text.size() > 0),
            (_, _, Change::Delete | Change::Move { .. }) => false,
        });
    }
    count
}

/// Whether a call of Claude Code's editing tools says what it would change.
fn asks(call: &Call, reader: &mut SourceReader) -> bool {
    let mut json = |content: Option<&Content>| -> Value {
        let text = content.map(|content| reader.text(content).unwrap().into_owned());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    };
    let input = json(call.input.as_ref());
    let result = json(call.result.as_ref().and_then(|result| result.structured.as_ref()));
    if !["file_path", "notebook_path", "path"].iter().any(|name| input[*name].is_string()) {
        return false;
    }
    let patched = result["structuredPatch"].as_array().is_some_and(|hunks| !hunks.is_empty());
    let says = |text: &Value| text.as_str().is_some_and(|text| !text.is_empty());
    let replaces = |edit: &Value| says(&edit["old_string"]) || says(&edit["new_string"]);
    match call.name.as_deref() {
        Some("Edit") => {
            let whole = input["old_string"].is_string() && input["new_string"].is_string();
            whole && (patched || replaces(&input))
        }
        Some("MultiEdit") => {
            let edits = input["edits"].as_array();
            edits.is_some_and(|edits| patched || edits.iter().any(replaces))
        }
        // The same content again is no change.
        Some("Write") if result.is_object() && result["type"] != "create" => patched,
        Some("Write") => patched || says(&input["content"]),
        Some("NotebookEdit") => says(&input["new_source"]),
        _ => false,
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

pub fn view() -> View {
    View::new(TimeZone::UTC)
}

pub fn markdown(session: &Session, view: &View) -> String {
    let mut out = Vec::new();
    render::markdown(session, view, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn html(session: &Session, view: &View) -> String {
    let mut out = Vec::new();
    render::html(session, view, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn terminal(session: &Session, view: &View, look: Look) -> String {
    let mut out = Vec::new();
    render::terminal(session, view, look, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Structure of a document as CommonMark sees it.
#[derive(Default, Debug)]
pub struct Structure {
    pub headings: Vec<u8>,
    pub anchors: HashSet<String>,
    pub links: Vec<String>,
    pub quotes: usize,
    pub foreign_html: Vec<String>,
    pub images: usize,
    /// Blocks of changed lines.
    pub diffs: usize,
}

pub fn structure(text: &str) -> Structure {
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
            NodeValue::CodeBlock(block) if block.info == "diff" => found.diffs += 1,
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

/// Whatever could run, load or leave the page.
pub fn live_parts(page: &Html) -> Vec<String> {
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

/// The first control character that is not a colour of ours.
pub fn first_foreign_control(text: &str) -> Option<String> {
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
pub fn session_with(text: &str, folder: &Path) -> Session {
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
    let found = discover(&[Root { path }], &Store::default());
    backstory_agents::read(&found.sessions[0], &mut ReadContext::default()).unwrap().0
}

pub fn check_hostile(session: &Session, payload: &str) {
    let expected = expected(session);
    let page = html(session, &view());
    assert!(!page.chars().any(|one| is_unsafe(one) && !matches!(one, '\n' | '\t')), "{payload}");
    let page = Html::parse_document(&page);
    assert_eq!(live_parts(&page), Vec::<String>::new(), "{payload}");
    let select = |css: &str| page.select(&Selector::parse(css).unwrap()).count();
    let shown = (select("section.turn"), select("details.call"));
    assert_eq!(shown, (expected.turns, expected.calls), "{payload}");
    let text = markdown(session, &view());
    let found = structure(&text);
    let headings = [&[1, 2][..], &vec![3; expected.turns]].concat();
    assert_eq!(found.headings, headings, "{payload}\n{text}");
    assert_eq!(found.foreign_html, Vec::<String>::new(), "{payload}\n{text}");
    let anchors = expected.turns + expected.calls;
    assert_eq!((found.images, found.anchors.len()), (0, anchors), "{payload}\n{text}");
    let runs = |link: &&String| {
        let link = link.trim().to_lowercase();
        ["javascript:", "vbscript:", "data:"].iter().any(|scheme| link.starts_with(scheme))
    };
    let odd = found.links.iter().find(runs);
    assert_eq!(odd, None, "{payload}\n{text}");
    assert!(!text.chars().any(|one| is_unsafe(one) && !matches!(one, '\n' | '\t')), "{payload}");
    let look = Look { width: Some(60), colour: true };
    let text = terminal(session, &View { full: true, ..view() }, look);
    assert_eq!(first_foreign_control(&text), None, "{payload}");
}
