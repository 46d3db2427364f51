//! Cline: task folders of the editor extension, and session files of its SDK.
//!
//! Both hold messages in the shape of Anthropic's API. Older releases of the extension have their
//! tools as XML in the text, with outcomes in the next message of the user.

mod agent;
mod tools;
mod xml;

use crate::common::{
    Action, Cite, Draft, content_of, context, document, other, problem, timestamp, typed,
};
use agent::AGENT;
pub(crate) use agent::Cline;
use backstory_format::ProblemId;
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_model::SessionFiles;
use backstory_model::{
    Call, CallOutcome, Content, Effect, ForkedFrom, IdOrigin, PromptBlock, Session, Title,
    TitleSource, TurnKind, UsageTotal,
};
use backstory_store::{Store, StoreError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn read(files: &SessionFiles, store: &Store) -> Result<Session, StoreError> {
    let mut document = document(&files.path, files.part.clone(), store)?;
    let draft = document.draft(AGENT, files);
    let mut reading = Reading { draft, cite: document.cite(), waiting: None, cost: 0.0 };
    if let Some(value) = document.value() {
        let messages = match value.kind() {
            Kind::Array => Some(value),
            _ => value.get("messages"),
        };
        if let Some(id) = value.get_text("sessionId") {
            reading.draft.session.id = id.into_owned();
        }
        reading.draft.set_request(reading.cite.field(&value, "system_prompt"), None);
        for (number, message) in messages.iter().flat_map(|list| list.items()).enumerate() {
            reading.message(number as u64 + 1, &message);
        }
    }
    let cost = reading.cost;
    let mut session = reading.draft.finish();
    session.reported_cost = (cost > 0.0).then_some(cost);
    add_neighbour_file(files, store, &mut session);
    Ok(session)
}

#[derive(Debug)]
struct Reading {
    draft: Draft,
    cite: Cite,
    /// An action in the text of the last message.
    waiting: Option<Box<str>>,
    cost: f64,
}

/// Where the calls of an answer stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// In blocks of their own: XML in its text is text.
    Blocks,
    Text,
}

impl Reading {
    fn message(&mut self, number: u64, message: &Value<'_>) {
        let time = message.get("ts").and_then(|time| timestamp(&time));
        self.draft.move_to(number, time);
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
        let is_call = |block: &Value<'_>| block.get_text("type").is_some_and(|t| t == "tool_use");
        let source = if blocks.iter().any(is_call) { Calls::Blocks } else { Calls::Text };
        for block in blocks {
            match block.get_text("type").as_deref() {
                Some("thinking") => self.draft.thinking(self.cite.field(block, "thinking")),
                Some("redacted_thinking") => self.draft.hidden_thinking(),
                Some("tool_use") => {
                    let input = block.get("input");
                    let name = block.get_text("name");
                    let effects = match (&name, &input) {
                        (Some(name), Some(input)) => tools::effects(name, input, self.cite),
                        _ => Vec::new(),
                    };
                    self.draft.call(Call {
                        id: block.get_text("id").map(Into::into),
                        id_origin: IdOrigin::Trace,
                        name: name.map(|name| Arc::from(&*name)),
                        input: input.map(|input| self.cite.json(&input)),
                        result: None,
                        subagent: None,
                        effects,
                    });
                }
                Some("text") => self.words(block.get("text"), source),
                None if block.kind() == Kind::String => self.words(Some(*block), source),
                _ => {
                    let block = other(block, self.cite);
                    self.draft.step().blocks.push(block);
                }
            }
        }
        self.draft.close();
    }

    /// Text of an answer, and the action in it, if there is one.
    fn words(&mut self, text: Option<Value<'_>>, source: Calls) {
        let Some(value) = text else { return };
        if let Some(content) = self.cite.text(&value) {
            self.draft.text(content);
        }
        if source == Calls::Blocks {
            return;
        }
        let Some(action) = value.text().and_then(|text| xml::action(&text)) else { return };
        let id = self.draft.made_id();
        self.draft.call(Call {
            id: Some(id.clone()),
            id_origin: IdOrigin::Reader,
            effects: effects(&action),
            name: Some(action.name.into()),
            input: Some(Content::Owned(action.input.into())),
            result: None,
            subagent: None,
        });
        self.waiting = Some(id);
    }

