//! Lines of a rollout, one after the other.

use super::events::Echoes;
use super::legacy;
use super::parent_thread::Base;
use super::values::{effects, is_scaffolding, is_users, outcome, tokens};
use crate::common::{Cite, Draft, content_of, other, parts as all, timestamp, typed};
use backstory_format::json::{Kind, Value};
use backstory_format::{Problem, ProblemId, Record, Visitor};
use backstory_model::{
    Block, Call, CallOutcome, CompactionKind, Content, ForkedFrom, IdOrigin, Parent, PromptBlock,
    Requests, Session, SessionKind, TurnKind, UsageTotal,
};
use std::sync::Arc;

/// A rollout while it is read.
#[derive(Debug)]
pub(super) struct Rollout {
    pub(super) draft: Draft,
    /// How content is referred to; none for spans of the file itself.
    pub(super) cite: Option<Cite>,
    /// Read no records from this ordinal on.
    pub(super) end: Option<u64>,
    pub(super) base: Option<Base>,
    /// The ordinal of the next record, where it does not say it itself.
    ordinal: u64,
    named: bool,
    /// Whether what the model was told are the user's instructions, not the client's.
    instructed: bool,
    /// What the client told the model on its own behalf before the next prompt.
    scaffolding: Vec<Content>,
    pub(super) echoes: Echoes,
    usage: Usage,
    after_result: bool,
    /// Whether states tell where an answer ends.
    stated: bool,
}

/// How the file tells the tokens of a message.
#[derive(Debug, Default)]
struct Usage {
    /// By records that close each message: the newest clients.
    exact: bool,
    /// By counts before or after each message.
    counted: bool,
    total: Option<u64>,
    next: Option<UsageTotal>,
}

impl Visitor for Rollout {
    fn record(&mut self, record: &Record<'_>) {
        let value = record.value();
        let ordinal = value.get("ordinal").and_then(|ordinal| ordinal.unsigned());
        let ordinal = ordinal.unwrap_or(self.ordinal);
        if self.end.is_some_and(|end| ordinal >= end) {
            return;
        }
        self.ordinal = ordinal + 1;
        let cite = self.cite.unwrap_or_else(|| Cite::record(record));
        self.line(value, record.line, cite);
    }

    fn problem(&mut self, problem: Problem) {
        // Types are those of another format.
        if !matches!(problem.id, ProblemId::UnknownType | ProblemId::MissingType) {
            self.draft.session.problems.push(problem);
        }
    }
}

impl Rollout {
    pub(super) fn new(draft: Draft) -> Rollout {
        Rollout {
            draft,
            cite: None,
            end: None,
            base: None,
            ordinal: 0,
            named: false,
            instructed: false,
            scaffolding: Vec::new(),
            echoes: Echoes::default(),
            usage: Usage::default(),
            after_result: false,
            stated: false,
        }
    }

    pub(super) fn finish(mut self) -> Session {
        self.flush_echoes();
        self.instruct();
        self.draft.finish()
    }

    /// What the client told the model on its own behalf, told where it was told.
    fn instruct(&mut self) {
        for text in std::mem::take(&mut self.scaffolding) {
            self.draft.event("instructions", Some(text));
        }
    }

    /// One line.
    pub(super) fn line(&mut self, value: Value<'_>, line: u64, cite: Cite) {
        let time = value.get("timestamp").and_then(|time| timestamp(&time));
        self.draft.move_to(line, time);
        let type_name = value.get_text("type");
        let Some(payload) = value.get("payload").filter(|payload| payload.kind() == Kind::Object)
        else {
            return legacy::bare(self, value, cite);
        };
        self.draft.count(type_name.as_deref().unwrap_or("(none)"));
        match type_name.as_deref() {
            Some("session_meta") => self.meta(&payload, cite),
            Some("turn_context") => self.turn_context(&payload),
            Some("response_item") => self.item(&payload, cite),
            Some("event_msg") => self.event(&payload, cite),
            Some("compacted") => {
                self.draft.compaction(CompactionKind::Full);
                self.draft.event("compacted", cite.field(&payload, "message"));
            }
            Some("token_usage_record") => self.exact_usage(&payload),
            _ => {}
        }
    }

