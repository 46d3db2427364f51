//! A second way of searching: everything is decoded, and every text is searched plainly.

use backstory_agents as agents;
use backstory_model::{
    Action, ActionKind, Block, Call, CallOutcome, Change, Content, Session, SessionKind, Step,
    TitleSource, Turn, TurnKind,
};
use backstory_search::{Condition, Field, Hit, Property, Qualifier, Query};
use backstory_session::link::announced_commits;
use backstory_session::render::difference;
use backstory_store::SourceReader;
use jiff::Timestamp;
use regex::Regex;
use std::sync::LazyLock;

/// Names a message or call: session, subagent, what it is, record, call, line.
pub(crate) type Name =
    (String, Option<String>, &'static str, Option<String>, Option<String>, Option<u64>);

/// A message or a call, decoded.
pub(crate) struct Said {
    pub(crate) name: Name,
    pub(crate) texts: Vec<(Field, String)>,
    ids: [String; 2],
    agent: &'static str,
    folders: Vec<String>,
    branches: Vec<String>,
    commits: Vec<String>,
    models: Vec<String>,
    tool: Option<String>,
    files: Vec<String>,
    time: Option<Timestamp>,
    is: Vec<Property>,
    title_of_prompt: bool,
}

static CODES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        "\u{1b}\\[[0-9:;<=>? ]{0,64}[@-\\[\\]-~]|\u{1b}\\][^\u{7}\u{1b}\n]{0,1999}(?:\u{7}|\u{1b}\\\\)|\u{1b}[()][0-9A-Za-z]|\u{1b}[=>78cM]",
    )
    .unwrap()
});

pub(crate) fn name(hit: &Hit) -> Name {
    let subagent = hit.subagent.as_ref().map(ToString::to_string);
    (hit.session.id.clone(), subagent, hit.who.name(), hit.uuid.clone(), hit.call.clone(), hit.line)
}

/// Everything that was said in a session and its subagents.
pub(crate) fn said(root: &Session) -> Vec<Said> {
    let mut all = Vec::new();
    let commits = announced_commits(root);
    for session in root.walk() {
        let is_root = std::ptr::eq(session, root);
        let mut reader = session.source.open().unwrap();
        let mut teller = Teller { root, session, commits: &commits, all: &mut all, is_root };
        if let Some(title) = root.title.as_ref().filter(|_| is_root) {
            let one = teller.one("title", None, None, None, root.ended);
            one.texts.push((Field::Title, title.text.clone()));
            one.title_of_prompt = matches!(
                title.source,
                TitleSource::FirstPrompt | TitleSource::LastPrompt | TitleSource::Command
            );
        }
        for turn in session.turns.iter().skip(session.inherited.turns) {
            teller.turn(turn, &mut reader);
        }
        for branch in session.abandoned.iter().skip(session.inherited.branches) {
            branch.turns.iter().for_each(|turn| teller.turn(turn, &mut reader));
        }
    }
    for text in all.iter_mut().flat_map(|one| &mut one.texts) {
        text.1 = CODES.replace_all(&text.1, "").into_owned();
    }
    all
}

struct Teller<'a> {
    root: &'a Session,
    session: &'a Session,
    commits: &'a [String],
    all: &'a mut Vec<Said>,
    is_root: bool,
}

fn words<T: AsRef<str>>(words: &[T]) -> Vec<String> {
    words.iter().map(|word| word.as_ref().to_owned()).collect()
}

