//! The pass over the bytes: rows as always, and the shapes that only a check looks at.

use crate::hash::hash;
use crate::names::Name;
use crate::rows::{RowIndex, Rows};
use backstory_format::claude::{BlockKind, Message, RecordKind, blocks, is_transcript};
use backstory_format::json::{Kind, Value};
use backstory_format::slice::Part;
use backstory_format::{Problem, Record, Visitor};
use backstory_model::Span;

/// Something about the content of a row that a resume may stumble over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `message` is missing, or its content is neither text nor a list.
    Unreadable,
    /// String content of whitespace only.
    EmptyPrompt,
    /// A list without items, or a text block of whitespace only.
    EmptyText,
    /// A call without name, or whose input is not an object.
    Call,
    LongToolName,
    Result,
    /// Thinking whose signature is not as the API made it.
    Thinking,
    /// Thinking without signature, text or data: not even of the form that the API takes.
    ThinkingParts,
}

/// A shape and the row that has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Oddity {
    pub(crate) row: RowIndex,
    pub(crate) shape: Shape,
    /// Index of the block in the message; none for the whole message.
    pub(crate) block: Option<u32>,
}

/// A metadata record that names a record of the conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference {
    pub(crate) place: Span,
    pub(crate) line: u64,
    pub(crate) target: Name,
    /// Hash of what the record holds, to distinguish copies from contradictions.
    pub(crate) hash: u64,
}

/// A record whose uuid an earlier one has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copied {
    pub(crate) reference: Reference,
    /// It says something else than the earlier one.
    pub(crate) differs: bool,
}

/// Everything a check needs from one pass over a file.
#[derive(Debug, Default)]
pub(crate) struct Inspector {
    pub(crate) rows: Rows,
    /// In file order.
    pub(crate) oddities: Vec<Oddity>,
    /// Rows whose usage counts thinking tokens.
    pub(crate) thought: Vec<RowIndex>,
    /// Rows whose time the client cannot read.
    timeless: Vec<RowIndex>,
    /// Hash of each row's record.
    hashes: Vec<u64>,
    /// Records whose uuid an earlier one has.
    pub(crate) copies: Vec<Copied>,
    pub(crate) summaries: Vec<Reference>,
    pub(crate) last_prompt: Option<Reference>,
    pub(crate) snapshots: Vec<Reference>,
    /// User and assistant records without a uuid.
    pub(crate) nameless: u64,
}

/// The longest tool name the API takes.
const LONGEST_TOOL_NAME: usize = 200;

impl Visitor for Inspector {
    fn record(&mut self, record: &Record<'_>) {
        let before = self.rows.rows.len();
        self.rows.record(record);
        let added = self.rows.rows.len() > before;
        match record.kind() {
            kind if is_transcript(kind) && record.value().get_text("uuid").is_some() => {
                self.note_identity(record, before, added);
                if added {
                    self.look_at_row(record, before as RowIndex);
                }
            }
            RecordKind::User | RecordKind::Assistant => self.nameless += 1,
            RecordKind::Summary => {
                let reference = self.reference(record, "leafUuid");
                self.summaries.extend(reference);
            }
            RecordKind::LastPrompt => self.last_prompt = self.reference(record, "leafUuid"),
            RecordKind::FileHistorySnapshot => self.snapshot(record),
            _ => {}
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.rows.problem(problem);
    }
}

impl Inspector {
    /// Notes what the record is, and whether another one had its uuid.
    fn note_identity(&mut self, record: &Record<'_>, before: usize, added: bool) {
        let hash = identity(record);
        if added {
            self.hashes.push(hash);
        }
        let uuid = self.rows.name(record.value().get("uuid"));
        let first = self.rows.find(uuid).map_or(before, |first| first as usize);
        let differs = self.hashes.get(first).is_some_and(|known| *known != hash);
        let repeated = !added || first != before;
        if repeated {
            let place = Span { offset: record.offset, length: record.length() };
            let reference = Reference { place, line: record.line, target: uuid, hash };
            self.copies.push(Copied { reference, differs });
        }
    }

    fn look_at_row(&mut self, record: &Record<'_>, row: RowIndex) {
        let value = record.value();
        let time = value.get("timestamp").and_then(|time| time.raw_text());
        if !time.is_some_and(is_client_time) {
            self.timeless.push(row);
        }
        match record.kind() {
            RecordKind::User | RecordKind::Assistant => self.message(record, row),
            _ => {}
        }
    }

    fn message(&mut self, record: &Record<'_>, row: RowIndex) {
        let message = record.value().get("message").filter(|value| value.kind() == Kind::Object);
        let (message, _) = message.map(Message::read).unwrap_or_default();
        let Some(content) = message.content else {
            return self.odd(row, Shape::Unreadable, None);
        };
        let user = record.kind() == RecordKind::User;
        let thought = message
            .usage
            .and_then(|usage| usage.get("output_tokens_details"))
            .and_then(|details| details.get("thinking_tokens"))
            .and_then(|count| count.unsigned());
        if thought.is_some_and(|count| count > 0) {
            self.thought.push(row);
        }
        if content.kind() == Kind::String {
            if is_blank(content) {
                self.odd(row, if user { Shape::EmptyPrompt } else { Shape::EmptyText }, None);
            }
            return;
        }
        let mut count = 0;
        for (at, block) in blocks(Some(content)).enumerate() {
            count += 1;
            let at = Some(at as u32);
            match block.kind {
                // Models write whitespace before their thinking; every client takes it out.
                BlockKind::Text
                    if block.text().is_some_and(if user { is_blank } else { is_empty }) =>
                {
                    self.odd(row, Shape::EmptyText, at);
                }
                BlockKind::ToolUse => self.call(row, block.value, at),
                BlockKind::ToolResult if user => {
                    let content = block.value.get("content");
                    let fits = content.is_none_or(|content| {
                        matches!(content.kind(), Kind::String | Kind::Array) || content.is_null()
                    });
                    if !fits {
                        self.odd(row, Shape::Result, at);
                    }
                }
                BlockKind::Thinking => {
                    let has = |name| block.string(name).is_some();
                    if !has("thinking") || !has("signature") {
                        self.odd(row, Shape::ThinkingParts, at);
                    } else if !is_signed(block.value) {
                        self.odd(row, Shape::Thinking, at);
                    }
                }
                BlockKind::RedactedThinking if block.string("data").is_none() => {
                    self.odd(row, Shape::ThinkingParts, at);
                }
                _ => {}
            }
        }
        if count == 0 {
            self.odd(row, Shape::EmptyText, None);
        }
    }

