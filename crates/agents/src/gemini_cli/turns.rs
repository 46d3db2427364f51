//! From messages to turns, steps and calls.

use super::history::{Entry, History, Message, is_response};
use super::tools;
use crate::common::{Cite, Draft, Part, content_of, context, other, parts, timestamp, typed};
use backstory_format::json::{Kind, Tape, Value, scan};
use backstory_model::{
    Block, Call, IdOrigin, PromptBlock, Session, SessionFiles, SessionKind, Title, TitleSource,
    TurnKind, UsageTotal,
};
use backstory_store::{LARGEST_META, read_small_text};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How texts begin that the client puts into a conversation.
const ADDED: [&str; 2] = ["<session_context>", "System: Please continue."];

/// Reads the turns of a session into a draft.
#[derive(Debug)]
pub(super) struct TurnReader<'f> {
    draft: Draft,
    files: &'f SessionFiles,
    /// How many turns there were before each entry.
    turns: Vec<usize>,
}

impl<'f> TurnReader<'f> {
    pub(super) fn new(draft: Draft, files: &'f SessionFiles) -> TurnReader<'f> {
        TurnReader { draft, files, turns: Vec::new() }
    }

    /// The whole session.
    pub(super) fn finish(mut self, history: History<'_>) -> Session {
        history.types.iter().for_each(|kind| self.draft.count(kind));
        history.facts.iter().for_each(|facts| self.facts(facts));
        for entry in &history.entries {
            self.turns.push(self.draft.session.turns.len());
            match entry {
                Entry::Message(message) => self.message(message),
                Entry::Rewind(target) => {
                    let keep = self.turns.get(*target).copied().unwrap_or(0);
                    self.draft.close();
                    let now = self.draft.session.turns.len();
                    self.draft.roll_back(now.saturating_sub(keep));
                }
            }
        }
        if self.draft.session.cwds.is_empty()
            && let Some(folder) = project_root(&self.files.path)
        {
            self.draft.folder(folder.trim().into());
        }
        self.draft.finish()
    }

    fn facts(&mut self, facts: &Value<'_>) {
        let session = &mut self.draft.session;
        if let Some(id) = facts.get_text("sessionId").filter(|id| !id.is_empty()) {
            session.id = id.into_owned();
        }
        if facts.get_text("kind").is_some_and(|kind| kind == "subagent") {
            session.kind = SessionKind::Task;
        }
        if let Some(summary) = facts.get_text("summary").filter(|text| !text.trim().is_empty()) {
            let text = summary.split_whitespace().collect::<Vec<_>>().join(" ");
            session.title = Some(Title { text, source: TitleSource::Summary });
        }
        for folder in facts.get("directories").iter().flat_map(|list| list.items()) {
            self.draft.folder(folder.text().unwrap_or_default());
        }
    }

    fn message(&mut self, message: &Message<'_>) {
        let time = message.value.get("timestamp").and_then(|time| timestamp(&time));
        self.draft.move_to(message.line, time);
        match message.value.get_text("type").as_deref() {
            Some("gemini") => self.answer(message),
            Some("user") => self.user(message),
            // Notices: info, warning, error.
            kind => {
                let content = parts(message.value.get("content").as_ref(), message.cite);
                let texts = content.into_iter().filter_map(|part| content_of(part.block()));
                self.draft.events(kind.unwrap_or("message"), texts.collect());
            }
        }
    }

    fn user(&mut self, message: &Message<'_>) {
        let Message { value, cite, .. } = message;
        // The results are with the calls.
        if is_response(value) {
            return;
        }
        let content = value.get("content");
        let words = words(content.as_ref());
        if ADDED.iter().any(|start| words.starts_with(start)) {
            for folder in workspace(&words) {
                self.draft.folder(folder.into());
            }
            let texts = parts(content.as_ref(), *cite).into_iter();
            let texts = texts.filter_map(|part| content_of(part.block())).collect();
            return self.draft.events("context", texts);
        }
        let kind = match self.draft.session.kind {
            SessionKind::Session => TurnKind::Human,
            _ => TurnKind::Task,
        };
        let blocks = parts(content.as_ref(), *cite).into_iter();
        // A command stands for the text that the model got.
        let shown = value.get("displayContent");
        let typed_words = shown.as_ref().map(|shown| self::words(Some(shown)));
        match typed_words.filter(|shown| !shown.is_empty()) {
            Some(shown) => {
                let typed = parts(value.get("displayContent").as_ref(), *cite).into_iter();
                let typed = typed.map(|part| prompt_block(part, Whose::User));
                let blocks = typed.chain(blocks.map(|part| prompt_block(part, Whose::Client)));
                self.draft.prompt(kind, blocks.collect(), Some(&shown));
            }
            None => {
                let blocks = blocks.map(|part| prompt_block(part, Whose::User)).collect();
                self.draft.prompt(kind, blocks, Some(&words));
            }
        }
    }

    fn answer(&mut self, message: &Message<'_>) {
        let Message { value, cite, tokens, .. } = message;
        self.draft.close();
        match value.get_text("id") {
            Some(id) => self.draft.name_step(&id),
            None => drop(self.draft.step()),
        }
        let step = self.draft.step();
        step.model = value.get_text("model").map(|model| Arc::from(&*model));
        step.usage = tokens.as_ref().and_then(usage);
        for thought in value.get("thoughts").iter().flat_map(|list| list.items()) {
            for name in ["subject", "description"] {
                if let Some(text) = cite.field(&thought, name) {
                    self.draft.thinking(Some(text));
                }
            }
        }
        let content = value.get("content");
        match &content {
            Some(list) if list.kind() == Kind::Array => {
                for part in list.items().filter(|part| part.get("functionCall").is_none()) {
                    self.part(&part, *cite);
                }
            }
            content => content.iter().for_each(|content| self.part(content, *cite)),
        }
        for call in value.get("toolCalls").iter().flat_map(|list| list.items()) {
            self.call(&call, *cite);
        }
        self.draft.close();
    }

    fn part(&mut self, part: &Value<'_>, cite: Cite) {
        let text = if part.kind() == Kind::String { Some(*part) } else { part.get("text") };
        match text.and_then(|text| cite.text(&text)) {
            Some(text) => self.draft.text(text),
            None if part.is_null() => {}
            None => {
                let block = other(part, cite);
                self.draft.step().blocks.push(block);
            }
        }
    }

    fn call(&mut self, call: &Value<'_>, cite: Cite) {
        let id: Option<Box<str>> = call.get_text("id").map(Into::into);
        let (id, id_origin) = match id {
            Some(id) => (id, IdOrigin::Trace),
            None => (self.draft.made_id(), IdOrigin::Reader),
        };
        self.draft.call(Call {
            id: Some(id.clone()),
            id_origin,
            name: call.get_text("name").map(|name| Arc::from(&*name)),
            input: call.get("args").map(|args| cite.json(&args)),
            result: None,
            subagent: call.get_text("agentId").map(Into::into),
            effects: tools::effects(call, cite),
        });
        if let Some(result) = tools::result(call, cite, &self.draft) {
            self.draft.result(Some(&id), result);
        }
    }
}

/// Who put a block into a prompt.
#[derive(Debug, Clone, Copy)]
enum Whose {
    User,
    Client,
}

fn prompt_block(part: Part, whose: Whose) -> PromptBlock {
    match (part.block(), whose) {
        (Block::Text(text), Whose::User) => typed(text),
        (Block::Text(text), Whose::Client) => context(text),
        (block, _) => PromptBlock { context: !matches!(block, Block::Image { .. }), block },
    }
}

/// The texts of a content.
fn words(content: Option<&Value<'_>>) -> String {
    let Some(content) = content else { return String::new() };
    match content.text() {
        Some(text) => text.into_owned(),
        None => {
            let parts = content.items().filter_map(|part| part.get_text("text").or(part.text()));
            parts.map(|part| part.into_owned()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The folders below `Workspace Directories`.
fn workspace(context: &str) -> Vec<String> {
    let after = context.split_once("**Workspace Directories:**").map_or("", |(_, rest)| rest);
    let lines = after.lines().skip(1).map_while(|line| line.strip_prefix("  - "));
    lines.map(|folder| folder.trim().to_owned()).collect()
}

/// The project of a session in `tmp/<name>/chats`: a file next to the folder says which it is, or the
/// list of all names.
fn project_root(path: &Path) -> Option<String> {
    let project = path.ancestors().find(|folder| folder.ends_with("chats"))?.parent()?;
    let text = |path: PathBuf| read_small_text(&path, LARGEST_META).ok();
    text(project.join(".project_root")).or_else(|| {
        let name = project.file_name()?.to_str()?;
        let list = text(project.parent()?.parent()?.join("projects.json"))?;
        let mut tape = Tape::new();
        scan(list.as_bytes(), 0, 8, &mut tape).ok()?;
        let projects = tape.root(list.as_bytes())?.get("projects")?;
        let mut folders =
            projects.fields().filter(|(_, of)| of.text().is_some_and(|of| of == name));
        folders.next().map(|(folder, _)| folder.text().into_owned())
    })
}

/// Counts of one answer. Thoughts are not part of the output, and cached tokens are part of the input.
fn usage(tokens: &Value<'_>) -> Option<UsageTotal> {
    let number = |name: &str| tokens.get(name).and_then(|value| value.unsigned());
    let cached = number("cached").unwrap_or(0);
    let input = number("input")?.saturating_add(number("tool").unwrap_or(0));
    Some(UsageTotal {
        input: input.saturating_sub(cached),
        output: number("output").unwrap_or(0).saturating_add(number("thoughts").unwrap_or(0)),
        cache_read: cached,
        messages: 1,
        ..UsageTotal::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_a_workspace() {
        let text = "<session_context>\n- **Workspace Directories:**\n  - /w/a\n  - /w/b\n- **Directory Structure:**\n  - /w/c\n";
        assert_eq!(workspace(text), ["/w/a", "/w/b"]);
        assert!(workspace("nothing").is_empty());
    }
}
