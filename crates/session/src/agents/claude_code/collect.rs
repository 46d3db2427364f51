//! Records to rows: the one pass over a file's bytes.

use super::names::Name;
use super::prompts;
use super::rows::{
    AgentProgress, AttachmentPart, BlockPart, Detail, MessagePart, Notice, Operation, PromptShape,
    QueueOperation, Queued, Row, Rows, TitleRecord,
};
use super::time;
use crate::model::Span;
use backstory_format::claude::{
    self, BlockKind, Envelope, Message, Outcome, RecordKind, Usage, is_transcript,
};
use backstory_format::json::{Kind, Value};
use backstory_format::{Problem, ProblemId, Record, Visitor};
use std::borrow::Cow;
use std::hash::BuildHasher;

impl Visitor for Rows {
    fn record(&mut self, record: &Record<'_>) {
        self.count(record);
        let mut problems = Vec::new();
        let envelope = Envelope::read(record, |problem| problems.push(problem));
        for problem in problems {
            self.problems.push(problem);
        }
        let timestamp = self.timestamp(record, &envelope);
        let session = self.context(record, &envelope);
        if is_transcript(record.kind()) && envelope.uuid.is_some() {
            self.transcript(record, &envelope, timestamp, session);
        } else {
            self.metadata(record, timestamp);
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
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

    /// Notes the surroundings a record names; gives its session id.
    fn context(&mut self, record: &Record<'_>, envelope: &Envelope<'_>) -> Name {
        if is_transcript(record.kind()) {
            let version = self.last_or_add(envelope.version, |rows| rows.versions.last());
            push_new(&mut self.versions, version);
            let cwd = self.last_or_add(envelope.cwd, |rows| rows.cwds.last());
            push_new(&mut self.cwds, cwd);
            let entrypoint = self.last_or_add(envelope.entrypoint, |rows| rows.entrypoints.last());
            push_new(&mut self.entrypoints, entrypoint);
            let branch = self.last_or_add(envelope.git_branch, |rows| rows.last_branch.as_ref());
            if branch.is_some() && !self.names.bytes(branch).is_empty() {
                push_new(&mut self.git_branches, branch);
                self.last_branch = Some(branch);
            }
            let agent = self.last_or_add(envelope.agent, |rows| rows.agents.last());
            push_new(&mut self.agents, agent);
        }
        let session = self.last_or_add(envelope.session, |rows| rows.sessions.last());
        push_new(&mut self.sessions, session);
        session
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

    fn name(&mut self, value: Option<Value<'_>>) -> Name {
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
        session: Name,
    ) {
        let uuid = self.name(envelope.uuid);
        let mut repeated = false;
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
            uuid,
            parent: self.name(envelope.parent),
            logical_parent: self.name(envelope.logical_parent),
            session,
            agent: self.last_or_add(envelope.agent, |rows| rows.agents.last()),
            team: self.name(envelope.team),
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

    fn is_api_error(&self, detail: Detail, envelope: &Envelope<'_>) -> bool {
        let Detail::Message(at) = detail else { return false };
        let model = self.messages.get(at as usize).map_or(Name::NONE, |part| part.model);
        let synthetic = model.is_some() && self.names.bytes(model) == b"<synthetic>";
        synthetic && {
            let content = envelope.message.and_then(|message| message.get("content"));
            let text = claude::blocks(content).find_map(|block| block.text()?.raw_text());
            text.is_some_and(|text| text.starts_with(b"API Error"))
        }
    }

    fn message_part(&mut self, record: &Record<'_>, envelope: &Envelope<'_>) -> Detail {
        let Some(value) = envelope.message else { return Detail::None };
        let message = self.read_message(record, value);
        let user = record.kind() == RecordKind::User;
        let shape = if user {
            prompts::classify(&envelope.flags, message.content)
        } else {
            PromptShape::None
        };
        let usage = message.usage.map(Usage::read);
        if usage.is_some_and(|usage| usage.odd) {
            self.fault(
                ProblemId::OddUsage,
                record.line,
                (record.offset, u64::from(record.length())),
            );
        }
        let prompt =
            if envelope.flags.sidechain { &mut self.first_task } else { &mut self.first_prompt };
        prompts::note_title(shape, message.content, prompt, &mut self.first_command);
        let first_block = self.blocks.len() as u32;
        for block in claude::blocks(message.content) {
            let part = self.block_part(record, envelope, block, user);
            self.blocks.push(part);
        }
        let structured = envelope.tool_use_result;
        let object = structured.filter(|value| value.kind() == Kind::Object);
        let part = MessagePart {
            id: self.name(message.id.filter(|_| !user)),
            model: self.name(message.model),
            stop_reason: self.name(message.stop_reason),
            request: self.name(envelope.request),
            error: self.name(envelope.error),
            service_tier: self.name(message.usage.and_then(|usage| usage.get("service_tier"))),
            speed: self.name(message.usage.and_then(|usage| usage.get("speed"))),
            usage,
            first_block,
            block_count: self.blocks.len() as u32 - first_block,
            prompt: shape,
            text_hash: if shape == PromptShape::Prompt || shape == PromptShape::TaskNotification {
                prompts::hash(message.content)
            } else {
                0
            },
            prompt_id: self.name(envelope.prompt),
            prompt_source: self.name(envelope.prompt_source),
            permission_mode: self.name(envelope.permission_mode),
            origin: self.name(envelope.origin.and_then(|origin| origin.get("kind"))),
            source_assistant: self.name(envelope.source_assistant),
            structured: structured.map(|value| span(record, &value)),
            persisted: object
                .and_then(|value| value.get("persistedOutputPath"))
                .and_then(|path| text_span(record, &path)),
            result_agent: self.name(object.and_then(|value| value.get("agentId"))),
        };
        self.messages.push(part);
        Detail::Message(self.messages.len() as u32 - 1)
    }

    fn read_message<'a>(&mut self, record: &Record<'_>, value: Value<'a>) -> Message<'a> {
        let (message, well_shaped) = Message::read(value);
        if !well_shaped {
            let at = (record.offset_of(&value), value.raw().len() as u64);
            self.fault(ProblemId::WrongShape, record.line, at);
        }
        message
    }

    fn block_part(
        &mut self,
        record: &Record<'_>,
        envelope: &Envelope<'_>,
        block: claude::Block<'_>,
        user: bool,
    ) -> BlockPart {
        let value = block.value;
        let mut part = BlockPart {
            kind: block.kind,
            value: span(record, &value),
            text: block.text().and_then(|text| text_span(record, &text)),
            payload: None,
            first_nested: 0,
            nested_count: 0,
            id: Name::NONE,
            name: Name::NONE,
            outcome: Outcome::Ok,
            hash: if user { 0 } else { hash(value.raw()) },
            prompt_hash: 0,
            signed: false,
            context: false,
        };
        match block.kind {
            BlockKind::Text => {
                part.context = user && prompts::is_editor_context(block.text());
            }
            BlockKind::Thinking | BlockKind::RedactedThinking => {
                let signature = block.string("signature").and_then(|text| text.raw_text());
                part.signed = signature.is_some_and(|text| !text.is_empty());
            }
            BlockKind::ToolUse => {
                part.id = self.name(value.get("id"));
                part.name = self.name(value.get("name"));
                let input = value.get("input");
                part.payload = input.map(|input| span(record, &input));
                if let Some(prompt) = input.and_then(|input| input.get("prompt"))
                    && matches!(
                        block.string("name").and_then(|name| name.raw_text()),
                        Some(b"Task" | b"Agent")
                    )
                {
                    part.prompt_hash = prompts::hash(Some(prompt));
                }
            }
            BlockKind::ToolResult => {
                part.id = self.name(value.get("tool_use_id"));
                part.outcome = claude::outcome(value, envelope.tool_use_result, envelope.denied());
                let content = value.get("content");
                part.payload = content.and_then(|content| text_span(record, &content));
                if let Some(list) = content.filter(|content| content.kind() == Kind::Array) {
                    part.first_nested = self.nested.len() as u32;
                    part.nested_count = self.nested_parts(record, envelope, list);
                }
            }
            BlockKind::Image | BlockKind::Document => {
                let source = value.get("source");
                part.name = self.name(source.and_then(|source| source.get("media_type")));
                let data = source.and_then(|source| source.get("data"));
                part.text = data.and_then(|data| text_span(record, &data));
            }
            BlockKind::Other => part.name = self.name(value.get("type")),
        }
        part
    }

    /// Blocks of a result's list content; results do not nest further.
    fn nested_parts(
        &mut self,
        record: &Record<'_>,
        envelope: &Envelope<'_>,
        list: Value<'_>,
    ) -> u32 {
        let before = self.nested.len();
        for block in claude::blocks(Some(list)).filter(|block| block.kind != BlockKind::ToolResult)
        {
            let part = self.block_part(record, envelope, block, true);
            self.nested.push(part);
        }
        (self.nested.len() - before) as u32
    }

    fn notice_part(&mut self, record: &Record<'_>, envelope: &Envelope<'_>) -> Detail {
        let value = record.value();
        let number = |parent: Value<'_>, name| parent.get(name).and_then(|value| value.unsigned());
        let compaction = value.get("compactMetadata").or_else(|| value.get("microcompactMetadata"));
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

    fn attachment_part(&mut self, record: &Record<'_>, envelope: &Envelope<'_>) -> Detail {
        let Some(attachment) = envelope.attachment else { return Detail::None };
        let queued = attachment
            .get("type")
            .filter(|name| name.is_text("queued_command"))
            .and_then(|_| attachment.get("prompt"))
            .map(|prompt| self.queued(record, prompt, attachment.get("commandMode")));
        self.attachments.push(AttachmentPart { queued });
        Detail::Attachment(self.attachments.len() as u32 - 1)
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
            // Without a uuid it is part of no conversation, but its shape still tells something.
            RecordKind::User | RecordKind::Assistant => {
                if let Some(message) =
                    value.get("message").filter(|message| message.kind() == Kind::Object)
                {
                    self.read_message(record, message);
                }
            }
            RecordKind::CustomTitle => self.title(record, "customTitle"),
            RecordKind::AiTitle => self.title(record, "aiTitle"),
            RecordKind::LastPrompt => self.title(record, "lastPrompt"),
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

    fn fault(&mut self, id: ProblemId, line: u64, (offset, length): (u64, u64)) {
        self.problems.push(Problem { id, line, offset, length, detail: Cow::Borrowed("") });
    }
}

fn push_new(list: &mut Vec<Name>, name: Name) {
    if !name.is_some() || list.last() == Some(&name) {
        return;
    }
    // Keep order of first appearance, but let the last one be found first.
    match list.iter().position(|known| *known == name) {
        Some(_) => {}
        None => list.push(name),
    }
}

fn span(record: &Record<'_>, value: &Value<'_>) -> Span {
    Span { offset: record.offset_of(value), length: value.raw().len() as u32 }
}

fn text_span(record: &Record<'_>, value: &Value<'_>) -> Option<Span> {
    let length = value.raw_text()?.len() as u32;
    Some(Span { offset: record.offset_of(value) + 1, length })
}

pub(super) fn hash(bytes: &[u8]) -> u64 {
    foldhash::fast::FixedState::default().hash_one(bytes)
}
