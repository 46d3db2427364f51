//! Cline: task folders of the editor extension, and session files of its SDK.
//!
//! Both hold messages in the shape of Anthropic's API. Older releases of the extension have their
//! tools as XML in the text, with outcomes in the next message of the user.

mod tools;
mod xml;

use super::common::{Cite, Draft, context, document, timestamp, typed};
use crate::model::{
    Agent, Block, Call, CallOutcome, Content, ForkedFrom, PromptBlock, Session, Title, TitleSource,
    TurnKind, UsageTotal,
};
use crate::store::{SessionFiles, StoreError};
use backstory_format::Limits;
use backstory_format::json::{Kind, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What Cline's files cannot tell.
pub(super) const UNREAD: [&str; 2] =
    ["release of the extension", "edits that a person changed in review"];

pub(super) fn read(files: &SessionFiles, limits: Limits) -> Result<Session, StoreError> {
    let mut document = document(&files.path, files.part.clone(), limits)?;
    let draft = document.draft(Agent::Cline, files);
    let mut reading =
        Reading { draft, cite: document.cite(), made_ids: 0, waiting: None, cost: 0.0 };
    if let Some(value) = document.value() {
        let messages = match value.kind() {
            Kind::Array => Some(value),
            _ => value.get("messages"),
        };
        if let Some(id) = value.get_text("sessionId") {
            reading.draft.session.id = id.into_owned();
        }
        reading.draft.told(reading.cite.field(&value, "system_prompt"), None);
        for (number, message) in messages.iter().flat_map(|list| list.items()).enumerate() {
            reading.message(number as u64 + 1, &message);
        }
    }
    let cost = reading.cost;
    let mut session = reading.draft.finish();
    session.reported_cost = (cost > 0.0).then_some(cost);
    beside(files, limits, &mut session);
    Ok(session)
}

#[derive(Debug)]
struct Reading {
    draft: Draft,
    cite: Cite,
    made_ids: u64,
    /// An action in the text of the last message.
    waiting: Option<String>,
    cost: f64,
}

impl Reading {
    fn message(&mut self, number: u64, message: &Value<'_>) {
        let time = message.get("ts").and_then(|time| timestamp(&time));
        self.draft.at(number, time);
        let role = message.get_text("role").unwrap_or_default();
        self.draft.count(&role);
        let content = message.get("content");
        let blocks: Vec<Value<'_>> = match &content {
            Some(content) if content.kind() == Kind::Array => content.items().collect(),
            Some(content) => vec![*content],
            None => Vec::new(),
        };
        match &*role {
            "assistant" => self.answer(message, &blocks),
            _ => self.user(&blocks),
        }
    }

    fn answer(&mut self, message: &Value<'_>, blocks: &[Value<'_>]) {
        self.draft.close();
        match message.get_text("id") {
            Some(id) => self.draft.name_step(&id),
            None => drop(self.draft.step()),
        }
        let model = message.get("modelInfo");
        let model =
            model.and_then(|model| model.get_text("id").or_else(|| model.get_text("modelId")));
        let metrics = message.get("metrics");
        let cost = metrics.as_ref().and_then(|metrics| metrics.get("cost")?.float());
        self.cost += cost.unwrap_or(0.0);
        let step = self.draft.step();
        step.model = model.map(|model| Arc::from(&*model)).or(step.model.take());
        step.usage = metrics.as_ref().and_then(usage);
        for block in blocks {
            match block.get_text("type").as_deref() {
                Some("thinking") => self.draft.thinking(self.cite.field(block, "thinking"), false),
                Some("redacted_thinking") => self.draft.thinking(None, true),
                Some("tool_use") => {
                    let input = block.get("input");
                    let name = block.get_text("name");
                    let effects = match (&name, &input) {
                        (Some(name), Some(input)) => tools::effects(name, input, self.cite),
                        _ => Vec::new(),
                    };
                    self.draft.call(Call {
                        id: block.get_text("id").map(Into::into),
                        name: name.map(|name| Arc::from(&*name)),
                        input: input.map(|input| self.cite.json(&input)),
                        result: None,
                        subagent: None,
                        effects,
                    });
                }
                Some("text") => self.words(block.get("text")),
                None => self.words(Some(*block)),
                Some(other) => {
                    let value = self.cite.json(block);
                    let type_name = Some(Arc::from(other));
                    self.draft.step().blocks.push(Block::Other { type_name, value });
                }
            }
        }
        self.draft.close();
    }

    /// Text of an answer, and the action in it, if there is one.
    fn words(&mut self, text: Option<Value<'_>>) {
        let Some(value) = text else { return };
        if let Some(content) = self.cite.text(&value) {
            self.draft.text(content);
        }
        let Some(action) = value.text().and_then(|text| xml::action(&text)) else { return };
        self.made_ids += 1;
        let id = format!("call-{}", self.made_ids);
        self.draft.call(Call {
            id: Some(id.as_str().into()),
            name: Some(Arc::from(action.name.as_str())),
            input: Some(Content::Owned(action.input.as_str().into())),
            result: None,
            subagent: None,
            effects: action.effects(),
        });
        self.waiting = Some(id);
    }

    fn user(&mut self, blocks: &[Value<'_>]) {
        let mut prompt: Vec<PromptBlock> = Vec::new();
        let mut words: Option<String> = None;
        for block in blocks {
            let type_name = block.get_text("type");
            let value = if type_name.is_some() { block.get("text") } else { Some(*block) };
            match type_name.as_deref() {
                Some("tool_result") => self.result(block),
                Some("text") | None => {
                    let Some(value) = value else { continue };
                    let Some(text) = value.text() else { continue };
                    let Some(content) = self.cite.text(&value) else { continue };
                    if self.outcome_in_text(&text, &content) {
                        continue;
                    }
                    match xml::is_added(&text) {
                        true => prompt.push(context(content)),
                        false => {
                            let inside = xml::typed(&text);
                            let bare = inside.len() == text.trim().len();
                            prompt.push(typed(match bare {
                                true => content,
                                false => Content::Owned(inside.into()),
                            }));
                            words = words.or_else(|| Some(inside.to_owned()));
                        }
                    }
                }
                Some("image") => {
                    let source = block.get("source");
                    let source = source.as_ref();
                    let media_type = source.and_then(|source| source.get_text("media_type"));
                    let data = source.and_then(|source| self.cite.field(source, "data"));
                    let media_type = media_type.map(|name| Arc::from(&*name));
                    let block = Block::Image { media_type, data };
                    prompt.push(PromptBlock { block, context: false });
                }
                Some(other) => {
                    let value = self.cite.json(block);
                    let type_name = Some(Arc::from(other));
                    let block = Block::Other { type_name, value };
                    prompt.push(PromptBlock { block, context: true });
                }
            }
        }
        if words.is_some() || prompt.iter().any(|block| !block.context) {
            self.draft.prompt(TurnKind::Human, prompt, words.as_deref());
        }
    }

    fn result(&mut self, block: &Value<'_>) {
        let id = block.get_text("tool_use_id");
        let failed = block.get("is_error").and_then(|failed| failed.boolean()) == Some(true);
        let content = block.get("content");
        let mut text = Vec::new();
        let mut wrong = failed;
        let mut created = false;
        match &content {
            Some(content) if content.kind() == Kind::Array => {
                for part in content.items() {
                    let success = part.get("success").and_then(|success| success.boolean());
                    wrong |= success == Some(false);
                    let said = ["text", "result", "error"].iter();
                    text.extend(said.filter_map(|name| self.cite.field(&part, name)));
                }
            }
            Some(content) => {
                let shown = content.text().unwrap_or_default();
                wrong |= shown.starts_with('{') && shown.contains("\"success\":false");
                created = shown.contains("\"result\":\"File created successfully");
                text.extend(self.cite.text(content));
            }
            None => {}
        }
        let outcome = if wrong { CallOutcome::Error } else { CallOutcome::Ok };
        let result = self.draft.plain_result(outcome, text);
        self.draft.result(id.as_deref(), result);
        if let Some(call) =
            id.and_then(|id| self.draft.find_call(&id)).filter(|_| created && !wrong)
        {
            tools::mark_created(call);
        }
    }

    /// `[execute_command for 'ls'] Result:` and what follows it.
    fn outcome_in_text(&mut self, text: &str, content: &Content) -> bool {
        let Some(id) = self.waiting.clone() else { return false };
        let Some(outcome) = xml::outcome(text) else { return false };
        let result = self.draft.plain_result(outcome, vec![content.clone()]);
        self.draft.result(Some(&id), result);
        self.waiting = None;
        true
    }
}