    fn user(&mut self, blocks: &[Value<'_>]) {
        let mut prompt: Vec<PromptBlock> = Vec::new();
        let mut words: Option<String> = None;
        for block in blocks {
            let type_name = block.get_text("type");
            let value = if type_name.is_some() { block.get("text") } else { Some(*block) };
            let said = value.and_then(|value| Some((value.text()?, self.cite.text(&value)?)));
            match (type_name.as_deref(), said) {
                (Some("tool_result"), _) => self.result(block),
                (Some("text") | None, Some((text, content))) => {
                    if self.outcome_in_text(&text, &content) {
                        continue;
                    }
                    if xml::is_added(&text) {
                        prompt.push(context(content));
                    } else {
                        let inside = xml::typed(&text);
                        let bare = inside.len() == text.trim().len();
                        prompt.push(typed(if bare {
                            content
                        } else {
                            Content::Owned(inside.into())
                        }));
                        words = words.or_else(|| Some(inside.to_owned()));
                    }
                }
                (kind, _) => {
                    let context = kind != Some("image");
                    prompt.push(PromptBlock { block: other(block, self.cite), context });
                }
            }
        }
        if words.is_some() || prompt.iter().any(|block| !block.context) {
            self.draft.prompt(TurnKind::Human, prompt, words.as_deref());
        } else {
            // Nobody typed anything: the extension tells the model how things stand.
            for text in prompt.into_iter().filter_map(|part| content_of(part.block)) {
                self.draft.event("context", Some(text));
            }
        }
    }

    fn result(&mut self, block: &Value<'_>) {
        let id = block.get_text("tool_use_id");
        let failed = block.get("is_error").and_then(|failed| failed.boolean()) == Some(true);
        let content = block.get("content");
        let (mut text, mut others) = (Vec::new(), Vec::new());
        let mut wrong = failed;
        let mut created = false;
        match &content {
            Some(content) if content.kind() == Kind::Array => {
                for part in content.items() {
                    let success = part.get("success").and_then(|success| success.boolean());
                    wrong |= success == Some(false);
                    let said = ["text", "result", "error"].iter();
                    let said = said.filter_map(|name| self.cite.field(&part, name));
                    let before = text.len();
                    text.extend(said);
                    if text.len() == before && part.get("text").is_none() {
                        others.push(other(&part, self.cite));
                    }
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
        let mut result = self.draft.plain_result(outcome, text);
        result.blocks = others;
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

/// Adds what a neighbouring file holds: the session record (SDK) or the messages on the screen (extension).
fn add_neighbour_file(files: &SessionFiles, store: &Store, session: &mut Session) {
    let neighbour = neighbour(&files.path);
    let (Neighbour::Record(path) | Neighbour::Screen(path)) = &neighbour;
    if !path.exists() {
        return;
    }
    let Ok(screen) = document(path, None, store) else {
        return session.problems.push(problem(ProblemId::UnreadFile, 0));
    };
    session.problems.add(screen.problems());
    let Some(screen) = screen.value() else { return };
    if let Neighbour::Record(_) = neighbour {
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
    // One request per answer: otherwise it is unknown which belongs to which.
    if steps.len() == requests.len() {
        for (step, (usage, _)) in steps.into_iter().zip(&requests) {
            step.usage = step.usage.or(*usage);
        }
        session.usage = backstory_model::usage(&session.turns, &session.abandoned);
    }
    let cost: f64 = requests.iter().map(|(_, cost)| cost).sum();
    session.reported_cost = session.reported_cost.or((cost > 0.0).then_some(cost));
}

/// The other file of a session.
#[derive(Debug)]
enum Neighbour {
    /// What the SDK notes about it.
    Record(PathBuf),
    /// What the extension showed.
    Screen(PathBuf),
}

fn neighbour(path: &Path) -> Neighbour {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name.strip_suffix(".messages.json") {
        Some(stem) => Neighbour::Record(path.with_file_name(format!("{stem}.json"))),
        None => Neighbour::Screen(path.with_file_name("ui_messages.json")),
    }
}

/// Every file of a session that is read.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let (Neighbour::Record(beside) | Neighbour::Screen(beside)) = neighbour(path);
    let beside = Some(beside).filter(|path| path.is_file());
    std::iter::once(path.to_path_buf()).chain(beside).collect()
}

/// What an action in the text does, by its parameters.
fn effects(action: &Action) -> Vec<Effect> {
    let mut tape = Tape::new();
    let bytes = action.input.as_bytes();
    let input = scan(bytes, 0, 8, &mut tape).ok().and_then(|_| tape.root(bytes));
    input.map(|input| tools::effects(&action.name, &input, Cite::copied())).unwrap_or_default()
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