impl Teller<'_> {
    fn one(
        &mut self,
        who: &'static str,
        uuid: Option<&str>,
        call: Option<&str>,
        line: Option<u64>,
        time: Option<Timestamp>,
    ) -> &mut Said {
        let (root, session) = (self.root, self.session);
        let mut folders = words(&session.cwds);
        folders.extend(words(&root.cwds));
        folders.extend(root.project_key.clone());
        let mut branches = words(&session.git_branches);
        branches.extend(words(&root.git_branches));
        branches.extend(root.last_branch.as_ref().map(ToString::to_string));
        let subagent = (!self.is_root).then(|| session.id.clone());
        let is_subagent = !self.is_root || root.kind != SessionKind::Session;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        self.all.push(Said {
            name: (root.id.clone(), subagent, who, owned(uuid), owned(call), line),
            texts: Vec::new(),
            ids: [root.id.clone(), session.id.clone()],
            agent: session.agent.name(),
            folders,
            branches,
            commits: self.commits.to_vec(),
            models: Vec::new(),
            tool: None,
            files: Vec::new(),
            time,
            title_of_prompt: false,
            is: if is_subagent { vec![Property::Subagent] } else { Vec::new() },
        });
        self.all.last_mut().unwrap()
    }

    fn turn(&mut self, turn: &Turn, reader: &mut SourceReader) {
        let prompt = self.one("prompt", turn.uuid.as_deref(), None, turn.line, turn.timestamp);
        prompt.models =
            turn.steps.iter().filter_map(|step| step.model.as_deref()).map(str::to_owned).collect();
        if turn.kind == TurnKind::Compact {
            prompt.is.push(Property::Compaction);
        }
        for part in &turn.prompt.blocks {
            let field = match turn.kind {
                _ if part.context => Field::Result,
                TurnKind::Compact => Field::Answer,
                TurnKind::TaskNotification => Field::Result,
                _ => Field::Prompt,
            };
            block(&mut prompt.texts, field, &part.block, reader);
        }
        for typed in &turn.interjections {
            let one = self.one("prompt", None, None, Some(typed.line), typed.timestamp);
            one.texts.push((Field::Prompt, reader.text(&typed.text).unwrap().into_owned()));
        }
        for event in &turn.events {
            let one = self.one("notice", None, None, Some(event.line), event.timestamp);
            let text = event.text.iter().map(|text| reader.text(text).unwrap().into_owned());
            one.texts.extend(text.map(|text| (Field::Result, text)));
            if event.kind.contains("error") {
                one.is.push(Property::Error);
            }
            if &*event.kind == "compacted" {
                one.is.push(Property::Compaction);
            }
        }
        for step in &turn.steps {
            self.step(step, reader);
        }
    }

    fn step(&mut self, step: &Step, reader: &mut SourceReader) {
        let first = step.uuids.first().map(AsRef::as_ref);
        let one = self.one("answer", first, None, step.lines.first().copied(), step.timestamp);
        one.models.extend(step.model.as_ref().map(ToString::to_string));
        if step.error.is_some() {
            one.is.push(Property::Error);
        }
        for part in &step.blocks {
            block(&mut one.texts, Field::Answer, part, reader);
        }
        for (at, part) in step.blocks.iter().enumerate() {
            let Block::Call(call) = part else { continue };
            let at = if step.uuids.len() == step.blocks.len() { at } else { 0 };
            let uuid = step.uuids.get(at).map(AsRef::as_ref);
            let agent = self.session.agent;
            let line = step.lines.get(at).copied();
            let one = self.one("call", uuid, call.id.as_deref(), line, step.timestamp);
            one.models.extend(step.model.as_ref().map(ToString::to_string));
            one.tool = call.name.as_ref().map(ToString::to_string);
            if agents::does(agent, call, ActionKind::Edit) {
                one.is.push(Property::Edit);
            }
            let actions = agents::actions(agent, call, reader).unwrap();
            for action in &actions {
                match action {
                    Action::Edit(edit) => {
                        one.files.push(edit.path.to_string());
                        if let Change::Move { to } = &edit.change {
                            one.files.push(to.to_string());
                        }
                    }
                    Action::Read { path } => one.files.push(path.to_string()),
                    _ => {}
                }
            }
            let files = one.files.clone();
            one.texts.extend(files.into_iter().map(|path| (Field::Path, path)));
            let asked = asked(call, &actions, reader);
            one.texts.extend(asked.into_iter().map(|text| (Field::Call, text)));
            if let Some(result) = &call.result {
                for text in &result.text {
                    one.texts.push((Field::Result, reader.text(text).unwrap().into_owned()));
                }
                for part in &result.blocks {
                    block(&mut one.texts, Field::Result, part, reader);
                }
                if result.outcome != CallOutcome::Ok {
                    one.is.push(Property::Error);
                }
            }
        }
    }
}

