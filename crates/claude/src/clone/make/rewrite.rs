//! One record of the source to one of the clone: ids, and what the edits say, by splices.
//!
//! Outside of message and tool result every string that is the uuid of a record in the clone is
//! taken for a reference, whatever its field is called: newer clients add fields that name records.

use super::content;
use super::content::{Pictures, quoted};
use super::edits::{Action, RowEdit};
use super::estimate::record_tokens;
use super::plan::Plan;
use super::usage;
use crate::clone::{Droppable, Options};
use crate::names::Name;
use crate::rows::{RowIndex, Rows};
use backstory_format::Limits;
use backstory_format::claude::{BlockKind, RecordKind};
use backstory_format::is_uuid;
use backstory_format::json::{
    Kind, Splice, Tape, Value, insert_field, scan, splice, without_fields, without_items,
};

/// Fields that tie a record to the source's process; the official fork leaves them out too.
const LEFT_OUT: [&str; 3] = ["teamName", "agentName", "slug"];

/// Depth to which records are read; the reader has seen them already.
const DEPTH: u32 = 1 << 20;

/// Rewrites records.
#[derive(Debug)]
pub(super) struct Rewriter<'a> {
    pub(super) rows: &'a Rows,
    pub(super) plan: &'a Plan,
    pub(super) options: &'a Options,
    pub(super) source: &'a str,
    pub(super) now: String,
    /// The folder that the source worked in and the one that takes its place.
    pub(super) moved: Option<(String, String)>,
    pub(super) limits: Limits,
    /// Estimated tokens of the conversation as far as it is written.
    pub(super) sent: u64,
    pub(super) tape: Tape,
}

/// A record cannot be read any more as it was planned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed;