    /// Facts about the thread. A fork begins with those of the thread it was copied from, so the
    /// first count.
    pub(super) fn meta(&mut self, meta: &Value<'_>, cite: Cite) {
        if self.named {
            return;
        }
        self.named = true;
        let draft = &mut self.draft;
        if let Some(id) = meta.get_text("id").or_else(|| meta.get_text("session_id")) {
            draft.session.id = id.into_owned();
        }
        if let Some(folder) = meta.get_text("cwd") {
            draft.folder(folder);
        }
        if let Some(version) = meta.get_text("cli_version") {
            draft.set_version(version);
        }
        if let Some(branch) = meta.get("git").and_then(|git| git.get_text("branch")) {
            draft.branch(branch);
        }
        let entrypoint = meta.get_text("originator").or_else(|| meta.get_text("source"));
        draft.session.entrypoints.extend(entrypoint.map(Arc::from));
        let base = meta.get("base_instructions");
        let base = base.as_ref().and_then(|base| cite.field(base, "text"));
        self.instructed = base.is_none();
        draft.set_request(base.or_else(|| cite.field(meta, "instructions")), None);
        draft.session.forked_from = meta
            .get_text("forked_from_id")
            .map(|from| ForkedFrom { session: from.into(), record: None });
        if let Some(parent) = meta.get_text("parent_thread_id") {
            draft.session.kind = SessionKind::Task;
            draft.session.parent =
                Some(Parent { session: parent.into(), call: None, evidence: None });
        }
        self.base = Base::of(meta);
        // Ordinals go on from those of the other file.
        let end = self.base.as_ref().and_then(|base| base.end);
        self.ordinal = self.ordinal.max(end.map_or(0, |end| end + 1));
    }

    fn turn_context(&mut self, context: &Value<'_>) {
        if let Some(model) = context.get_text("model") {
            self.draft.model = Some(model.into());
        }
        if let Some(folder) = context.get_text("cwd") {
            self.draft.folder(folder);
        }
    }

    /// What the model said, was told, or got back.
    pub(super) fn item(&mut self, item: &Value<'_>, cite: Cite) {
        let type_name = item.get_text("type");
        match type_name.as_deref() {
            // The first releases left the type of messages out.
            Some("message") | None => self.message(item, cite),
            Some("reasoning") => self.reasoning(item, cite),
            Some("function_call") => {
                let arguments = item.get_text("arguments");
                self.call(item, arguments.map(|arguments| Content::Owned(arguments.into())));
            }
            Some("custom_tool_call") => {
                let input = item.get_text("input");
                // What is no JSON is shown as a field.
                let input = input.map(|input| {
                    Content::Owned(serde_json::json!({ "input": input }).to_string().into())
                });
                self.call(item, input);
            }
            Some("local_shell_call") => {
                let action = item.get("action").map(|action| cite.json(&action));
                self.call(item, action);
            }
            Some("function_call_output" | "custom_tool_call_output") => self.output(item, cite),
            Some("compaction" | "context_compaction" | "compaction_summary") => {
                self.draft.compaction(CompactionKind::Full);
            }
            Some(other) => {
                self.speak();
                let value = cite.json(item);
                let type_name = Some(Arc::from(other));
                self.draft.step().blocks.push(Block::Other { type_name, value });
            }
        }
    }

    fn message(&mut self, message: &Value<'_>, cite: Cite) {
        let role = message.get_text("role");
        let parts: Vec<Value<'_>> =
            message.get("content").map(|content| content.items().collect()).unwrap_or_default();
        match role.as_deref() {
            Some("assistant") => {
                self.speak();
                for part in &parts {
                    if let Some(text) = part.get_text("text") {
                        self.echoes.item(&text);
                    }
                }
                for part in all(message.get("content").as_ref(), cite) {
                    self.draft.step().blocks.push(part.block());
                }
            }
            Some("user") => self.user(&parts, cite),
            // What the client tells the model on its own behalf.
            _ => {
                let parts = all(message.get("content").as_ref(), cite).into_iter();
                self.scaffolding.extend(parts.filter_map(|part| content_of(part.block())));
            }
        }
    }

