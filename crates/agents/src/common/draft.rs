//! A session while it is being read, for formats that tell it in order.

use super::calls::{Address, Open};
use super::prompt::one_line;
use backstory_format::{Problem, ProblemId};
use backstory_model::{
    Agent, Block, Branch, Compaction, CompactionKind, Content, Counts, Event, Outcome, Prompt,
    PromptBlock, RequestShape, Session, SessionKind, Step, Title, TitleSource, Turn, TurnKind,
    models, usage,
};
use backstory_store::Source;
use hashbrown::HashMap;
use jiff::Timestamp;
use std::borrow::Cow;
use std::sync::Arc;

/// Where the reader is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    /// Line of the file, or number of the message where lines mean nothing; from one.
    pub(crate) line: u64,
    pub(crate) timestamp: Option<Timestamp>,
}

/// Turns, steps and calls in the order in which they are told.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) session: Session,
    pub(crate) place: Place,
    pub(crate) model: Option<Arc<str>>,
    pub(crate) version: Option<Arc<str>>,
    /// The message that is being told.
    pub(super) current: Option<Step>,
    /// Its calls by id.
    pub(super) open: HashMap<Box<str>, Open>,
    prompts: usize,
    steps: usize,
    pub(super) made_ids: usize,
    /// Turn, step and block of each call that has no result yet.
    pub(super) waiting: HashMap<Box<str>, Address>,
    pub(super) answered: HashMap<Box<str>, Address>,
    title: Option<String>,
    /// Events before the first turn.
    early: Vec<Event>,
}

impl Draft {
    pub(crate) fn new(agent: Agent, id: String, source: Source) -> Draft {
        Draft {
            session: Session::new(agent, SessionKind::Session, id, source),
            place: Place::default(),
            model: None,
            version: None,
            current: None,
            open: HashMap::new(),
            prompts: 0,
            steps: 0,
            made_ids: 0,
            waiting: HashMap::new(),
            answered: HashMap::new(),
            title: None,
            early: Vec::new(),
        }
    }

    /// Moves on to the next line or message.
    pub(crate) fn move_to(&mut self, line: u64, timestamp: Option<Timestamp>) {
        self.place = Place { line, timestamp: timestamp.or(self.place.timestamp) };
        if timestamp.is_some() {
            self.session.started = self.session.started.or(timestamp);
            self.session.ended = timestamp;
        }
    }

    /// Counts a record under its type.
    pub(crate) fn count(&mut self, type_name: &str) {
        self.session.file.records += 1;
        *self.session.counts.records_by_type.entry(type_name.into()).or_default() += 1;
    }

    /// Somebody asked for something; `words` are what they said, for the title.
    pub(crate) fn prompt(&mut self, kind: TurnKind, blocks: Vec<PromptBlock>, words: Option<&str>) {
        self.close();
        if self.title.is_none() {
            self.title = words.map(one_line).filter(|words| !words.is_empty());
        }
        // Turns that were taken back keep their numbers.
        self.prompts += 1;
        self.session.turns.push(Turn {
            kind,
            uuid: Some(format!("turn-{}", self.prompts).into()),
            line: Some(self.place.line),
            timestamp: self.place.timestamp,
            prompt: Prompt { blocks },
            prompt_id: None,
            permission_mode: None,
            origin: None,
            steps: Vec::new(),
            interjections: Vec::new(),
            events: std::mem::take(&mut self.early),
            outcome: Outcome::Open,
            duration_ms: None,
        });
    }

    /// The turn that is running.
    pub(crate) fn turn(&mut self) -> Option<&mut Turn> {
        self.session.turns.last_mut()
    }

    /// The message that is being told; a new one after [`close`](Draft::close).
    pub(crate) fn step(&mut self) -> &mut Step {
        if self.current.is_none() {
            self.steps += 1;
        }
        let (place, number) = (self.place, self.steps);
        let (model, version) = (&self.model, &self.version);
        let step = self.current.get_or_insert_with(|| Step {
            message_id: None,
            uuids: vec![format!("step-{number}").into()],
            lines: Vec::new(),
            model: model.clone(),
            version: version.clone(),
            timestamp: place.timestamp,
            request_id: None,
            stop_reason: None,
            synthetic: false,
            error: None,
            on_chain: true,
            usage: None,
            service_tier: None,
            speed: None,
            blocks: Vec::new(),
        });
        if step.lines.last() != Some(&place.line) {
            step.lines.push(place.line);
        }
        step
    }

    /// Whether a message is being told.
    pub(crate) fn is_open(&self) -> bool {
        self.current.is_some()
    }

    /// The message that is being told, or the one before.
    pub(crate) fn last_step(&mut self) -> Option<&mut Step> {
        match self.current.as_mut() {
            Some(step) => Some(step),
            None => self.session.turns.last_mut().and_then(|turn| turn.steps.last_mut()),
        }
    }

    /// Gives the message its native id, which makes it recognisable in other files.
    pub(crate) fn name_step(&mut self, id: &str) {
        let step = self.step();
        step.message_id = Some(id.into());
        step.uuids = vec![id.into()];
    }

    pub(crate) fn text(&mut self, text: Content) {
        if text.size() > 0 {
            self.step().blocks.push(Block::Text(text));
        }
    }

    pub(crate) fn thinking(&mut self, text: Option<Content>) {
        self.step().blocks.push(Block::Thinking { text, signed: false, redacted: false });
    }

    /// The model thought, but what is not shown.
    pub(crate) fn hidden_thinking(&mut self) {
        self.step().blocks.push(Block::Thinking { text: None, signed: false, redacted: true });
    }

