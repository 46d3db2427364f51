//! Which agent wrote a file, and how many sessions it holds.

use crate::aider::{HEADING, HISTORY};
use crate::skim::{Skimmed, skim};
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_format::line::split;
use backstory_format::slice::Part as _;
use backstory_model::Agent;
use backstory_store::load;
use hashbrown::HashMap;
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub agent: Agent,
    holds: Holds,
}

/// How sessions stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    One,
    /// One on each line.
    Lines,
    /// One in each item of a JSON array, or the only one.
    Items,
    /// One below each heading.
    Headings,
}

/// A session's place in a file.
#[derive(Debug)]
pub struct Part {
    pub id: String,
    /// None when it is the whole file.
    pub range: Option<Range<u64>>,
}

impl Shape {
    const fn one(agent: Agent) -> Shape {
        Shape { agent, holds: Holds::One }
    }

    /// A folder with a conversation's events.
    pub fn folder() -> Shape {
        Shape::one(Agent::OpenHands)
    }
}

/// What the first bytes of a file say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detected {
    /// None for Claude Code and for anything that is no trace.
    Known(Option<Shape>),
    /// The first row goes on behind these bytes, and what it is stands there.
    Open,
}

/// The agent that wrote a file which begins with `head`.
pub fn detect(path: &Path, head: &[u8]) -> Detected {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Detected::Known(None);
    };
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    if name.ends_with(".md") {
        let aider = Shape { agent: Agent::Aider, holds: Holds::Headings };
        return Detected::Known(is_chat_history(name, head).then_some(aider));
    }
    if [".jsonl", ".jsonl.zst", ".parquet"].iter().any(|end| name.ends_with(end)) {
        return detect_lines(head);
    }
    match detect_document(name, head) {
        None => detect_rows(head),
        known => Detected::Known(known),
    }
}

/// By a heading; what is left of a history before its first one, by its name and a prompt.
fn is_chat_history(name: &str, head: &[u8]) -> bool {
    let begins = |line: &str| {
        head.starts_with(line.as_bytes())
            || memmem::find(head, format!("\n{line}").as_bytes()).is_some()
    };
    begins(HEADING) || name.ends_with(HISTORY) && (begins("#### ") || begins("> "))
}

/// A document that is one session.
fn detect_document(name: &str, head: &[u8]) -> Option<Shape> {
    let holds = |text: &str| memmem::find(head, text.as_bytes()).is_some();
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
        b'[' if name == CLINE_TASK => Some(Shape::one(Agent::Cline)),
        b'[' if holds("\"source\"") && (holds("\"action\"") || holds("\"observation\"")) => {
            let row = head.trim_ascii_start().get(1..).and_then(skim);
            let is_row =
                row.is_some_and(|row| row_of(|key| row.has(key)).is_some() || is_open(&row));
            (!is_row).then_some(Shape::one(Agent::OpenHands))
        }
        _ => None,
    }
}

/// A document that is a row of a benchmark, or a list of them; what is cut may be one.
fn detect_rows(head: &[u8]) -> Detected {
    let start = head.trim_ascii_start();
    let Some(row) = skim(start.strip_prefix(b"[").unwrap_or(start)) else {
        return Detected::Known(None);
    };
    match row_of(|key| row.has(key)) {
        None if is_open(&row) => Detected::Open,
        None if start.starts_with(b"[") && is_open_event(&row) => Detected::Open,
        agent => Detected::Known(agent.map(|agent| Shape { agent, holds: Holds::Items })),
    }
}

/// By the first object; one that is longer than the head is known by the keys it shows.
fn detect_lines(head: &[u8]) -> Detected {
    let mut tape = Tape::new();
    let mut at = 0;
    for line in split(head).take(8) {
        at += line.width();
        if scan(line.content, 0, 256, &mut tape).is_ok() {
            let Some(value) = tape.root(line.content) else { continue };
            if value.kind() == Kind::Object {
                let shape = shape_of(|key| value.get(key).is_some(), |key| value.get_text(key));
                return Detected::Known(shape);
            }
        } else if line.content.len() > HEAD_LINE
            && let Some(row) = skim(line.content)
        {
            let shape = shape_of(|key| row.has(key), |key| row.text(key));
            let goes_on = row.cut && at == head.len() && shape.is_none();
            return if goes_on && (is_open(&row) || is_open_record(&row)) {
                Detected::Open
            } else {
                Detected::Known(shape)
            };
        }
    }
    Detected::Known(None)
}

/// What Cline's extension calls the conversation of every task.
pub const CLINE_TASK: &str = "api_conversation_history.json";