fn usage(metrics: &Value<'_>) -> Option<UsageTotal> {
    let number = |names: [&str; 2]| names.iter().find_map(|name| metrics.get(name)?.unsigned());
    let cached = number(["cacheReadTokens", "cacheReads"]).unwrap_or(0);
    let written = number(["cacheWriteTokens", "cacheWrites"]).unwrap_or(0);
    let input = number(["inputTokens", "tokensIn"])?;
    Some(UsageTotal {
        // The SDK counts what came from the cache among the input, the extension does not.
        input: match metrics.get("inputTokens") {
            Some(_) => input.saturating_sub(cached.saturating_add(written)),
            None => input,
        },
        output: number(["outputTokens", "tokensOut"]).unwrap_or(0),
        cache_read: cached,
        cache_write: written,
        messages: 1,
        ..UsageTotal::default()
    })
}

/// What other files of the session say: its record (SDK), the screen's messages (extension).
fn beside(files: &SessionFiles, limits: Limits, session: &mut Session) {
    let (path, is_record) = neighbour(&files.path);
    let Ok(screen) = document(&path, None, limits) else { return };
    let Some(screen) = screen.value() else { return };
    if is_record {
        return session_record(&screen, session);
    }
    let mut requests = Vec::new();
    for message in screen.items() {
        let time = message.get("ts").and_then(|time| timestamp(&time));
        session.started = session.started.or(time);
        session.ended = time.or(session.ended);
        if message.get_text("say").is_some_and(|say| say == "api_req_started")
            && let Some(text) = message.get_text("text")
        {
            requests.extend(xml::request(&text));
        }
    }
    let steps = session.turns.iter_mut().flat_map(|turn| &mut turn.steps);
    let steps: Vec<_> = steps.collect();
    // One request per answer, else nothing tells which is whose.
    if steps.len() == requests.len() {
        for (step, (usage, _)) in steps.into_iter().zip(&requests) {
            step.usage = step.usage.or(*usage);
        }
        session.usage = crate::model::usage(&session.turns, &session.abandoned);
    }
    let cost: f64 = requests.iter().map(|(_, cost)| cost).sum();
    session.reported_cost = session.reported_cost.or((cost > 0.0).then_some(cost));
}

