//! Which agent wrote a file, and how many sessions it holds.

use super::aider::HEADING;
use crate::model::Agent;
use crate::store::load;
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_format::line::split;
use hashbrown::HashMap;
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) agent: Agent,
    holds: Holds,
}

/// How sessions stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    One,
    /// One on each line.
    Lines,
    /// One in each item of a JSON array.
    Items,
    /// One below each heading.
    Headings,
}

/// A session's place in a file.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) id: String,
    /// None when it is the whole file.
    pub(crate) range: Option<Range<u64>>,
}

impl Shape {
    const fn one(agent: Agent) -> Shape {
        Shape { agent, holds: Holds::One }
    }

    /// A folder with a conversation's events.
    pub(crate) fn folder() -> Shape {
        Shape::one(Agent::OpenHands)
    }
}

/// The agent that wrote a file which begins with `head`; none for Claude Code and for anything that
/// is no trace.
pub(crate) fn detect(path: &Path, head: &[u8]) -> Option<Shape> {
    let name = path.file_name()?.to_str()?;
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let holds = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    if name.ends_with(".md") {
        let heading = holds(&format!("\n{HEADING}")) || head.starts_with(HEADING.as_bytes());
        return heading.then_some(Shape { agent: Agent::Aider, holds: Holds::Headings });
    }
    if [".jsonl", ".jsonl.zst", ".parquet"].iter().any(|end| name.ends_with(end)) {
        return detect_lines(head);
    }
    match head.trim_ascii_start().first()? {
        b'{' if name.ends_with(".messages.json") => Some(Shape::one(Agent::Cline)),
        b'{' if holds("\"mini_version\"") || holds("\"mini-swe-agent-") => {
            Some(Shape::one(Agent::MiniSweAgent))
        }
        _ if name.ends_with(".traj.json") => Some(Shape::one(Agent::MiniSweAgent)),
        b'{' if name.ends_with(".traj") => Some(Shape::one(Agent::SweAgent)),
        b'{' if name.starts_with("rollout-") && holds("\"items\"") => {
            Some(Shape::one(Agent::Codex))
        }
        b'[' if name == "api_conversation_history.json" => Some(Shape::one(Agent::Cline)),
        b'[' if holds("\"instance_id\"") && holds("\"messages\"") => {
            Some(Shape { agent: Agent::SweSmith, holds: Holds::Items })
        }
        b'[' if holds("\"source\"") && (holds("\"action\"") || holds("\"observation\"")) => {
            Some(Shape::one(Agent::OpenHands))
        }
        _ => None,
    }
}

/// By the first object; a first line that is longer than the head is known by the keys it shows.
fn detect_lines(head: &[u8]) -> Option<Shape> {
    let mut tape = Tape::new();
    for line in split(head).take(8) {
        let start = line.content.trim_ascii_start();
        if scan(line.content, 0, 256, &mut tape).is_ok() {
            let Some(value) = tape.root(line.content) else { continue };
            if value.kind() == Kind::Object {
                return shape_of(|key| value.get(key).is_some(), |key| value.get_text(key));
            }
        } else if start.starts_with(b"{") && line.content.len() > HEAD_LINE {
            let find = |part: &[u8], key: &str| memmem::find(part, format!("\"{key}\"").as_bytes());
            // Codex names the type before the payload, which is what makes a line long.
            let envelope = find(start, "payload").and_then(|at| start.get(..at));
            let kind = CODEX.iter().find(|kind| envelope.is_some_and(|e| find(e, kind).is_some()));
            return shape_of(
                |key| find(start, key).is_some(),
                |key| kind.filter(|_| key == "type").map(|kind| Cow::Borrowed(*kind)),
            );
        }
    }
    None
}

const HEAD_LINE: usize = 32 << 10;

/// Types of Codex's records.
const CODEX: [&str; 5] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

fn shape_of<'a>(
    has: impl Fn(&str) -> bool,
    text: impl Fn(&str) -> Option<Cow<'a, str>>,
) -> Option<Shape> {
    let kind = text("type");
    let kind = kind.as_deref();
    if has("history") && (has("instance_id") || has("git_patch")) {
        return Some(Shape { agent: Agent::OpenHands, holds: Holds::Lines });
    }
    if has("messages") && (has("instance_id") || has("traj_id")) {
        return Some(Shape { agent: Agent::SweSmith, holds: Holds::Lines });
    }
    // The first releases of Codex began with a bare line of facts and had no envelope.
    let bare = has("id") && has("instructions") && has("timestamp") && kind.is_none();
    if has("payload") && kind.is_some_and(|kind| CODEX.contains(&kind)) || bare {
        return Some(Shape::one(Agent::Codex));
    }
    if has("kind") && has("source") && has("id") && kind.is_none() {
        return Some(Shape::one(Agent::OpenHands));
    }
    None
}