const HEAD_LINE: usize = 32 << 10;

/// Whose row of a benchmark an object with these keys is.
fn row_of(has: impl Fn(&str) -> bool) -> Option<Agent> {
    if has("history") && (has("instance_id") || has("git_patch")) {
        return Some(Agent::OpenHands);
    }
    (has("messages") && (has("instance_id") || has("traj_id"))).then_some(Agent::SweSmith)
}

/// Whether an object that is cut could be a row of a benchmark.
fn is_open(row: &Skimmed<'_>) -> bool {
    const KEYS: [&str; 6] = ["messages", "history", "instance_id", "traj_id", "git_patch", "patch"];
    row.cut && !row.has("type") && KEYS.iter().any(|key| row.has(key))
}

/// Whether an event that is cut could be one of OpenHands' first generation.
fn is_open_event(row: &Skimmed<'_>) -> bool {
    row.cut && (row.has("action") || row.has("observation")) && !row.has("source")
}

/// Whether a record that is cut could be one of Codex or of OpenHands.
fn is_open_record(row: &Skimmed<'_>) -> bool {
    let event = row.has("id") && row.has("source") && !row.has("type");
    event || row.has("payload") && !row.has("type")
}

/// Types of Codex's records.
const CODEX: [&str; 5] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

fn shape_of<'a>(
    has: impl Fn(&str) -> bool,
    text: impl Fn(&str) -> Option<Cow<'a, str>>,
) -> Option<Shape> {
    let kind = text("type");
    let kind = kind.as_deref();
    if let Some(agent) = row_of(&has) {
        return Some(Shape { agent, holds: Holds::Lines });
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
pub fn parts(shape: &Shape, path: &Path) -> Vec<Part> {
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
    if let [only] = parts.as_mut_slice() {
        name_only(only, path, &name());
    }
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

/// A session that was taken out of a file with others, and stands in one that is named after it, is
/// called what it was called there: by its number, where its id alone does not tell it apart.
fn name_only(part: &mut Part, path: &Path, name: &str) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbered = |text: &str| text.strip_prefix('-').is_some_and(is_number);
    let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = file.strip_suffix(HISTORY).filter(|stem| !stem.is_empty()).unwrap_or(name);
    if part.id.is_empty() {
        let (_, number) = stem.rsplit_once('-').unwrap_or_default();
        if is_number(number) {
            part.id = stem.to_owned();
        }
    } else if let Some(rest) = stem.strip_prefix(&part.id.replace(':', "-"))
        && numbered(rest)
    {
        part.id.push_str(rest);
    }
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
    let part = |item: Value<'_>| {
        let span = item.span();
        let range = Some(span.start as u64..span.end as u64);
        Part { id: row_id(&item).unwrap_or_default(), range }
    };
    match list.kind() {
        Kind::Object => vec![part(list)],
        _ => list.items().map(part).collect(),
    }
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
    let head = bytes.part(..first as usize);
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
        Agent::Cline if name == CLINE_TASK => folder,
        // A copy of one session is named after it.
        Agent::Aider => match (name.strip_suffix(HISTORY), folder.as_str()) {
            (Some(copy), _) if !copy.is_empty() => before_date(copy).to_owned(),
            (_, "") => "aider".to_owned(),
            (_, folder) => format!("aider-{folder}"),
        },
        _ => {
            let name = name.strip_suffix(".zst").unwrap_or(&name);
            let ends = [".messages.json", ".traj.json", ".traj", ".json", ".jsonl"];
            let end = ends.iter().find(|end| name.ends_with(*end));
            end.and_then(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
        }
    }
}

/// `aider-project` of `aider-project-2026-01-31T09-30-00`, of that with a number behind it, and of
/// `aider-project-start`.
fn before_date(name: &str) -> &str {
    const DATE: &[u8] = b"-0000-00-00T00-00-00";
    let dated = |name: &'_ str| -> Option<usize> {
        let start = name.len().checked_sub(DATE.len())?;
        let alike = |(letter, form): (&u8, &u8)| match form {
            b'0' => letter.is_ascii_digit(),
            form => letter == form,
        };
        name.as_bytes().get(start..)?.iter().zip(DATE).all(alike).then_some(start)
    };
    let numbered = || {
        let (head, number) = name.rsplit_once('-')?;
        dated(head).filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let start = || name.strip_suffix("-start").map(str::len);
    dated(name).or_else(numbered).or_else(start).and_then(|end| name.get(..end)).unwrap_or(name)
}