/// The other file of a session, and whether it is a session's record.
fn neighbour(path: &Path) -> (PathBuf, bool) {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name.strip_suffix(".messages.json") {
        Some(stem) => (path.with_file_name(format!("{stem}.json")), true),
        None => (path.with_file_name("ui_messages.json"), false),
    }
}

/// Every file of a session that is read.
pub(super) fn files_of(path: &Path) -> Vec<PathBuf> {
    let beside = Some(neighbour(path).0).filter(|path| path.is_file());
    std::iter::once(path.to_path_buf()).chain(beside).collect()
}

fn session_record(record: &Value<'_>, session: &mut Session) {
    for name in ["cwd", "workspace_root"] {
        if let Some(folder) = record.get_text(name)
            && !session.cwds.iter().any(|known| **known == *folder)
        {
            session.cwds.push(folder.into());
        }
    }
    session.entrypoints.extend(record.get_text("source").map(Arc::from));
    let metadata = record.get("metadata");
    let metadata = metadata.as_ref();
    if let Some(title) = metadata.and_then(|metadata| metadata.get_text("title")) {
        session.title = Some(Title { text: title.into_owned(), source: TitleSource::Ai });
    }
    let fork = metadata.and_then(|metadata| metadata.get("fork")?.get_text("forkedFromSessionId"));
    session.forked_from = fork.map(|fork| ForkedFrom { session: fork.into(), record: None });
}