fn block(texts: &mut Vec<(Field, String)>, field: Field, block: &Block, reader: &mut SourceReader) {
    match block {
        Block::Text(text) => texts.push((field, reader.text(text).unwrap().into_owned())),
        Block::Thinking { text: Some(text), .. } => {
            texts.push((Field::Thinking, reader.text(text).unwrap().into_owned()));
        }
        Block::Other { value, .. } => {
            texts.extend(values(value, reader).into_iter().map(|text| (Field::Result, text)));
        }
        _ => {}
    }
}

/// Strings and numbers of some JSON.
fn values(content: &Content, reader: &mut SourceReader) -> Vec<String> {
    let text = reader.text(content).unwrap().into_owned();
    let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return vec![text] };
    if matches!(content, Content::Text(_)) {
        return vec![text];
    }
    fn walk(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::String(text) => found.push(text.clone()),
            serde_json::Value::Number(number) => found.push(number.to_string()),
            serde_json::Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            serde_json::Value::Object(fields) => fields.values().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&value, &mut found);
    found
}

/// What a call asks for: its values; of edits, the lines with a sign.
fn asked(call: &Call, actions: &[Action<'_>], reader: &mut SourceReader) -> Vec<String> {
    let Some(input) = &call.input else { return Vec::new() };
    let mut values = values(input, reader);
    let (mut changed, mut whole, mut edits) = (Vec::new(), Vec::new(), 0);
    for action in actions {
        let Action::Edit(edit) = action else { continue };
        edits += 1;
        let mut text = |content: &Content| reader.text(content).unwrap().into_owned();
        let mut signed = Vec::new();
        match &edit.change {
            Change::Write { content, .. } => {
                whole.push(text(content));
                changed.push(text(content));
            }
            Change::Cell { source } => {
                whole.extend(source.as_ref().map(&mut text));
                changed.extend(source.as_ref().map(&mut text));
            }
            Change::Replace(parts) => {
                for part in parts {
                    let (old, new) = (text(&part.old), text(&part.new));
                    signed.extend(difference(&old, &new).map(|hunk| hunk.lines));
                    whole.extend([old, new]);
                }
            }
            Change::Delete | Change::Move { .. } => {
                signed.extend(edit.hunks.iter().flatten().map(|hunk| hunk.lines.clone()));
            }
        }
        for hunk in signed {
            let lines: Vec<&str> =
                hunk.split_inclusive('\n').filter(|line| !line.starts_with('\\')).collect();
            for group in lines.chunk_by(|a, b| a[..1] == b[..1]) {
                if group[0].starts_with(['+', '-']) {
                    changed.push(group.iter().map(|line| &line[1..]).collect());
                }
            }
        }
    }
    if edits > 0 {
        let first =
            |text: &String| text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned);
        let lines: Vec<String> = changed.iter().filter_map(first).collect();
        values.retain(|value| {
            let holds = value.contains('\n') && lines.iter().any(|line| value.contains(line));
            !whole.contains(value) && !holds
        });
    }
    values.extend(changed);
    values
}

/// Letters that differ in case only, and whitespace of any kind, become equal.
fn folded(text: &str, ignore_case: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    for letter in text.chars() {
        if letter.is_whitespace() {
            if !space {
                out.push(' ');
            }
            space = true;
            continue;
        }
        space = false;
        match (letter, ignore_case) {
            ('ſ', true) => out.push('s'),
            (letter, true) => {
                let mut lower = letter.to_lowercase();
                match (lower.next(), lower.next()) {
                    (Some(only), None) => out.push(only),
                    _ => out.push(letter),
                }
            }
            (letter, false) => out.push(letter),
        }
    }
    out
}