    fn call(&mut self, row: RowIndex, value: Value<'_>, at: Option<u32>) {
        let name = value.get("name").and_then(|name| name.text());
        let input = value.get("input").is_some_and(|input| input.kind() == Kind::Object);
        if name.as_ref().is_none_or(|name| name.is_empty()) || !input {
            self.odd(row, Shape::Call, at);
        }
        if name.is_some_and(|name| name.chars().count() > LONGEST_TOOL_NAME) {
            self.odd(row, Shape::LongToolName, at);
        }
    }

    fn odd(&mut self, row: RowIndex, shape: Shape, block: Option<u32>) {
        self.oddities.push(Oddity { row, shape, block });
    }

    fn reference(&mut self, record: &Record<'_>, field: &str) -> Option<Reference> {
        let target = self.rows.name(record.value().get(field)).some()?;
        let place = Span { offset: record.offset, length: record.length() };
        Some(Reference { place, line: record.line, target, hash: 0 })
    }

    /// Only what was taken for the prompt itself; updates name other messages on purpose.
    fn snapshot(&mut self, record: &Record<'_>) {
        let update = record.value().get("isSnapshotUpdate").and_then(|flag| flag.boolean());
        if update == Some(true) {
            return;
        }
        let files = record.value().get("snapshot").and_then(|held| held.get("trackedFileBackups"));
        let hash = files.map_or(0, |files| hash(files.raw()));
        if let Some(reference) = self.reference(record, "messageId") {
            self.snapshots.push(Reference { hash, ..reference });
        }
    }

    /// Oddities of one row.
    pub(crate) fn oddities_of(&self, row: RowIndex) -> impl Iterator<Item = &Oddity> {
        let start = self.oddities.partition_point(|oddity| oddity.row < row);
        let rest = self.oddities.part(start..);
        rest.iter().take_while(move |oddity| oddity.row == row)
    }

    /// Whether the client knows when a row was written.
    pub(crate) fn has_time(&self, row: RowIndex) -> bool {
        self.timeless.binary_search(&row).is_err()
    }

    /// Whether a row's usage counts thinking tokens.
    pub(crate) fn has_thought(&self, row: RowIndex) -> bool {
        self.thought.binary_search(&row).is_ok()
    }
}

/// A hash of what the conversation takes from a record. A client that writes its history again may
/// change the rest: version, folder, branch, usage.
fn identity(record: &Record<'_>) -> u64 {
    let value = record.value();
    let part = |value: Option<Value<'_>>| value.map_or(0, |value| hash(value.raw()));
    let content = value.get("message").and_then(|message| message.get("content"));
    let parts = [part(value.get("type")), part(value.get("parentUuid")), part(content)];
    parts.iter().fold(0, |all, part| all.rotate_left(21) ^ part)
}

/// Whether JavaScript reads a time: it takes the 30th of February for the 2nd of March, but knows
/// no leap seconds.
fn is_client_time(time: &[u8]) -> bool {
    let number = |from: usize| {
        let digits = time.get(from..from + 2)?;
        digits.iter().all(u8::is_ascii_digit).then_some(())?;
        std::str::from_utf8(digits).ok()?.parse::<u8>().ok()
    };
    let within = |from: usize, least: u8, most: u8| {
        number(from).is_some_and(|number| (least..=most).contains(&number))
    };
    let is_date =
        number(0).is_some() && number(2).is_some() && within(5, 1, 12) && within(8, 1, 31);
    let is_clock = within(11, 0, 23) && within(14, 0, 59) && within(17, 0, 59);
    let zone = time.get(19..).unwrap_or_default();
    let zone = match zone.iter().position(|byte| matches!(byte, b'Z' | b'+' | b'-')) {
        Some(at) => zone.part(at..),
        None => zone,
    };
    let offset = time.len() - zone.len() + 1;
    let is_zone = zone.is_empty()
        || zone == b"Z"
        || zone.len() == 6 && within(offset, 0, 23) && within(offset + 3, 0, 59);
    is_date && is_clock && is_zone
}

/// Whether text is nothing but whitespace, written plainly or as escapes.
fn is_blank(text: Value<'_>) -> bool {
    let Some(raw) = text.raw_text() else { return false };
    // Anything long has a character in it; escapes of whitespace are six bytes at most.
    raw.len() <= 4096 && text.text().is_some_and(|text| text.trim().is_empty())
}

fn is_empty(text: Value<'_>) -> bool {
    text.raw_text().is_some_and(<[u8]>::is_empty)
}

/// Whether a thinking block has a signature in base64.
fn is_signed(block: Value<'_>) -> bool {
    let signature = block.get("signature").and_then(|text| text.text());
    signature.is_some_and(|signature| {
        let digit =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        let digits = signature.trim_end_matches('=');
        !digits.is_empty() && digits.bytes().all(digit)
    })
}