impl Rewriter<'_> {
    /// A record of the conversation.
    pub(super) fn row(
        &mut self,
        bytes: &[u8],
        row: RowIndex,
        parent: Option<RowIndex>,
    ) -> Result<Vec<u8>, Changed> {
        let mut tape = std::mem::take(&mut self.tape);
        let splices = self.row_splices(bytes, row, parent, &mut tape);
        self.tape = tape;
        let made = splice(bytes, &splices?).map_err(|_| Changed)?;
        self.fit_usage(made, row)
    }

    /// Brings token counts into line with what the clone sends.
    fn fit_usage(&mut self, made: Vec<u8>, row: RowIndex) -> Result<Vec<u8>, Changed> {
        let Some(context) = self.plan.contexts.of(row) else { return Ok(made) };
        let edited = self.plan.edits.of(row).is_some() || self.pictures() == Pictures::Remove;
        let own = if edited { record_tokens(&made, self.limits) } else { context.own };
        self.sent = if context.begins { own } else { self.sent + own };
        let answer = self.rows.row(row).is_some_and(|row| row.kind == RecordKind::Assistant);
        if !answer || context.fits(self.sent) {
            return Ok(made);
        }
        scan(&made, 0, DEPTH, &mut self.tape).map_err(|_| Changed)?;
        let message = self.tape.root(&made).and_then(|record| record.get("message"));
        match message.and_then(|message| usage::fit(message, context, self.sent)) {
            Some(fitted) => splice(&made, &[fitted]).map_err(|_| Changed),
            None => Ok(made),
        }
    }

    /// A record next to the conversation.
    pub(super) fn other(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Changed> {
        let mut tape = std::mem::take(&mut self.tape);
        let splices = self.other_splices(bytes, &mut tape);
        self.tape = tape;
        splice(bytes, &splices?).map_err(|_| Changed)
    }

    fn row_splices(
        &self,
        bytes: &[u8],
        row: RowIndex,
        parent: Option<RowIndex>,
        tape: &mut Tape,
    ) -> Result<Vec<Splice>, Changed> {
        scan(bytes, 0, DEPTH, tape).map_err(|_| Changed)?;
        let record = tape.root(bytes).ok_or(Changed)?;
        let edit = self.plan.edits.of(row);
        let naming = &self.plan.naming;
        let uuid = naming.row(row).ok_or(Changed)?;
        let parent = parent.and_then(|parent| naming.row(parent));
        let parent = parent.map_or_else(|| b"null".to_vec(), quoted);
        let old = self.rows.row(row).map_or(Name::NONE, |row| row.uuid);
        let origin = self.origin(old);
        let tool_result = self.tool_result(row, edit);
        let pictures = self.pictures();
        let mut out = without_fields(record, |key, value| {
            LEFT_OUT.iter().any(|name| key.is(name))
                || key.is("sourceToolAssistantUUID") && self.reference(*value).is_none()
                || key.is("toolUseResult") && tool_result == ToolResult::Remove
        });
        let (mut has_parent, mut has_session, mut has_origin) = (false, false, false);
        for (key, value) in record.fields() {
            let name = key.name();
            let with = match name.as_ref() {
                b"uuid" => quoted(uuid),
                b"parentUuid" => {
                    has_parent = true;
                    parent.clone()
                }
                b"sessionId" => {
                    has_session = true;
                    quoted(&naming.session)
                }
                b"session_id" => quoted(&naming.session),
                b"forkedFrom" => {
                    has_origin = true;
                    origin.clone()
                }
                b"logicalParentUuid" => self.reference(value).map_or(b"null".to_vec(), quoted),
                b"timestamp" if edit.is_some_and(|edit| edit.timed_anew) => quoted(&self.now),
                b"cwd" => match self.moved_folder(value) {
                    Some(folder) => folder,
                    None => continue,
                },
                b"message" => {
                    out.extend(content::message(value, edit, pictures));
                    continue;
                }
                b"toolUseResult" => {
                    if let ToolResult::Truncate(limit) = tool_result {
                        content::leaves(value, limit, &mut out);
                    }
                    continue;
                }
                b"compactMetadata" => {
                    // What it kept is after its summary now.
                    out.extend(without_fields(value, |key, _| {
                        key.is("preservedSegment") || key.is("preservedMessages")
                    }));
                    continue;
                }
                name if LEFT_OUT.iter().any(|gone| gone.as_bytes() == name) => continue,
                b"sourceToolAssistantUUID" => match self.reference(value) {
                    Some(uuid) => quoted(uuid),
                    None => continue,
                },
                _ => {
                    self.references(&name, value, &mut out);
                    continue;
                }
            };
            out.push(Splice { range: value.span(), with });
        }
        let timed = edit.is_some_and(|edit| edit.timed_anew) && record.get("timestamp").is_none();
        let added = [
            (!has_parent, "parentUuid", parent),
            (!has_session, "sessionId", quoted(&naming.session)),
            (timed, "timestamp", quoted(&self.now)),
            (!has_origin, "forkedFrom", origin),
        ];
        for (_, name, value) in added.iter().filter(|(missing, ..)| *missing) {
            out.extend(insert_field(record, name, value, false));
        }
        Ok(out)
    }

    fn other_splices(&self, bytes: &[u8], tape: &mut Tape) -> Result<Vec<Splice>, Changed> {
        scan(bytes, 0, DEPTH, tape).map_err(|_| Changed)?;
        let record = tape.root(bytes).ok_or(Changed)?;
        let mut out = Vec::new();
        for (key, value) in record.fields() {
            let name = key.name();
            match name.as_ref() {
                b"sessionId" | b"session_id" if value.kind() == Kind::String => {
                    let with = quoted(&self.plan.naming.session);
                    out.push(Splice { range: value.span(), with });
                }
                b"replacements" => out.extend(without_items(value, |_, item| {
                    let call = item.get("toolUseId").and_then(|call| call.text());
                    let known = call.and_then(|call| self.rows.names.get(call.as_bytes()));
                    known.is_some_and(|call| !self.plan.calls.contains(&call))
                })),
                _ => self.references(&name, value, &mut out),
            }
        }
        Ok(out)
    }

    fn pictures(&self) -> Pictures {
        if self.options.drop.contains(&Droppable::Images) {
            Pictures::Remove
        } else {
            Pictures::Keep
        }
    }

    fn origin(&self, uuid: Name) -> Vec<u8> {
        let uuid = uuid.some().map_or(&[][..], |uuid| self.rows.names.bytes(uuid));
        let (session, uuid) = (quoted(self.source), quoted(&String::from_utf8_lossy(uuid)));
        [&b"{\"sessionId\":"[..], &session, b",\"messageUuid\":", &uuid, b"}"].concat()
    }

    /// The new uuid of the record that a string names.
    fn reference(&self, value: Value<'_>) -> Option<&str> {
        let raw = value.raw_text()?;
        let name = self.rows.names.get(raw)?;
        let instead = self.plan.instead.get(&name).and_then(|row| self.plan.naming.row(*row));
        self.plan.naming.uuid(self.rows, name).or(instead)
    }

    /// References anywhere in a value: by the name of the field, or by their look.
    fn references(&self, name: &[u8], value: Value<'_>, out: &mut Vec<Splice>) {
        let mut open = vec![(names_record(name), value)];
        while let Some((named, value)) = open.pop() {
            match value.kind() {
                Kind::Object => {
                    let fields = value.fields();
                    open.extend(fields.map(|(key, field)| (names_record(&key.name()), field)));
                }
                Kind::Array => open.extend(value.items().map(|item| (named, item))),
                Kind::String if named || has_uuids_form(value) => {
                    if let Some(uuid) = self.reference(value) {
                        out.push(Splice { range: value.span(), with: quoted(uuid) });
                    }
                }
                _ => {}
            }
        }
    }

    fn moved_folder(&self, value: Value<'_>) -> Option<Vec<u8>> {
        let (from, to) = self.moved.as_ref()?;
        let folder = value.text()?;
        let rest = folder.strip_prefix(from.as_str())?;
        let inside = rest.is_empty() || rest.starts_with(['/', '\\']);
        inside.then(|| quoted(&format!("{to}{rest}")))
    }

    /// What the structured result follows: the results in the same record.
    fn tool_result(&self, row: RowIndex, edit: Option<&RowEdit>) -> ToolResult {
        let Some(row) = self.rows.row(row) else { return ToolResult::Keep };
        let blocks = self.rows.blocks_of(row);
        let results =
            blocks.iter().enumerate().filter(|(_, one)| one.kind == BlockKind::ToolResult);
        let action = |at: usize| edit.and_then(|edit| edit.blocks.get(at)).unwrap_or(&Action::Keep);
        let pictures = self.pictures() == Pictures::Remove;
        let (mut all, mut gone, mut cut, mut picture) = (0, 0, None, false);
        for (at, block) in results {
            all += 1;
            picture |= self.rows.nested(block).iter().any(|one| one.kind == BlockKind::Image);
            match action(at) {
                Action::Remove => gone += 1,
                Action::Truncate(bytes) => cut = Some(*bytes),
                _ => {}
            }
        }
        match cut {
            _ if all > 0 && gone == all => ToolResult::Remove,
            // Half a picture is none.
            Some(_) if picture => ToolResult::Remove,
            Some(bytes) => ToolResult::Truncate(bytes),
            None if picture && pictures => ToolResult::Remove,
            None => ToolResult::Keep,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolResult {
    Keep,
    Remove,
    Truncate(usize),
}

fn names_record(field: &[u8]) -> bool {
    [&b"Uuid"[..], b"UUID", b"uuids", b"Uuids", b"messageId", b"MessageId"]
        .iter()
        .any(|end| field.ends_with(end))
}

fn has_uuids_form(value: Value<'_>) -> bool {
    let text = value.raw_text().and_then(|raw| std::str::from_utf8(raw).ok());
    text.is_some_and(is_uuid)
}