pub(crate) fn meets(query: &Query, said: &Said) -> bool {
    let fields = query.fields.unwrap_or_default();
    let wanted = said.texts.iter().filter(|(field, _)| fields.has(*field));
    let texts: Vec<&str> =
        wanted.map(|(_, text)| &**text).filter(|text| !text.trim().is_empty()).collect();
    // Without a text there is nothing to find.
    let told_twice = said.title_of_prompt && fields.has(Field::Prompt);
    !texts.is_empty() && !told_twice && judge(&query.condition, said, &texts)
}

fn judge(condition: &Condition, said: &Said, texts: &[&str]) -> bool {
    let contains = |text: &String, part: &str| text.to_lowercase().contains(&part.to_lowercase());
    let like = |text: &str, pattern: &str| {
        let parts: Vec<String> = pattern.split('*').map(regex::escape).collect();
        Regex::new(&format!("(?is)^{}$", parts.join(".*"))).unwrap().is_match(text)
    };
    match condition {
        Condition::All(parts) => parts.iter().all(|part| judge(part, said, texts)),
        Condition::Any(parts) => parts.iter().any(|part| judge(part, said, texts)),
        Condition::Not(inner) => !judge(inner, said, texts),
        Condition::Text(wanted, _) => {
            let ignore = !wanted.chars().any(char::is_uppercase);
            let wanted = folded(wanted, ignore);
            texts.iter().any(|text| folded(text, ignore).contains(&wanted))
        }
        Condition::Regex(pattern, _) => {
            let letters = Regex::new(r"\\.").unwrap().replace_all(pattern, "");
            let ignore = !letters.chars().any(char::is_uppercase);
            let regex = Regex::new(&format!("(?{}:{pattern})", if ignore { "i" } else { "" }));
            texts.iter().any(|text| regex.as_ref().unwrap().is_match(text))
        }
        Condition::Is(property, _) => said.is.contains(property),
        Condition::Has(qualifier, value, _) => match qualifier {
            Qualifier::Project => said.folders.iter().any(|folder| contains(folder, value)),
            Qualifier::Agent => said.agent == value,
            Qualifier::Model => said.models.iter().any(|model| contains(model, value)),
            Qualifier::Tool => said.tool.as_deref().is_some_and(|tool| like(tool, value)),
            Qualifier::File => said.files.iter().any(|file| contains(file, value)),
            Qualifier::Branch => said.branches.iter().any(|branch| like(branch, value)),
            Qualifier::After => said.time.is_some_and(|time| time >= value.parse().unwrap()),
            Qualifier::Before => said.time.is_some_and(|time| time < value.parse().unwrap()),
            Qualifier::Session => said.ids.iter().any(|id| id.starts_with(value)),
            Qualifier::Commit => {
                said.commits.iter().any(|id| id.starts_with(value) || value.starts_with(&**id))
            }
        },
    }
}

impl Said {
    /// Values of qualifiers that it meets.
    pub(crate) fn qualifiers(&self) -> Vec<String> {
        let mut all =
            vec![format!("agent:{}", self.agent), format!("session:{}", quoted(&self.ids[0]))];
        all.extend(self.tool.iter().map(|tool| format!("tool:{}", quoted(tool))));
        all.extend(self.models.first().map(|model| format!("model:{}", quoted(model))));
        all.extend(self.files.first().map(|file| format!("file:{}", quoted(file))));
        all.extend(self.branches.first().map(|branch| format!("branch:{}", quoted(branch))));
        all.extend(self.folders.first().map(|folder| format!("project:{}", quoted(folder))));
        all.extend(self.time.map(|time| format!("after:\"{time}\"")));
        all.extend(self.time.map(|time| format!("-before:\"{time}\"")));
        all.extend(self.commits.first().map(|id| format!("commit:{id}")));
        all.extend(self.is.iter().map(|property| format!("is:{}", property.name())));
        all.retain(|one| !one.ends_with(":\"\""));
        all
    }
}

pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