    fn user(&mut self, parts: &[Value<'_>], cite: Cite) {
        let first = parts.iter().find_map(|part| part.get_text("text"));
        let scaffolding = first.as_deref().is_some_and(is_scaffolding);
        let blocks: Vec<PromptBlock> = parts
            .iter()
            .filter_map(|part| match part.get("text") {
                Some(_) => cite.field(part, "text").map(typed),
                None => Some(PromptBlock { block: other(part, cite), context: false }),
            })
            .collect();
        if scaffolding {
            // Then they were told as a message, and the system prompt is not in the file.
            if self.instructed && first.as_deref().is_some_and(is_users) {
                self.draft.session.requests = Requests::default();
            }
            if first.is_some_and(|text| text.starts_with("<turn_aborted>")) {
                self.draft.event("interrupted", None);
            } else {
                let texts = parts.iter().filter_map(|part| cite.field(part, "text"));
                self.scaffolding.extend(texts);
            }
            return;
        }
        self.flush_echoes();
        // The screen shows the parts one by one or together.
        let texts: Vec<_> = parts.iter().filter_map(|part| part.get_text("text")).collect();
        for text in &texts {
            self.echoes.item(text);
        }
        if texts.len() > 1 {
            self.echoes.item(&texts.concat());
            self.echoes.item(&texts.join("\n"));
        }
        self.begin_turn(blocks, first.as_deref());
    }

    pub(super) fn begin_turn(&mut self, blocks: Vec<PromptBlock>, words: Option<&str>) {
        self.draft.close();
        let kind = match self.draft.session.kind {
            SessionKind::Session => TurnKind::Human,
            _ => TurnKind::Task,
        };
        self.draft.prompt(kind, blocks, words);
        self.instruct();
        self.after_result = false;
    }

    fn reasoning(&mut self, item: &Value<'_>, cite: Cite) {
        self.speak();
        let parts = ["summary", "content"].iter().filter_map(|name| item.get(name));
        let mut is_shown = false;
        for part in parts.flat_map(|list| list.items().collect::<Vec<_>>()) {
            if let Some(text) = part.get_text("text") {
                self.echoes.item(&text);
            }
            if let Some(text) = cite.field(&part, "text") {
                is_shown = true;
                self.draft.thinking(Some(text));
            }
        }
        if !is_shown && item.get("encrypted_content").is_some_and(|value| !value.is_null()) {
            self.draft.hidden_thinking();
        }
    }

    /// Releases of the middle of 2025 note a state before and after each answer with its outcomes.
    pub(super) fn state(&mut self) {
        self.stated = true;
        self.draft.close();
    }

    /// The model goes on; a new message unless this is still the same.
    pub(super) fn speak(&mut self) {
        if self.after_result && !self.usage.exact && !self.usage.counted && !self.stated {
            self.draft.close();
        }
        self.after_result = false;
        if !self.draft.is_open()
            && let Some(usage) = self.usage.next.take()
        {
            self.draft.step().usage = Some(usage);
        }
    }

    fn call(&mut self, item: &Value<'_>, input: Option<Content>) {
        self.speak();
        let name = item.get_text("name").unwrap_or_else(|| "local_shell".into());
        let id = item.get_text("call_id").or_else(|| item.get_text("id"));
        let effects = effects(&name, input.as_ref());
        self.draft.call(Call {
            id: id.map(Into::into),
            id_origin: IdOrigin::Trace,
            name: Some(name.into()),
            input,
            result: None,
            subagent: None,
            effects,
        });
    }

    fn output(&mut self, item: &Value<'_>, cite: Cite) {
        self.after_result = true;
        let id = item.get_text("call_id");
        let output = item.get("output");
        let shown = output.as_ref().and_then(|output| output.text());
        let outcome = shown.as_deref().map_or(CallOutcome::Ok, outcome);
        let mut text = Vec::new();
        let mut blocks = Vec::new();
        match output.as_ref().map(|output| output.kind()) {
            Some(Kind::String) => text.extend(output.as_ref().and_then(|output| cite.text(output))),
            Some(Kind::Array) => {
                for part in output.iter().flat_map(|output| output.items()) {
                    match cite.field(&part, "text") {
                        Some(part) => text.push(part),
                        None => blocks.push(other(&part, cite)),
                    }
                }
            }
            Some(_) => text.extend(output.as_ref().map(|output| cite.json(output))),
            None => {}
        }
        let mut result = self.draft.plain_result(outcome, text);
        result.blocks = blocks;
        self.draft.result(id.as_deref(), result);
    }

    /// The record that closes a message in the newest clients.
    fn exact_usage(&mut self, record: &Value<'_>) {
        self.usage.exact = true;
        if let Some(id) = record.get_text("response_id").filter(|_| self.draft.is_open()) {
            self.draft.name_step(&id);
        }
        if let Some(usage) = record.get("usage").map(|usage| tokens(&usage))
            && let Some(step) = self.draft.last_step().filter(|step| step.usage.is_none())
        {
            step.usage = Some(usage);
        }
        self.draft.close();
    }

    /// A count of tokens: of the message before, or of the one that comes; releases differ. It is
    /// repeated without change, so only a new total counts.
    pub(super) fn counted_usage(&mut self, event: &Value<'_>) {
        if self.usage.exact {
            return;
        }
        let info = event.get("info").filter(|info| info.kind() == Kind::Object);
        let last = info.as_ref().and_then(|info| info.get("last_token_usage"));
        let total = info.as_ref().and_then(|info| info.get("total_token_usage"));
        let total = total.and_then(|total| total.get("total_tokens")?.unsigned());
        let Some(last) = last.or_else(|| event.get("input_tokens").map(|_| *event)) else { return };
        if total.is_some() && self.usage.total == total {
            return;
        }
        self.usage.total = total;
        self.usage.counted = true;
        let usage = tokens(&last);
        match self.draft.last_step().filter(|step| step.usage.is_none()) {
            Some(step) => step.usage = Some(usage),
            None => self.usage.next = Some(usage),
        }
        self.draft.close();
    }
}