/// The sessions of a file; one whose parts cannot be told is one session.
pub(crate) fn parts(shape: &Shape, path: &Path) -> Vec<Part> {
    let name = || named(shape.agent, path);
    if shape.holds == Holds::One {
        return vec![Part { id: name(), range: None }];
    }
    let Ok(loaded) = load(path, None) else { return vec![Part { id: name(), range: None }] };
    let bytes = loaded.bytes.as_slice();
    let mut parts = match shape.holds {
        Holds::Lines => lines(bytes),
        Holds::Items => items(bytes),
        Holds::Headings => headings(bytes, &name()),
        Holds::One => Vec::new(),
    };
    for (number, part) in parts.iter_mut().enumerate() {
        if part.id.is_empty() {
            part.id = format!("{}-{}", name(), number + 1);
        }
    }
    // Two sessions may begin in the same second, or be runs of the same task.
    let mut seen: HashMap<String, usize> = HashMap::new();
    for part in &mut parts {
        let count = seen.entry(part.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            part.id.push_str(&format!("-{count}"));
        }
    }
    parts
}

fn lines(bytes: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut tape = Tape::new();
    let mut at = 0;
    for line in split(bytes) {
        let start = at;
        at += line.width() as u64;
        if line.content.trim_ascii().is_empty() {
            continue;
        }
        let end = scan(line.content, 0, 1024, &mut tape).ok();
        let value = end.and_then(|_| tape.root(line.content));
        let id = value.and_then(|value| row_id(&value)).unwrap_or_default();
        parts.push(Part { id, range: Some(start..start + line.content.len() as u64) });
    }
    parts
}

fn items(bytes: &[u8]) -> Vec<Part> {
    let mut tape = Tape::new();
    let start = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let Some(list) = scan(bytes, start, 1024, &mut tape).ok().and_then(|_| tape.root(bytes)) else {
        return Vec::new();
    };
    list.items()
        .map(|item| {
            let span = item.span();
            let range = Some(span.start as u64..span.end as u64);
            Part { id: row_id(&item).unwrap_or_default(), range }
        })
        .collect()
}

/// What a row of a benchmark calls itself.
fn row_id(row: &Value<'_>) -> Option<String> {
    let named = ["traj_id", "instance_id"].iter().find_map(|name| row.get_text(name));
    let number = || row.get("issue")?.get("number")?.unsigned().map(|n| format!("issue-{n}"));
    named.map(|id| id.into_owned()).or_else(number)
}

/// Below `# aider chat started at 2026-01-31 09:30:00`. A line of the same words inside a fence
/// would be taken for one; the date behind it makes that unlikely.
fn headings(bytes: &[u8], name: &str) -> Vec<Part> {
    let mut starts: Vec<(u64, String)> = Vec::new();
    let mut at = 0;
    for line in split(bytes) {
        if let Some(date) = line.content.strip_prefix(HEADING.as_bytes()) {
            let date = String::from_utf8_lossy(date.trim_ascii());
            let plain = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | ':' | ' ');
            if date.len() == 19 && date.chars().all(plain) {
                starts.push((at, date.replace(' ', "T")));
            }
        }
        at += line.width() as u64;
    }
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([at]);
    // A history that was cut begins in the middle of a session.
    let first = starts.first().map_or(at, |(start, _)| *start);
    let head = bytes.get(..first as usize).unwrap_or_default();
    let cut = (!head.trim_ascii().is_empty())
        .then(|| Part { id: format!("{name}-start"), range: Some(0..first) });
    cut.into_iter()
        .chain(starts.iter().zip(ends).map(|((start, date), end)| Part {
            id: format!("{name}-{date}"),
            range: Some(*start..end),
        }))
        .collect()
}

/// An id from the file's name.
fn named(agent: Agent, path: &Path) -> String {
    let text = |path: Option<&std::ffi::OsStr>| {
        path.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let name = text(path.file_name());
    let folder = text(path.parent().and_then(Path::file_name));
    match agent {
        Agent::Codex => {
            // rollout-2026-01-31T09-30-00-<uuid>.jsonl[.zst]
            let stem = name.split('.').next().unwrap_or_default();
            stem.get(28..).filter(|id| id.len() >= 36).unwrap_or(stem).to_owned()
        }
        Agent::Cline if name == "api_conversation_history.json" => folder,
        Agent::Aider => match folder.as_str() {
            "" => "aider".to_owned(),
            folder => format!("aider-{folder}"),
        },
        _ => {
            let name = name.strip_suffix(".zst").unwrap_or(&name);
            let ends = [".messages.json", ".traj.json", ".traj", ".json", ".jsonl"];
            let end = ends.iter().find(|end| name.ends_with(*end));
            end.and_then(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
        }
    }
}