    /// The message is complete.
    pub(crate) fn close(&mut self) {
        let Some(step) = self.current.take() else { return };
        self.open.clear();
        if self.session.turns.is_empty() {
            self.prompt(TurnKind::Continuation, Vec::new(), None);
        }
        let at = self.session.turns.len() - 1;
        let Some(turn) = self.session.turns.last_mut() else { return };
        for (number, block) in step.blocks.iter().enumerate() {
            let Block::Call(call) = block else { continue };
            let Some(id) = call.id.clone() else { continue };
            if call.result.is_some() {
                self.answered.insert(id, (at, turn.steps.len(), number));
                continue;
            }
            if self.waiting.insert(id, (at, turn.steps.len(), number)).is_some() {
                self.session.problems.push(problem(ProblemId::DuplicateCallId, self.place.line));
            }
        }
        turn.steps.push(step);
    }

    /// The same for every text; once without text where there is none.
    pub(crate) fn events(&mut self, kind: &str, texts: Vec<Content>) {
        if texts.is_empty() {
            self.event(kind, None);
        }
        for text in texts {
            self.event(kind, Some(text));
        }
    }

    /// Something that is neither prompt nor answer.
    pub(crate) fn event(&mut self, kind: &str, text: Option<Content>) {
        self.close();
        let Place { line, timestamp } = self.place;
        let event = Event { kind: kind.into(), line, timestamp, text };
        match self.session.turns.last_mut() {
            Some(turn) => turn.events.push(event),
            None => self.early.push(event),
        }
    }

    /// The context was shortened here.
    pub(crate) fn compaction(&mut self, kind: CompactionKind) {
        let Place { line, timestamp } = self.place;
        self.session.compactions.push(Compaction {
            kind,
            uuid: None,
            line,
            timestamp,
            trigger: None,
            pre_tokens: None,
            post_tokens: None,
            summary: None,
        });
    }

    /// Takes the last turns back: they were left behind.
    pub(crate) fn roll_back(&mut self, turns: usize) {
        self.close();
        let keep = self.session.turns.len().saturating_sub(turns);
        let mut left = self.session.turns.split_off(keep);
        if left.is_empty() {
            return;
        }
        self.waiting.retain(|_, (turn, _, _)| *turn < keep);
        self.answered.retain(|_, (turn, _, _)| *turn < keep);
        for turn in &mut left {
            turn.outcome = turn.ending();
        }
        let uuid =
            |turn: Option<&Turn>| turn.and_then(|turn| turn.uuid.clone()).unwrap_or_default();
        self.session.abandoned.push(Branch {
            from: self.session.turns.last().and_then(|turn| turn.uuid.clone()),
            root: uuid(left.first()),
            leaf: uuid(left.last()),
            records: left.iter().map(|turn| 1 + turn.steps.len() as u64).sum(),
            turns: left,
        });
    }

    /// What the model was told before the first prompt, and the tools it was given; the first counts.
    pub(crate) fn set_request(&mut self, system: Option<Content>, tools: Option<Content>) {
        let requests = &mut self.session.requests;
        if requests.shapes.is_empty() && (system.is_some() || tools.is_some()) {
            requests.shapes.push(RequestShape { line: self.place.line, system, tools });
            requests.of_others = Some(0);
        }
    }

    /// The folder that the agent works in from here on.
    pub(crate) fn folder(&mut self, folder: Cow<'_, str>) {
        if !folder.is_empty() && !self.session.cwds.iter().any(|known| **known == *folder) {
            self.session.cwds.push(folder.into());
        }
    }

    /// The branch that is checked out from here on.
    pub(crate) fn branch(&mut self, branch: Cow<'_, str>) {
        let branch: Arc<str> = branch.into();
        if !self.session.git_branches.contains(&branch) {
            self.session.git_branches.push(branch.clone());
        }
        self.session.last_branch = Some(branch);
    }

    /// The release that writes from here on.
    pub(crate) fn set_version(&mut self, version: Cow<'_, str>) {
        let version: Arc<str> = version.into();
        if !self.session.versions.contains(&version) {
            self.session.versions.push(version.clone());
        }
        self.version = Some(version);
    }

    /// The whole session.
    pub(crate) fn finish(mut self) -> Session {
        self.close();
        if !self.early.is_empty() {
            // Nothing but events: they happened in a turn of their own.
            self.prompt(TurnKind::Continuation, Vec::new(), None);
        }
        let mut session = self.session;
        let mut orphans: Vec<u64> = Vec::new();
        for turn in &mut session.turns {
            turn.outcome = turn.ending();
            for step in turn.steps.iter().filter(|step| !ends_run(step)) {
                let lost = step.calls().filter(|call| call.result.is_none());
                orphans.extend(lost.map(|_| step.lines.last().copied().unwrap_or(0)));
            }
        }
        for line in orphans {
            session.problems.push(problem(ProblemId::OrphanCall, line));
        }
        session.problems.sort();
        let by_type = std::mem::take(&mut session.counts.records_by_type);
        session.counts = Counts { records_by_type: by_type, ..Counts::of(&session.turns) };
        session.usage = usage(&session.turns, &session.abandoned);
        session.models = models(&session.turns, &session.abandoned);
        if session.title.is_none() {
            let source = TitleSource::FirstPrompt;
            session.title = self.title.map(|text| Title { text, source });
        }
        session
    }
}

/// Whether a message handed the work in: its call is never answered, and nothing is missing.
fn ends_run(step: &Step) -> bool {
    matches!(step.stop_reason.as_deref(), Some("finish" | "reject"))
}

pub(crate) fn problem(id: ProblemId, line: u64) -> Problem {
    Problem { id, line, offset: 0, length: 0, detail: Cow::Borrowed("") }
}
