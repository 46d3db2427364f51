//! Records to rows: the one pass over a file's bytes.

use crate::names::Name;
use crate::parts::{span, text_span};
use crate::prompts;
use crate::rows::{
    AgentProgress, AttachmentPart, Checkpoint, Detail, Notice, Operation, Preserved,
    QueueOperation, Queued, Row, Rows, ShapePart, TitleRecord,
};
use crate::time;
use backstory_format::claude::{Envelope, RecordKind, is_transcript};
use backstory_format::json::{Kind, Value};
use backstory_format::{Problem, ProblemId, Record, Visitor};
use backstory_model::Span;
use std::borrow::Cow;

impl Visitor for Rows {
    fn record(&mut self, record: &Record<'_>) {
        self.count(record);
        let envelope = Envelope::read(record, |problem| self.problems.push(problem));
        let timestamp = self.timestamp(record, &envelope);
        let context = self.context(record, &envelope);
        if is_transcript(record.kind()) && envelope.uuid.is_some() {
            self.transcript(record, &envelope, timestamp, context);
        } else {
            self.metadata(record, timestamp);
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// What a record says about where it was written.
struct Context {
    session: Name,
    version: Name,
}

impl Rows {
    fn count(&mut self, record: &Record<'_>) {
        let kind = record.kind();
        if kind == RecordKind::Other {
            let name = record.type_name().unwrap_or_default();
            *self.other_types.entry(name.into()).or_default() += 1;
        }
        let at = kind as usize;
        if self.kind_counts.len() <= at {
            self.kind_counts.resize(at + 1, 0);
        }
        if let Some(count) = self.kind_counts.get_mut(at) {
            *count += 1;
        }
    }

    fn timestamp(
        &mut self,
        record: &Record<'_>,
        envelope: &Envelope<'_>,
    ) -> Option<jiff::Timestamp> {
        let value = envelope.timestamp?;
        let time = value.raw_text().and_then(time::parse);
        match time {
            Some(time) => {
                self.started.get_or_insert(time);
                self.ended = Some(time);
            }
            None => self.problems.push(Problem {
                id: ProblemId::BadTimestamp,
                line: record.line,
                offset: record.offset_of(&value),
                length: value.raw().len() as u64,
                detail: Cow::Borrowed(""),
            }),
        }
        time
    }

    /// Notes the surroundings a record names.
    fn context(&mut self, record: &Record<'_>, envelope: &Envelope<'_>) -> Context {
        let mut version = Name::NONE;
        if is_transcript(record.kind()) {
            version = self.last_or_add(envelope.version, |rows| rows.versions.names().last());
            self.versions.add(version);
            let cwd = self.last_or_add(envelope.cwd, |rows| rows.cwds.names().last());
            self.cwds.add(cwd);
            let entrypoint =
                self.last_or_add(envelope.entrypoint, |rows| rows.entrypoints.names().last());
            self.entrypoints.add(entrypoint);
            let branch = self.last_or_add(envelope.git_branch, |rows| rows.last_branch.as_ref());
            if branch.is_some() && !self.names.bytes(branch).is_empty() {
                self.git_branches.add(branch);
                self.last_branch = Some(branch);
            }
            let agent = self.last_or_add(envelope.agent, |rows| rows.agents.names().last());
            self.agents.add(agent);
        }
        let session = self.last_or_add(envelope.session, |rows| rows.sessions.names().last());
        self.sessions.add(session);
        Context { session, version }
    }

    /// Most records repeat the value before them; comparing is cheaper than looking it up.
    fn last_or_add(
        &mut self,
        value: Option<Value<'_>>,
        last: impl Fn(&Rows) -> Option<&Name>,
    ) -> Name {
        let Some(raw) = value.and_then(|value| value.raw_text()) else { return Name::NONE };
        if let Some(last) = last(self).copied()
            && self.names.bytes(last) == raw
        {
            return last;
        }
        self.name(value)
    }

    pub(super) fn name(&mut self, value: Option<Value<'_>>) -> Name {
        match value.and_then(|value| value.text()) {
            Some(text) => self.names.add(text.as_bytes()),
            None => Name::NONE,
        }
    }

    fn transcript(
        &mut self,
        record: &Record<'_>,
        envelope: &Envelope<'_>,
        timestamp: Option<jiff::Timestamp>,
        context: Context,
    ) {
        let uuid = self.name(envelope.uuid);
        let mut repeated = false;
        if !envelope.flags.sidechain && record.kind() != RecordKind::Progress {
            self.checkpoint.explicit = false;
        }
        let position = record.line.min(u64::from(u32::MAX)) as u32;
        if let Some(first) = self.find(uuid) {
            let at = (record.offset, u64::from(record.length()));
            self.fault(ProblemId::DuplicateUuid, record.line, at);
            repeated = true;
            let same_length = self.row(first).is_some_and(|row| row.length == record.length());
            if let Some(row) = self.rows.get_mut(first as usize) {
                row.position = position;
            }
            if same_length {
                return;
            }
        }
        let detail = match record.kind() {
            RecordKind::User | RecordKind::Assistant => self.message_part(record, envelope),
            RecordKind::System => self.notice_part(record, envelope),
            RecordKind::Attachment => self.attachment_part(record, envelope),
            _ => self.progress_part(record, envelope),
        };
        let mut flags = envelope.flags;
        // Copies that 1.0 makes on resume lose the mark of an API error, but not its words.
        flags.api_error |= self.is_api_error(detail, envelope);
        let row = Row {
            offset: record.offset,
            length: record.length(),
            line: position,
            position,
            kind: record.kind(),
            flags,
            repeated,
            unreadable: is_unreadable(record.kind(), envelope.message),
            uuid,
            parent: self.name(envelope.parent),
            logical_parent: self.name(envelope.logical_parent),
            session: context.session,
            agent: self.last_or_add(envelope.agent, |rows| rows.agents.names().last()),
            team: self.name(envelope.team),
            version: context.version,
            timestamp,
            detail,
        };
        let index = self.rows.len() as u32;
        self.rows.push(row);
        if !repeated {
            self.remember(uuid, index);
        }
        if self.forked_from.is_none()
            && let Some(fork) = envelope.forked_from
        {
            let session = self.name(fork.get("sessionId"));
            let message = self.name(fork.get("messageUuid"));
            self.forked_from = session.some().map(|session| (session, message));
        }
    }

    fn notice_part(&mut self, record: &Record<'_>, envelope: &Envelope<'_>) -> Detail {
        let value = record.value();
        let number = |parent: Value<'_>, name| parent.get(name).and_then(|value| value.unsigned());
        let compaction = value.get("compactMetadata").or_else(|| value.get("microcompactMetadata"));
        if envelope.subtype.is_some_and(|subtype| subtype.is_text("compact_boundary")) {
            self.checkpoint = Checkpoint { named: self.checkpoint.named, ..Checkpoint::default() };
            self.preserved_part(value.get("compactMetadata"));
        }
        let notice = Notice {
            subtype: self.name(envelope.subtype),
            text: value.get("content").and_then(|text| text_span(record, &text)),
            duration_ms: number(value, "durationMs"),
            trigger: self.name(compaction.and_then(|data| data.get("trigger"))),
            pre_tokens: compaction.and_then(|data| number(data, "preTokens")),
            post_tokens: compaction.and_then(|data| number(data, "postTokens")),
        };
        self.notices.push(notice);
        Detail::Notice(self.notices.len() as u32 - 1)
    }

    /// What the compaction kept of the conversation before it; its row comes next.
    fn preserved_part(&mut self, data: Option<Value<'_>>) {
        let Some(data) = data else { return };
        let (messages, segment) = (data.get("preservedMessages"), data.get("preservedSegment"));
        let anchor = messages.or(segment).and_then(|kept| kept.get("anchorUuid"));
        let Some(anchor) = self.name(anchor).some() else { return };
        let records = messages.map(|kept| {
            let list = kept.get("uuids").map_or_else(Vec::new, |list| list.items().collect());
            list.into_iter().map(|one| self.name(Some(one))).collect()
        });
        let boundary = self.rows.len() as u32;
        let head = self.name(segment.and_then(|kept| kept.get("headUuid")));
        let tail = self.name(segment.and_then(|kept| kept.get("tailUuid")));
        self.preserved.push(Preserved { boundary, anchor, records, head, tail });
    }

    /// Where the client says that the conversation is.
    fn note_checkpoint(&mut self, record: &Record<'_>) {
        let value = record.value();
        let Some(leaf) = value.get("leafUuid") else { return };
        let is_true = |name: &str| value.get(name).is_some_and(|value| value.kind() == Kind::True);
        let (explicit, rewound) = (is_true("explicit"), is_true("rewound"));
        let leaf = self.name(Some(leaf)).some();
        let known = self.checkpoint;
        self.checkpoint = match leaf {
            Some(leaf) => {
                let same = known.leaf == leaf;
                Checkpoint {
                    leaf,
                    explicit: explicit || known.explicit && same,
                    chosen: explicit || known.chosen && same,
                    rewound: if rewound {
                        Some(self.rows.len() as u32)
                    } else {
                        known.rewound.filter(|_| same)
                    },
                    named: true,
                }
            }
            None if explicit => Checkpoint { named: true, ..Checkpoint::default() },
            None => Checkpoint { named: true, ..known },
        };
    }

    fn attachment_part(&mut self, record: &Record<'_>, envelope: &Envelope<'_>) -> Detail {
        let Some(attachment) = envelope.attachment else { return Detail::None };
        self.surroundings(record, attachment);
        let queued = attachment
            .get("type")
            .filter(|name| name.is_text("queued_command"))
            .and_then(|_| attachment.get("prompt"))
            .map(|prompt| self.queued(record, prompt, attachment.get("commandMode")));
        let call = self.name(attachment.get("toolUseID"));
        let briefing = attachment.get("type").is_some_and(|name| name.is_text("fork_briefing"));
        self.attachments.push(AttachmentPart { queued, call, briefing });
        Detail::Attachment(self.attachments.len() as u32 - 1)
    }

    /// What newest clients note of the system prompt, the tools and the machine.
    fn surroundings(&mut self, record: &Record<'_>, attachment: Value<'_>) {
        match attachment.get("type").and_then(|name| name.raw_text()) {
            Some(b"prompt_snapshot") => self.shape(record, attachment, Name::NONE, "systemPrompt"),
            Some(b"environment") if self.environment.is_none() => {
                self.environment = attachment.get("snapshot").map(|value| span(record, &value));
            }
            _ => {}
        }
    }

    fn shape(&mut self, record: &Record<'_>, value: Value<'_>, hash: Name, system: &str) {
        let list = |name: &str| {
            let value = value.get(name).filter(|value| value.kind() == Kind::Array)?;
            Some(span(record, &value))
        };
        let (system, tools) = (list(system), list("tools"));
        let line = record.line.min(u64::from(u32::MAX)) as u32;
        self.shapes.push(ShapePart { hash, line, system, tools });
    }

    fn progress_part(&mut self, record: &Record<'_>, envelope: &Envelope<'_>) -> Detail {
        let Some(agent) = envelope.data.and_then(|data| data.get("agentId")) else {
            return Detail::None;
        };
        let (agent, call) =
            (self.name(Some(agent)), self.name(record.value().get("parentToolUseID")));
        if agent.is_some() && call.is_some() {
            self.progress.push(AgentProgress { agent, call });
        }
        Detail::None
    }

    fn queued(
        &mut self,
        record: &Record<'_>,
        content: Value<'_>,
        mode: Option<Value<'_>>,
    ) -> Queued {
        let text = match content.kind() {
            Kind::String => Some(content),
            _ => content.items().find_map(|item| item.get("text")),
        };
        let typed = mode.is_none_or(|mode| mode.is_text("prompt"));
        Queued {
            text: text.and_then(|text| text_span(record, &text)),
            hash: prompts::hash(Some(content)),
            notification: !typed || prompts::is_notification(text),
        }
    }

    fn metadata(&mut self, record: &Record<'_>, timestamp: Option<jiff::Timestamp>) {
        let value = record.value();
        match record.kind() {
            RecordKind::FileHistorySnapshot | RecordKind::FileHistoryDelta => {
                self.file_history.push(Span { offset: record.offset, length: record.length() });
            }
            RecordKind::QueueOperation => {
                let operation = match value.get("operation").and_then(|name| name.raw_text()) {
                    Some(b"enqueue") => Operation::Enqueue,
                    Some(b"dequeue") => Operation::Dequeue,
                    Some(b"remove") => Operation::Remove,
                    Some(b"popAll") => Operation::PopAll,
                    _ => Operation::Other,
                };
                let content =
                    value.get("content").map(|content| self.queued(record, content, None));
                let line = record.line.min(u64::from(u32::MAX)) as u32;
                self.queue.push(QueueOperation { operation, content, line, timestamp });
            }
            // Without a uuid it is part of no conversation, but its shape still counts.
            RecordKind::User | RecordKind::Assistant => {
                if let Some(message) =
                    value.get("message").filter(|message| message.kind() == Kind::Object)
                {
                    self.read_message(record, message);
                }
            }
            RecordKind::ApiRequestShape => {
                let hash = self.name(value.get("shapeHash"));
                if let (Some(hash), Some(shape)) = (hash.some(), value.get("shape")) {
                    self.shape(record, shape, hash, "system");
                }
            }
            RecordKind::ApiRequest => {
                let (id, shape) = (self.name(value.get("id")), self.name(value.get("shapeHash")));
                self.requests.push((id, shape));
            }
            RecordKind::CustomTitle => self.title(record, "customTitle"),
            RecordKind::AiTitle => self.title(record, "aiTitle"),
            RecordKind::LastPrompt => {
                self.note_checkpoint(record);
                self.title(record, "lastPrompt");
            }
            RecordKind::Summary => self.title(record, "summary"),
            RecordKind::ForkContextRef => {
                let session = self.name(value.get("parentSessionId"));
                let record = self.name(value.get("parentLastUuid"));
                self.fork_context = session.some().map(|session| (session, record));
            }
            _ => {}
        }
    }

    fn title(&mut self, record: &Record<'_>, field: &str) {
        let Some(value) = record.value().get(field) else { return };
        let Some(text) = value.raw_text() else {
            let at = (record.offset_of(&value), value.raw().len() as u64);
            if !value.is_null() {
                self.fault(ProblemId::WrongShape, record.line, at);
            }
            return;
        };
        let text = backstory_format::json::text::decode_prefix(text, prompts::TITLE_BYTES);
        let title = TitleRecord {
            kind: record.kind(),
            text: text.trim().to_owned(),
            leaf: self.name(record.value().get("leafUuid")),
        };
        // The client repeats these at every turn; only the last of each kind can matter, except
        // for summaries, which may belong to other sessions.
        if title.kind != RecordKind::Summary {
            self.titles.retain(|known| known.kind != title.kind);
        }
        self.titles.push(title);
    }

    pub(super) fn fault(&mut self, id: ProblemId, line: u64, (offset, length): (u64, u64)) {
        self.problems.push(Problem { id, line, offset, length, detail: Cow::Borrowed("") });
    }
}

/// Whether a message holds nothing that could be sent.
fn is_unreadable(kind: RecordKind, message: Option<Value<'_>>) -> bool {
    if !matches!(kind, RecordKind::User | RecordKind::Assistant) {
        return false;
    }
    let content = message.filter(|message| message.kind() == Kind::Object);
    let Some(content) = content.and_then(|message| message.get("content")) else { return true };
    match content.kind() {
        Kind::String => {
            kind == RecordKind::Assistant
                && content.text().is_none_or(|text| text.trim().is_empty())
        }
        Kind::Array => {
            let typed =
                |item: &Value<'_>| item.get("type").is_some_and(|name| name.kind() == Kind::String);
            content.items().next().is_some() && !content.items().any(|item| typed(&item))
        }
        _ => true,
    }
}
