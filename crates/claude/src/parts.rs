//! Messages and their blocks, as far as rows keep them.

use crate::hash::{ends_hash, hash};
use crate::names::Name;
use crate::own_runs;
use crate::prompts;
use crate::rows::{BlockPart, Detail, MessagePart, PromptShape, Rows};
use backstory_format::claude::{self, BlockKind, Envelope, Message, Outcome, RecordKind, Usage};
use backstory_format::json::{Kind, Value};
use backstory_format::{ProblemId, Record};
use backstory_model::Span;

impl Rows {
    pub(super) fn message_part(&mut self, record: &Record<'_>, envelope: &Envelope<'_>) -> Detail {
        let Some(value) = envelope.message else { return Detail::None };
        let message = self.read_message(record, value);
        let user = record.kind() == RecordKind::User;
        let shape =
            if user { prompts::classify(envelope, message.content) } else { PromptShape::None };
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
        if user && envelope.flags.sidechain {
            self.own_run = own_runs::by_prompt(shape, message.content).or(self.own_run);
        }
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
            request_ref: self.name(envelope.request_ref),
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
                .and_then(|path| text_span(record, &path))
                .or_else(|| spilled(record, message.content)),
            result_agent: self.name(object.and_then(|value| value.get("agentId"))),
        };
        self.messages.push(part);
        Detail::Message(self.messages.len() as u32 - 1)
    }

    pub(super) fn read_message<'a>(
        &mut self,
        record: &Record<'_>,
        value: Value<'a>,
    ) -> Message<'a> {
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
            hash: if user { ends_hash(value.raw()) } else { hash(value.raw()) },
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

    pub(super) fn is_api_error(&self, detail: Detail, envelope: &Envelope<'_>) -> bool {
        let Detail::Message(at) = detail else { return false };
        let model = self.messages.get(at as usize).map_or(Name::NONE, |part| part.model);
        let synthetic = model.is_some() && self.names.bytes(model) == b"<synthetic>";
        synthetic && {
            let content = envelope.message.and_then(|message| message.get("content"));
            let text = claude::blocks(content).find_map(|block| block.text()?.raw_text());
            text.is_some_and(|text| text.starts_with(b"API Error"))
        }
    }
}

pub(super) fn span(record: &Record<'_>, value: &Value<'_>) -> Span {
    Span { offset: record.offset_of(value), length: value.raw().len() as u32 }
}

pub(super) fn text_span(record: &Record<'_>, value: &Value<'_>) -> Option<Span> {
    let length = value.raw_text()?.len() as u32;
    Some(Span { offset: record.offset_of(value) + 1, length })
}

/// The path that clients before 2.1.4x name only in the words that stand for a long output.
fn spilled(record: &Record<'_>, content: Option<Value<'_>>) -> Option<Span> {
    const BEFORE: &[u8] = b"saved to: ";
    let mut results = claude::blocks(content).filter(|block| block.kind == BlockKind::ToolResult);
    results.find_map(|block| {
        let text = block.value.get("content")?;
        let raw = text.raw_text().filter(|raw| raw.starts_with(b"<persisted-output>"))?;
        let start = memchr::memmem::find(raw, BEFORE)? + BEFORE.len();
        let rest = raw.get(start..)?;
        // The line ends with an escaped newline; a backslash in the path would be escaped itself.
        let length = memchr::memmem::find(rest, b"\\n").unwrap_or(rest.len());
        let offset = text_span(record, &text)?.offset + start as u64;
        Some(Span { offset, length: length as u32 })
    })
}
